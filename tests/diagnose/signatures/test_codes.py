"""Every row of the table of codes leads to what it says, in each of its spellings, and a number that is no code to nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuassist.diagnose.signatures.codes import by_state
from gpuassist.knowledge.codes import CodeRecord, CodeState
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each
from tests.values import knowledge

TABLE = knowledge().codes
ROWS = TABLE.all()
# How a program's line says whose code it is.
LIBRARY = {
    "cudaError_t": "CUDA",
    "CUresult": "CUDA driver",
    "nvmlReturn_t": "NVML",
    "CUptiResult": "CUPTI",
    "cudnnStatus_t": "cuDNN",
    "cublasStatus_t": "cuBLAS",
    "cufftResult": "cuFFT",
    "cusolverStatus_t": "cuSOLVER",
    "curandStatus_t": "cuRAND",
    "cusparseStatus_t": "cuSPARSE",
    "ncclResult_t": "NCCL",
    "nvrtcResult": "NVRTC",
    "nvJitLinkResult": "nvJitLink",
    "NppStatus": "NPP",
    "OptixResult": "OptiX",
}
_BEGINNING = re.compile(r"^([A-Z]+)_(ERROR|STATUS)_|^cudaError(?=[A-Z])")


def spellings(row: CodeRecord) -> Iterator[str]:
    """The name as it is, as a value of its type, and as languages with types of their own spell it."""
    yield row.name
    yield f"call failed: {row.enum}::{row.name}"
    yield f"<{row.enum}.{row.name}: {row.number}>"
    start = _BEGINNING.match(row.name)
    if start is not None:
        short = row.name[start.end() :]
        camel = "".join(part.capitalize() for part in short.split("_")) if start[1] else short
        library, kind = (start[1].capitalize(), start[2].capitalize()) if start[1] else ("Cuda", "Error")
        yield f"Err({library}{kind}::{camel})"
        yield f"{library}{kind}_{camel}: it failed"


def sentences(row: CodeRecord) -> Iterator[str]:
    if row.words and row.enum in LIBRARY:
        yield f"{LIBRARY[row.enum]} error: {row.words}"
        yield f"RuntimeError: {LIBRARY[row.enum]} call failed: {row.words}\n"


def means(row: CodeRecord, words: str) -> None:
    state = TABLE.state(row)
    assert state is not None
    found = read(CODES, words)
    if state.weight is None:
        assert {clue.problem for clue in found} == set()
        return
    surest = {clue.problem for clue in found if clue.weight is found[0].weight}
    assert state.problem in surest, (state.problem, found)
    # A library that says itself that memory ran out could not start because of that.
    assert found[0].weight is state.weight or "out of memory" in words


# A name without the library's is too common to be read; a number of the driver that has no name in the runtime is told by both.
_NAMED = [row for row in ROWS if row.enum not in {"SXid", "TensorRT ErrorCode"}]
_NUMBERED = [row for row in ROWS if row.enum in LIBRARY and row.enum != "CUresult"]


@for_each("row,words", [(row, words) for row in _NAMED for words in spellings(row)])
def test_every_name_leads_to_what_its_row_says_in_any_spelling(row: CodeRecord, words: str) -> None:
    means(row, words)


@for_each("row,words", [(row, words) for row in ROWS if not row.until for words in sentences(row)])
def test_every_sentence_leads_to_what_its_row_says(row: CodeRecord, words: str) -> None:
    means(row, words)


@for_each("row", _NUMBERED)
def test_every_number_leads_to_what_its_row_says(row: CodeRecord) -> None:
    meant = {state.problem for one in TABLE.numbered((row.enum,), row.number) if (state := TABLE.state(one))} - {""}
    found = problems(CODES, f"{LIBRARY[row.enum]} error {row.number}")
    assert bool(found) == bool(meant), found
    assert not meant or meant & found
    assert problems(CODES, f"{LIBRARY[row.enum]} call failed with error code {row.number}.") == found


@for_each("row", [row for row in ROWS if row.enum == "SXid" and row.number])
def test_every_event_of_a_switch_is_told_with_its_name(row: CodeRecord) -> None:
    line = f"nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): {row.number:05d}, Fatal, Link 12 (First)"
    assert [(clue.problem, clue.weight) for clue in read(CODES, line)] == [("xid-other", Weight.CAUSE)]
    assert parameters(CODES, line)["name"] in row.name


def test_every_state_is_used_and_leads_somewhere_or_says_why_not() -> None:
    assert {row.state for row in ROWS} == set(TABLE.states)
    assert set(by_state()) <= set(TABLE.states)
    assert all(bool(one.reason) != bool(one.problem) for one in TABLE.states.values())
    assert all((one.weight is None) == (not one.problem) for one in TABLE.states.values())


def test_every_enum_is_whole() -> None:
    """The enums whose numbers have no holes, and how many values each header named on the day that it was read."""
    for enum, size in {"nvmlReturn_t": 32, "CUptiResult": 49, "ncclResult_t": 9, "nvJitLinkResult": 19, "SXid": 421}.items():
        assert sum(row.enum == enum and not row.until for row in ROWS) == size
    assert len({(row.enum, row.number, row.name) for row in ROWS}) == len(ROWS)


PROGRAMS = [
    ("CUDA_ERROR_NO_DEVICE", "nvidia-smi-no-devices"),
    ("cudaErrorNoDevice", "nvidia-smi-no-devices"),
    ("CUDA error 100", "nvidia-smi-no-devices"),
    (
        'CUDA error at ../../common/inc/helper_cuda.h:1162 code=100(cudaErrorNoDevice) "cudaGetDeviceCount(&n)"',
        "nvidia-smi-no-devices",
    ),
    ("error code=100(cudaErrorNoDevice)", "nvidia-smi-no-devices"),
    ("CUDA driver error: 35", "driver-too-old-for-cuda"),
    ("cudart init failure: 999", "cuda-init-failed-driver-state"),
    ("CUDA failure 2: out of memory ; GPU=0 ; hostname=node1", "oom-true"),
    ("cuInit returned 3", "cuda-init-failed-driver-state"),
    ("cuInit(0) failed: 999", "cuda-init-failed-driver-state"),
    ("Failed to initialise CUDA runtime (err_no=35)", "driver-too-old-for-cuda"),
    ("RuntimeError: cuda runtime error (35) at /pytorch/aten/src/THC/THCGeneral.cpp:51", "driver-too-old-for-cuda"),
    ("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", "profiler-counter-permission"),
    ("Failed to start counters: CUPTI error 35", "profiler-counter-permission"),
    ("cuptiActivityEnable failed with error 35", "profiler-counter-permission"),
    ("NVML: Insufficient Permissions", "device-permissions"),
    ("nvmlInit failed with 9", "driver-not-loaded"),
    ("nvmlInit_v2() returned 9", "driver-not-loaded"),
    ("nvmlInit failed: 18", "driver-library-mismatch"),
    ("RuntimeError: NCCL error: ncclInvalidUsage", "cuda-visible-devices-bad"),
    ("cuDNN status 4", "cudnn-version-mismatch"),
    ("CUDNN_STATUS_NOT_INITIALIZED", "cudnn-version-mismatch"),
    ("nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 12 egress non-posted PRIV error (First)", "xid-other"),
    (
        "thrust::system::system_error\n  what():  parallel_for failed: cudaErrorInvalidDevice: invalid device ordinal",
        "cuda-visible-devices-bad",
    ),
    ('Error: CudaError(DriverError(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected"))', "nvidia-smi-no-devices"),
    ("ERROR: CUDA error: no CUDA-capable device is detected (code 100, ERROR_NO_DEVICE)", "nvidia-smi-no-devices"),
    (
        "ManagedCuda.CudaException: ErrorNoDevice: This indicates that no CUDA-capable devices were detected",
        "nvidia-smi-no-devices",
    ),
    ("call to cuInit returned error 100: No device", "nvidia-smi-no-devices"),
    ("call to cuStreamSynchronize returned error 700: Illegal address during kernel execution", "illegal-memory-access"),
    ("call to cuInit returned error 999: Unknown", "cuda-init-failed-driver-state"),
    ("jcuda.CudaException: CUDA_ERROR_NO_DEVICE", "nvidia-smi-no-devices"),
    ("hashcat: cuInit(): no CUDA-capable device is detected", "nvidia-smi-no-devices"),
    ("cuModuleLoadDataEx(): 209", "no-kernel-image"),
    ("Check failed: error == cudaSuccess (38 vs. 0)  no CUDA-capable device is detected", "nvidia-smi-no-devices"),
    ("Check failed: error == cudaSuccess (35 vs. 0)", "driver-too-old-for-cuda"),
    ("Check failed: status == CUDNN_STATUS_SUCCESS (4 vs. 0)", "cudnn-version-mismatch"),
    ("[TRT] CUDA initialization failure with error: 222", "ptx-newer-than-driver"),
    (
        "[TensorRT] ERROR: CUDA initialization failure with error 35. Please check your CUDA installation: http://docs.nvidia.com/cuda/",
        "driver-too-old-for-cuda",
    ),
    (
        "RuntimeError: cuda runtime error (59) : device-side assert triggered at /opt/conda/conda-bld/pytorch/THCStorage.cpp:36",
        "device-side-assert",
    ),
    ("RuntimeError: cuda runtime error (77) : an illegal memory access was encountered", "illegal-memory-access"),
    ("GPU #0: CUDA error 77 in func cuda_check", "illegal-memory-access"),
    ("RuntimeError: cuda runtime error (48) : no kernel image is available for execution on the device", "no-kernel-image"),
    ("RuntimeError: cuda runtime error (8) : invalid device function", "no-kernel-image"),
    (
        "RuntimeError: cuda runtime error (46) : all CUDA-capable devices are busy or unavailable at /pytorch/Module.cpp:37",
        "cuda-init-failed-driver-state",
    ),
    (
        "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCGeneral.cpp line=51 error=38 : no CUDA-capable device is detected",
        "nvidia-smi-no-devices",
    ),
    (
        "THCudaCheck FAIL file=/pytorch/aten/src/THC/THCGeneral.cpp line=74 error=30 : unknown error",
        "cuda-init-failed-driver-state",
    ),
    ("numba.cuda.cudadrv.driver.CudaAPIError: [803] Call to cuInit results in UNKNOWN_CUDA_ERROR", "driver-library-mismatch"),
    ("cudaGetDeviceCount returned 802", "fabric-manager-not-running"),
    (
        "cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version\nResult = FAIL",
        "driver-too-old-for-cuda",
    ),
    ("pynvml.nvml.NVMLError_LibRmVersionMismatch: Driver/library version mismatch", "driver-library-mismatch"),
    ("NVMLError_DriverNotLoaded: Driver Not Loaded", "driver-not-loaded"),
    ("nvml: ERROR_LIBRARY_NOT_FOUND", "no-driver"),
    ("Failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND", "no-driver"),
    ("failed to initialize nvml: ERROR_DRIVER_NOT_LOADED", "driver-not-loaded"),
    ("Failed to initialize NVML: ERROR_UNKNOWN", "container-lost-gpu-after-daemon-reload"),
    ("nvml error: GPU is lost", "xid-79-gpu-fell-off-bus"),
    ("<CUresult.CUDA_ERROR_NO_DEVICE: 100>", "nvidia-smi-no-devices"),
    ("cudaError_t::cudaErrorNoDevice", "nvidia-smi-no-devices"),
    ("thread 'main' panicked at 'called `Result::unwrap()` on an `Err` value: CudaError::NoDevice'", "nvidia-smi-no-devices"),
    ("rustacuda: CudaError(NoDevice)", "nvidia-smi-no-devices"),
    ("CUBLAS error: 1 when calling cublasCreate", "cublas-init-failed-oom"),
    ("cublasCreate failed with status 3", "cublas-init-failed-oom"),
    ("RuntimeError: cusolver error: 7, when calling `cusolverDnCreate(handle)`", "cublas-init-failed-oom"),
    ("CUFFTError: CUFFT_INTERNAL_ERROR", "cublas-init-failed-oom"),
    ("cufftPlan1d returned 2", "cublas-init-failed-oom"),
    ("NVRTC error: NVRTC_ERROR_BUILTIN_OPERATION_FAILURE", "missing-cuda-runtime-lib"),
    ("nvrtcCompileProgram failed with error 7", "missing-cuda-runtime-lib"),
    ("error 700 returned by cuCtxSynchronize", "illegal-memory-access"),
    ("CUDA error 702 in cuStreamSynchronize", "kernel-timed-out"),
    ("OPTIX_ERROR_UNSUPPORTED_ABI_VERSION", "driver-too-old-for-cuda"),
    ("optixInit failed with error 7801", "driver-too-old-for-cuda"),
    ("OptiX call 'optixAccelBuild' failed: OPTIX_ERROR_DEVICE_OUT_OF_MEMORY", "oom-true"),
    ("CUDA error 54: exclusive-thread device already in use by a different thread", "compute-mode-exclusive"),
    ("CUDA error: 214", "ecc-errors"),
    ("cuda error code 804", "cuda-compat-conflict"),
    ("NVML_ERROR_RESET_REQUIRED", "gpu-reset-required"),
    ("CUDA_ERROR_DEVICE_NOT_LICENSED", "vgpu-unlicensed"),
    ("cudaMalloc failed with error code 2", "oom-true"),
    ("CUDA Error: 2 (out of memory)", "oom-true"),
    ("nvjitlink: kFAILED_ALLOCATION", "oom-true"),
    ("nvJitLinkError: NVJITLINK_ERROR_OUTDATED_LIBRARY", "mixed-nvidia-pip-wheels"),
    ("NPP_NOT_SUFFICIENT_COMPUTE_CAPABILITY", "no-kernel-image"),
    ("nppiResize failed with status -1027", "no-kernel-image"),
    (
        "MATLAB: An unexpected error occurred during CUDA execution. The CUDA error was:\nCUDA_ERROR_NO_DEVICE",
        "nvidia-smi-no-devices",
    ),
    ("code=100(cudaErrorNoDevice)", "nvidia-smi-no-devices"),
    ("NCCL error 2", "nccl-shm"),
    ("cuInit: 304", "cuda-init-failed-driver-state"),
    ("RuntimeError: CUDA error: OS call failed or operation not supported on this OS", "cuda-init-failed-driver-state"),
    ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "ptx-newer-than-driver"),
]


@for_each("words,expected", PROGRAMS)
def test_programs_print_codes_in_their_own_ways(words: str, expected: str) -> None:
    assert expected in problems(CODES, words)


@for_each("state", [one for one in TABLE.states.values() if one.wordings])
def test_programs_own_sentences_lead_where_the_code_leads(state: CodeState) -> None:
    for words in state.wordings:
        assert state.problem in problems(CODES, f"CUDA error in cuLaunchKernel: {words}"), words


NO_CODE = [
    "CUDA error handling: 3 ways",
    "cudnn status: 8.9",
    "CUDA device 0: failed 2 of 3 tests",
    "CUDA failure rate: 2%",
    "cuda error: 2 GPUs needed",
    "cublas max error = 2",
    "cuFFT error 1e-6",
    "cufft max abs error: 2",
    "CUDA result 35",
    "cusolver status 0 info 3",
    "cudaMemcpy returned 700 MB/s",
    "cuda kernel returned 100",
    "CUDA result: 100",
    "Result of cuda kernel = 2",
    "CPU vs CUDA error: 3",
    "relative error cuda 2",
    "NCCL test error 2e-7",
    "nccl-tests: #wrong 0, status 2 ok",
    "[CUDA] Test 3 failed: 2",
    "CUDA returned 8 devices",
    "cuda memory status 35 percent",
    "Downloading cuda-12.4 returned 404",
    "cuda: error code 0",
    "cuBLAS result 7",
    "mean error (cuda): 3",
    "cudaGetLastError: 0",
    "nppGetLibVersion returned 12",
    "cudaDriverGetVersion returned 12040",
    "cudaRuntimeGetVersion returned 100",
    "cuDriverGetVersion() returned 100",
    "cudaDeviceGetAttribute returned 35",
    "nvmlSystemGetCudaDriverVersion returned 12",
    "nvmlDeviceGetTemperature returned 15",
    "nvmlDeviceGetTemperature() = 35",
    "cudnnGetVersion() returned 8",
    "cudnnGetVersion: 8902",
    "cublasGetVersion returned 11",
    "CUDA error: kernel launch failed: invalid configuration argument",
    "The launch failed, so we sold no GPU",
    "CUDA error: invalid argument",
    "cudaErrorInvalidValue",
    "CUDA_SUCCESS and CUBLAS_STATUS_SUCCESS",
    "the operation is not supported on this platform",
    "ERROR: Driver not initialized (webdriver)",
    "Timeout: no data, not found, already initialized",
    "took 100 ms",
    "error rate 2",
    "epoch 35",
    "cuda:2",
    "device: cuda:2, took 100 ms per step",
    "Epoch 35: loss 2.0, cuda:2",
    "CUDA 12 ok, 35 tests passed, 2 failed",
    "CUDA tests failed: 3 of 100",
    "make: *** [cuda] Error 2",
    "make[1]: *** [Makefile:24: cuda_kernels.o] Error 2",
    "curl: (35) error: https://developer.download.nvidia.com/compute/cuda/x failed with error 35",
    "cuda installer exited with status 2",
    "cudaGetDeviceCount returned 2 devices",
    "cudaGetDeviceCount() returned 2",
    "nvmlDeviceGetCount returned 3",
    "NCCL version 2.18.3 status: 0",
    "CUDA error count: 0",
    "CUDA_SUCCESS",
    "cudaGetLastError returned 0",
    "nccl 2 ranks, cublas status 0",
    "cuDNN 8, error 2% higher on cuda",
    "custom error 2 in current result 100",
    "current status 100",
    "cuckoo error 999",
    "HTTP status 100 from cuda mirror",
    "cudnn result 4 ms",
    "cuda memory: 2 GB, error margin 3",
    "cuda result 2.5",
    "error: 35 files changed, cuda.py",
    "returned 35 rows in 2 s",
    "CUDA kernel launch 100 took 2 ms",
    "test_cuda_error_2 passed",
    "def test_cuda_error_35(): pass",
    "FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/x'",
]


@for_each("words", NO_CODE)
def test_number_of_something_else_is_no_code(words: str) -> None:
    assert problem(CODES, words) == ""
