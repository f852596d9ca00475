"""What follows from a name or a version, without having been said."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers.complete import complete
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.version import ComputeCapability, Target, Version
from tests.detect.readers.pasted import KNOWLEDGE
from tests.facts import value


def gpu(name: str, **facts: Fact[object]) -> Gpu:
    told = Gpu(name=Known(name, "text"), **facts)  # type: ignore[arg-type]
    return value(complete(Machine(gpus=Known((told,), "text")), KNOWLEDGE).gpus)[0]


def torch(version: str, *, architecture: str = "x86_64", **facts: Fact[object]) -> Torch:
    told = Torch("", Known(version, "text"), **facts)  # type: ignore[arg-type]
    environment = PythonEnvironment("", "", torch=Known((told,), "text"))
    host = Host(architecture=Known(architecture, "text"))
    machine = complete(Machine(host=host, environments=Known((environment,), "text")), KNOWLEDGE)
    return value(value(machine.environments)[0].torch)[0]


@pytest.mark.parametrize(
    ("name", "architecture", "capability"),
    [
        ("NVIDIA GeForce RTX 4090", "Ada Lovelace", (8, 9)),
        ("GeForce GTX 1060 with Max-Q Design", "Pascal", (6, 1)),
        ("Tesla V100-DGXS-16GB", "Volta", (7, 0)),
        ("NVIDIA GeForce RTX 5090 D", "Blackwell", (12, 0)),
        ("Tesla V100-SXM2...", "Volta", (7, 0)),
        ("NVIDIA GeForce GTX 166...", "Turing", (7, 5)),
    ],
)
def test_name_tells_architecture_and_capability(name: str, architecture: str, capability: tuple[int, int]) -> None:
    found = gpu(name)
    assert (value(found.architecture), value(found.compute_capability)) == (architecture, ComputeCapability(*capability))


@pytest.mark.parametrize("name", ["NVIDIA GeForce ...", "Graphics Device", "Radeon RX 7900 XTX"])
def test_a_name_of_many_or_none_tells_nothing(name: str) -> None:
    assert gpu(name).compute_capability == NOT_ASKED


def test_the_id_counts_before_the_name() -> None:
    assert value(gpu("Graphics Device", pci_id=Known("10de:2684", "text")).compute_capability) == ComputeCapability(8, 9)


def test_what_is_told_is_not_replaced() -> None:
    told = gpu("NVIDIA GeForce RTX 4090", compute_capability=Known(ComputeCapability(8, 6), "text"))
    assert value(told.compute_capability) == ComputeCapability(8, 6)


@pytest.mark.parametrize(
    ("version", "accelerator", "cuda"),
    [
        ("2.5.1+cu124", Accelerator.CUDA, "12.4"),
        ("1.8.0+cu111", Accelerator.CUDA, "11.1"),
        ("2.5.1+cpu", Accelerator.CPU, ""),
        ("2.5.1+rocm6.2", Accelerator.ROCM, ""),
        ("2.8.0+xpu", Accelerator.XPU, ""),
        ("2.5.1", None, ""),
        ("2.6.0a0+ecf3bae40a.nv25.01", None, ""),
        ("strange", None, ""),
    ],
)
def test_version_tells_what_torch_was_built_for(version: str, accelerator: Accelerator | None, cuda: str) -> None:
    found = torch(version)
    assert (value_or(found.accelerator, None), str(value_or(found.cuda, ""))) == (accelerator, cuda)


@pytest.mark.parametrize(("version", "target"), [("2.6.0+cu126", "sm_90"), ("2.8.0+cu128", "sm_120")])
def test_a_release_brings_its_architectures(version: str, target: str) -> None:
    assert Target.parse(target) in value(torch(version).targets)


def test_a_release_without_tag_brings_them_by_its_cuda() -> None:
    found = torch("2.6.0", cuda=Known(Version((12, 6)), "text"))
    assert (value(found.targets), value(found.accelerator)) == (value(torch("2.6.0+cu126").targets), Accelerator.CUDA)


@pytest.mark.parametrize("version", ["2.5.1+cpu", "2.5.1", "2.7.0.dev20250226+cu128", "2.6.0a0+ecf3bae40a.nv25.01", "2.5.1+cu99"])
def test_other_builds_bring_none(version: str) -> None:
    assert torch(version).targets == NOT_ASKED


def test_architectures_are_those_for_the_processor() -> None:
    arm = torch("2.8.0+cu129", architecture="aarch64").targets
    assert arm == NOT_ASKED or arm != torch("2.8.0+cu129").targets


def test_a_build_of_conda_forge_is_its_own() -> None:
    told = torch("2.6.0", cuda=Known(Version((12, 6)), "text"), installer=Known("conda-forge", "text"))
    assert told.targets == NOT_ASKED


def test_an_environment_without_a_name_gets_one() -> None:
    environment = PythonEnvironment("", "", torch=Known((), "text"))
    found = complete(Machine(environments=Known((environment,), "text")), KNOWLEDGE)
    assert value(found.environments)[0].name == "python"


@pytest.mark.parametrize(
    ("version", "architecture", "told"),
    [("13.4.1", "aarch64", True), ("11.2", "aarch64", True), ("14.1", "x86_64", True), ("10.13.6", "x86_64", False)],
)
def test_a_mac_of_today_has_no_nvidia_gpu(version: str, architecture: str, told: bool) -> None:
    mac = Known(Distribution("macos", (), version, "macOS"), "text")
    found = complete(Machine(host=Host(distribution=mac, architecture=Known(architecture, "text"))), KNOWLEDGE)
    assert (value_or(found.gpus, None) == ()) is told


def test_an_empty_machine_stays_empty() -> None:
    assert complete(Machine(), KNOWLEDGE) == Machine()
