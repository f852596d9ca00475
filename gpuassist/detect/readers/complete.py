"""What follows from what a text says: the architecture of a GPU by its name, what a torch was built for by its version."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from gpuassist.detect.readers.facts import CUT, same_name
from gpuassist.detect.readers.nvidia_smi import ON_CHIP
from gpuassist.formats.torch_version import BuildOrigin, TorchVersion, read_torch_version
from gpuassist.knowledge.compatibility import is_jetson
from gpuassist.knowledge.records import GpuRecord, TorchBuild
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host, Machine

One = TypeVar("One")

_CONDA_FORGE = "conda-forge"


def complete(machine: Machine, knowledge: Knowledge) -> Machine:
    """The machine with what its names and versions imply; what is stated stays as it is."""
    if isinstance(machine.gpus, Unknown) and (mac := _mac_without_nvidia(machine.host)):
        machine = replace(machine, gpus=Known((), mac))
    architecture = value_or(machine.host.architecture, "x86_64")

    def environment(one: PythonEnvironment) -> PythonEnvironment:
        return replace(one, name=one.name or "python", torch=_each(one.torch, lambda torch: _torch(torch, knowledge, architecture)))

    return replace(
        machine,
        host=replace(machine.host, jetson=_jetson(machine)),
        gpus=_each(machine.gpus, lambda gpu: _gpu(gpu, knowledge)),
        environments=_each(machine.environments, environment),
    )


def _each(fact: Fact[tuple[One, ...]], change: Callable[[One], One]) -> Fact[tuple[One, ...]]:
    return Known(tuple(change(one) for one in fact.value), fact.source) if isinstance(fact, Known) else fact


def _mac_without_nvidia(host: Host) -> str:
    """Where it was read that this is a Mac of Apple's own chips, or of macOS 12 or later, which has no NVIDIA driver at all."""
    if not isinstance(host.distribution, Known) or host.distribution.value.id != "macos":
        return ""
    release = host.distribution.value.version_id.partition(".")[0]
    own = value_or(host.architecture, "") == "aarch64" or (release.isdecimal() and int(release) >= 12)
    return host.distribution.source if own else ""


def _jetson(machine: Machine) -> Fact[bool]:
    """NVIDIA calls its kernels for Jetson `5.15.148-tegra`, and their GPUs by the chip alone; some capabilities only they have."""
    told = machine.host.jetson
    if isinstance(told, Unknown) and isinstance(machine.host.kernel, Known) and "tegra" in machine.host.kernel.value:
        return Known(True, machine.host.kernel.source)  # noqa: FBT003 -- the fact's value
    for gpu in value_or(machine.gpus, ()) if isinstance(told, Unknown) else ():
        if isinstance(gpu.name, Known) and ON_CHIP.match(gpu.name.value):
            return Known(True, gpu.name.source)  # noqa: FBT003 -- the fact's value
        if isinstance(gpu.compute_capability, Known) and is_jetson(gpu.compute_capability.value):
            return Known(True, gpu.compute_capability.source)  # noqa: FBT003 -- the fact's value
    return told


def _gpu(gpu: Gpu, knowledge: Knowledge) -> Gpu:
    records = _records(gpu, knowledge)
    if not records and isinstance(gpu.name, Known) and not gpu.name.value.endswith(CUT):
        gpu = replace(gpu, name=Known(knowledge.name_within(gpu.name.value) or gpu.name.value, gpu.name.source))
        records = _records(gpu, knowledge)
    architectures = {record.architecture for record in records}
    capabilities = {record.compute_capability for record in records}
    architecture, capability = gpu.architecture, gpu.compute_capability
    if isinstance(architecture, Unknown) and len(architectures) == 1:
        architecture = Known(records[0].architecture, records[0].list_name)
    first = records[0].compute_capability if records else None
    if isinstance(capability, Unknown) and len(capabilities) == 1 and first is not None:
        capability = Known(first, records[0].list_name)
    return replace(gpu, architecture=architecture, compute_capability=capability)


def _records(gpu: Gpu, knowledge: Knowledge) -> tuple[GpuRecord, ...]:
    if isinstance(gpu.pci_id, Known):
        by_id = knowledge.gpu(gpu.pci_id.value)
        if by_id is not None:
            return (by_id,)
    name = value_or(gpu.name, "")
    if name.endswith(CUT):
        return tuple(record for record in knowledge.gpus() if any(same_name(name, one) for one in (record.name, *record.aliases)))
    found = knowledge.gpu_named(name) if name else None
    return (found,) if found else ()


def _torch(torch: Torch, knowledge: Knowledge, machine: str) -> Torch:
    if isinstance(torch.version, Unknown):
        return torch
    version = read_torch_version(torch.version.value)
    if version is None:
        return torch
    source = torch.version.source
    cuda = Known(version.cuda, source) if isinstance(torch.cuda, Unknown) and version.cuda else torch.cuda
    accelerator = torch.accelerator
    if isinstance(accelerator, Unknown):
        accelerator = _accelerator(version, cuda, torch.version)
    told = replace(torch, cuda=cuda, accelerator=accelerator)
    build = _build(told, version, knowledge, machine) if isinstance(torch.targets, Unknown) else None
    return replace(told, targets=Known(build.targets, build.source)) if build else told


def _accelerator(version: TorchVersion, cuda: Fact[object], told: Known[str]) -> Fact[Accelerator]:
    if isinstance(cuda, Known):
        return Known(Accelerator.CUDA, cuda.source)
    named = {"cpu": Accelerator.CPU, "xpu": Accelerator.XPU, "rocm": Accelerator.ROCM}
    found = next((one for start, one in named.items() if version.tag.startswith(start)), None)
    return Known(found, told.source) if found else NOT_ASKED


def _build(torch: Torch, version: TorchVersion, knowledge: Knowledge, machine: str) -> TorchBuild | None:
    """The release that this is, for what its index compiled it to; a build of anybody else is compiled as he likes."""
    if (
        version.origin is not BuildOrigin.RELEASE
        or isinstance(torch.cuda, Unknown)
        or value_or(torch.installer, "") == _CONDA_FORGE
    ):
        return None
    return next(
        (
            build
            for build in knowledge.torch_builds(version.release)
            if build.machine == machine and build.cuda is not None and build.cuda.release == torch.cuda.value.release
        ),
        None,
    )
