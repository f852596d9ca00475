"""Whole machines as values, put together from a few words: what probes would have read on them.

What is known of a GPU, a toolkit or a torch build comes from the knowledge files, so that a made-up machine is a possible one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import DeviceNode, Driver, KernelModule, Library, NvmlStatus
from gpuassist.model.environment import Accelerator, Manager, Package, PythonEnvironment, Torch, TorchAsker
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu, Holder, PcieLink, PowerState
from gpuassist.model.holds import PackageHold, SystemPackages
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.next_start import NextStart
from gpuassist.model.shell import Command, Shell, StartupFile, Terminal, Variable
from gpuassist.model.system_wide import SystemWide
from gpuassist.model.text import text
from gpuassist.model.toolkit import Compiler, Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.system.resources import Resources

GIB = 1 << 30
RTX_4090, RTX_5090, GTX_1080_TI, RTX_3090 = "10de:2684", "10de:2b85", "10de:1b06", "10de:2204"
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
UBUNTU_22 = Distribution("ubuntu", ("debian",), "22.04", "Ubuntu 22.04.4 LTS")
UBUNTU_24 = Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.2 LTS")
FEDORA = Distribution("fedora", (), "42", "Fedora Linux 42 (Workstation Edition)")
DEBIAN = Distribution("debian", (), "12", "Debian GNU/Linux 12 (bookworm)")
ARCH = Distribution("arch", (), "", "Arch Linux")
_MEMORY_GIB = {RTX_4090: 24, RTX_5090: 32, GTX_1080_TI: 11, RTX_3090: 24}
_MISMATCH = "NVML_ERROR_LIB_RM_VERSION_MISMATCH"
_NOT_ASKED_NVML = text("NVML was not asked: the driver is not loaded")


@cache
def knowledge() -> Knowledge:
    """The shipped knowledge, parsed once."""
    return Knowledge(Resources().read)


class Env(Struct, frozen=True):
    """A Python environment and its torch: version and variant as `2.5.1+cu124`, empty for none."""

    name: str
    torch: str = ""
    python: str = "3.11"
    manager: Manager = Manager.VENV
    active: bool = False
    targets: str = ""
    packages: tuple[Package, ...] = ()
    damaged: tuple[str, ...] = ()
    stray: tuple[str, ...] = ()
    askers: tuple[TorchAsker, ...] = ()


class Recipe(Struct, frozen=True):
    """A machine in few words; change what differs. `driver` is empty where no module is loaded, `nvcc` names the toolkit
    that a new terminal finds (empty: none), `gpus` are PCI ids, `told` further facts of them by field, a value for each GPU.
    """

    gpus: tuple[str, ...] = (RTX_4090,)
    driver: str = "550.54.14"
    open_module: bool = False
    on_disk: str | None = None
    libcuda: str | None = None
    cuda: str = "12.4"
    bound: str = ""
    asleep: bool = False
    dead: tuple[str, ...] = ()
    toolkits: tuple[str, ...] = ("12.4.131",)
    nvcc: str = "12.4"
    link: str = ""
    gcc: tuple[str, ...] = ("11.4.0",)
    environments: tuple[Env, ...] = (Env("train", "2.5.1+cu124", active=True),)
    variables: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    distribution: Distribution = UBUNTU_22
    glibc: str = "2.35"
    wsl: int = 0
    container: str = ""
    secure_boot: bool = False
    node_mode: int = 0o666
    bashrc: str = ""
    note: str = ""
    host_facts: Mapping[str, Fact[Any]] = field(default_factory=dict)
    driver_facts: Mapping[str, Fact[Any]] = field(default_factory=dict)
    system: SystemWide = field(default_factory=SystemWide)
    next_start: NextStart = field(default_factory=NextStart)
    holders: tuple[Holder, ...] = ()
    told: Mapping[str, Sequence[object]] = field(default_factory=dict)
    cudnn: str = ""
    holds: Fact[tuple[PackageHold, ...]] = NOT_ASKED
    system_packages: SystemPackages = field(default_factory=SystemPackages)


_RECIPE = Recipe()


def machine(recipe: Recipe = _RECIPE, **changes: object) -> Machine:
    """The machine of a recipe with changes."""
    one = replace(recipe, **changes)
    return Machine(
        taken_at="2026-11-21T09:00:00.000+00:00",
        host=replace(_host(one), **one.host_facts),
        gpus=_gpus(one),
        driver=replace(_driver(one), **one.driver_facts),
        toolkits=Known(tuple(_toolkit(version, one) for version in one.toolkits), "/usr/local/cuda*"),
        compilers=Known(tuple(_compiler(place, version) for place, version in enumerate(one.gcc)), "/usr/bin"),
        environments=Known(tuple(map(_environment, one.environments)), "/home/you"),
        shell=_shell(one),
        holders=Known(one.holders, "/proc/*/fd"),
        note=one.note,
        system=one.system,
        next_start=one.next_start,
        path_libraries=Known(_path_libraries(one), "LD_LIBRARY_PATH"),
        holds=one.holds,
        system_packages=one.system_packages,
    )


def _path_libraries(one: Recipe) -> tuple[Library, ...]:
    """The cuDNN that LD_LIBRARY_PATH leads to."""
    if not one.cudnn:
        return ()
    version = Version.parse(one.cudnn)
    return (Library(f"/opt/cudnn/lib/libcudnn.so.{version.major}", Known(version, f"/opt/cudnn/lib/libcudnn.so.{version}")),)


def _host(one: Recipe) -> Host:
    kernel = "5.15.167.4-microsoft-standard-WSL2" if one.wsl else "6.8.0-60-generic"
    return Host(
        Known(one.distribution, "/etc/os-release"),
        Known(kernel, "/proc/sys/kernel/osrelease"),
        Known("x86_64", "/proc/sys/kernel/arch"),
        Known(Version.parse(one.glibc), "/lib/x86_64-linux-gnu/libc.so.6"),
        Known(one.wsl, "/proc/sys/kernel/osrelease"),
        Known(one.container, "/.dockerenv" if one.container else "/proc/1/cgroup"),
        Known(False, "/proc/device-tree/compatible"),
        Known(one.secure_boot, "/sys/firmware/efi/efivars" if not one.wsl else "/sys/firmware/efi"),
    )


def _gpus(one: Recipe) -> Fact[tuple[Gpu, ...]]:
    found = tuple(_gpu(place, pci_id, one) for place, pci_id in enumerate(one.gpus))
    return Known(found, "NVML" if one.wsl else "/sys/bus/pci/devices")


def _gpu(place: int, pci_id: str, one: Recipe) -> Gpu:
    record = knowledge().gpu(pci_id)
    assert record is not None, pci_id
    assert record.compute_capability is not None, pci_id
    address = f"0000:{place + 1:02x}:00.0"
    told = bool(one.driver) and not one.asleep and pci_id not in one.dead and one.libcuda in {None, one.driver}
    device = f"/sys/bus/pci/devices/{address}"
    source = "NVML nvmlDeviceGetName" if told else f"PCI id {pci_id}"
    basic = Gpu(
        pci_address=Known(address, "NVML" if one.wsl else "/sys/bus/pci/devices"),
        pci_id=Known(pci_id, f"{device}/device"),
        name=Known(f"NVIDIA {record.name}" if not record.name.startswith("NVIDIA") else record.name, source),
        architecture=Known(record.architecture, f"PCI id {pci_id}"),
        compute_capability=Known(
            record.compute_capability, "NVML nvmlDeviceGetCudaComputeCapability" if told else f"PCI id {pci_id}"
        ),
        kernel_driver=Known(one.bound or ("nvidia" if one.driver else ""), f"{device}/driver"),
        power_state=Known(PowerState.ASLEEP if one.asleep else PowerState.ACTIVE, f"{device}/power/runtime_status"),
        pcie_link=Known(PcieLink(16, 16, 2.5, 16.0), f"{device}/current_link_speed"),
    )
    if one.wsl:
        nowhere = Unknown(text("WSL2 shows no PCI device"))
        basic = replace(basic, kernel_driver=nowhere, power_state=nowhere, pcie_link=nowhere)
    gpu = _with_nvml(basic, place, pci_id, one) if told else _without_nvml(basic, one)
    return replace(gpu, **{name: Known(values[place], "NVML") for name, values in one.told.items()})


def _with_nvml(gpu: Gpu, place: int, pci_id: str, one: Recipe) -> Gpu:
    number = place - sum(other in one.dead for other in one.gpus[:place])
    return replace(
        gpu,
        index=Known(number, "NVML nvmlDeviceGetIndex"),
        uuid=Known(f"GPU-{pci_id[5:]}aaaa-0000-4000-8000-00000000000{place}", "NVML nvmlDeviceGetUUID"),
        minor=Known(number, "NVML nvmlDeviceGetMinorNumber"),
        memory_total_bytes=Known(_MEMORY_GIB.get(pci_id, 8) * GIB, "NVML nvmlDeviceGetMemoryInfo"),
        memory_used_bytes=Known(int(0.6 * GIB), "NVML nvmlDeviceGetMemoryInfo"),
        display_active=Known(place == 0, "NVML nvmlDeviceGetDisplayActive"),
        mig_enabled=Known(False, "NVML nvmlDeviceGetMigMode"),
        mig_uuids=Known((), "NVML nvmlDeviceGetMigMode"),
        compute_mode=Known("default", "NVML nvmlDeviceGetComputeMode"),
        processes=Known((), "NVML nvmlDeviceGetComputeRunningProcesses"),
    )


def _why_no_nvml(one: Recipe) -> Unknown:
    """As a real machine says it: the driver of one GPU that is loaded was asked, whatever it answered."""
    if one.asleep:
        return Unknown(text("NVML was not asked, because it would wake this GPU"))
    if not one.driver:
        return Unknown(_NOT_ASKED_NVML)
    if one.libcuda and one.libcuda != one.driver:
        words = "RM has detected an NVML/RM version mismatch."
        why = text("NVML refused {question}: {name} ({code}, {words})", question="nvmlInit", name=_MISMATCH, code=18, words=words)
        return Unknown(why)
    return Unknown(text("NVML does not list this GPU"))


def _without_nvml(gpu: Gpu, one: Recipe) -> Gpu:
    why = _why_no_nvml(one)
    names = ("index", "uuid", "minor", "memory_total_bytes", "memory_used_bytes", "display_active", "mig_enabled", "mig_uuids")
    return replace(gpu, **dict.fromkeys((*names, "compute_mode", "processes"), why))


def _driver(one: Recipe) -> Driver:
    loaded, disk, user = one.driver, one.on_disk, one.libcuda
    disk = loaded if disk is None else disk
    user = loaded if user is None else user
    mismatch = bool(loaded and user) and user != loaded  # NVML is a library of its own: it starts without libcuda
    refused = 0 if loaded and not mismatch else 18 if mismatch else 9 if user else 12
    names = {
        0: "NVML_SUCCESS",
        9: "NVML_ERROR_DRIVER_NOT_LOADED",
        12: "NVML_ERROR_LIBRARY_NOT_FOUND",
        18: _MISMATCH,
    }
    told = loaded and not mismatch and not one.asleep
    why = _why_no_nvml(one)
    library = "/usr/lib/wsl/lib" if one.wsl else "/usr/lib/x86_64-linux-gnu"
    return Driver(
        loaded=Unknown(text("WSL2 has no NVIDIA kernel module"))
        if one.wsl
        else Known(_modules(loaded, "nvidia", one), "/sys/module/nvidia"),
        on_disk=Known(() if one.wsl else _modules(disk, _DISK, one), "/lib/modules/6.8.0-60-generic"),
        nouveau_loaded=Known(one.bound == "nouveau", "/sys/module/nouveau"),
        libcuda=Known(
            (Library(f"{library}/libcuda.so.{user}", Known(Version.parse(user), "file name")),) if user else (),
            f"{library}/libcuda.so*",
        ),
        device_nodes=Known(_nodes(one), "/dev/nvidia*"),
        nvml_status=why if one.asleep else Known(NvmlStatus(refused, names[refused]), "NVML nvmlInit"),
        nvml_version=Known(f"12.{user}", "NVML nvmlSystemGetNVMLVersion") if told else why,
        nvml_fault=why if one.asleep else Known("", "NVML"),
        version=Known(Version.parse(loaded), "NVML nvmlSystemGetDriverVersion") if told else why,
        cuda_version=Known(Version.parse(one.cuda), "NVML nvmlSystemGetCudaDriverVersion_v2") if told else why,
    )


_DISK = "/lib/modules/6.8.0-60-generic/updates/dkms/nvidia.ko.zst"


def _modules(version: str, path: str, one: Recipe) -> tuple[KernelModule, ...]:
    if not version:
        return ()
    licence = "Dual MIT/GPL" if one.open_module else "NVIDIA"
    where = "/proc/driver/nvidia/version" if path == "nvidia" else path
    return (KernelModule(path, Known(Version.parse(version), where), Known(licence, where), Known(one.open_module, where)),)


def _nodes(one: Recipe) -> tuple[DeviceNode, ...]:
    if not one.driver or one.wsl:
        return ()
    may = one.node_mode == 0o666
    owner = "root:root" if may else "root:video"
    names = ("nvidia0", "nvidia-modeset", "nvidia-uvm", "nvidia-uvm-tools", "nvidiactl")
    return tuple(DeviceNode(f"/dev/{name}", one.node_mode, owner, may, may) for name in names)


def _root(version: str) -> str:
    return f"/usr/local/cuda-{Version.parse(version).release}"


def _toolkit(version: str, one: Recipe) -> Toolkit:
    root, record = _root(version), knowledge().toolkit(Version.parse(version))
    assert record is not None, version
    assert record.gcc_limit is not None, version
    return Toolkit(
        root,
        Known(Origin.LOCAL, root),
        Known(Version.parse(version), f"{root}/bin/nvcc --version"),
        Known(f"{root}/bin/nvcc", f"{root}/bin/nvcc"),
        Known(Version.parse(version), f"{root}/bin/nvcc --version"),
        Known(record.targets, f"{root}/bin/nvcc --list-gpu-arch"),
        Known(record.gcc_limit, f"{root}/include/crt/host_config.h"),
        links=("/usr/local/cuda",) if one.link and version.startswith(one.link) else (),
    )


def _compiler(place: int, version: str) -> Compiler:
    path = "/usr/bin/g++" if place == 0 else f"/usr/bin/g++-{version.partition('.')[0]}"
    return Compiler("g++", path, Known(Version.parse(version), f"{path} -dumpfullversion -dumpversion"))


def _environment(env: Env) -> PythonEnvironment:
    prefix = f"/home/you/miniforge3/envs/{env.name}" if env.manager is Manager.CONDA else f"/home/you/{env.name}"
    return PythonEnvironment(
        prefix,
        env.name,
        Known(env.manager, prefix),
        Known(f"{prefix}/bin/python", f"{prefix}/bin/python"),
        Known(Version.parse(env.python), f"{prefix}/lib"),
        Known(env.active, "a new terminal"),
        Known((_torch(env, prefix),) if env.torch else (), f"{prefix}/lib/python{env.python}/site-packages"),
        Known(env.packages, f"{prefix}/lib/python{env.python}/site-packages"),
        stray=Known(env.stray, "/home/you, RUNPATH of its wheels" if env.stray else "/home/you"),
        askers=Known(env.askers, f"{prefix}/lib/python{env.python}/site-packages") if env.askers else NOT_ASKED,
    )


def _torch(env: Env, prefix: str) -> Torch:
    release, _, tag = env.torch.partition("+")
    place = f"{prefix}/lib/python{env.python}/site-packages/torch"
    builds = [one for one in knowledge().torch_builds(Version.parse(release)) if one.tag == tag and one.machine == "x86_64"]
    cuda = builds[0].cuda if builds else None
    file = f"{place}/version.py"
    if tag == "cpu" or cuda is None:
        return Torch(place, Known(env.torch, file), Known(Accelerator.CPU, file), installer=Known("pip", file))
    return Torch(
        place,
        Known(env.torch, file),
        Known(Accelerator.CUDA, file),
        Known(cuda, file),
        Known(builds[0].targets, f"{place}/lib/libtorch_python.so"),
        Known("pip", f"{prefix}/lib/python{env.python}/site-packages"),
        Known(env.damaged, f"{prefix}/lib/python{env.python}/site-packages"),
    )


def _shell(one: Recipe) -> Shell:
    first = _root(f"{one.nvcc}.0") + "/bin:" if one.nvcc else ""
    variables = {"PATH": first + SYSTEM_PATH, **one.variables}
    source = "bash -l, bash -i (/home/you/.bashrc)" if one.bashrc else "bash -l, bash -i"
    terminal = Terminal("/bin/bash", _variables(variables), _commands(one))
    bashrc = (
        StartupFile("/home/you/.bashrc", True, Known(one.bashrc, "/home/you/.bashrc"))
        if one.bashrc
        else StartupFile("/home/you/.bashrc", True)
    )
    return Shell(
        Known("/bin/bash", "/etc/passwd"),
        Known((bashrc, StartupFile("/home/you/.profile", True)), "/home/you"),
        Known(terminal, source),
        Known(terminal, "gpuassist's own environment"),
        Known(one.missing, source),
    )


def _variables(variables: Mapping[str, str]) -> tuple[Variable, ...]:
    return tuple(Variable(name, value) for name, value in variables.items())


def _commands(one: Recipe) -> tuple[Command, ...]:
    found = [Command("g++", "/usr/bin/g++", "/usr/bin/g++")] if one.gcc else []
    if one.nvcc:
        path = _root(f"{one.nvcc}.0") + "/bin/nvcc"
        found.append(Command("nvcc", path, path))
    return tuple(found)


def without(one: Machine, names: Sequence[str]) -> Machine:
    """The machine with these dotted facts unknown (`driver.loaded`)."""
    for name in names:
        section, _, field_name = name.partition(".")
        unknown = Unknown(text("not readable in this test"))
        inner = replace(getattr(one, section), **{field_name: unknown}) if field_name else unknown
        one = replace(one, **{section: inner})
    return one
