"""Parts of a machine that nobody has: what probes would read there, made from what is known of the products."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.knowledge.records import GpuRecord, ModuleFlavour, ToolkitRecord, TorchBuild
from gpuassist.model.driver import Driver, KernelModule, Library, NvmlStatus
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Command, Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler, Origin, Toolkit
from gpuassist.model.version import Version

SOURCE = "imagined"
PYTHON = Version.parse("3.12")
_NOT_SAID = Unknown(text("not said of an imagined part"), asked=False)
_NO_DRIVER = Unknown(text("no driver runs"))
_SUCCESS, _LIBRARY_MISSING = NvmlStatus(0, "NVML_SUCCESS"), NvmlStatus(12, "NVML_ERROR_LIBRARY_NOT_FOUND")
_VFIO = "vfio-pci"


def without_root(machine: Machine) -> Machine:
    """The machine as it is to a user who may not become root."""
    return replace(machine, host=replace(machine.host, administrator=Known(value=False, source="--no-root")))


def gpu(record: GpuRecord, place: int) -> Gpu:
    """A GPU in a slot of its own."""
    capability = record.compute_capability
    return Gpu(
        pci_address=Known(f"{SOURCE}-{place}", SOURCE),
        pci_id=Known(record.pci_id, SOURCE),
        name=Known(record.name, SOURCE),
        architecture=Known(record.architecture, SOURCE),
        compute_capability=Known(capability, SOURCE) if capability else _NOT_SAID,
        kernel_driver=Known("", SOURCE),
    )


def with_gpus(machine: Machine, gpus: tuple[Gpu, ...]) -> Machine:
    """The machine with these GPUs, each in the hands of NVIDIA's driver where one runs."""
    runs = bool(value_or(machine.driver.loaded, ())) or isinstance(machine.driver.version, Known)
    held = tuple(_held(one, runs=runs) if value_or(one.pci_address, "").startswith(SOURCE) else one for one in gpus)
    return replace(machine, gpus=Known(held, SOURCE))


def with_driver(machine: Machine, version: Version, cuda: Version | None, *, open_module: bool) -> Machine:
    """The machine with this driver loaded and at work on every GPU that is not kept for a virtual machine."""
    module = KernelModule("nvidia", Known(version, SOURCE), _NOT_SAID, Known(open_module, SOURCE))
    wsl = value_or(machine.host.wsl, 0) > 0
    nodes = machine.driver.device_nodes
    driver = Driver(
        loaded=_NOT_SAID if wsl else Known((module,), SOURCE),
        on_disk=_NOT_SAID if wsl else Known((module,), SOURCE),
        nouveau_loaded=Known(False, SOURCE),  # noqa: FBT003 -- the fact's value
        libcuda=Known((Library("libcuda.so.1", Known(version, SOURCE)),), SOURCE),
        device_nodes=nodes if value_or(nodes, ()) else Unknown(text("not said of an imagined driver"), asked=False),
        nvml_status=Known(_SUCCESS, SOURCE),
        version=Known(version, SOURCE),
        cuda_version=Known(cuda, SOURCE) if cuda else _NOT_SAID,
    )
    return replace(machine, driver=driver, gpus=_all_held(machine.gpus, runs=True))


def without_driver(machine: Machine) -> Machine:
    driver = Driver(
        loaded=Known((), SOURCE),
        on_disk=Known((), SOURCE),
        nouveau_loaded=Known(False, SOURCE),  # noqa: FBT003 -- the fact's value
        libcuda=Known((), SOURCE),
        device_nodes=Known((), SOURCE),
        nvml_status=Known(_LIBRARY_MISSING, SOURCE),
        version=_NO_DRIVER,
        cuda_version=_NO_DRIVER,
    )
    return replace(machine, driver=driver, gpus=_all_held(machine.gpus, runs=False))


def open_module_for(records: tuple[ModuleFlavour | None, ...]) -> bool:
    """Which kernel module to imagine: the open one wherever no GPU forbids it, or one demands it."""
    return ModuleFlavour.OPEN_REQUIRED in records or ModuleFlavour.OPEN_IMPOSSIBLE not in records


def with_toolkit(machine: Machine, release: Version, record: ToolkitRecord | None) -> Machine:
    """The machine where a new terminal finds this release's nvcc: the installed one where there is one."""
    present = value_or(machine.toolkits, ())
    toolkit = next(
        (one for one in present if (isinstance(one.version, Known) and one.version.value.release == release.release)), None
    ) or _toolkit(release, record)
    others = tuple(one for one in present if one.root != toolkit.root)
    nvcc = value_or(toolkit.nvcc, f"{toolkit.root}/bin/nvcc")
    changed = replace(machine, toolkits=Known((*others, toolkit), SOURCE))
    return _with_commands(changed, ("nvcc",), (Command("nvcc", nvcc, nvcc),))


