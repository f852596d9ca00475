"""Whole pastes as people make them: prose, prompts, several outputs, a traceback, in any language."""

from __future__ import annotations

import pytest

from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.version import ComputeCapability
from tests.detect.readers.pasted import MIB, driver, machine, names
from tests.facts import value

ISSUE = """
    ### Describe the bug

    After the upgrade my training does not start any more. What I tried:

    ```
    (base) user@box:~$ nvidia-smi
    Tue Mar  4 10:11:12 2025
    +-----------------------------------------------------------------------------------------+
    | NVIDIA-SMI 570.86.16              Driver Version: 570.86.16      CUDA Version: 12.8     |
    |-----------------------------------------+------------------------+----------------------+
    | GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
    | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
    |                                         |                        |               MIG M. |
    |=========================================+========================+======================|
    |   0  NVIDIA GeForce RTX 5080        Off |   00000000:01:00.0  On |                  N/A |
    |  0%   38C    P8             14W /  360W |     512MiB /  16303MiB |      2%      Default |
    |                                         |                        |                  N/A |
    +-----------------------------------------+------------------------+----------------------+
    (base) user@box:~$ nvcc --version
    nvcc: NVIDIA (R) Cuda compiler driver
    Copyright (c) 2005-2023 NVIDIA Corporation
    Built on Fri_Jan__6_16:45:21_PST_2023
    Cuda compilation tools, release 12.0, V12.0.140
    Build cuda_12.0.r12.0/compiler.32267302_0
    ```

    <details><summary>Versions</summary>

    Collecting environment information...
    PyTorch version: 2.5.1+cu124
    Is debug build: False
    CUDA used to build PyTorch: 12.4
    ROCM used to build PyTorch: N/A

    OS: Ubuntu 24.04.2 LTS (x86_64)
    GCC version: (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0
    Libc version: glibc-2.39

    Python version: 3.12.3 (main, Feb  4 2025, 14:48:35) [GCC 13.3.0] (64-bit runtime)
    Python platform: Linux-6.11.0-19-generic-x86_64-with-glibc2.39
    Is CUDA available: True
    CUDA runtime version: 12.0.140
    GPU models and configuration: GPU 0: NVIDIA GeForce RTX 5080
    Nvidia driver version: 570.86.16

    Versions of relevant libraries:
    [pip3] torch==2.5.1

    </details>

    Traceback (most recent call last):
      File "/home/user/train.py", line 12, in <module>
        x = torch.ones(1, device="cuda")
    RuntimeError: CUDA error: no kernel image is available for execution on the device
"""


@pytest.fixture(scope="module")
def told() -> Machine:
    return machine(ISSUE)


def test_all_outputs_make_one_gpu(told: Machine) -> None:
    (gpu,) = value(told.gpus)
    assert (value(gpu.name), value(gpu.pci_address)) == ("NVIDIA GeForce RTX 5080", "0000:01:00.0")
    assert value(gpu.memory_total_bytes) == 16303 * MIB
    assert value(gpu.compute_capability) == ComputeCapability(12, 0)


def test_all_outputs_make_one_driver(told: Machine) -> None:
    assert (str(value(told.driver.version)), str(value(told.driver.cuda_version))) == ("570.86.16", "12.8")


def test_nvcc_and_what_the_report_found_are_one_toolkit(told: Machine) -> None:
    (toolkit,) = value(told.toolkits)
    assert str(value(toolkit.version)) == "12.0.140"


def test_host_is_that_of_the_report(told: Machine) -> None:
    assert (value(told.host.distribution).id, value(told.host.kernel)) == ("ubuntu", "6.11.0-19-generic")


def test_one_environment_has_one_torch(told: Machine) -> None:
    (environment,) = value(told.environments)
    (torch,) = value(environment.torch)
    assert (value(torch.version), value(torch.accelerator)) == ("2.5.1+cu124", Accelerator.CUDA)


