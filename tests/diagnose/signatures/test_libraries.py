"""What the loader and programs say of CUDA's libraries."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import libraries
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*libraries.SIGNATURES, *CODES)

MISSING, SHADOWED, MIXED = "missing-cuda-runtime-lib", "ld-library-path-shadows-bundled-libs", "mixed-nvidia-pip-wheels"
CUDNN, NO_PROBLEM = "cudnn-version-mismatch", "not-a-gpu-problem"
NVJITLINK = (
    "ImportError: /env/lib/python3.11/site-packages/torch/lib/../../nvidia/cusparse/lib/libcusparse.so.12: undefined symbol: "
    "__nvJitLinkComplete_12_4, version libnvJitLink.so.12"
)
LISTED = """
nvidia-cublas-cu12       12.8.4.1
nvidia-cuda-cupti-cu12   12.8.90
nvidia-cuda-nvrtc-cu12   12.8.93
nvidia-cuda-runtime-cu12 12.8.90
nvidia-cusparse-cu12     12.5.8.93
nvidia-nvjitlink-cu12    12.1.105
nvidia-nvtx-cu12         12.8.90
"""


@for_each(
    ("words", "library"),
    [
        ("ImportError: libcudart.so.10.2: cannot open shared object file: No such file or directory", "libcudart.so.10.2"),
        ("libcudart.so: cannot open shared object file: No such file or directory", "libcudart.so"),
        ("OSError: libcudart.so.11.0: cannot open shared object file: No such file or directory", "libcudart.so.11.0"),
        ("OSError: libcublas.so.12: cannot open shared object file: No such file or directory", "libcublas.so.12"),
        ("ImportError: libcudnn.so.9: cannot open shared object file", "libcudnn.so.9"),
        ("ImportError: libnvrtc.so.11.2: cannot open shared object file", "libnvrtc.so.11.2"),
        ("ImportError: libcusparseLt.so.0: cannot open shared object file", "libcusparseLt.so.0"),
        ("ImportError: libcupti.so.12: cannot open shared object file", "libcupti.so.12"),
        ("ImportError: libnccl.so.2: cannot open shared object file", "libnccl.so.2"),
        (
            "./app: error while loading shared libraries: libcufft.so.11: cannot open shared object file: No such file",
            "libcufft.so.11",
        ),
        ("ImportError: libnvinfer.so.8: cannot open shared object file: No such file or directory", "libnvinfer.so.8"),
        (
            "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
            "libnvrtc.so",
        ),
        ("Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open", "libcudnn_ops_infer.so.8"),
        ("Unable to load any of {libcudnn_ops.so.9.1.0, libcudnn_ops.so.9.1, libcudnn_ops.so.9}", "libcudnn_ops.so.9.1.0"),
        ("RuntimeError: Library libcublas.so.12 is not found or cannot be loaded", "libcublas.so.12"),
        ("nvrtc: error: failed to open libnvrtc-builtins.so.13.0.\n  Make sure that", "libnvrtc-builtins.so.13.0"),
        ("CuPy failed to load libnvrtc.so.12: OSError", "libnvrtc.so.12"),
        ("Failed to dlopen libcutensor.so.2", "libcutensor.so.2"),
        ("Could not locate cudnn_ops64_9.dll. Please make sure it is in your library path!", "cudnn_ops64_9.dll"),
        ("Could not load library cudnn_ops_infer64_8.dll. Error code 126", "cudnn_ops_infer64_8.dll"),
        ("cudart64_110.dll not found", "cudart64_110.dll"),
        ("ImportError: libcudart.so.11.0: 无法打开共享对象文件: 没有那个文件或目录", "libcudart.so.11.0"),
    ],
)
def test_missing_library_is_named_in_every_wording(words: str, library: str) -> None:
    assert problem(SIGNATURES, words) == MISSING
    assert parameters(SIGNATURES, words)["library"] == library


@pytest.mark.parametrize(
    "words",
    [
        "Unable to load cuDNN. Is it installed?",
        "RuntimeError: cuSPARSE library was not found.",
        "numba.cuda.cudadrv.error.NvvmSupportError: libNVVM cannot be found. Do `conda install cudatoolkit`:",
        "UserWarning: CUDA path could not be detected. Set CUDA_PATH environment variable if CuPy fails to load.",
    ],
)
def test_missing_library_without_its_file_name_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == MISSING


@pytest.mark.parametrize(
    ("library", "cuda"),
    [("libcudart.so.10.2", "10.2"), ("libcudart.so.9.0", "9.0"), ("libcudart.so.11.0", ""), ("libcublas.so.12", "")],
)
def test_release_is_told_where_the_name_has_it(library: str, cuda: str) -> None:
    told = parameters(SIGNATURES, f"ImportError: {library}: cannot open shared object file: No such file or directory")
    assert told.get("cuda", "") == cuda


def test_place_where_the_library_lies_is_told() -> None:
    words = "ImportError: libcudart.so.12: cannot open shared object file\n$ ls /opt/cuda/lib64/libcudart.so.12"
    assert parameters(SIGNATURES, words)["directory"] == "/opt/cuda/lib64"


def test_line_of_tensorflow_is_left_to_its_own_family() -> None:
    words = "Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file"
    assert read(SIGNATURES, words) == ()


def test_older_library_comes_from_the_path_where_nothing_else_tells() -> None:
    assert problem(SIGNATURES, NVJITLINK) == SHADOWED
    assert problems(SIGNATURES, NVJITLINK) == {SHADOWED, MIXED}
    assert parameters(SIGNATURES, NVJITLINK) == {"library": "libnvJitLink"}


def test_directory_of_the_path_is_told() -> None:
    words = f"os.environ['LD_LIBRARY_PATH'] = f\"/opt/conda/lib:/usr/lib\"\n{NVJITLINK}"
    assert parameters(SIGNATURES, words)["directory"] == "/opt/conda/lib"


def test_place_that_the_loader_shows_is_told() -> None:
    words = f"{NVJITLINK}\n\tlibnvJitLink.so.12 => /usr/local/cuda-12.1/lib64/libnvJitLink.so.12 (0x000070ddad800000)"
    assert parameters(SIGNATURES, words)["directory"] == "/usr/local/cuda-12.1/lib64"


def test_list_of_packages_shows_the_one_that_does_not_fit() -> None:
    words = f"{NVJITLINK}\n$ pip list{LISTED}torch                    2.8.0\n"
    assert problem(SIGNATURES, words) == MIXED
    told = parameters(SIGNATURES, words)
    assert told == {"package": "nvidia-nvjitlink-cu12", "installed": "12.1.105", "wanted": "12.8.93", "torch": "2.8.0"}


def test_list_without_torch_shows_it_by_the_others() -> None:
    told = parameters(SIGNATURES, f"{NVJITLINK}\n$ pip list{LISTED}")
    assert told == {"package": "nvidia-nvjitlink-cu12", "installed": "12.1.105"}


@pytest.mark.parametrize("verb", ["requires", "has requirement"])  # of an installation, and of `pip check`
def test_pip_tells_the_package_that_does_not_fit(verb: str) -> None:
    words = (
        f'torch 2.5.1 {verb} nvidia-cudnn-cu12==9.1.0.70; platform_system == "Linux" and platform_machine == '
        '"x86_64", but you have '
        "nvidia-cudnn-cu12 9.5.1.17 which is incompatible."
    )
    assert problem(SIGNATURES, words) == MIXED
    told = {"torch": "2.5.1", "package": "nvidia-cudnn-cu12", "wanted": "9.1.0.70", "installed": "9.5.1.17"}
    assert parameters(SIGNATURES, words) == told


def test_wheel_that_was_made_on_a_newer_system_is_the_wrong_one() -> None:
    words = "libc.so.6: version `GLIBC_2.32' not found (required by /env/site-packages/flash_attn_2_cuda.cpython-310.so)"
    assert problem(SIGNATURES, words) == "flash-attn-abi-mismatch"


def test_older_nccl_in_the_list_is_the_cause() -> None:
    words = "libtorch_cuda.so: undefined symbol: ncclCommRegister\ntorch 2.5.1\nnvidia-nccl-cu12 2.18.1"
    assert problem(SIGNATURES, words) == MIXED
    assert parameters(SIGNATURES, words)["wanted"] == "2.21.5"


def test_list_of_one_set_leaves_the_path() -> None:
    listed = LISTED.replace("12.1.105", "12.8.93")
    assert problem(SIGNATURES, f"{NVJITLINK}\n$ pip list{listed}torch                    2.8.0\n") == SHADOWED


@pytest.mark.parametrize(
    "words",
    [
        "libcublas.so.11: undefined symbol: cublasLtGetStatusString, version libcublasLt.so.11",
        "ImportError: /env/nvidia/cusolver/lib/libcusolver.so.11: undefined symbol: cusparseXcsrgeam2Nnz, "
        "version libcusparse.so.12",
        "ImportError: /env/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister",
        "OSError: /env/nvidia/cublas/lib/libcublas.so.11: symbol cublasLtHSHMatmulAlgoInit version "
        "libcublasLt.so.11 not defined in file "
        "libcublasLt.so.11 with link time reference",
        "/env/torch/lib/libtorch_cuda.so: undefined symbol: cudnnGetLibConfig",
        "ImportError: /env/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowDeregister",
    ],
)
def test_symbol_that_another_library_lacks_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == SHADOWED


@pytest.mark.parametrize(
    ("words", "built", "found"),
    [
        (
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 3, 2) but linked against (8, 0, 3)",
            "8.3.2",
            "8.0.3",
        ),
        (
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found "
            "runtime version (8, 9, 7). "
            "PyTorch already comes bundled with cuDNN.",
            "9.1.0",
            "8.9.7",
        ),
        (
            "Loaded runtime CuDNN library: 8.0.5 but source was compiled with: 8.1.0.  CuDNN library needs to "
            "have matching major version",
            "8.1.0",
            "8.0.5",
        ),
        (
            "CUDA backend failed to initialize: Found cuDNN version 8700, but JAX was built against version 8904, which is newer.",
            "8.9.4",
            "8.7.0",
        ),
        ("TensorRT was linked against cuDNN 8.9.0 but loaded cuDNN 8.6.0", "8.9.0", "8.6.0"),
        ("Found cuDNN version 90100, but JAX was built against version 90501", "9.5.1", "9.1.0"),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_VERSION_MISMATCH", "", ""),
        (
            "Unable to use CUDA because of the following issues with CUDA components:\nOutdated cuDNN installation found.\n"
            "Version JAX was built against: 8907\nMinimum supported: 9100\nInstalled version: 8902",
            "8.9.7",
            "8.9.2",
        ),
        ("RuntimeError: cuDNN error: CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH", "", ""),
    ],
)
def test_other_cudnn_is_told_with_both_versions(words: str, built: str, found: str) -> None:
    assert problem(SIGNATURES, words) == CUDNN
    told = parameters(SIGNATURES, words)
    assert (told.get("built", ""), told.get("found", "")) == (built, found)


@pytest.mark.parametrize(("free", "weight"), [(46637514752, Weight.CAUSE), (844314112, Weight.STATE)])
def test_free_memory_leaves_another_cudnn_as_the_cause(free: int, weight: Weight) -> None:
    words = (
        "cuda_dnn.cc:439] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\n"
        f"cuda_dnn.cc:443] Memory usage: {free} bytes free, 47587131392 bytes total."
    )
    assert (problem(SIGNATURES, words), read(SIGNATURES, words)[0].weight) == (CUDNN, weight)


def test_directory_of_the_other_cudnn_is_told() -> None:
    words = (
        "cuDNN version incompatibility: PyTorch was compiled against (8, 3, 2) but linked against (8, 0, 3)\n$ "
        "echo $LD_LIBRARY_PATH\n"
        "/apps/cuda/11.0/lib64:/apps/cudnn/v8.0.3/lib64"
    )
    assert parameters(SIGNATURES, words)["directory"] == "/apps/cudnn/v8.0.3/lib64"


def test_cudnn_that_does_not_start_is_only_possibly_another() -> None:
    found = read(SIGNATURES, "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED")
    assert [clue.problem for clue in found] == [CUDNN, "cublas-init-failed-oom", "cuda-init-failed-driver-state"]
    assert {clue.weight for clue in found} == {Weight.STATE}


def test_cudnn_that_does_not_start_after_memory_ran_out_has_none() -> None:
    words = "torch.OutOfMemoryError: CUDA out of memory.\nRuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"
    assert problem(SIGNATURES, words) == "cublas-init-failed-oom"


@pytest.mark.parametrize("symbol", ["GLIBCXX_3.4.32", "GLIBCXX_3.4.29", "CXXABI_1.3.15", "GLIBC_2.34"])
def test_older_c_library_is_no_problem_of_the_gpu(symbol: str) -> None:
    words = f"ImportError: /lib/x86_64-linux-gnu/libstdc++.so.6: version `{symbol}' not found (required by /env/foo.so)"
    assert problem(SIGNATURES, words) == NO_PROBLEM


@pytest.mark.parametrize(
    "words",
    [
        "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        "ImportError: libpython3.8.so.1.0: cannot open shared object file",
        "OSError: libsndfile.so: cannot open shared object file",
        "error while loading shared libraries: libcuda.so.1: cannot open shared object file",
        "libnvidia-ml.so.1: cannot open shared object file",
        "/usr/local/cuda/lib64/libcudart.so.12 is there",
        "ImportError: libmycudart.so: cannot open shared object file",
        "ImportError: /env/foo.so: undefined symbol: bar",
        "cuDNN version: 8.9.7",
    ],
)
def test_other_libraries_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@for_each(
    ("words", "expected"),
    [
        ("dlopen: libcudart.12.dylib: image not found", ""),
        ("Library libcudart.so.12 image not found", MISSING),
        ("Could not find libcublas.so.11", MISSING),
        ("Could not find library libfoo.so", ""),
        ("Library cublas64_12.dll is not found or cannot be loaded.", MISSING),
        ("ImportError: libtorch_python.so: undefined symbol: ncclCommRegister", SHADOWED),
        ("ImportError: /x/torch/_C.cpython-311.so: undefined symbol: cublasLtMatmul", SHADOWED),
        ("ImportError: libtorch_cuda.so: undefined symbol: cusparseSpMM", SHADOWED),
        ("ImportError: libtorch_cuda.so: undefined symbol: cusolverDnXsyevd", SHADOWED),
        ("ImportError: libtorch_cuda.so: undefined symbol: _ZN3foo", ""),
        ("Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED", CUDNN),
        ("CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm", SHADOWED),
        ("CUBLAS_STATUS_SUCCESS when calling `cublasSgemm", ""),
        ("ImportError: libc10_cuda.so: cannot open shared object file: No such file", "extension-build-mismatch"),
        ("ImportError: libtorch_cpu.so: cannot open shared object file: No such file", "extension-build-mismatch"),
        ("ImportError: libtorch_python.so: cannot open shared object file: No such file", "extension-build-mismatch"),
        ("ImportError: libtorchlight.txt: cannot open", ""),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: cuDNN failed to initialize",
        "cuDNN error: CUDNN_STATUS_ARCH_MISMATCH",
        "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        "cuDNN error: CUDNN_STATUS_MAPPING_ERROR",
        "RuntimeError: GET was unable to find an engine to execute this computation",
    ],
)
def test_cudnn_that_does_not_start_has_one_meaning(words: str) -> None:
    assert CUDNN in problems(SIGNATURES, words)
