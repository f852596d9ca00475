"""What MATLAB, Blender, Julia, OpenCV, Ollama and hashcat say in sentences of their own."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.applications import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem


@pytest.mark.parametrize(
    ("words", "served", "cuda"),
    [
        (
            "The CUDA driver on your system supports CUDA version 5.5. The required CUDA version\n    is 7.5 or greater.",
            "5.5",
            "7.5",
        ),
        ("This version of CUDA.jl only supports NVIDIA drivers for CUDA 10.1 or higher (yours is for CUDA 9.2.0)", "9.2", "10.1"),
        ("CUDA driver 8.0.0 is not compatible with any supported CUDA toolkit (11.4.4, 11.5.2 or 12.3.1)", "8.0", "11.4"),
    ],
)
def test_driver_that_a_program_refuses_is_compared(words: str, served: str, cuda: str) -> None:
    told = parameters(SIGNATURES, words)
    assert problem(SIGNATURES, words) == "driver-too-old-for-cuda"
    assert str(told["served"]).startswith(served)
    assert str(told["cuda"]).startswith(cuda)


def test_program_older_than_the_driver_is_no_fault_of_the_driver() -> None:
    words = "only supports NVIDIA drivers for CUDA 11.x or 12.x (yours is for CUDA 13.0.0)"
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"


@pytest.mark.parametrize(
    ("words", "driver"),
    [
        (
            "symbol lookup for cuCtxCreate_v3 failed: /usr/lib64/libcuda.so.460.106.00: undefined symbol: cuCtxCreate_v3",
            "460.106.00",
        ),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1: undefined symbol: cuMemCreate", ""),
        ("/usr/lib/libnvidia-ml.so.1: undefined symbol: nvmlDeviceGetComputeRunningProcesses_v3", ""),
        ("cuFuncSetAttribute is missing from CUDA shared library.", ""),
    ],
)
def test_function_that_the_driver_lacks_dates_it(words: str, driver: str) -> None:
    assert problem(SIGNATURES, words) == "driver-too-old-for-cuda"
    assert parameters(SIGNATURES, words).get("driver", "") == driver


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("CUDA binary kernel for this graphics card compute capability (7.5) not found.", "no-kernel-image"),
        ("CUDA GPU is too old. Falling back to CPU mode. Compute Capability detected: 5.2", "no-kernel-image"),
        ("OpenCV was not built to work with the selected device. Please check CUDA_ARCH_PTX or CUDA_ARCH_BIN", "no-kernel-image"),
        ("Failed to load CUDA kernel from 'kernel_compute_75.ptx' (Unsupported PTX version)", "ptx-newer-than-driver"),
        ("System is out of GPU and shared host memory", "oom-true"),
        ("Illegal address in cuCtxSynchronize() (queue.cpp:133)", "illegal-memory-access"),
        ("LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs:/opt/lib\nError -1 calling cuDriverGetVersion", "ld-library-path-stubs"),
    ],
)
def test_own_sentence_is_read(words: str, cause: str) -> None:
    assert problem(SIGNATURES, words) == cause


def test_stubs_for_the_linker_are_no_fault() -> None:
    assert problem(SIGNATURES, "export LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs\nTest PASSED") == ""
