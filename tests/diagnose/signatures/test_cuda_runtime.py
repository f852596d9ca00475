"""What CUDA programs say when a kernel fails leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import cuda_runtime
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each
from tests.values import Recipe, machine

SIGNATURES = (*cuda_runtime.SIGNATURES, *CODES)

PTX = "CUDA error: the provided PTX was compiled with an unsupported toolchain."
NO_IMAGE = "CUDA error: no kernel image is available for execution on the device"
ASSERTION = (
    "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [45,0,0], thread: [0,0,0] Assertion"
    " `srcIndex < srcSelectDimSize` failed."
)


@for_each(
    ("words", "expected"),
    [
        ("RuntimeError: CUDA error: device-side assert triggered", "device-side-assert"),
        ("RuntimeError: cuda runtime error (710) : device-side assert triggered at ClassNLLCriterion.cu:115", "device-side-assert"),
        ("RuntimeError: cuda runtime error (59) : device-side assert triggered at THCTensorMath.cu:26", "device-side-assert"),
        ("torch.AcceleratorError: CUDA error: device-side assert triggered", "device-side-assert"),
        ("CUDA_ERROR_ASSERT", "device-side-assert"),
        (ASSERTION, "device-side-assert"),
        (
            "../aten/src/ATen/native/cuda/Loss.cu:250: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [8,0,0]"
            " Assertion `t >= 0 && t < n_classes` failed.",
            "device-side-assert",
        ),
        ("CUDA error: an illegal memory access was encountered", "illegal-memory-access"),
        ("cuda runtime error (77) : an illegal memory access was encountered at THCReduceAll.cuh:317", "illegal-memory-access"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered", "illegal-memory-access"),
        ("CUDA error: misaligned address", "illegal-memory-access"),
        ("CUDA error: an illegal instruction was encountered", "illegal-memory-access"),
        ("RuntimeError: CUDA error: unspecified launch failure", "illegal-memory-access"),
        ("CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure", "illegal-memory-access"),
        (f"RuntimeError: {NO_IMAGE}", "torch-lacks-sm"),
        (f"ggml-cuda.cu:100: {NO_IMAGE}", "no-kernel-image"),
        (f"  File site-packages/xformers/ops/fmha.py\nRuntimeError: {NO_IMAGE}", "no-kernel-image"),
        ("CUDA_ERROR_NO_BINARY_FOR_GPU", "no-kernel-image"),
        ("error in ms_deformable_im2col_cuda: CUDA error: invalid device function", "no-kernel-image"),
        (PTX, "ptx-newer-than-driver"),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION (code: 222)", "ptx-newer-than-driver"),
        ("CUDA error: too many resources requested for launch", "kernel-exceeds-gpu"),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "kernel-exceeds-gpu"),
        ("CUDA error: the launch timed out and was terminated", "kernel-timed-out"),
        ("CUDA_ERROR_LAUNCH_TIMEOUT", "kernel-timed-out"),
        ("CUDA error: a PTX JIT compilation failed", "ptx-newer-than-driver"),
        ("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`", "cublas-init-failed-oom"),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cublas-init-failed-oom"),
        ("cusolver error: CUSOLVER_STATUS_NOT_INITIALIZED, when calling `cusolverDnCreate(handle)`", "cublas-init-failed-oom"),
        ("failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED", "cublas-init-failed-oom"),
        ("Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR", "cublas-init-failed-oom"),
        ("CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(handle)`", "cublas-init-failed-oom"),
        ("embedding(input_ids)\nCUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`", "device-side-assert"),
        ("cuFFT error: CUFFT_INTERNAL_ERROR (torch 2.0.1+cu117)", "torch-lacks-sm"),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
        "CUDA kernel errors might be asynchronously reported at some other API call",
        "main.cpp:12: Assertion `x > 0' failed.",
        "kernel.cu:12: error: identifier is undefined",
        "illegal memory access in the kernel log of my router",
        "an unsupported toolchain file for cmake",
        "no kernel image found in /boot",
        "Compile your kernels with nvcc kernel.cu",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_assertion_names_its_place() -> None:
    assert parameters(SIGNATURES, ASSERTION) == {"where": "/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1292"}


def test_failure_after_an_assertion_is_not_the_cause() -> None:
    clues = read(SIGNATURES, f"{ASSERTION}\nCUDA error: an illegal memory access was encountered")
    assert [(clue.problem, clue.weight) for clue in clues] == [
        ("device-side-assert", Weight.CAUSE),
        ("illegal-memory-access", Weight.STATE),
    ]


def test_ptx_error_brings_what_the_machine_and_the_text_tell() -> None:
    told = parameters(SIGNATURES, PTX, machine(Recipe(driver="535.54.03", cuda="12.2")))
    assert told == {"cuda": "12.4", "driver": "535.54.03", "served": "12.2", "capability": "8.9"}


@pytest.mark.parametrize(
    ("line", "cuda", "capability"),
    [
        ("Cuda compilation tools, release 11.2, V11.2.67", "11.2", ""),
        ("CUDA: release 11.2, V11.2.67", "11.2", ""),
        ("[host][0]:major=8, minor=6", "", "8.6"),
        ("Device 0: compute capability 7.5", "", "7.5"),
    ],
)
def test_ptx_error_reads_release_and_card_in_the_text(line: str, cuda: str, capability: str) -> None:
    told = parameters(SIGNATURES, f"{line}\n{PTX}")
    assert (told.get("cuda", ""), told.get("capability", "")) == (cuda, capability)


def test_extension_without_the_card_is_named() -> None:
    words = f'  File "/venv/site-packages/xformers/ops/fmha.py"\nRuntimeError: {NO_IMAGE}'
    assert parameters(SIGNATURES, words, machine(Recipe())) == {
        "gpu": "RTX 4090",
        "package": "xformers",
        "capability": "8.9",
        "cuda": "11.8",
    }


def test_limit_that_was_exceeded_is_told() -> None:
    words = "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376."
    assert problem(SIGNATURES, words) == "kernel-exceeds-gpu"
    assert parameters(SIGNATURES, words) == {
        "resource": "shared memory",
        "needed": "147456",
        "limit": "101376",
        "package": "triton",
    }


@for_each(
    ("words", "expected"),
    [
        ("/tmp/kernel.cuh:42: foo: block: [0,0,0], thread: [0,0,0] Assertion `i < n` failed.", "device-side-assert"),
        ("ScatterGatherKernel.cu(12): block: [0,0,0] Assertion `idx >= 0` failed.", "device-side-assert"),
        ("cudaErrorAssert", "device-side-assert"),
        ("cudaErrorIllegalAddress", "illegal-memory-access"),
        ("cudaErrorMisalignedAddress", "illegal-memory-access"),
        ("cudaErrorIllegalInstruction", "illegal-memory-access"),
        ("CUDA_ERROR_INVALID_PC", "illegal-memory-access"),
        ("CUDA_ERROR_MISALIGNED_ADDRESS", "illegal-memory-access"),
        ("CUDA error: invalid program counter", "illegal-memory-access"),
        ("CUDA error: hardware stack error", "illegal-memory-access"),
        ("kernel: misaligned address at 0x7f00", "illegal-memory-access"),
        ("cudaErrorLaunchFailure", "illegal-memory-access"),
        ("cudaErrorNoKernelImageForDevice", "no-kernel-image"),
        ("CUDA error: device kernel image is invalid", "no-kernel-image"),
        ("cuda runtime error (98) : invalid device function", "no-kernel-image"),
        ("cudaErrorInvalidDeviceFunction", "no-kernel-image"),
        ("cudaErrorUnsupportedPtxVersion", "ptx-newer-than-driver"),
        ("RuntimeError: PTX JIT compiler library not found", "libcuda-missing"),
        ("CUBLAS_STATUS_ARCH_MISMATCH", "no-kernel-image"),
        ("CUSOLVER_STATUS_ARCH_MISMATCH", "no-kernel-image"),
        ("cudaErrorLaunchOutOfResources", "kernel-exceeds-gpu"),
        ("cudaErrorLaunchTimeout", "kernel-timed-out"),
    ],
)
def test_name_of_an_error_means_what_its_words_mean(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize("resource", ["shared memory", "registers", "tensor memory", "threads"])
def test_resource_that_a_kernel_wants_too_much_of_is_told(resource: str) -> None:
    words = f"triton.runtime.errors.OutOfResources: out of resource: {resource}, Required: 147456, Hardware limit: 101376"
    told = parameters(SIGNATURES, words)
    assert (told["resource"], told["needed"], told["limit"]) == (resource, "147456", "101376")


@pytest.mark.parametrize(
    "words",
    [
        "kernel.cu:42: warning: unused variable",
        "kernel.cpp:42: foo: Assertion `i < n` failed.",
        "an illegal instruction of the manual",
        "cudaErrorAssertion",
        "CUBLAS_STATUS_SUCCESS",
        "the launch was successful",
        "out of resource: time",
        "misaligned address 0x7f00",
    ],
)
def test_neighbour_of_an_error_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
