"""torch.utils.collect_env of all generations, from torch 0.4 to today."""

from __future__ import annotations

import pytest

from gpuassist.model.environment import Accelerator, Manager
from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.version import Target, Version
from tests.detect.readers.pasted import driver, gpus, machine, names, torches
from tests.facts import value

OF_0_4 = """
    Collecting environment information...
    PyTorch version: 0.4.1
    Is debug build: No
    CUDA used to build PyTorch: 9.0.176

    OS: Ubuntu 16.04.5 LTS
    GCC version: (Ubuntu 5.4.0-6ubuntu1~16.04.10) 5.4.0 20160609
    CMake version: version 3.5.1

    Python version: 3.6
    Is CUDA available: Yes
    CUDA runtime version: 9.0.176
    GPU models and configuration:
    GPU 0: GeForce GTX 1080 Ti
    GPU 1: TITAN V

    Nvidia driver version: 390.87
    cuDNN version: Probably one of the following:
    /usr/lib/x86_64-linux-gnu/libcudnn.so.7.1.4

    Versions of relevant libraries:
    [pip3] numpy (1.15.1)
    [pip3] torch (0.4.1)
    [conda] Could not collect
"""
OF_1_4 = """
    Collecting environment information...
    PyTorch version: 1.4.0
    Is debug build: No
    CUDA used to build PyTorch: 10.1

    OS: CentOS Linux release 7.6.1810 (Core)
    GCC version: (GCC) 4.8.5 20150623 (Red Hat 4.8.5-36)
    CMake version: Could not collect

    Python version: 3.7
    Is CUDA available: No
    CUDA runtime version: Could not collect
    GPU models and configuration: GPU 0: Tesla V100-PCIE-16GB
    Nvidia driver version: 410.104
    cuDNN version: Could not collect

    Versions of relevant libraries:
    [pip] numpy==1.18.1
    [pip] torch==1.4.0
    [conda] cudatoolkit               10.1.243             h6bb024c_0
    [conda] pytorch                   1.4.0           py3.7_cuda10.1.243_cudnn7.6.3_0    pytorch
"""
OF_2_1 = """
    Collecting environment information...
    PyTorch version: 2.1.0+cu121
    Is debug build: False
    CUDA used to build PyTorch: 12.1
    ROCM used to build PyTorch: N/A

    OS: Ubuntu 22.04.3 LTS (x86_64)
    GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
    Clang version: 14.0.0-1ubuntu1.1
    CMake version: version 3.27.7
    Libc version: glibc-2.35

    Python version: 3.10.12 | packaged by conda-forge | (main, Jun 11 2023, 05:26:28) [GCC 11.4.0] (64-bit runtime)
    Python platform: Linux-5.15.0-88-generic-x86_64-with-glibc2.35
    Is CUDA available: True
    CUDA runtime version: 11.8.89
    CUDA_MODULE_LOADING set to: LAZY
    GPU models and configuration:
    GPU 0: NVIDIA A100-SXM4-80GB
    GPU 1: NVIDIA A100-SXM4-80GB

    Nvidia driver version: 535.104.05
    cuDNN version: Probably one of the following:
    /usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.6
    HIP runtime version: N/A
    MIOpen runtime version: N/A
    Is XNNPACK available: True

    CPU:
    Architecture:                       x86_64
    CPU op-mode(s):                     32-bit, 64-bit
    Model name:                         AMD EPYC 7763 64-Core Processor

    Versions of relevant libraries:
    [pip3] numpy==1.26.0
    [pip3] torch==2.1.0
    [conda] torch                     2.1.0                    pypi_0    pypi
"""
OF_2_15 = """
    Collecting environment information...
    PyTorch version: 2.15.0+cu132
    Is debug build: False
    CUDA used to build PyTorch: 13.2
    ROCM used to build PyTorch: N/A

    OS: Fedora Linux 44 (Workstation Edition) (x86_64)
    GCC version: (GCC) 16.0.1 20260123 (Red Hat 16.0.1-0)
    Libc version: glibc-2.43

    Python version: 3.14.2 (main, Dec  5 2025, 00:00:00) [GCC 15.2.1 20251111] (64-bit runtime)
    Python platform: Linux-6.19.2-300.fc44.x86_64-x86_64-with-glibc2.43
    Is CUDA available: True
    CUDA runtime version: 13.2.51
    CUDA_MODULE_LOADING set to:
    GPU models and configuration: GPU 0: NVIDIA GeForce RTX 5090
    Nvidia driver version: 610.43.02
    cuDNN version: Could not collect
    Is XPU available: False
    HIP runtime version: N/A
    Caching allocator config: N/A

    Versions of relevant libraries:
    [pip3] torch==2.15.0
    [conda] Could not collect
"""
NOTHING_FOUND = """
    PyTorch version: 2.3.1
    CUDA used to build PyTorch: None
    ROCM used to build PyTorch: N/A
    OS: Arch Linux (x86_64)
    GCC version: Could not collect
    Libc version: N/A
    CUDA runtime version: No CUDA
    GPU models and configuration: No CUDA
    Nvidia driver version: No CUDA
    [conda] Could not collect
"""
EVERY = (OF_0_4, OF_1_4, OF_2_1, OF_2_15, NOTHING_FOUND)


