"""What somebody who knows the field expects of forty names: ten GPUs, ten torch releases, ten packages, ten images.

The values are from pages and package indexes, not from this program: NVIDIA's CUDA GPUs page and release notes (first and last CUDA
and driver of an architecture), the driver's README (open kernel modules), PyTorch's RELEASE.md and previous-versions page, PyPI's
metadata (pins, last releases), conda-forge's feedstocks, and the release notes of NVIDIA's containers.
"""

from __future__ import annotations

from typing import Any

from gpuassist.model.codec import Json
from gpuassist.session.lookup.answer import LookupStatus
from gpuassist.session.lookup.ask import SHELVES
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

GPUS = [
    # CUDA GPUs page: 8.9; CUDA 11.8 release notes: Ada; README of the driver: open modules from Turing on.
    ("RTX 4060", {"compute_capability": "8.9", "first_cuda": "11.8", "last_cuda": None, "last_driver": None}),
    ("RTX 4060", {"open_module": "possible", "torch_builds.cu118.newest": "2.7.1", "torch_builds.cu132.newest": "2.15.0"}),
    # CUDA 12.8 release notes: Blackwell, driver 570; PyTorch 2.7 release notes: Blackwell from cu128 on.
    ("rtx5090", {"compute_capability": "12.0", "first_cuda": "12.8", "open_module": "required", "memory_bytes": 32 << 30}),
    ("10de:2b85", {"torch_builds.cu128.first": "2.7.0", "torch_builds.cu118": None, "torch_builds.cu126": None}),
    # CUDA 13.0 release notes: Maxwell, Pascal and Volta removed; R580 is their last branch; PyTorch 2.14 is the last with cu126.
    ("GTX 1080 Ti", {"first_cuda": "8.0", "last_cuda": "12.9", "last_driver": "580", "open_module": "impossible"}),
    ("GTX 1080 Ti", {"torch_builds.cu126.newest": "2.14.1", "torch_builds.cu130": None, "plan.torch": "2.14.1+cu126"}),
    # CUDA 12.0 release notes: Kepler removed; R470 is its last branch; cu118 ended with torch 2.7.
    ("Tesla K80", {"compute_capability": "3.7", "last_cuda": "11.8", "last_driver": "470", "torch_builds.cu118.newest": "2.7.1"}),
    ("V100", {"compute_capability": "7.0", "first_cuda": "9.0", "last_cuda": "12.9", "last_driver": "580", "plan.driver": 580}),
    # Kepler's 3.5: no build that is known in detail has sm_35, and sm_37 does not run on it.
    ("GT 710", {"compute_capability": "3.5", "first_cuda": "5.0", "last_cuda": "11.8", "torch_builds": [], "plan.torch": None}),
    # A laptop's is another chip than the desktop's of its name.
    ("RTX 4090 Laptop GPU", {"compute_capability": "8.9", "memory_bytes": 16 << 30, "first_driver": "525.89.02"}),
    ("A100-SXM4-80GB", {"compute_capability": "8.0", "first_cuda": "11.0", "open_module": "possible", "plan.open_module": True}),
    # Three chips of one name: Fermi and Kepler. Each has its own answers.
    ("GT 730", {"compute_capability": None, "first_cuda": None, "others.0.last_driver": "390", "others.1.last_driver": "470"}),
]

TORCHES = [
    # previous-versions page; CUDA Compatibility, minor-version compatibility: 11.x from 450.80.02 and on Windows from 452.39.
    ("2.5.1+cu118", {"cuda": "11.8", "driver_floor_linux": "450.80.02", "driver_floor_windows": "452.39"}),
    # What pip installs beside it: Requires-Dist of the wheel.
    (
        "2.5.1+cu118",
        {
            "pins": {
                "nvidia-cublas-cu11": "11.11.3.6",
                "nvidia-cuda-cupti-cu11": "11.8.87",
                "nvidia-cuda-nvrtc-cu11": "11.8.89",
                "nvidia-cuda-runtime-cu11": "11.8.89",
                "nvidia-cudnn-cu11": "9.1.0.70",
                "nvidia-cufft-cu11": "10.9.0.58",
                "nvidia-curand-cu11": "10.3.0.86",
                "nvidia-cusolver-cu11": "11.4.1.48",
                "nvidia-cusparse-cu11": "11.7.5.86",
                "nvidia-nccl-cu11": "2.21.5",
                "nvidia-nvtx-cu11": "11.8.86",
                "triton": "3.1.0",
            }
        },
    ),
    ("2.5.1", {"companions.torchvision": "0.20.1", "companions.torchaudio": "2.5.1", "variants.cu124.default_index": True}),
    ("2.5.1", {"variants.cu121.driver_floor_linux": "525.60.13", "variants.cu121.driver_floor_windows": "528.33"}),
    ("2.5.1+cu124", {"cuda": "12.4", "conda.pytorch": ["pytorch=2.5.1", "pytorch-cuda=12.4"]}),
    ("2.9", {"companions.torchvision": "0.24.1", "variants.cu130.driver_floor_linux": "580.65.06"}),
    ("2.9.1+cu130", {"cuda": "13.0", "driver_floor_windows": None, "conda.pytorch": None}),
    # No torchaudio belongs to torch 2.12 and newer.
    ("2.12", {"companions.torchvision": "0.27.1", "companions.torchaudio": None}),
    ("2.15.0", {"variants.cu132.default_index": True, "variants.cu126": None, "python": ["3.11", "3.12", "3.13", "3.14", "3.15"]}),
    ("1.12.1", {"variants.cu113.cuda": "11.3", "conda.conda-forge": ["pytorch=1.12.1=cuda*", "cudatoolkit=11.2"]}),
    ("2.0.1+cu117", {"cuda": "11.7", "pins.nvidia-cudnn-cu11": "8.5.0.96", "companions.torchvision": "0.15.2"}),
    # 1.13.0 had nothing but the CUDA 11.7 wheels too; its own pins were not measured: not known.
    ("1.13.0+cu117", {"pins": None, "driver_floor_linux": "450.80.02"}),
]

