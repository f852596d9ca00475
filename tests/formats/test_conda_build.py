"""Build strings of conda's torch packages, of every generation: what they say is read, what they do not say stays unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.conda_build import CondaBuild, read_build
from gpuassist.model.version import Version
from tests.rows import for_each

# string, Python, CUDA, cuDNN, for the CPU alone, build number
STRINGS = [
    # the channel `pytorch`, 0.4 to 2.5.1
    ("py3.12_cuda12.4_cudnn9.1.0_0", "3.12", "12.4", "9.1.0", False, 0),
    ("py3.9_cuda12.1_cudnn9.1.0_0", "3.9", "12.1", "9.1.0", False, 0),
    ("py3.10_cuda11.8_cudnn9.1.0_0", "3.10", "11.8", "9.1.0", False, 0),
    ("py3.11_cuda12.1_cudnn8.9.2_0", "3.11", "12.1", "8.9.2", False, 0),
    ("py3.8_cuda11.8_cudnn8.7.0_0", "3.8", "11.8", "8.7.0", False, 0),
    ("py3.10_cuda11.7_cudnn8.5.0_0", "3.10", "11.7", "8.5.0", False, 0),
    ("py3.7_cuda11.6_cudnn8.3.2_0", "3.7", "11.6", "8.3.2", False, 0),
    ("py3.9_cuda11.3_cudnn8.3.2_0", "3.9", "11.3", "8.3.2", False, 0),
    ("py3.8_cuda11.3_cudnn8.2.0_0", "3.8", "11.3", "8.2.0", False, 0),
    ("py3.8_cuda11.3_cudnn8_0", "3.8", "11.3", "8", False, 0),
    ("py3.8_cuda11.1_cudnn8.0.5_0", "3.8", "11.1", "8.0.5", False, 0),
    ("py3.7_cuda10.2_cudnn7.6.5_0", "3.7", "10.2", "7.6.5", False, 0),
    ("py3.7_cuda10.1.243_cudnn7.6.3_0", "3.7", "10.1.243", "7.6.3", False, 0),
    ("py3.6_cuda9.2.148_cudnn7.6.3_0", "3.6", "9.2.148", "7.6.3", False, 0),
    ("py3.6_cuda9.0.176_cudnn7.4.1_1", "3.6", "9.0.176", "7.4.1", False, 1),
    ("py36_cuda8.0.61_cudnn7.1.2_1", "3.6", "8.0.61", "7.1.2", False, 1),
    ("py27_cuda0.0_cudnn0.0_1", "2.7", "0.0", "0.0", False, 1),
    ("py3.12_cpu_0", "3.12", None, None, True, 0),
    ("py3.9_cpu_0", "3.9", None, None, True, 0),
    # its companions, torchvision and torchaudio
    ("py312_cu121", "3.12", "12.1", None, False, None),
    ("py310_cu118", "3.10", "11.8", None, False, None),
    ("py37_cu113", "3.7", "11.3", None, False, None),
    ("py36_cu92", "3.6", "9.2", None, False, None),
    ("py39_cpu", "3.9", None, None, True, None),
    # conda-forge
    ("cuda112py39hb0b7ed5_201", "3.9", "11.2", None, False, 201),
    ("cuda112py310he33e0d6_200", "3.10", "11.2", None, False, 200),
    ("cuda102py37hd4c2b2c_1", "3.7", "10.2", None, False, 1),
    ("cpu_py39h4bbe6ce_1", "3.9", None, None, True, 1),
    ("cpu_py311h410fd25_0", "3.11", None, None, True, 0),
    ("cuda118_py310h8b36b8a_300", "3.10", "11.8", None, False, 300),
    ("cuda120_py312hafeb459_204", "3.12", "12.0", None, False, 204),
    ("cuda126_py39hb9a7685_206", "3.9", "12.6", None, False, 206),
    ("cuda126_generic_py310_h6895721_209", "3.10", "12.6", None, False, 209),
    ("cuda126_mkl_py312_h30b5a27_301", "3.12", "12.6", None, False, 301),
    ("cuda129_generic_py313_h5f42c9c_200", "3.13", "12.9", None, False, 200),
    ("cuda130_mkl_py314_h6edde62_300", "3.14", "13.0", None, False, 300),
    ("cpu_mkl_py312h446e5b9_100", "3.12", None, None, True, 100),
    ("cpu_generic_py313_h1b269f6_6", "3.13", None, None, True, 6),
    # libtorch, which belongs to no Python
    ("cuda126_h6bd6139_206", None, "12.6", None, False, 206),
    ("cuda129_mkl_hbb687bd_300", None, "12.9", None, False, 300),
    ("cpu_generic_hc93d7ea_6", None, None, None, True, 6),
    # other channels
    ("gpu_cuda118py39hd5b8e2b_1", "3.9", "11.8", None, False, 1),
    ("gpu_cuda126_hb606b09_304", None, "12.6", None, False, 304),
    ("cuda129_mkl_1", None, "12.9", None, False, 1),
    # what says nothing of CUDA
    ("pypi_0", None, None, None, None, 0),
    ("h7e8668a_6", None, None, None, None, 6),
    ("cuda", None, None, None, None, None),
    ("pyhd8ed1ab_0", None, None, None, None, 0),
]


def spelled(version: Version | None) -> str | None:
    return None if version is None else str(version)


@for_each(("words", "python", "cuda", "cudnn", "cpu", "number"), STRINGS)
def test_build_string_is_taken_apart(
    words: str, python: str | None, cuda: str | None, cudnn: str | None, cpu: bool | None, number: int | None
) -> None:
    build = read_build(words)
    said = (spelled(build.python), spelled(build.cuda), spelled(build.cudnn), build.cpu, build.number)
    assert said == (python, cuda, cudnn, cpu, number)


def test_forty_strings_and_more_are_tried() -> None:
    assert len({words for words, *_ in STRINGS}) >= 40


@pytest.mark.parametrize(("words", "blas"), [("cpu_mkl_py312h446e5b9_100", "mkl"), ("cuda129_generic_h5f42c9c_200", "generic")])
def test_blas_of_the_build_is_read(words: str, blas: str) -> None:
    assert read_build(words).blas == blas


def test_hash_is_read_apart_from_its_neighbours() -> None:
    assert read_build("cuda112py39hb0b7ed5_201").hash == "hb0b7ed5"


def test_what_is_not_understood_is_kept_in_order() -> None:
    assert read_build("gpu_py310_rocm6_0").rest == ("gpu", "rocm6")


def test_case_and_space_do_not_count() -> None:
    assert read_build(" Py3.12_CUDA12.4_cuDNN9.1.0_0 ") == read_build("py3.12_cuda12.4_cudnn9.1.0_0")


def test_the_first_of_two_pythons_counts() -> None:
    assert read_build("py3.11_py3.12_0").python == Version((3, 11))


def test_a_build_that_names_a_cuda_is_not_for_the_cpu_alone() -> None:
    assert read_build("cuda126_cpu_0").cpu is False


def test_nothing_says_nothing() -> None:
    assert read_build("") == CondaBuild()


@pytest.mark.parametrize("start", ["", "py", "cuda", "cuda12.", "cudnn9."])
def test_a_number_too_long_to_be_one_is_not_read_as_one(start: str) -> None:
    part = start + "9" * 5000
    assert read_build(part) == CondaBuild(rest=(part,))


@given(st.text())
def test_no_text_is_too_strange(words: str) -> None:
    assert isinstance(read_build(words), CondaBuild)


PARTS = st.sampled_from(
    ["py3.12", "py312", "cuda12.4", "cuda126", "cu118", "cudnn9.1.0", "cpu", "mkl", "h1234abc", "0", "300", "", "x"]
)


@given(st.lists(PARTS, max_size=8))
def test_parts_in_any_order_are_read_or_kept(parts: list[str]) -> None:
    build = read_build("_".join(parts))
    assert ("x" in parts) == ("x" in build.rest)
    assert (build.cuda is not None) == any(part.startswith(("cuda", "cu1")) for part in parts)


@given(python=st.integers(6, 15), cuda=st.sampled_from(["11.8", "12.1", "12.4", "12.6", "13.0"]), number=st.integers(0, 999))
def test_both_spellings_of_a_cuda_say_the_same(python: int, cuda: str, number: int) -> None:
    dotted = read_build(f"py3.{python}_cuda{cuda}_{number}")
    run_together = read_build(f"cuda{cuda.replace('.', '')}py3{python}h0123456_{number}")
    assert (dotted.python, dotted.cuda, dotted.number) == (run_together.python, run_together.cuda, run_together.number)