def without_toolkit(machine: Machine) -> Machine:
    return _with_commands(replace(machine, toolkits=Known((), SOURCE)), ("nvcc",), ())


def with_gcc(machine: Machine, version: Version) -> Machine:
    path = f"/usr/bin/g++-{version.major}"
    compilers = Known((*value_or(machine.compilers, ()), Compiler("g++", path, Known(version, SOURCE))), SOURCE)
    return _with_commands(replace(machine, compilers=compilers), ("g++", "gcc"), (Command("g++", path, path),))


def without_gcc(machine: Machine) -> Machine:
    return _with_commands(replace(machine, compilers=Known((), SOURCE)), ("g++", "gcc"), ())


def with_torch(machine: Machine, build: TorchBuild, python: Version | None = None) -> Machine:
    """The machine with this torch in the environment that counts."""
    spelled = f"{build.newest}+{build.tag}"
    accelerator = Accelerator.CUDA if build.cuda else Accelerator.CPU
    torch = Torch(
        f"{SOURCE}/torch",
        Known(spelled, SOURCE),
        Known(accelerator, SOURCE),
        Known(build.cuda, SOURCE) if build.cuda else _NOT_SAID,
        Known(build.targets, SOURCE),
        Known("pip", SOURCE),
    )
    return _with_environment(machine, torches=(torch,), python=python)


def with_unknown_torch(machine: Machine, spelled: str, python: Version | None = None) -> Machine:
    """The machine with a torch that is known by its version alone."""
    torch = Torch(f"{SOURCE}/torch", Known(spelled, SOURCE), Known(Accelerator.CUDA, SOURCE), _NOT_SAID, _NOT_SAID, _NOT_SAID)
    return _with_environment(machine, torches=(torch,), python=python)


def without_torch(machine: Machine, python: Version | None = None) -> Machine:
    environments = tuple(replace(one, torch=Known((), SOURCE)) for one in value_or(machine.environments, ()))
    return _with_environment(replace(machine, environments=Known(environments, SOURCE)), torches=(), python=python)


def with_python(machine: Machine, python: Version) -> Machine:
    """The machine whose torch runs on this Python."""
    one = environment_of(machine)
    torches = value_or(one.torch, ()) if one else ()
    return _with_environment(machine, torches=torches, python=python)


def environment_of(machine: Machine) -> PythonEnvironment | None:
    """The environment that counts: an active one before others, among those one with torch."""
    every = value_or(machine.environments, ())
    return max(
        every,
        key=lambda one: (one.active.is_true, bool(value_or(one.torch, ()))),
        default=None,
    )


def _with_environment(machine: Machine, *, torches: tuple[Torch, ...], python: Version | None) -> Machine:
    one = environment_of(machine)
    changed = replace(one, torch=Known(torches, SOURCE)) if one else _environment(torches)
    if python is not None:
        changed = replace(changed, python_version=Known(python, SOURCE))
    changed = replace(changed, active=Known(True, SOURCE))  # noqa: FBT003 -- the fact's value
    others = tuple(other for other in value_or(machine.environments, ()) if other is not one)
    return replace(machine, environments=Known((changed, *others), SOURCE))


def _environment(torches: tuple[Torch, ...]) -> PythonEnvironment:
    return PythonEnvironment(
        SOURCE,
        "torch-gpu",
        Known(Manager.VENV, SOURCE),
        Known("torch-gpu/bin/python", SOURCE),
        Known(PYTHON, SOURCE),
        torch=Known(torches, SOURCE),
    )


def _toolkit(release: Version, record: ToolkitRecord | None) -> Toolkit:
    root = f"/usr/local/cuda-{release.release}"
    return Toolkit(
        root,
        Known(Origin.LOCAL, SOURCE),
        Known(release, SOURCE),
        Known(f"{root}/bin/nvcc", SOURCE),
        Known(release, SOURCE),
        Known(record.targets, SOURCE) if record else _NOT_SAID,
        Known(record.gcc_limit, SOURCE) if record and record.gcc_limit else _NOT_SAID,
    )


def _with_commands(machine: Machine, gone: tuple[str, ...], new: tuple[Command, ...]) -> Machine:
    terminal = value_or(machine.shell.new_terminal, Terminal("/bin/bash", (), ()))
    kept = tuple(one for one in terminal.commands if one.name not in gone)
    changed = Known(replace(terminal, commands=(*kept, *new)), SOURCE)
    return replace(machine, shell=replace(machine.shell, new_terminal=changed))


def _all_held(gpus: Fact[tuple[Gpu, ...]], *, runs: bool) -> Fact[tuple[Gpu, ...]]:
    return Known(tuple(_held(one, runs=runs) for one in gpus.value), gpus.source) if isinstance(gpus, Known) else gpus


def _held(one: Gpu, *, runs: bool) -> Gpu:
    if value_or(one.kernel_driver, "") == _VFIO:
        return one
    return replace(one, kernel_driver=Known("nvidia" if runs else "", SOURCE))
