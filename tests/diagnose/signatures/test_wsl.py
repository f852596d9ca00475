"""What goes wrong in WSL leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.wsl import SIGNATURES
from tests.diagnose.signatures.reading import problem, problems
from tests.rows import for_each


@for_each(
    ("words", "expected"),
    [
        ("Linux version 4.4.0-19041-Microsoft\ntorch.cuda.is_available()\nFalse", "wsl-driver-or-windows"),
        ("WSL2$ sudo apt install nvidia-driver-535", "wsl-linux-driver-installed"),
        ("wsl2\nii  libnvidia-compute-535:amd64  535.183.01", "wsl-linux-driver-installed"),
        ("WSL: python: /usr/lib/x86_64-linux-gnu/libcuda.so.1: no version information available", "wsl-linux-driver-installed"),
        ("WSL2: libcuda.so.1: file exists, no version information available", "wsl-linux-driver-installed"),
        ("WSL2: CUDA driver is a stub library", "wsl-stub-lib"),
        ("WSL2: LD_LIBRARY_PATH=/usr/local/cuda/lib64/stubs/libcuda.so\nno CUDA-capable device", "wsl-stub-lib"),
        ("CUDA driver is a stub library", "ld-library-path-stubs"),
        ("Docker Desktop: CUDA error: named symbol not found", "wsl-driver-or-windows"),
        ("ls: cannot access '/dev/dxg': No such file or directory", "wsl-driver-or-windows"),
        ("misc dxg: dxgk: dxgkio_query_adapter_info: Ioctl failed: -22\nno CUDA-capable device", "wsl-driver-or-windows"),
        (
            "nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown.",
            "wsl-driver-or-windows",
        ),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "sudo apt install nvidia-driver-535",
        "gcc -L/usr/local/cuda/lib64/stubs/libcuda.so",
        "Linux version 4.4.0-19041-Microsoft",
        "CUDA error: named symbol not found",
        "-L/usr/local/cuda/lib64/stubs -lcuda",
        "awslabs",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("WSL2\nii  nvidia-dkms-550  550.90.07-0ubuntu1  amd64", "wsl-linux-driver-installed"),
        ("WSL2\nii  nvidia-utils-470  470.256.02-0ubuntu0", "wsl-linux-driver-installed"),
        ("WSL2\n/usr/lib/x86_64-linux-gnu/libcuda.so.470.256.02", "wsl-linux-driver-installed"),
        ("WSL2: cuInit failed: CUDA_ERROR_STUB_LIBRARY (34)", "wsl-stub-lib"),
        ("cudaErrorStubLibrary", "ld-library-path-stubs"),
        ("/sbin/ldconfig.real: /usr/lib/wsl/lib/libcuda.so.1 is not a symbolic link", "wsl-stub-lib"),
        ("WSL2: cudaGetDeviceCount returned 500\n-> named symbol not found", "wsl-driver-or-windows"),
        ("stat: /dev/dxg: No such file or directory", "wsl-driver-or-windows"),
        ("the device /dev/dxg does not exist", "wsl-driver-or-windows"),
        ("you are running on WSL 1, use wsl --set-version Ubuntu 2", "wsl-driver-or-windows"),
        ("WSL 1 does not support the GPU; wsl version 2 is needed", "wsl-driver-or-windows"),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "WSL2\nii  nvidia-container-toolkit  1.16.1-1",
        "WSL2\nrc  nvidia-dkms-550  550.90.07",
        "WSL2: /usr/lib/wsl/lib/libcuda.so.1 is a symbolic link",
        "crw-rw-rw- 1 root root 10, 125 /dev/dxg",
        "HTTP server returned 500",
        "WSL version: 2.2.4.0",
        "dxgk: loaded",
    ],
)
def test_sound_neighbour_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
