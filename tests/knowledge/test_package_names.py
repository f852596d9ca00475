"""What may be installed under a name: compilers by archive, packages of Python by what a text calls them."""

from __future__ import annotations

from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each


@for_each(
    ("base", "majors"),
    [
        (("debian", "12"), (11, 12)),
        (("ubuntu", "22.04"), (9, 10, 11, 12)),
        (("conda", ""), tuple(range(7, 16))),
        (("debian", "9"), None),
        (("", ""), None),
    ],
)
def test_compilers_of_an_archive(base: tuple[str, str], majors: tuple[int, ...] | None) -> None:
    assert KNOWLEDGE.gcc_in(base) == majors


@for_each(
    ("name", "distribution"),
    [
        ("flash_attn", "flash-attn"),
        ("cv2", "opencv-python"),
        ("nvidia_cublas_cu12", "nvidia-cublas-cu12"),
        ("llama_cpp", "llama-cpp-python"),
        ("apex", ""),
        ("clip", ""),
        ("kaolin", ""),
        ("nonsense", ""),
        ("", ""),
    ],
)
def test_name_of_a_log_is_a_project_or_nothing(name: str, distribution: str) -> None:
    assert KNOWLEDGE.python_package(name) == distribution
