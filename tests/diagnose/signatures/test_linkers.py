"""What linkers say when they do not find CUDA's libraries."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.linkers import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

NOT_FOUND = "link-cuda-lib-not-found"


@for_each(
    ("words", "library"),
    [
        ("/usr/bin/ld: cannot find -lcudart", "libcudart"),
        ("/usr/bin/ld: cannot find -lcudart: No such file or directory", "libcudart"),
        ("/usr/bin/ld: cannot find -lcudart_static", "libcudart_static"),
        ("ld: library not found for -lcudart", "libcudart"),
        ("ld.lld: error: unable to find library -lcublas", "libcublas"),
        ("/opt/conda/bin/x86_64-conda-linux-gnu-ld: cannot find -lcublasLt", "libcublasLt"),
        ("/usr/bin/ld: cannot find -lcudnn", "libcudnn"),
        ("/usr/bin/ld: cannot find -lnvrtc", "libnvrtc"),
        ("/usr/bin/ld: cannot find -lcurand: No such file or directory", "libcurand"),
        ("/usr/bin/ld: cannot find -lnvToolsExt", "libnvToolsExt"),
        ("/usr/bin/ld: cannot find -lnccl", "libnccl"),
        ("/usr/bin/ld: 找不到 -lcudart: 没有那个文件或目录", "libcudart"),
        ("/usr/bin/ld: cannot find -lcusparse\n/usr/bin/ld: cannot find -lcusparse", "libcusparse"),
        ("LINK : fatal error LNK1181: cannot open input file 'cudart.lib'", "libcudart"),
        ("LINK : fatal error LNK1104: cannot open file 'cublas.lib'", "libcublas"),
        ("t.o: undefined reference to `cudaMalloc'", "libcudart"),
        ("undefined reference to `cudaGetErrorString@libcudart.so.11.0'", "libcudart"),
        ("undefined reference to `__cudaRegisterFatBinary'", "libcudart"),
        ("undefined reference to 'cublasCreate_v2'", "libcublas"),
        ("undefined reference to `cublasLtCreate'", "libcublasLt"),
        ("undefined reference to `cudnnCreate'", "libcudnn"),
        ("undefined reference to `curandCreateGenerator'", "libcurand"),
        ("undefined reference to `nvrtcCompileProgram'", "libnvrtc"),
        ("undefined reference to `nvmlInit_v2'", "libnvidia-ml"),
        ("undefined reference to `ncclCommInitRank'", "libnccl"),
        ("error LNK2019: unresolved external symbol cudaMalloc referenced in function main", "libcudart"),
        (
            "/usr/bin/ld: warning: libcudart.so.11.0, needed by ./libfoo.so, not found (try using -rpath or -rpath-link)",
            "libcudart",
        ),
        ("/usr/bin/ld: /usr/local/cuda/lib64/libcublas.so.12: error adding symbols: DSO missing from command line", "libcublas"),
    ],
)
def test_missing_library_is_named_in_every_wording(words: str, library: str) -> None:
    assert problem(SIGNATURES, words) == NOT_FOUND
    assert parameters(SIGNATURES, words) == {"library": library}


@pytest.mark.parametrize(
    "words",
    [
        "/usr/bin/ld: cannot find -lcuda: No such file or directory",
        "/usr/bin/ld: cannot find -lcuda\ncollect2: error: ld returned 1 exit status",
        "undefined reference to `cuInit'",
        "undefined reference to `cuMemCreate'",
        "/usr/bin/ld: warning: libcuda.so.1, needed by libfoo.so, not found (try using -rpath or -rpath-link)",
    ],
)
def test_library_of_the_driver_is_told_apart(words: str) -> None:
    assert problem(SIGNATURES, words) == NOT_FOUND
    assert parameters(SIGNATURES, words) == {"library": "libcuda", "driver_library": "yes"}


def test_triton_links_while_it_runs() -> None:
    words = "/usr/bin/ld: cannot find -lcuda\nsubprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpx/main.c', triton"
    assert problem(SIGNATURES, words) == "triton-libcuda-not-found"
    assert problems(SIGNATURES, words) == {"triton-libcuda-not-found", "link-lcuda-missing", NOT_FOUND}


def test_compiled_torch_links_through_triton() -> None:
    words = "  File torch/_inductor/codecache.py\n/usr/bin/ld: cannot find -lcuda\ncollect2: error: ld returned 1 exit status"
    assert problem(SIGNATURES, words) == "triton-libcuda-not-found"


def test_other_programs_that_link_while_they_run_are_known() -> None:
    words = "/usr/bin/ld: cannot find -lcuda\nsubprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpx/main.c']'"
    assert problem(SIGNATURES, words) == "link-lcuda-missing"


@pytest.mark.parametrize(
    "words",
    [
        "/usr/bin/ld: cannot find -lpython3.11",
        "/usr/bin/ld: cannot find -lcurl",
        "/usr/bin/ld: cannot find -lcudadebugger-extra",
        "undefined reference to `main'",
        "undefined reference to `curl_easy_init'",
        "undefined reference to `customFunction'",
        "undefined reference to `cv::imread(std::string const&, int)'",
        "undefined reference to `boost::system::generic_category()'",
        "nvlink error   : Undefined reference to '_Z3foov' in 'a.o'",
        "gcc t.c -lcudart -o t",
        "ld: library not found for -lcrypto",
    ],
)
def test_other_libraries_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@for_each(
    "library",
    [
        *("nvJitLink", "nvjpeg_static", "nppicc", "nvidia-ml", "nvinfer_plugin", "culibos", "cusolverMg", "cupti", "cufile"),
        *("nvToolsExt", "nccl_static", "cublasLt_static", "cudnn_ops", "cudadevrt", "cutensor", "nvrtc"),
    ],
)
def test_each_library_of_cuda_is_known_to_the_linker(library: str) -> None:
    assert parameters(SIGNATURES, f"/usr/bin/ld: cannot find -l{library}") == {"library": f"lib{library}"}
    assert parameters(SIGNATURES, f"LINK : fatal error LNK1181: cannot open input file '{library}.lib'") == {
        "library": f"lib{library}"
    }
    dso = f"/usr/lib/lib{library}.so.12: error adding symbols: DSO missing from command line"
    assert parameters(SIGNATURES, dso) == {"library": f"lib{library}"}


@pytest.mark.parametrize(
    ("words", "library"),
    [
        ("对‘cublasCreate_v2’未定义的引用", "libcublas"),
        ("error: undefined symbol: cublasLtMatmul", "libcublasLt"),
        ("ld: undefined reference to `nvmlInit_v2'", "libnvidia-ml"),
        ("undefined reference to `__cudaRegisterFatBinary'", "libcudart"),
        ("undefined reference to `nvtxRangePushA'", "libnvToolsExt"),
        ("undefined reference to `nppiFilter_8u_C1R'", "libnpp"),
        ("unresolved external symbol cusolverDnCreate", "libcusolver"),
        ("ld: libcudnn.so.8, needed by libx.so, not found", "libcudnn"),
    ],
)
def test_library_follows_from_what_is_missing(words: str, library: str) -> None:
    assert problem(SIGNATURES, words) == NOT_FOUND
    assert parameters(SIGNATURES, words)["library"] == library


@pytest.mark.parametrize(
    "words",
    [
        "/usr/bin/ld: cannot find -lcurl",
        "/usr/bin/ld: cannot find -lcudart-extra",
        "undefined reference to `cube'",
        "undefined reference to `custom_malloc'",
        "/usr/lib/libcurl.so.4: error adding symbols: DSO missing from command line",
        "ld: warning: libssl.so.1, needed by libx.so, not found",
        "LNK1181: cannot open input file 'python311.lib'",
    ],
)
def test_library_of_something_else_is_left(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