def test_every_fact_says_where_it_was_read(told: Machine) -> None:
    (gpu,) = value(told.gpus)
    sources = [gpu.name, told.driver.version, told.host.kernel, told.toolkits, told.environments]
    assert all("pasted" in getattr(fact, "source", "") for fact in sources)


@pytest.mark.parametrize(
    ("words", "expected_driver", "expected_names"),
    [
        ("我的服务器：\n> | NVIDIA-SMI 515.86.01    Driver Version: 515.86.01    CUDA Version: 11.7     |", "515.86.01", []),
        ("Hallo,\nmeine Karte:\nGPU 0: NVIDIA GeForce GTX 1660 Ti (UUID: GPU-…)\nGruß", "", ["NVIDIA GeForce GTX 1660 Ti"]),
        ("$ cat /proc/driver/nvidia/version | head -1\nGPU 0: Tesla P4 (UUID: x)", "", ["Tesla P4"]),
        ("Nvidia driver version: 535.129.03 を使っています\nPyTorch version: 2.1.0", "535.129.03", []),
        ("* Nvidia driver version: 535.129.03\n* PyTorch version: 2.1.0", "535.129.03", []),
        ("- GPU 0: NVIDIA L40S\n- PyTorch version: 2.5.0", "", ["NVIDIA L40S"]),
    ],
)
def test_outputs_in_prose_of_any_language_are_read(words: str, expected_driver: str, expected_names: list[str]) -> None:
    assert (driver(words), names(words)) == (expected_driver, expected_names)


@pytest.mark.parametrize(
    "words",
    [
        "sudo apt install nvidia-driver-535 nvidia-cuda-toolkit",
        "pip install torch==2.4.0 --index-url https://download.pytorch.org/whl/cu121",
        "You need a driver >= 525.60.13 for CUDA 12, see https://docs.nvidia.com/deploy/cuda-compatibility/",
        "Try TORCH_CUDA_ARCH_LIST=8.6 and nvcc -arch=sm_86, then rebuild.",
        "ERROR: CUDA out of memory. GPU 0 has a total capacity of 23.64 GiB",
        "Does anybody know whether an RTX 4090 works with driver 470?",
    ],
)
def test_advice_and_questions_state_no_driver_and_no_toolkit(words: str) -> None:
    found = machine(words)
    assert (driver(words), found.toolkits, found.driver.loaded) == ("", NOT_ASKED, NOT_ASKED)


def test_colours_and_line_ends_change_nothing() -> None:
    plain = "| NVIDIA-SMI 515.86.01    Driver Version: 515.86.01    CUDA Version: 11.7     |\nGPU 0: NVIDIA A30 (UUID: GPU-1)\n"
    coloured = plain.replace("NVIDIA", "\x1b[32mNVIDIA\x1b[0m").replace("\n", "\r\n")
    assert (driver(coloured), names(coloured)) == (driver(plain), names(plain)) == ("515.86.01", ["NVIDIA A30"])


def test_host_and_container_in_one_paste_keep_the_refusal() -> None:
    words = """
        $ nvidia-smi   # host
        | NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: 12.4      |
        $ docker run --rm --gpus all ubuntu nvidia-smi
        Failed to initialize NVML: Unknown Error
    """
    assert value(machine(words).driver.nvml_status).code == 999


def test_before_and_after_of_a_watch_is_the_end() -> None:
    row = "|   0  Tesla T4            Off  | 00000000:00:04.0 Off |                    0 |\n| N/A   60C    P0 | {}MiB / 15109MiB |"
    head = "| NVIDIA-SMI 460.32.03    Driver Version: 460.32.03    CUDA Version: 11.2     |\n"
    found = machine(head + row.format(100) + "\n" + head + row.format(14000))
    (gpu,) = value(found.gpus)
    assert value_or(gpu.memory_used_bytes, 0) == 14000 * MIB
