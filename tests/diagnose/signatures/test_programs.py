"""Faults of programs, builds and other makers' GPUs are told as no fault of this one."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import other_makers, other_software, programs
from tests.diagnose.signatures.reading import parameters, problem, read
from tests.rows import for_each

# Without the two that judge the whole text, and the surest first.
MESSAGES = other_makers.SIGNATURES[:1:-1]
SIGNATURES = (*programs.SIGNATURES, *MESSAGES, *other_software.SIGNATURES)


@pytest.mark.parametrize(
    "words",
    [
        "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout",
        "amdgpu 0000:03:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1",
        "i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dffffb",
        "RuntimeError: HIP error: invalid device function",
        'rocBLAS error: Cannot read TensileLibrary.dat: No such file for GPU arch "gfx1032"',
    ],
)
def test_gpu_of_another_maker_is_named(words: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"
    assert parameters(SIGNATURES, words)["cause"] == "the message is of another maker's GPU ({words})"


@pytest.mark.parametrize(
    "words",
    [
        "NVRM: loading NVIDIA UNIX Kernel Module\n[drm:amdgpu_job_timedout [amdgpu]] *ERROR*",
        "loaded amdgpu, i915 and nvidia",
    ],
)
def test_other_maker_beside_nvidia_settles_nothing(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 12 (apt)", "another program is installing"),
        ("OSError: [Errno 98] Address already in use", "the network port is taken"),
        ("code: -98, name: EADDRINUSE, message: address already in use", "the network port is taken"),
        ("Bind for 0.0.0.0:80 failed: port is already allocated.", "the network port is taken"),
        ("permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock", "Docker itself"),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "Docker itself"),
        ("RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'", "the program computes in half precision"),
        ("error: can't find Rust compiler", "a tool that the build needs"),
        ("  CMake 3.26 or higher is required.  You are running version 3.22.1", "a tool that the build needs"),
        ("ValueError: Input contains NaN, infinity or a value too large", "the program is given data"),
        ("Target size (torch.Size([3])) must be the same as input size (torch.Size([3, 1]))", "the program is given data"),
    ],
)
def test_plain_fault_is_named(words: str, cause: str) -> None:
    assert parameters(SIGNATURES, words)["cause"].startswith(cause)


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("main.cpp:1:10: fatal error: boost/filesystem.hpp: No such file or directory", "boost/filesystem.hpp"),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", "libGL.so.1"),
        ("/usr/bin/ld: cannot find -lssl: No such file or directory", "ssl"),
    ],
)
def test_missing_file_of_something_else_is_named(words: str, file: str) -> None:
    assert parameters(SIGNATURES, words) == {"cause": "{file} is not installed"}
    assert problem(SIGNATURES, words) == "not-a-gpu-problem", file


@pytest.mark.parametrize(
    "words",
    [
        "fatal error: cuda_runtime.h: No such file or directory",
        "fatal error: cudnn.h: No such file or directory",
        "fatal error: thrust/device_vector.h: No such file or directory",
        "fatal error: torch/extension.h: No such file or directory",
        "ImportError: libcudart.so.12: cannot open shared object file: No such file or directory",
        "ImportError: libnvinfer.so.8: cannot open shared object file: No such file or directory",
        "ImportError: libc10.so: cannot open shared object file: No such file or directory",
        "/usr/bin/ld: cannot find -lcudart",
        "/usr/bin/ld: cannot find -lnccl",
        "/usr/bin/ld: cannot find -lnvrtc",
    ],
)
def test_missing_file_of_cuda_is_left_to_its_own(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


@pytest.mark.parametrize(
    "words",
    [
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "UnicodeDecodeError: 'gbk' codec can't decode byte 0xae\n显卡是3090，cuda 11.8",
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "_pickle.UnpicklingError: invalid load key, '<'.",
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
    ],
)
def test_unreadable_file_fails_beside_any_gpu(words: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"


def test_error_of_a_library_without_a_word_of_the_gpu() -> None:
    words = "sqlalchemy.exc.OperationalError: no such table: users"
    assert parameters(SIGNATURES, words)["cause"] == "the Python program fails ({error})"


@pytest.mark.parametrize(
    "words",
    [
        "sqlalchemy.exc.OperationalError: nvidia-smi failed",
        "torch.distributed.DistBackendError: something",
        "subprocess.CalledProcessError: Command '['gcc']' returned non-zero exit status 1.",
    ],
)
def test_error_that_may_come_from_the_gpu_is_left(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


def _kinds(words: str) -> set[object]:
    return {dict(clue.parameters).get("cause_id") for clue in read(SIGNATURES, words)}


def test_page_that_refuses_wants_a_log_in() -> None:
    words = "requests.exceptions.HTTPError: 403 Client Error. Cannot access gated repo for url https://x"
    assert "token" in _kinds(words)


@pytest.mark.parametrize(
    "words",
    [
        "xe 0000:00:02.0: [drm] *ERROR* GT0: timed out",
        "torch.AcceleratorError: hipErrorNoBinaryForGpu: Unable to find code object",
        "MIOpen Error: /MIOpen/src/ocl/convolutionocl.cpp: no suitable algorithm",
        "on ROCm 6.0: HIP error: shared object initialization failed",
    ],
)
def test_other_makers_messages_in_their_other_wordings(words: str) -> None:
    assert parameters(SIGNATURES, words)["cause"] == "the message is of another maker's GPU ({words})"


@for_each(
    ("words", "cause"),
    [
        ("E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend)", "another program is installing"),
        ("Waiting for cache lock: Could not get lock", "another program is installing"),
        ("RuntimeError: \"baddbmm_with_gemm\" not implemented for 'BFloat16'", "the program computes in half precision"),
        ("RuntimeError: \"LayerNormKernelImpl\" not implemented for 'Half'", "the program computes in half precision"),
        ("RuntimeError: Ninja is required to load C++ extensions", "a tool that the build needs"),
        ("error: Unable to find vcvarsall.bat", "a tool that the build needs"),
        ("CMake 4.0 or higher is required.  You are running version 3.28.3", "a tool that the build needs"),
        ("RuntimeError: Got invalid dimensions for input: pixel_values", "the program is given data"),
        ("ValueError: Expected input batch_size (32) to match target batch_size (16).", "the program is given data"),
        ("pandas.errors.ParserError: Error tokenizing data", "a file cannot be read"),
        ("SafetensorError: Error while deserializing header: MetadataIncompleteBuffer", "a file cannot be read"),
        ("error: Microsoft Visual C++ 14.0 or greater is required. Get it with Build Tools", "a tool that the build needs"),
        ("DecodeError beside InvalidHeaderDeserialization", "a file cannot be read"),
    ],
)
def test_plain_fault_in_its_other_wordings(words: str, cause: str) -> None:
    assert parameters(SIGNATURES, words)["cause"].startswith(cause)


@pytest.mark.parametrize(
    "words",
    [
        "npm ERR! code EAI_AGAIN",
        "OSError: [Errno 101] Network is unreachable",
    ],
)
def test_page_that_is_not_reached_is_the_network(words: str) -> None:
    assert "network" in _kinds(words)


@pytest.mark.parametrize("file", ["zlib.h", "opencv2/core.hpp", "Eigen/Dense.hh", "fmt/format.hxx"])
def test_header_of_something_else_is_told_by_any_ending(file: str) -> None:
    assert problem(SIGNATURES, f"a.cpp:1: fatal error: {file}: No such file or directory") == "not-a-gpu-problem"


@pytest.mark.parametrize(
    "words",
    [
        "i915 0000:00:02.0: [drm] VT-d active for gfx access",
        "/var/lib/dpkg/lock-frontend is free",
        "port 8080 is allocated",
        "CMake 3.26 was found",
        "Target size (3) equals the input size",
        "404 pages of the client",
        "error: something failed",
        "fatal error: zlib.c: No such file or directory",
    ],
)
def test_harmless_neighbour_is_nothing(words: str) -> None:
    assert problem(SIGNATURES, words) == ""
