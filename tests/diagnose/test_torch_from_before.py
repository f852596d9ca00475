"""A torch that was released before the GPU: its CUDA tells it where its architectures are not known."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.judge import judge
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import Known
from gpuassist.model.finding import Finding
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.system.resources import Resources

KNOWLEDGE = Knowledge(Resources().read)


def torch(version: str, cuda: str) -> Torch:
    return Torch("", Known(version, "here"), Known(Accelerator.CUDA, "here"), Known(Version.parse(cuda), "here"))


def lacking(capability: tuple[int, int], *torches: Torch) -> list[Finding]:
    gpu = Gpu(name=Known("GPU", "here"), compute_capability=Known(ComputeCapability(*capability), "here"))
    environments = tuple(PythonEnvironment(f"/{one.version}", "one", torch=Known((one,), "here")) for one in torches)
    machine = Machine(gpus=Known((gpu,), "here"), environments=Known(environments, "here"))
    return [one for one in judge(machine, KNOWLEDGE).findings if one.problem == "torch-lacks-sm"]


@pytest.mark.parametrize(
    ("version", "cuda", "capability"), [("1.4.0", "10.1", (8, 6)), ("1.7.1", "9.2", (8, 0)), ("1.0.0", "10.0.130", (12, 0))]
)
def test_a_release_with_an_older_cuda_has_no_code(version: str, cuda: str, capability: tuple[int, int]) -> None:
    (found,) = lacking(capability, torch(version, cuda))
    assert (found.parameter("torch"), found.parameter("newer")) == (version, "yes")


@pytest.mark.parametrize(
    ("version", "cuda", "capability"),
    [
        ("1.7.1", "11.0", (8, 6)),  # code for 8.0 runs on it
        ("1.4.0", "10.1", (7, 5)),
        ("1.4.0", "10.1", (6, 1)),
        ("1.14.0a0+44dac51c.nv23.01", "10.2", (8, 6)),  # of a build of one's own nothing is known
        ("1.4.0", "7.0", (8, 6)),
    ],
)
def test_what_may_have_code_is_not_accused(version: str, cuda: str, capability: tuple[int, int]) -> None:
    assert lacking(capability, torch(version, cuda)) == []


def test_another_torch_that_may_have_code_leaves_it_open() -> None:
    assert lacking((8, 6), torch("1.4.0", "10.1"), torch("1.8.0", "11.1")) == []
