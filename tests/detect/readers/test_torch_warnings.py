"""The GPU in torch's warnings that its build does not serve it."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers import torch_warnings
from gpuassist.model.environment import Accelerator, Torch
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Target
from tests.detect.readers.pasted import names

WARNING = """\
/opt/venv/lib/python3.11/site-packages/torch/cuda/__init__.py:235: UserWarning:
NVIDIA GeForce RTX 5090 with CUDA capability sm_120 is not compatible with the current PyTorch installation.
The current PyTorch install supports CUDA capabilities sm_50 sm_80 sm_90 compute_90.
If you want to use the NVIDIA GeForce RTX 5090 GPU with PyTorch, please check the instructions at https://pytorch.org/
"""


def told(words: str) -> Machine:
    return torch_warnings.read(Paste(words))


def torch_of(machine: Machine) -> Torch:
    ((torch,),) = (value_or(one.torch, ()) for one in value_or(machine.environments, ()))
    return torch


def test_gpu_of_the_warning_is_a_fact_with_its_line() -> None:
    (gpu,) = value_or(told(WARNING).gpus, ())
    assert gpu.name == Known("NVIDIA GeForce RTX 5090", "pasted warning of torch, line 2")
    assert gpu.compute_capability == Known(ComputeCapability(12, 0), "pasted warning of torch, line 2")


def test_build_is_what_the_warning_says_it_supports() -> None:
    torch = torch_of(told(WARNING))
    assert torch.targets == Known(
        tuple(map(Target.parse, ("sm_50", "sm_80", "sm_90", "compute_90"))), "pasted warning of torch, line 3"
    )
    assert value_or(torch.accelerator, None) is Accelerator.CUDA


@pytest.mark.parametrize(
    ("words", "name", "capability"),
    [
        ("Found GPU0 GeForce GT 730 which is of cuda capability 3.5.\nPyTorch no longer supports", "GeForce GT 730", (3, 5)),
        ("Found GPU1 NVIDIA GB10 which is of compute capability (CC) 12.1.", "NVIDIA GB10", (12, 1)),
        ("My NVIDIA H100 PCIe with CUDA capability sm_90 is not\ncompatible with the current PyTorch", "NVIDIA H100 PCIe", (9, 0)),
        ("> Tesla M40 with CUDA capability sm_52 is not compatible with the current PyTorch installation.", "Tesla M40", (5, 2)),
    ],
)  # fmt: skip
def test_gpu_is_read_in_every_wording(words: str, name: str, capability: tuple[int, int]) -> None:
    (gpu,) = value_or(told(words).gpus, ())
    assert (value_or(gpu.name, ""), value_or(gpu.compute_capability, None)) == (name, ComputeCapability(*capability))


def test_warning_that_comes_for_each_process_names_one_gpu() -> None:
    assert names(WARNING * 50) == ["NVIDIA GeForce RTX 5090"]


@pytest.mark.parametrize(
    "words",
    [
        "Is sm_120 compatible with the current PyTorch installation?",
        "%s with CUDA capability sm_%d is not compatible with the current PyTorch installation.",
        "The current PyTorch install supports CUDA capabilities {}.",
        "The current PyTorch install supports CUDA capabilities sm_50 ... sm_90.",
        "Found GPU%d %s which is of cuda capability %d.%d.",
    ],
)
def test_what_is_no_such_warning_tells_nothing(words: str) -> None:
    assert told(words) == Machine()
