"""What programs say in words of their own: no GPU, a build without CUDA, an old driver, a library that is not there."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import any_program, missing_parts
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*any_program.SIGNATURES, *missing_parts.SIGNATURES)
NONE = (
    "RuntimeError: No GPU found. A GPU is needed for quantization.",
    "MisconfigurationException: You requested to find 2 devices but there are no visible CUDA devices on this machine.",
    'level=INFO msg="no compatible GPUs were discovered"',
    "ValueError: FP8 needs a GPU, but CUDA is not available",
    "Error: unable to find any NVIDIA devices",
    "hashcat: no supported GPU devices found, only the CPU",
    "AssertionError: CUDA is not available.",
    "Failed to detect any usable CUDA GPUs.",
)
TOLD = (
    ("CUDA driver library cannot be found. Ensure that a compatible NVIDIA driver is installed.", "no-driver"),
    ("Failed to load libcuda.so.1", "no-driver"),
    ("ERROR: NVML Shared Library couldn't be found or loaded", "no-driver"),
    ("ERROR: NVIDIA driver is not loaded", "driver-not-loaded"),
    ("The NVIDIA driver is not installed", "no-driver"),
    ("The installed NVIDIA driver is too old. Please install the latest one.", "driver-too-old-for-cuda"),
    ("Driver version is too low to use this API", "driver-too-old-for-cuda"),
    ("Failed to query: GPU lost from the bus", "xid-79-gpu-fell-off-bus"),
    ("Library version doesn't match driver version", "driver-library-mismatch"),
    ("Fabric Manager is not loaded", "fabric-manager-not-running"),
    ("cuDNN is unavailable for CUDA Execution Provider: not loaded", "missing-cuda-runtime-lib"),
    ("Could not find any NVRTC library", "missing-cuda-runtime-lib"),
    ("CUDA was not found on the system, please set the CUDA_HOME or the CUDA_PATH environment variable", "cuda-home-unset"),
    ("nvdisasm has not been found. You may need to install the CUDA toolkit", "nvcc-not-on-path"),
    ("NVTX functions not installed. Are you sure you have a CUDA build?", "torch-cpu-only"),
    ("JAX was not built with GPU support. Please use a GPU-enabled JAX to use this function.", "jax-cpu-only"),
    ("Method 'int8_linear' not available in CPU-only version of bitsandbytes.", "bitsandbytes-cuda-setup"),
    ("lightgbm.basic.LightGBMError: CUDA Tree Learner was not enabled in this build.", "program-without-cuda"),
    ("XGBoost was not compiled with CUDA support", "program-without-cuda"),
    ("cv2.error: No CUDA support. The library is compiled without CUDA support", "program-without-cuda"),
    (
        "NCCL library is too old. This application was compiled with NCCL version 2.21.5, but is running with 2.18.3",
        "nccl-version-mismatch",
    ),
    ("Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token.", "oom-true"),
)
SILENT = (
    "RuntimeError: No AMD GPU found, ROCm is required",
    "failed to detect GPU architecture",
    "Could not find GPU instance 3 on any of the GPUs",
    "AMD driver is too old. Update your AMD driver to enable GPU inference.",
    "CUDA libdevice not found at /opt/file; using Triton's bundled libdevice which may cause minor precision differences",
    "no GPU memory was leaked",
    "the report is not compiled with CUDA numbers in mind",
    "nvidia-fs driver is not loaded",
    "PyTorch was compiled without CUDA support",
)


@for_each("words", NONE)
def test_program_that_finds_no_gpu_says_nothing_of_the_cause(words: str) -> None:
    found = read(SIGNATURES, words)
    assert "no-driver" in {clue.problem for clue in found}
    assert {clue.weight for clue in found} == {Weight.CONSEQUENCE}


@for_each(("words", "expected"), TOLD)
def test_message_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@for_each("words", SILENT)
def test_other_makers_and_side_remarks_are_left_alone(words: str) -> None:
    assert [clue for clue in read(SIGNATURES, words) if clue.weight > Weight.ASIDE] == []


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("XGBoost was not compiled with CUDA support", "XGBoost"),
        ("faiss library is built without GPU", "faiss"),
        ("not built with CUDA support", ""),
    ],
)
def test_program_is_named(words: str, package: str) -> None:
    assert parameters(SIGNATURES, words).get("package", "") == package


def test_place_of_the_program_decides_where_no_gpu_is_found() -> None:
    assert "wsl-driver-or-windows" in problems(SIGNATURES, "WSL2\nNo NVIDIA GPU found")
    assert "container-no-gpu-flag" in problems(SIGNATURES, "in the docker container:\nNo NVIDIA GPU found")
    assert "torch-cpu-only" in problems(SIGNATURES, "lightning: GPUs requested but none are available.")
