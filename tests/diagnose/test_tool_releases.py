"""The single words that people add to a message: which release of which tool they tell."""

from __future__ import annotations

import pytest

from gpuassist.diagnose import tool_releases
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.rows import for_each
from tests.values import Env, Recipe, knowledge, machine


def _setting(words: str, here: Machine | None = None) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(here or Machine(), knowledge()))


@for_each(
    ("words", "release"),
    [
        ("Cuda compilation tools, release 12.1, V12.1.105", "12.1"),
        ("nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 9.0, V9.0.252", "9.0"),
        ("nvcc release 11.8", "11.8"),
        ("-- The CUDA compiler identification is NVIDIA 11.5.119", "11.5"),
        ("/usr/local/cuda-10.2/bin/nvcc -c t.cu", "10.2"),
        (r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v8.0\bin\nvcc.exe", "8.0"),
        ("# nvcc 11.5", "11.5"),
        ("nvcc version: 12.4", "12.4"),
        ('-- Found CUDA: /usr/local/cuda (found version "10.2")', "10.2"),
        ('-- Found CUDAToolkit: /usr/local/cuda/include (found version "12.0.140")', "12.0"),
        ("In file included from /usr/local/cuda-9.0/include/cuda_runtime.h", "9.0"),
        ("CUDA Version: 11.3", "11.3"),
        ("CUDA toolkit 13.0", "13.0"),
        ("cuda 11.8, gcc 11", "11.8"),
        ("CUDA: 12.1", "12.1"),
        ("(CUDA v8.0)", "8.0"),
        ("I have cuda10.1 installed", "10.1"),
        ("cudatoolkit=11.3", "11.3"),
        ("**CUDA Version**: 11.1", ""),
        ("my toolkit is 11.6", "11.6"),
        ("CUDA Toolkit version 12.9", "12.9"),
        ("我的CUDA版本是11.3", "11.3"),
        ("CUDA版本：12.1", "12.1"),
        ("cuda 11.8，显卡 4090", "11.8"),
        ("CUDAバージョン 12.4", "12.4"),
    ],
)
def test_release_of_the_toolkit_is_read(words: str, release: str) -> None:
    assert tool_releases.nvcc_release(_setting(words)) == release


@pytest.mark.parametrize(
    "words",
    [
        "| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4     |",
        "CUDA used to build PyTorch: 12.4",
        "PyTorch 2.2.0+cu121 with CUDA 1201",
        "built with CUDA 12.1",
        "this needs CUDA 11.1 or newer",
        "it requires CUDA 12.0",
        "torch 2.5.1+cu124",
        "libcudart.so.12.0",
        "nvidia-cuda-runtime-cu12 12.8.90",
        "version 12.4 of my program",
        "cuda:0",
    ],
)
def test_other_numbers_are_no_toolkit(words: str) -> None:
    assert tool_releases.nvcc_release(_setting(words)) == ""


def test_words_of_nvcc_come_before_those_of_people() -> None:
    words = "I have cuda 12.4\nCuda compilation tools, release 11.5, V11.5.119"
    assert [str(one) for one in tool_releases.toolkit_releases(_setting(words))] == ["11.5", "12.4"]


def test_toolkit_of_the_machine_comes_last() -> None:
    here = machine(Recipe(toolkits=("12.4",)))
    assert [str(one) for one in tool_releases.toolkit_releases(_setting("# cuda 11.8", here))] == ["11.8", "12.4"]


@for_each(
    ("words", "version"),
    [
        ("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0", "11.4.0"),
        ("gcc 11.4.0 on ubuntu 22.04", "11.4.0"),
        ("GCC & G++: 14.3.0", "14.3.0"),
        ("g++-12", "12"),
        ("gcc version 9.3.0 (Ubuntu 9.3.0-17ubuntu1~20.04)", "9.3.0"),
        ("GCC version: (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0"),
        ("-- The C compiler identification is GNU 13.2.0", "13.2.0"),
        ("/usr/include/c++/15.1.1/bits/move.h", "15.1.1"),
        ("gcc 14, and `gcc --version` says gcc (Debian 14.2.0-8) 14.2.0", "14.2.0"),
        ("gcc版本：9.4.0", "9.4.0"),
        ("clang 16.0.1", ""),
        ("gcc is installed", ""),
    ],
)
def test_version_of_gcc_is_read(words: str, version: str) -> None:
    assert tool_releases.gcc_version(_setting(words)) == version


def test_gcc_of_the_machine_is_taken_where_the_text_has_none() -> None:
    assert tool_releases.gcc_version(_setting("nothing", machine(Recipe(gcc=("13.3.0",))))) == "13.3.0"


@pytest.mark.parametrize(
    ("words", "version"),
    [
        ("Python version: 3.12.0 | packaged by conda-forge", "3.12"),
        ("# python 3.10", "3.10"),
        ("Python 3.9.18", "3.9"),
        ("python=3.8", "3.8"),
        ("python版本是3.10", "3.10"),
        ("/env/lib/python3.11/site-packages/torch", "3.11"),
        ("flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so", "3.10"),
        ("torch-2.1.0-cp312-cp312-manylinux1_x86_64.whl", "3.12"),
        ("(py37) $ ", "3.7"),
        ("I like Python", ""),
        ("python train.py --lr 3.10", ""),
    ],
)
def test_release_of_python_is_read(words: str, version: str) -> None:
    assert tool_releases.python_version(_setting(words)) == version


def test_python_of_the_machine_is_taken_where_the_text_has_none() -> None:
    here = machine(Recipe(environments=(Env("train"),)))
    assert tool_releases.python_version(_setting("nothing", here)) != ""


@for_each(
    ("words", "package", "version"),
    [
        ("torch 2.3.0", "torch", "2.3.0"),
        ("torch                    2.8.0", "torch", "2.8.0"),
        ("torch==2.3.0+cu121", "torch", "2.3.0+cu121"),
        ("[pip3] torch==1.2.0", "torch", "1.2.0"),
        ("torch: 2.3.0", "torch", "2.3.0"),
        ("torch-2.1.0", "torch", "2.1.0"),
        ("torchvision 0.18.0", "torch", ""),
        ("flash-attn: 2.5.7", "flash-attn", "2.5.7"),
        ("flash_attn 2.5.9.post1", "flash-attn", "2.5.9.post1"),
        ("torch (2.0.1)", "torch", "2.0.1"),
        ("torch version 2.0.1", "torch", "2.0.1"),
        ("torch>=2.0", "torch", ""),
        ("Name: torch\nVersion: 2.4.0+cu121\nSummary: Tensors", "torch", "2.4.0+cu121"),
        ("mytorch 2.0.1", "torch", ""),
    ],
)
def test_version_of_a_package_is_read(words: str, package: str, version: str) -> None:
    assert tool_releases.package_version(_setting(words), package) == version


@pytest.mark.parametrize(
    ("words", "version", "cuda"),
    [
        ("PyTorch version: 2.6.0+cu126", "2.6.0+cu126", "12.6"),
        (">>> torch.__version__\n'2.3.1+cpu'", "2.3.1+cpu", ""),
        ("print(torch.__version__)\n1.8.1+cu102", "1.8.1+cu102", "10.2"),
        ("torch.__version__  = 2.1.0+cu121", "2.1.0+cu121", "12.1"),
        ("torch 1.4.0+cu92", "1.4.0+cu92", "9.2"),
        ("pytorch 1.10.0", "1.10.0", ""),
        ("torch 2.5.0.dev20240720+cu124", "2.5.0.dev20240720+cu124", "12.4"),
        ("nothing of it", "", ""),
    ],
)
def test_torch_is_read_with_its_cuda(words: str, version: str, cuda: str) -> None:
    setting = _setting(words)
    assert (tool_releases.torch_version(setting), tool_releases.torch_cuda(setting)) == (version, cuda)


def test_torch_of_the_machine_is_known_with_its_cuda() -> None:
    assert tool_releases.torch_cuda(_setting("nothing", machine(Recipe()))) == "12.4"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("GeForce GT 710 (compute capability 3.5)", "3.5"),
        ("cuda capability: 8.6", "8.6"),
        (">>> torch.cuda.get_device_capability()\n(12, 0)", "12.0"),
        ("compute capability 3.5 and compute capability 8.6", "None"),
        ("capability of the team", "None"),
    ],
)
def test_capability_of_the_gpu_is_read(words: str, told: str) -> None:
    assert str(tool_releases.capability(_setting(words))) == told