@pytest.mark.parametrize(
    ("words", "distribution", "version"),
    [(OF_0_4, "ubuntu", "16.04"), (OF_1_4, "centos", "7.6.1810"), (OF_2_1, "ubuntu", "22.04"), (OF_2_15, "fedora", "44")],
)
def test_distribution_is_read(words: str, distribution: str, version: str) -> None:
    told = value(machine(words).host.distribution)
    assert (told.id, told.version_id) == (distribution, version)


@pytest.mark.parametrize(
    ("words", "kernel"),
    [(OF_0_4, ""), (OF_2_1, "5.15.0-88-generic"), (OF_2_15, "6.19.2-300.fc44.x86_64")],
)
def test_kernel_is_read_from_the_platform(words: str, kernel: str) -> None:
    assert value_or(machine(words).host.kernel, "") == kernel


@pytest.mark.parametrize(
    ("words", "expected"),
    [(OF_0_4, "390.87"), (OF_1_4, "410.104"), (OF_2_1, "535.104.05"), (OF_2_15, "610.43.02"), (NOTHING_FOUND, "")],
)
def test_driver_is_read(words: str, expected: str) -> None:
    assert driver(words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (OF_0_4, ["GeForce GTX 1080 Ti", "TITAN V"]),
        (OF_1_4, ["Tesla V100-PCIE-16GB"]),
        (OF_2_1, ["NVIDIA A100-SXM4-80GB"] * 2),
        (OF_2_15, ["NVIDIA GeForce RTX 5090"]),
        (NOTHING_FOUND, []),
    ],
)
def test_gpus_are_read(words: str, expected: list[str]) -> None:
    assert names(words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "GPU models and configuration: AMD Instinct MI250X/MI250NoGCNArchNameOnOldPyTorch",
        "GPU 0: AMD Instinct MI300X",
        "GPU models and configuration: GP",
        "GPU models and configuration: GPU 0",
        "GPU models and configuration: see below",
        "GPU type: Apple M2 Max",
    ],
)
def test_gpus_of_others_and_no_gpus_are_left_out(words: str) -> None:
    assert names("PyTorch version: 2.4.0\n" + words) == []


def test_each_gpu_has_its_number() -> None:
    assert [value(gpu.index) for gpu in gpus(OF_2_1)] == [0, 1]


@pytest.mark.parametrize(("words", "gcc"), [(OF_0_4, "5.4.0"), (OF_1_4, "4.8.5"), (OF_2_1, "11.4.0"), (OF_2_15, "16.0.1")])
def test_host_compiler_is_read(words: str, gcc: str) -> None:
    (compiler,) = value(machine(words).compilers)
    assert (compiler.family, str(value(compiler.version))) == ("gcc", gcc)


@pytest.mark.parametrize(("words", "nvcc"), [(OF_0_4, "9.0.176"), (OF_2_1, "11.8.89"), (OF_2_15, "13.2.51")])
def test_runtime_version_is_that_of_the_nvcc_found(words: str, nvcc: str) -> None:
    (toolkit,) = value(machine(words).toolkits)
    assert (toolkit.root, str(value(toolkit.nvcc_version))) == ("", nvcc)


@pytest.mark.parametrize("words", [OF_1_4, NOTHING_FOUND])
def test_an_nvcc_that_was_not_found_is_no_absence_of_toolkits(words: str) -> None:
    assert machine(words).toolkits == NOT_ASKED


@pytest.mark.parametrize(
    ("words", "version", "cuda"),
    [(OF_0_4, "0.4.1", "9.0.176"), (OF_1_4, "1.4.0", "10.1"), (OF_2_1, "2.1.0+cu121", "12.1"), (OF_2_15, "2.15.0+cu132", "13.2")],
)
def test_torch_and_its_cuda_are_read(words: str, version: str, cuda: str) -> None:
    (torch,) = torches(words)
    assert (value(torch.version), str(value(torch.cuda))) == (version, cuda)
    assert value(torch.accelerator) is Accelerator.CUDA


@pytest.mark.parametrize(("words", "installer"), [(OF_0_4, "pip"), (OF_2_1, "pip"), (OF_2_15, "pip")])
def test_who_installed_torch_is_read(words: str, installer: str) -> None:
    assert value(torches(words)[0].installer) == installer


def test_what_conda_installed_is_not_of_pip() -> None:
    assert value(torches(OF_1_4)[0].installer) == "conda"


def test_known_release_brings_its_architectures() -> None:
    assert Target.parse("sm_90") in value(torches(OF_2_1)[0].targets)


def test_a_build_of_conda_forge_brings_no_architectures() -> None:
    words = OF_2_1.replace("2.1.0+cu121", "2.1.0").replace("pypi_0    pypi", "cuda120_py310h1 conda-forge")
    assert torches(words)[0].targets == NOT_ASKED


