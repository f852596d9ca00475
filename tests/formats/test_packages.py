"""Installed packages by the names of their records: pip's, setuptools' and conda's, and names that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.packages import conda_packages, is_of_interest, normalised, python_packages, recorded_sizes
from gpuassist.model.environment import Package
from tests.rows import for_each

NAMES = st.text(alphabet="abcTorch-_.0123456789+!", max_size=40)


@for_each(
    ("name", "package", "version"),
    [
        ("torch-2.7.1+cu128.dist-info", "torch", "2.7.1+cu128"),
        ("torch-2.9.0a0+gitabc.dist-info", "torch", "2.9.0a0+gitabc"),
        ("nvidia_cublas_cu12-12.8.4.1.dist-info", "nvidia-cublas-cu12", "12.8.4.1"),
        ("nvidia_cublas-13.0.2.14.dist-info", "nvidia-cublas", "13.0.2.14"),
        ("torchvision-0.22.1-py3.11.egg-info", "", ""),
        ("torchvision-0.22.1.egg-info", "torchvision", "0.22.1"),
        ("torch_audio-2.7.1.dist-info", "torch-audio", "2.7.1"),
        ("flash_attn-2.7.4.post1.dist-info", "flash-attn", "2.7.4.post1"),
        ("onnxruntime_gpu-1.20.1.dist-info", "onnxruntime-gpu", "1.20.1"),
        ("pytorch_triton-3.2.0.dist-info", "pytorch-triton", "3.2.0"),
        ("numpy-2.1.3.dist-info", "numpy", "2.1.3"),
        ("setuptools-80.9.0.dist-info", "setuptools", "80.9.0"),
        ("cuda_bindings-12.8.0.dist-info", "cuda-bindings", "12.8.0"),
        ("tensorrt_cu12-10.7.0.dist-info", "tensorrt-cu12", "10.7.0"),
        ("requests-2.32.3.dist-info", "", ""),
        ("torch_scatter-2.1.2.dist-info", "", ""),
        ("torch", "", ""),
        ("torch-2.7.1.data", "", ""),
        ("torch-.dist-info", "", ""),
        ("~orch-2.7.1.dist-info", "", ""),
        ("-torch-2.7.1.dist-info", "", ""),
    ],
)
def test_record_of_pip_names_its_package(name: str, package: str, version: str) -> None:
    assert tuple(python_packages([name])) == ((Package(package, version),) if package else ())


def test_packages_stand_in_the_order_of_their_records() -> None:
    names = ["torchvision-0.22.1.dist-info", "numpy-2.1.3.dist-info", "torch-2.7.1.dist-info"]
    assert [one.name for one in python_packages(names)] == ["numpy", "torch", "torchvision"]


def test_two_records_of_one_package_are_both_told() -> None:
    names = ["torch-2.7.1.dist-info", "torch-2.5.1.dist-info"]
    assert [one.version for one in python_packages(names)] == ["2.5.1", "2.7.1"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pytorch-2.5.1-py3.12_cuda12.4_cudnn9.1.0_0.json", Package("pytorch", "2.5.1", "py3.12_cuda12.4_cudnn9.1.0_0")),
        ("pytorch-cuda-12.4-hc786d27_7.json", Package("pytorch-cuda", "12.4", "hc786d27_7")),
        ("pytorch-mutex-1.0-cuda.json", Package("pytorch-mutex", "1.0", "cuda")),
        ("cudatoolkit-11.8.0-h6a678d5_0.json", Package("cudatoolkit", "11.8.0", "h6a678d5_0")),
        ("libtorch-2.5.1-cpu_mkl_h791ef64_108.json", Package("libtorch", "2.5.1", "cpu_mkl_h791ef64_108")),
        ("cpuonly-2.0-0.json", Package("cpuonly", "2.0", "0")),
        ("cuda-version-12.6-h7480c83_3.json", Package("cuda-version", "12.6", "h7480c83_3")),
        ("python-3.12.7-h5148396_0.json", None),
        ("pytorch-2.5.1.json", None),
        ("pytorch-2.5.1-py3.12_0.json.bak", None),
        ("history", None),
    ],
)
def test_record_of_conda_names_its_build(name: str, expected: Package | None) -> None:
    assert conda_packages([name]) == ((expected,) if expected else ())


@pytest.mark.parametrize("name", ["torch", "torchvision", "nvidia-nccl-cu12", "triton", "jaxlib", "mkl", "xformers", "cudnn"])
def test_what_explains_a_failure_is_of_interest(name: str) -> None:
    assert is_of_interest(name)
    assert not is_of_interest(f"my{name}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("Flash_Attn", "flash-attn"), ("a.b-c_d", "a-b-c-d"), ("nvidia--x", "nvidia-x"), ("torch", "torch"), ("", "")],
)
def test_names_compare_as_indexes_do(name: str, expected: str) -> None:
    assert normalised(name) == expected
    assert normalised(normalised(name)) == expected


@given(st.lists(NAMES.map(lambda name: f"{name}.dist-info"), max_size=5))
def test_any_directory_is_read_or_passed_over(names: list[str]) -> None:
    for package in python_packages(names):
        assert is_of_interest(package.name)
        assert package.version[0].isdigit()


@given(st.from_regex(r"torch-[0-9][0-9a-z.]{0,9}-[a-z0-9_]{1,9}\.json", fullmatch=True))
def test_record_of_conda_holds_all_that_its_name_says(name: str) -> None:
    (package,) = conda_packages([name])
    assert f"{package.name}-{package.version}-{package.build}.json" == name


RECORD = """\
torch/__init__.py,sha256=abc,104203
torch/lib/libtorch_cuda.so,sha256=def,1482712345
torch/lib/libcudart-a7b20f20.so.11.0,sha256=ghi,679264
torch/_C.cpython-311-x86_64-linux-gnu.so,sha256=jkl,37905
torch/nn/functional.py,sha256=mno,250000
torch/lib/readme.txt,sha256=pqr,12
torch/utils.py,,
torch/serialization.py,sha256=stu
torchgen/model.py,sha256=vwx,9999
"""


def test_sizes_of_what_torch_cannot_do_without() -> None:
    assert recorded_sizes(RECORD) == {
        "torch/__init__.py": 104203,
        "torch/lib/libtorch_cuda.so": 1482712345,
        "torch/lib/libcudart-a7b20f20.so.11.0": 679264,
        "torch/_C.cpython-311-x86_64-linux-gnu.so": 37905,
    }


def test_comma_in_a_path_is_no_field() -> None:
    assert recorded_sizes("torch/a,b.py,sha256=x,5\ntorch/a.py,sha256=x,7\n") == {"torch/a.py": 7}


@given(st.text(max_size=200))
def test_any_record_is_survived(words: str) -> None:
    assert all(path.startswith("torch/") and size >= 0 for path, size in recorded_sizes(words).items())
    assert all(path.startswith("torch/") and size >= 0 for path, size in recorded_sizes(f"torch/{words}").items())
