"""Reports on an environment that other projects print: mmcv, detectron2, transformers, accelerate, Lightning, vLLM, sglang."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.version import ComputeCapability, Target
from tests.detect.readers.pasted import driver, gpus, machine, names, torches
from tests.facts import value

MMCV = """
    sys.platform: linux
    Python: 3.8.13 (default, Mar 28 2022, 11:38:47) [GCC 7.5.0]
    CUDA available: True
    GPU 0,1,2: NVIDIA GeForce RTX 3090
    CUDA_HOME: /usr/local/cuda-11.3
    NVCC: Cuda compilation tools, release 11.3, V11.3.109
    GCC: gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0
    PyTorch: 1.12.1+cu113
    PyTorch compiling details: PyTorch built with:
      - GCC 9.3
      - CUDA Runtime 11.3
      - NVCC architecture flags: -gencode;arch=compute_37,code=sm_37;-gencode;arch=compute_86,code=[sm_86,compute_86]
      - CuDNN 8.3.2  (built against CUDA 11.5)
    TorchVision: 0.13.1+cu113
    MMCV: 1.6.1
"""
DETECTRON2 = """
    ----------------------  ------------------------------------------------------------------
    sys.platform            linux
    Python                  3.9.16 (main, Dec  7 2022, 01:11:51) [GCC 9.4.0]
    numpy                   1.22.4
    detectron2              0.6 @/home/user/detectron2/detectron2
    Compiler                GCC 9.4
    CUDA compiler           CUDA 11.8
    detectron2 arch flags   7.5
    PyTorch                 1.13.1+cu116 @/home/user/miniconda3/envs/det/lib/python3.9/site-packages/torch
    PyTorch debug build     False
    GPU available           Yes
    GPU 0                   Tesla T4 (arch=7.5)
    Driver version          525.85.12
    CUDA_HOME               /usr/local/cuda
    torchvision arch flags  3.5, 5.0, 6.0, 7.0, 7.5, 8.0, 8.6
    ----------------------  ------------------------------------------------------------------
"""
TRANSFORMERS = """
    - `transformers` version: 4.49.0
    - Platform: Linux-5.15.0-130-generic-x86_64-with-glibc2.35
    - Python version: 3.11.11
    - Huggingface_hub version: 0.29.1
    - PyTorch version (GPU?): 2.6.0+cu124 (True)
    - Tensorflow version (GPU?): not installed (NA)
    - Using GPU in script?: <fill in>
    - GPU type: NVIDIA H100 80GB HBM3
"""
ACCELERATE = """
    - `Accelerate` version: 0.28.0
    - Platform: Windows-10-10.0.19045-SP0
    - Python version: 3.8.18
    - PyTorch version (GPU?): 2.2.1 (True)
    - System RAM: 31.84 GB
    - GPU type: NVIDIA GeForce RTX 4070
"""
LIGHTNING = """
    * CUDA:
            - GPU:
                    - NVIDIA GeForce RTX 2080 Ti
                    - NVIDIA GeForce RTX 2080 Ti
            - available:         True
            - version:           11.7
    * Packages:
            - numpy:             1.24.3
            - pyTorch_debug:     False
            - pyTorch_version:   2.0.1+cu117
    * System:
            - OS:                Linux
            - python:            3.10.9
            - version:           #50-Ubuntu SMP PREEMPT_DYNAMIC
