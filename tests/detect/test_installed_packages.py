"""The packages around torch, by the names of their records."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import environments
from gpuassist.formats.packages import conda_packages, normalised, python_packages, recorded_sizes
from gpuassist.model.environment import Package
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.text import text
from tests.detect.made_python import make_conda, make_venv
from tests.fakes import put, world_under
from tests.rows import for_each


def _packages(root: Path) -> list[tuple[Package, ...]]:
    found = environments.probe(world_under(root, variables={"PATH": ""}), Unknown(text("no terminal")))
    assert isinstance(found, Known)
    return [one.packages.value for one in found.value if isinstance(one.packages, Known)]


@for_each(
    ("name", "package"),
    [
        ("torch-2.5.1.dist-info", Package("torch", "2.5.1")),
        ("torch-2.5.1+cu124.dist-info", Package("torch", "2.5.1+cu124")),
        ("nvidia_cublas_cu12-12.4.5.8.dist-info", Package("nvidia-cublas-cu12", "12.4.5.8")),
        ("flash_attn-2.7.4.post1.dist-info", Package("flash-attn", "2.7.4.post1")),
        ("pytorch_triton-3.2.0+git35c6c7c6.dist-info", Package("pytorch-triton", "3.2.0+git35c6c7c6")),
        ("onnxruntime_gpu-1.20.1.dist-info", Package("onnxruntime-gpu", "1.20.1")),
        ("setuptools-82.0.0.dist-info", Package("setuptools", "82.0.0")),
        ("numpy-1.26.4-py3.11.egg-info", None),
        ("torchmetrics-1.0.0.dist-info", None),
        ("torch", None),
        ("~orch-2.5.1.dist-info", None),
        ("requests-2.32.0.dist-info", None),
    ],
)
def test_name_of_a_record_tells_package_and_version(name: str, package: Package | None) -> None:
    assert list(python_packages([name])) == ([package] if package else [])


def test_conda_record_tells_the_build() -> None:
    names = [
        "history",
        "pytorch-2.5.1-py3.12_cuda12.4_cudnn9.1.0_0.json",
        "pytorch-cuda-12.4-hc786d27_7.json",
        "pip-25.0-pyh_0.json",
    ]
    assert conda_packages(names) == (
        Package("pytorch", "2.5.1", "py3.12_cuda12.4_cudnn9.1.0_0"),
        Package("pytorch-cuda", "12.4", "hc786d27_7"),
    )


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        ("torch/__init__.py,sha256=x,101", {"torch/__init__.py": 101}),
        ("torch/lib/libtorch_cuda.so,sha256=x,7", {"torch/lib/libtorch_cuda.so": 7}),
        ("torch/lib/libcudart-1b2c3d.so.12,sha256=x,7", {"torch/lib/libcudart-1b2c3d.so.12": 7}),
        ("torch/_C.cpython-312-x86_64-linux-gnu.so,sha256=x,9", {"torch/_C.cpython-312-x86_64-linux-gnu.so": 9}),
        ("torch/nn/modules/linear.py,sha256=x,9", {}),
        ("torch/__pycache__/version.pyc,,", {}),
        ("torch/version.py,,", {}),
        ("torch/version.py", {}),
        ('"torch/a,b.py",sha256=x,5', {}),
        ("torchgen/model.py,sha256=x,5", {}),
    ],
)
def test_record_tells_sizes_of_what_the_import_needs(line: str, sizes: dict[str, int]) -> None:
    assert recorded_sizes(f"{line}\nfunctorch/x.py,sha256=x,1\n") == sizes


def test_names_are_compared_as_indexes_do() -> None:
    assert normalised("NVIDIA_cuDNN.cu12") == "nvidia-cudnn-cu12"


def test_first_directory_counts(tmp_path: Path) -> None:
    make_conda(tmp_path, "/home/you/miniforge3/envs/train")
    put(tmp_path, "/home/you/.local/lib/python3.11/site-packages/torch-2.4.0.dist-info/INSTALLER")
    put(tmp_path, "/home/you/miniforge3/envs/train/lib/python3.11/site-packages/torch-2.5.1.dist-info/INSTALLER")
    put(tmp_path, "/home/you/miniforge3/envs/train/conda-meta/pytorch-2.5.1-cuda126_py311h1234567_300.json")
    assert _packages(tmp_path) == [(Package("torch", "2.4.0"), Package("pytorch", "2.5.1", "cuda126_py311h1234567_300"))]


def test_environment_without_any_has_none(tmp_path: Path) -> None:
    make_venv(tmp_path, "/home/you/.venv")
    assert _packages(tmp_path) == [()]
