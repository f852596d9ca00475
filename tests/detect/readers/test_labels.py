"""The labels of reports on an environment, in every program's manner."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers.labels import Field, Told, is_report, labelled
from gpuassist.detect.readers.lines import Line
from tests.rows import for_each


def one(words: str) -> Told | None:
    return next(labelled((Line(3, words),)), None)


@for_each(
    ("words", "field", "value"),
    [
        ("PyTorch version: 2.4.0", Field.TORCH, "2.4.0"),
        ("PyTorch version              : 2.7.0+cu126", Field.TORCH, "2.7.0+cu126"),
        ("- PyTorch version (GPU?): 2.6.0+cu124 (True)", Field.TORCH, "2.6.0+cu124 (True)"),
        ("\t- pyTorch_version:   1.7.0", Field.TORCH, "1.7.0"),
        ("PyTorch                 1.8.0 @/opt/torch", Field.TORCH, "1.8.0 @/opt/torch"),
        ("CUDA used to build PyTorch: None", Field.CUDA, "None"),
        ("ROCM used to build PyTorch: N/A", Field.ROCM, "N/A"),
        ("OS: Ubuntu 22.04", Field.SYSTEM, "Ubuntu 22.04"),
        ("- `Platform`: Linux", Field.PLATFORM, "Linux"),
        ("Python platform: Linux-6.8", Field.PLATFORM, "Linux-6.8"),
        ("Python                  3.9.16", Field.PYTHON, "3.9.16"),
        ("Libc version: glibc-2.35", Field.C_LIBRARY, "glibc-2.35"),
        ("GCC: gcc 7.5.0", Field.COMPILER, "gcc 7.5.0"),
        ("NVCC: Build cuda_11.1", Field.NVCC, "Build cuda_11.1"),
        ("CUDA runtime version: No CUDA", Field.NVCC, "No CUDA"),
        ("CUDA_HOME               /usr", Field.CUDA_HOME, "/usr"),
        ("GPU models and configuration:", Field.GPUS, ""),
        ("- GPU type: NVIDIA L4", Field.GPUS, "NVIDIA L4"),
        ("Nvidia driver version: 550.54", Field.DRIVER, "550.54"),
        ("Driver version          525.85.12", Field.DRIVER, "525.85.12"),
        ("[pip3] torch==2.4.0", Field.PIP, "torch==2.4.0"),
        ("[pip] torch (0.4.1)", Field.PIP, "torch (0.4.1)"),
        ("[conda] pytorch 1.3.0 py3.7 pytorch", Field.CONDA, "pytorch 1.3.0 py3.7 pytorch"),
        ("      - NVCC architecture flags: -gencode", Field.FLAGS, "-gencode"),
    ],
)
def test_label_and_value_are_told_apart(words: str, field: Field, value: str) -> None:
    told = one(words)
    assert told is not None
    assert (told.field, told.value, told.line.number) == (field, value, 3)


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        ("GPU 0: Tesla T4", (0,)),
        ("GPU 0,1,2: Tesla V100", (0, 1, 2)),
        ("GPU 0,1                 GeForce RTX 3090", (0, 1)),
        ("  GPU 12: NVIDIA H200", (12,)),
    ],
)
def test_numbers_of_gpus_are_read(words: str, numbers: tuple[int, ...]) -> None:
    told = one(words)
    assert told is not None
    assert (told.field, told.numbers) == (Field.GPU, numbers)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "PyTorch built with:",
        "PyTorch is great: use it",
        "the PyTorch version: 2.4",
        "PyTorch debug build     False",
        "GPU 0 Compute Capability: 9.0",
        "GPU available: True",
        "Pythonic: yes",
        "osx: 10",
        "[INFO] torch 2.4.0 loaded",
        "PyTorch version: " + "x" * 5000,
    ],
)
def test_other_lines_are_none(words: str) -> None:
    assert one(words) is None


def test_names_below_a_heading_are_numbered() -> None:
    words = ("- GPU:", "    - NVIDIA L4", "    - Tesla T4", "- available: True", "    - NVIDIA L40")
    told = [(one.numbers, one.value) for one in labelled(tuple(Line(place, line) for place, line in enumerate(words)))]
    assert told == [((0,), "NVIDIA L4"), ((1,), "Tesla T4")]


@pytest.mark.parametrize("words", ["PyTorch version: 2.4", "[pip3] torch==2.4", "sys.platform: linux", "- GPU type: NVIDIA L4"])
def test_report_is_known_by_a_sure_word(words: str) -> None:
    assert is_report(words)


@pytest.mark.parametrize("words", ["", "Python: 3.8\nOS: Linux", "torch: a fire on a stick", "GPU 0: busy"])
def test_other_texts_are_no_report(words: str) -> None:
    assert not is_report(words)