PACKAGES = [
    # conda-forge/cudatoolkit-feedstock: 9.2 to 11.8; it has libraries and no nvcc.
    ("wheel", "cudatoolkit", {"manager": "conda", "last": "11.8.0", "compilers": []}),
    ("conda", "cudatoolkit", {"last": "11.8.0", "cuda_majors": [9, 10, 11], "driver_floors_linux.11": "450.80.02"}),
    ("conda", "pytorch-cuda", {"channel": "pytorch", "last": "12.4", "cuda_majors": [11, 12]}),
    ("conda", "pytorch 1.12.1", {"version": "1.12.1"}),
    ("conda", "pytorch-gpu", {"channel": "conda-forge"}),
    # PyPI, 2026-11-23.
    ("wheel", "tensorrt", {"last": "11.4.0.106"}),
    ("wheel", "tensorrt-cu12", {"last": "11.4.0.106", "cuda_majors": [12], "driver_floors_linux.12": "525.60.13"}),
    ("wheel", "tensorrt-cu11", {"last": "10.13.0.35", "cuda_majors": [11], "driver_floors_linux.11": "450.80.02"}),
    ("wheel", "nvidia-cudnn-cu12==9.1.0.70", {"last": "9.28.0.42", "cuda_majors": [12], "driver_floors_windows.12": "528.33"}),
    (
        "wheel",
        "nvidia_cublas_cu11",
        {"last": "11.11.3.6", "libraries": ["libcublas.so.11", "libcublasLt.so.11", "libnvblas.so.11"]},
    ),
]

IMAGES = [
    # TensorRT container notes 24.11 (chapter 24.08); Triton 24.08 notes: "based on CUDA 12.6"; TensorRT 10.3 in its build.
    (
        "tensorrt:24.08-py3",
        {"cuda": "12.6.0", "tensorrt": "10.3.0", "python": "3.10", "os": "ubuntu22.04", "driver_min_linux": "560"},
    ),
    # Triton 25.06 notes: CUDA 12.9.1, driver 575, compute capability 7.5 and later; version from the release branch.
    ("tritonserver:25.06-py3", {"cuda": "12.9.1", "version": "2.59.0", "driver_min_linux": "575", "compute_capability_min": "7.5"}),
    ("nvcr.io/nvidia/tritonserver:24.08-py3", {"cuda": "12.6.0", "version": "2.49.0", "driver_min_linux": "560"}),
    ("nvcr.io/nvidia/tritonserver:26.10-py3", {"cuda": "13.4.3", "compute_capability_min": "7.5"}),
    # What its users saw inside: CUDA 12.9, JAX 0.5.3.dev.
    ("nvcr.io/nvidia/jax:25.04-py3", {"cuda": "12.9.0", "version": "0.5.3.dev", "torch": ""}),
    ("jax:26.05-py3", {"cuda": "13.2.1", "version": "0.10.0"}),
    # JAX's first images stood on another base than the month's: nothing is told of 23.10's CUDA.
    ("jax:23.10-py3", {"cuda": None, "version": None}),
    ("tensorflow:25.02-tf2-py3", {"cuda": "12.8.0", "version": "2.17.0", "python": "3.12", "torch": ""}),
    ("nvcr.io/nvidia/tensorflow:23.01-tf1-py3", {"cuda": "12.0.1", "version": "1.15.5", "driver_min_linux": "525"}),
    ("nvcr.io/nvidia/pytorch:25.06-py3", {"cuda": "12.9.1", "torch": "2.8.0a0+5228986c39", "tensorrt": "10.11.0"}),
]

_MISSING = object()


def found(kind: str, words: str) -> dict[str, Json]:
    answered = SHELVES[kind].answer(KNOWLEDGE, words)
    assert answered.standing in {LookupStatus.KNOWN, LookupStatus.OLDER}, (kind, words, answered.nearest)
    return answered.record


def value(record: Any, path: str) -> Any:
    """A field of a record; of a list the record of that tag, channel or place, None where there is none."""
    for piece in path.split("."):
        if record is None:
            return None
        if isinstance(record, dict):
            record = record.get(piece, _MISSING)
        elif piece.isdigit():
            record = record[int(piece)] if int(piece) < len(record) else None
        else:
            record = next((one for one in record if piece in {one.get("tag"), one.get("channel")}), None)
    return record


def agrees(kind: str, words: str, expected: dict[str, Any]) -> None:
    record = found(kind, words)
    for path, wanted in expected.items():
        got = value(record, path)
        if path.startswith("conda.") and isinstance(got, dict):
            got = got["specs"]
        if got is _MISSING and wanted is None:
            got = None
        assert got == wanted, (words, path, got)


@for_each(("words", "expected"), GPUS)
def test_a_gpu_is_answered_as_expected(words: str, expected: dict[str, Any]) -> None:
    agrees("gpu", words, expected)


@for_each(("words", "expected"), TORCHES)
def test_a_torch_is_answered_as_expected(words: str, expected: dict[str, Any]) -> None:
    agrees("torch", words, expected)


@for_each(("kind", "words", "expected"), PACKAGES)
def test_a_package_is_answered_as_expected(kind: str, words: str, expected: dict[str, Any]) -> None:
    agrees(kind, words, expected)


@for_each(("words", "expected"), IMAGES)
def test_an_image_is_answered_as_expected(words: str, expected: dict[str, Any]) -> None:
    agrees("image", words, expected)
