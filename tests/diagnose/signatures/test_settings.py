"""What programs say of settings, and of CUDA in forked processes, leads to the right answer."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.settings import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each

FORK = "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use 'spawn'"
TF32 = "TensorFloat32 tensor cores for float32 matrix multiplication available but not enabled. Consider setting"
RENAMED = "[W AllocatorConfig.cpp:28] Warning: PYTORCH_CUDA_ALLOC_CONF is deprecated, use PYTORCH_ALLOC_CONF instead"


@for_each(
    ("words", "expected"),
    [
        (FORK, "not-a-gpu-problem"),
        ("RuntimeError: Cannot reinitialize CUDA in forked subprocess", "not-a-gpu-problem"),
        ("train: 2 it/s, too slow\nCUDA_LAUNCH_BLOCKING=1", "launch-blocking-left-on"),
        ('os.environ["CUDA_LAUNCH_BLOCKING"] = "1"  # the run is three times slower', "launch-blocking-left-on"),
        (f"compile_fx.py:194: UserWarning: {TF32} `torch.set_float32_matmul_precision('high')`", "tf32-off"),
        (
            "You are using a CUDA device ('NVIDIA A100-SXM4-40GB') that has Tensor Cores. To properly utilize them, you should set",
            "tf32-off",
        ),
        ("export NVIDIA_TF32_OVERRIDE=0\nwhy is float32 slow on my 3090?", "tf32-off"),
        (RENAMED, "allocator-variable-renamed"),
        ("the GPU order is different from nvidia-smi", "device-order-differs"),
        ("my GPU ids do not match nvidia-smi", "device-order-differs"),
        ("nvidia-smi and torch: the device index is swapped, cuda:0 is the other GPU", "device-order-differs"),
        ("torch 的显卡编号和 nvidia-smi 不一致，nvidia-smi 的编号相反", "device-order-differs"),
    ],
)
def test_message_leads_to_its_answer(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
        "CUDA error: device-side assert triggered\nslow\nCUDA_LAUNCH_BLOCKING=1",
        "CUDA_LAUNCH_BLOCKING=0 and still slow",
        f"{TF32}\ntorch.OutOfMemoryError: CUDA out of memory",
        f"{RENAMED}\nRuntimeError: CUDA error: invalid device ordinal",
        "nvidia-smi lists the ids of all processes",
        "export CUDA_DEVICE_ORDER=PCI_BUS_ID\nthe GPU order does not match nvidia-smi",
        "the order of the tables does not match nvidia-smi",
        "NVIDIA_TF32_OVERRIDE=1",
        "if you see: Cannot re-initialise the forked subprocess",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_worker_of_a_loader_is_told() -> None:
    worker = f"RuntimeError: Caught RuntimeError in DataLoader worker process 0.\n{FORK}"
    told = parameters(SIGNATURES, worker)
    assert (told["cause_id"], told["loader"]) == ("fork", "yes")
    assert "loader" not in parameters(SIGNATURES, FORK)


def test_card_that_the_library_names_is_told() -> None:
    words = "You are using a CUDA device ('NVIDIA A100') that has Tensor Cores. To properly utilize them, you should set"
    assert parameters(SIGNATURES, words) == {"gpu": "NVIDIA A100"}