"""
VLLM = """
    ==============================
            System Info
    ==============================
    OS                           : Ubuntu 22.04.5 LTS (x86_64)
    GCC version                  : (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
    Libc version                 : glibc-2.35
    ==============================
           PyTorch Info
    ==============================
    PyTorch version              : 2.7.0+cu126
    Is debug build               : False
    CUDA used to build PyTorch   : 12.6
    ROCM used to build PyTorch   : N/A
    Python version               : 3.12.9 (main, Mar 17 2025, 21:01:58) [Clang 20.1.0 ] (64-bit runtime)
    Python platform              : Linux-5.15.0-130-generic-x86_64-with-glibc2.35
    Is CUDA available            : True
    CUDA runtime version         : 12.4.131
    GPU models and configuration :
    GPU 0: NVIDIA L40S
    GPU 1: NVIDIA L40S

    Nvidia driver version        : 550.127.05
"""
SGLANG = """
    Python: 3.10.12 (main, Nov  6 2024, 20:22:13) [GCC 11.4.0]
    CUDA available: True
    GPU 0,1: NVIDIA H200
    GPU 0,1 Compute Capability: 9.0
    CUDA_HOME: /usr/local/cuda
    NVCC: Cuda compilation tools, release 12.4, V12.4.131
    CUDA Driver Version: 560.35.03
    PyTorch: 2.5.1+cu124
"""
EVERY = (MMCV, DETECTRON2, TRANSFORMERS, ACCELERATE, LIGHTNING, VLLM, SGLANG)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (MMCV, ["NVIDIA GeForce RTX 3090"] * 3),
        (DETECTRON2, ["Tesla T4"]),
        (TRANSFORMERS, ["NVIDIA H100 80GB HBM3"]),
        (ACCELERATE, ["NVIDIA GeForce RTX 4070"]),
        (LIGHTNING, ["NVIDIA GeForce RTX 2080 Ti"] * 2),
        (VLLM, ["NVIDIA L40S"] * 2),
        (SGLANG, ["NVIDIA H200"] * 2),
    ],
)
def test_gpus_are_read(words: str, expected: list[str]) -> None:
    assert names(words) == expected


@pytest.mark.parametrize(
    ("words", "version"),
    [
        (MMCV, "1.12.1+cu113"),
        (DETECTRON2, "1.13.1+cu116"),
        (TRANSFORMERS, "2.6.0+cu124"),
        (ACCELERATE, "2.2.1"),
        (LIGHTNING, "2.0.1+cu117"),
        (VLLM, "2.7.0+cu126"),
        (SGLANG, "2.5.1+cu124"),
    ],
)
def test_torch_is_read(words: str, version: str) -> None:
    assert [value(one.version) for one in torches(words)] == [version]


@pytest.mark.parametrize(
    ("words", "expected"),
    [(MMCV, ""), (DETECTRON2, "525.85.12"), (VLLM, "550.127.05"), (SGLANG, "560.35.03"), (LIGHTNING, ""), (TRANSFORMERS, "")],
)
def test_driver_is_read(words: str, expected: str) -> None:
    assert driver(words) == expected


@pytest.mark.parametrize(
    ("words", "python"),
    [
        (MMCV, "3.8.13"),
        (DETECTRON2, "3.9.16"),
        (TRANSFORMERS, "3.11.11"),
        (LIGHTNING, "3.10.9"),
        (VLLM, "3.12.9"),
        (SGLANG, "3.10.12"),
    ],
)
def test_python_is_read(words: str, python: str) -> None:
    assert str(value(value(machine(words).environments)[0].python_version)) == python


@pytest.mark.parametrize(
    ("words", "root", "nvcc"),
    [
        (MMCV, "/usr/local/cuda-11.3", "11.3.109"),
        (DETECTRON2, "/usr/local/cuda", "11.8"),
        (VLLM, "", "12.4.131"),
        (SGLANG, "/usr/local/cuda", "12.4.131"),
    ],
)
def test_nvcc_and_where_it_was_looked_for_are_read(words: str, root: str, nvcc: str) -> None:
    (toolkit,) = value(machine(words).toolkits)
    assert (toolkit.root, str(value(toolkit.version))) == (root, nvcc)


@pytest.mark.parametrize("words", [TRANSFORMERS, ACCELERATE, LIGHTNING])
def test_report_without_nvcc_names_no_toolkit(words: str) -> None:
    assert machine(words).toolkits == NOT_ASKED


def test_capability_that_is_told_counts() -> None:
    (gpu,) = gpus(DETECTRON2)
    assert value(gpu.compute_capability) == ComputeCapability(7, 5)


def test_flags_that_torch_was_compiled_with_are_its_targets() -> None:
    assert value(torches(MMCV)[0].targets) == tuple(sorted(map(Target.parse, ("sm_37", "sm_86", "compute_86"))))


def test_directory_of_torch_names_the_conda_environment() -> None:
    (environment,) = value(machine(DETECTRON2).environments)
    assert (environment.name, environment.prefix) == ("det", "/home/user/miniconda3/envs/det")


def test_platform_tells_windows() -> None:
    assert value(machine(ACCELERATE).host.distribution).id == "windows"


def test_platform_tells_the_kernel_and_that_it_is_no_wsl() -> None:
    host = machine(TRANSFORMERS).host
    assert (value(host.kernel), value(host.wsl), value(host.architecture)) == ("5.15.0-130-generic", 0, "x86_64")


def test_linux_alone_is_no_distribution() -> None:
    assert value_or(machine(LIGHTNING).host.distribution, None) is None


@pytest.mark.parametrize("words", EVERY)
def test_a_quoted_report_tells_the_same(words: str) -> None:
    quoted = "\n".join("> " + line for line in words.splitlines())
    assert names(quoted) == names(words)
    assert driver(quoted) == driver(words)