@pytest.mark.parametrize("none", ["None", "N/A", "Could not collect"])
def test_torch_built_with_no_cuda_is_a_cpu_build(none: str) -> None:
    (torch,) = torches(NOTHING_FOUND.replace("PyTorch: None", f"PyTorch: {none}"))
    assert value(torch.accelerator) is Accelerator.CPU


def test_torch_built_with_rocm_is_none_of_nvidia() -> None:
    words = NOTHING_FOUND.replace("CUDA used to build PyTorch: None", "CUDA used to build PyTorch: N/A")
    (torch,) = torches(words.replace("ROCM used to build PyTorch: N/A", "ROCM used to build PyTorch: 6.0.32830-d62f6a171"))
    assert value(torch.accelerator) is Accelerator.ROCM


def test_missing_line_about_cuda_leaves_the_build_open() -> None:
    assert torches("PyTorch version: 2.3.1\nIs debug build: False")[0].accelerator == NOT_ASKED


def test_tag_of_the_version_stands_in_for_a_missing_line() -> None:
    (torch,) = torches("PyTorch version: 2.3.1+cu118\nIs debug build: False")
    assert value(torch.cuda) == Version((11, 8))


def test_torch_that_is_not_there_is_a_known_absence() -> None:
    assert torches("PyTorch version: N/A\nCUDA used to build PyTorch: N/A\nPython version: 3.12.1") == ()


def test_another_copy_of_torch_stands_second() -> None:
    found = torches(OF_1_4.replace("[pip] torch==1.4.0", "[pip] torch==1.2.0"))
    assert [value(one.version) for one in found] == ["1.4.0", "1.2.0"]


def test_conda_build_tells_what_a_second_torch_was_built_for() -> None:
    words = "PyTorch version: 1.2.0\n[conda] pytorch 1.3.0 py3.7_cpu_0 pytorch"
    assert [value_or(one.accelerator, Accelerator.XPU) for one in torches(words)] == [Accelerator.XPU, Accelerator.CPU]


def test_python_of_conda_is_known_by_its_packager() -> None:
    (environment,) = value(machine(OF_2_1).environments)
    assert value(environment.manager) is Manager.CONDA
    assert str(value(environment.python_version)) == "3.10.12"


def test_python_of_a_short_report_is_read() -> None:
    assert value(value(machine(OF_0_4).environments)[0].python_version) == Version((3, 6))


def test_glibc_is_believed_from_python_3_8_on() -> None:
    old = OF_2_1.replace("Python version: 3.10.12", "Python version: 3.7.12").replace("glibc-2.35", "glibc-2.9")
    assert (value(machine(OF_2_1).host.glibc), machine(old).host.glibc) == (Version((2, 35)), NOT_ASKED)


@pytest.mark.parametrize(
    ("kernel", "wsl"), [("5.15.153.1-microsoft-standard-WSL2", 2), ("4.4.0-19041-Microsoft", 1), ("6.8.0-45-generic", 0)]
)
def test_wsl_shows_in_the_kernel(kernel: str, wsl: int) -> None:
    words = f"PyTorch version: 2.4.0\nPython platform: Linux-{kernel}-x86_64-with-glibc2.35"
    assert value(machine(words).host.wsl) == wsl


def test_kernel_of_a_jetson_tells_it() -> None:
    words = "PyTorch version: 2.3.0\nPython platform: Linux-5.15.148-tegra-aarch64-with-glibc2.35\nGPU 0: Orin (nvgpu)"
    told = machine(words)
    assert (value(told.host.jetson), value(told.host.architecture), names(words)) == (True, "aarch64", ["Orin"])


def test_driver_of_a_mac_is_no_driver_of_linux() -> None:
    words = "PyTorch version: 1.1.0\nOS: Mac OSX 10.13.6\nGPU 0: GeForce GTX 1060\nNvidia driver version: 1.1.0"
    assert (driver(words), names(words)) == ("", ["GeForce GTX 1060"])


def test_compiler_of_a_kernel_module_is_no_host_compiler() -> None:
    words = "PyTorch version: 2.4.0\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14+deb12u1)"
    assert machine(words).compilers == NOT_ASKED


def test_two_reports_are_two_environments() -> None:
    other = OF_2_1.replace("2.1.0", "2.5.1").replace("cu121", "cpu").replace("PyTorch: 12.1", "PyTorch: None")
    found = value(machine(OF_2_1 + other).environments)
    assert [value(value(one.torch)[0].version) for one in found] == ["2.5.1+cpu", "2.1.0+cu121"]


def test_list_of_packages_alone_names_no_gpu_and_no_host() -> None:
    told = machine("[pip3] torch==2.7.1\n[pip3] triton==3.3.1")
    assert (told.gpus, told.host.distribution) == (NOT_ASKED, NOT_ASKED)
    assert value(value(value(told.environments)[0].torch)[0].version) == "2.7.1"


@pytest.mark.parametrize(
    "words", ["the script collect_env.py itself:\n'pytorch version': run()", "OS: Linux\nPython: 3.8", "torch: 2.0"]
)
def test_other_texts_tell_nothing(words: str) -> None:
    assert machine(words).environments == NOT_ASKED