def test_capability_of_the_machine_comes_first() -> None:
    assert str(tool_releases.capability(_setting("compute capability 3.5", machine(Recipe())))) == "8.9"


def test_list_of_architectures_is_read_in_order() -> None:
    words = "$ nvcc --list-gpu-arch\ncompute_80\ncompute_75\n  compute_90\n-gencode arch=compute_50,code=sm_50\n"
    assert [str(one) for one in tool_releases.targets_listed(_setting(words))] == ["compute_75", "compute_80", "compute_90"]


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("Ubuntu 16.04", "11.3"),
        ("ubuntu14.04", "10.2"),
        ("OS: Ubuntu 20.04.6 LTS (x86_64)", "12.9"),
        ("Ubuntu 24.04", ""),
        ("Windows 11", ""),
        ("gcc version 9.3.0 (Ubuntu 9.3.0-17ubuntu1~20.04)", ""),
    ],
)
def test_old_systems_have_a_last_release(words: str, release: str) -> None:
    assert str(tool_releases.newest_possible(_setting(words)) or "") == release


@for_each(
    "words",
    [
        "# Mac M1",
        "on my MacBook Pro",
        "macOS 14.2",
        "I am on a mac",
        "Apple M2 Max",
        "Apple silicon",
        "Darwin Kernel Version 23.1.0",
        "torch-2.1.0-cp310-none-macosx_11_0_arm64.whl",
        "conda-forge/osx-arm64",
        "# no GPU in this machine",
        "my laptop has no NVIDIA GPU",
        "I don't have a GPU",
        "a server without GPU",
        "this is a CPU-only machine",
        "我的电脑没有显卡",
    ],
)
def test_computer_without_a_gpu_is_known(words: str) -> None:
    assert tool_releases.without_gpu(_setting(words))


@pytest.mark.parametrize(
    "words",
    [
        "machine learning",
        "If you don't have a GPU, pass --cpu",
        "make sure that the computer is no Mac",
        "compiled without GPU support",
        "#define MACRO",
        "MAC address 00:11:22:33:44:55",
        "GPU 0: NVIDIA GeForce RTX 3090",
        "no GPU memory left",
        "pineapple m3",
    ],
)
def test_other_words_say_nothing_of_that(words: str) -> None:
    assert not tool_releases.without_gpu(_setting(words))
