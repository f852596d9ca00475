"""What builds say when they find no nvcc, no toolkit or no headers."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.toolkit_missing import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each


@for_each(
    "words",
    [
        "nvcc: command not found",
        "bash: nvcc: command not found",
        "-bash: nvcc: command not found",
        "zsh: command not found: nvcc",
        "/bin/sh: 1: nvcc: not found",
        "sh: nvcc: command not found",
        "bash: nvcc: 未找到命令",
        "bash: nvcc: コマンドが見つかりません",
        "bash: nvcc: Kommando nicht gefunden.",
        "bash: nvcc : commande introuvable",
        "bash: nvcc: no se encontró la orden",
        "Command 'nvcc' not found, but can be installed with:\nsudo apt install nvidia-cuda-toolkit",
        "'nvcc' is not recognized as an internal or external command,\noperable program or batch file.",
        "fish: nvcc: command not found...",
        "make: nvcc: Command not found",
        "make[1]: /usr/local/cuda/bin/nvcc: No such file or directory",
        "error: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'",
        "error: [Errno 2] No such file or directory: 'nvcc'",
        "/bin/sh: 1: /usr/local/cuda/bin/nvcc: not found",
        "  Failed to find nvcc.\n\n  Compiler requires the CUDA toolkit.  Please set the CUDAToolkit_ROOT\n  variable.",
        "  Could not find `nvcc` executable in path specified by environment variable\n  CUDAToolkit_ROOT=/opt/cuda",
        "CMake Error: No CMAKE_CUDA_COMPILER could be found.",
        "  No CMAKE_CUDA_COMPILER could be found.\n\n  Tell CMake where to find the compiler by setting either "
        "the environment variable",
        "CMake Error: CMAKE_CUDA_COMPILER not set, after EnableLanguage",
        "  The CMAKE_CUDA_COMPILER:\n\n    /usr/local/cuda/bin/nvcc\n\n  is not an existing compiler tool.",
        "  The CMAKE_CUDA_COMPILER:\n\n    nvcc\n\n  is not a full path and was not found in the PATH.",
        "-- Looking for a CUDA compiler - NOTFOUND\nCMAKE_CUDA_COMPILER-NOTFOUND",
        "CMake Error: Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR CUDA_NVCC_EXECUTABLE CUDA_INCLUDE_DIRS)",
        "Could NOT find CUDAToolkit (missing: CUDAToolkit_INCLUDE_DIR CUDAToolkit_NVCC_EXECUTABLE)",
        "CMake Error at FindCUDA.cmake:883 (message):\n  Specify CUDA_TOOLKIT_ROOT_DIR",
        "CUDA_TOOLKIT_ROOT_DIR not found or specified",
        'ERROR: Unknown compiler(s): [["nvcc"]]',
        "meson.build:1:0: ERROR: Unknown compiler(s): nvcc",
        "Cuda Configuration Error: Cannot find cuda.h under /usr/local/cuda",
        "Could not find any cuda.h matching version '' in any subdirectory",
        "clang: error: cannot find CUDA installation; provide its path via '--cuda-path', or pass '-nocudainc' "
        "to build without CUDA",
        "clang: error: cannot find libdevice for sm_35; provide path to different CUDA installation via '--cuda-path'",
    ],
)
def test_missing_compiler_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == "nvcc-not-on-path"


def test_missing_compiler_of_a_build_is_the_cause() -> None:
    assert read(SIGNATURES, "make: nvcc: Command not found")[0].weight is Weight.CAUSE
    assert read(SIGNATURES, "$ nvcc --version\nbash: nvcc: command not found")[0].weight is Weight.STATE


def test_torch_that_computes_without_it_is_told() -> None:
    words = "$ nvcc --version\nbash: nvcc: command not found\n>>> torch.cuda.is_available() True"
    assert parameters(SIGNATURES, words) == {"torch_runs": "yes"}


@pytest.mark.parametrize(
    "words",
    [
        "fatal error: cuda_runtime.h: No such file or directory",
        "t.cpp:3:10: fatal error: cuda.h: No such file or directory",
        "/usr/include/c++/x.h:10:10: fatal error: cusparse.h: No such file or directory\n   10 | #include <cusparse.h>",
        "fatal error: cublas_v2.h: No such file or directory",
        "fatal error: 'cuda_runtime_api.h' file not found",
        'error: cannot open source file "cuda_fp16.h"',
        "fatal error: thrust/complex.h: No such file or directory",
        "fatal error C1083: Cannot open include file: 'cuda_runtime.h': No such file or directory",
        "fatal error: nv/target: No such file or directory",
        "fatal error: crt/host_defines.h: No such file or directory",
    ],
)
def test_missing_header_points_to_a_missing_toolkit(words: str) -> None:
    assert problem(SIGNATURES, words) == "nvcc-not-on-path"


def test_missing_header_of_an_extension_points_to_cuda_home() -> None:
    words = "$ python setup.py install\nfatal error: cusolverDn.h: No such file or directory"
    assert problems(SIGNATURES, words) == {"cuda-home-unset", "nvcc-not-on-path"}


@pytest.mark.parametrize(
    "words",
    [
        "fatal error: cudnn.h: No such file or directory",
        "fatal error: cudnn_version.h: No such file or directory",
        "fatal error: 'cudnn.h' file not found",
        'error: cannot open source file "cudnn.h"',
        "Could NOT find CUDNN (missing: CUDNN_LIBRARY_PATH CUDNN_INCLUDE_PATH)",
        "-- Could NOT find CUDNN (missing: CUDNN_INCLUDE_DIR)",
        "Could not find any cudnn.h matching version '8' in any subdirectory",
        "Cuda Configuration Error: Cannot find cudnn.h under /usr/local/cuda-11.2",
        "Could not find any cudnn_version.h, cudnn.h matching version",
    ],
)
def test_missing_header_of_cudnn_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == "cudnn-headers-missing"


@for_each(
    "words",
    [
        '-- Found CUDA: /usr/local/cuda (found version "12.4")',
        "-- CUDA compiler found: /usr/local/cuda/bin/nvcc",
        "-- Looking for a CUDA compiler - /usr/local/cuda/bin/nvcc",
        "/usr/local/cuda/bin/nvcc",
        "bash: nvtop: command not found",
        "bash: cargo: command not found",
        "make: gcc: Command not found",
        "fatal error: Python.h: No such file or directory",
        "fatal error: boost/python.hpp: No such file or directory",
        "fatal error: curl/curl.h: No such file or directory",
        "ModuleNotFoundError: No module named 'cuda'",
        "-- Found CUDNN: /usr/lib/x86_64-linux-gnu/libcudnn.so",
        "FileNotFoundError: [Errno 2] No such file or directory: 'train.csv'",
        "UserWarning: mamba_ssm was requested, but nvcc was not found.  Are you sure your environment has nvcc available?",
        "CMake Error: No CMAKE_CXX_COMPILER could be found.",
        "Could NOT find OpenMP (missing: OpenMP_CXX_FLAGS)",
    ],
)
def test_other_missing_things_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("/bin/sh: nvcc not found in PATH", "nvcc-not-on-path"),
        ("nvcc executable could not be found", "nvcc-not-on-path"),
        ("CMAKE_CUDA_COMPILER: NVCC-NOTFOUND", "nvcc-not-on-path"),
        ('Could not find a package configuration file provided by "CUDAToolkit"', "nvcc-not-on-path"),
        ("Could not find a CUDA compiler", "nvcc-not-on-path"),
        ("Unable to find the CUDA toolkit", "nvcc-not-on-path"),
        ("No CUDA toolkit found.", "nvcc-not-on-path"),
        ("cuDNN headers were not found", "cudnn-headers-missing"),
        ("CUDNN_INCLUDE_DIR-NOTFOUND", "cudnn-headers-missing"),
        ("fatal error: nvml.h: No such file", "nvcc-not-on-path"),
        ("fatal error: cub/cub.cuh: No such file", "nvcc-not-on-path"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "nvcc was found in PATH",
        "the CUDA toolkit 12.4 found here",
        "CUDNN_INCLUDE_DIR=/usr/include",
        "fatal error: cubism.h: No such file",
        "Could not find a CUDAfy package",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
