"""The names of facts, and their values, in words."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from gpuassist.diagnose.rules.next_start import CHOSEN
from gpuassist.model.driver import DeviceNode, KernelModule, Library, ModuleBlock, NvmlStatus, Option
from gpuassist.model.environment import Package, TorchAsker
from gpuassist.model.fact import Known
from gpuassist.model.gpu import GpuProcess, PcieLink, Recovery
from gpuassist.model.holds import GpuRepository, HoldReach, PackageHold, SystemPackage
from gpuassist.model.machine import Distribution
from gpuassist.model.next_start import BuildState, ChosenBy, EarlyImage, ModuleBuild
from gpuassist.model.shell import Command
from gpuassist.model.system_wide import ContainerList, LoaderDirectory, ToolkitLink
from gpuassist.model.text import Text, listed, text, verbatim
from gpuassist.present.moments import minute
from gpuassist.present.overview import gibibytes

# By the name of the field; what is a list of records has a section of its own and no label here.
LABELS: dict[str, Text] = {
    "distribution": text("distribution"),
    "kernel": text("kernel"),
    "architecture": text("architecture"),
    "glibc": text("C library (glibc)"),
    "wsl": text("WSL"),
    "container": text("container"),
    "jetson": text("Jetson"),
    "secure_boot": text("Secure Boot"),
    "key_pending": text("key for Secure Boot that waits to be confirmed"),
    "realtime": text("real-time kernel"),
    "slept": text("times slept since the start"),
    "unattended": text("packages upgrade by themselves"),
    "provider": text("rented from"),
    "product": text("model by its firmware"),
    "hybrid": text("a laptop with two graphics processors"),
    "administrator": text("this user may become root"),
    "l4t": text("Jetson Linux"),
    "board": text("main board"),
    "pci_address": text("PCI address"),
    "pci_id": text("PCI id"),
    "compute_capability": text("compute capability"),
    "kernel_driver": text("bound kernel driver"),
    "power_state": text("power state"),
    "pcie_link": text("PCIe link"),
    "index": text("index"),
    "uuid": text("UUID"),
    "minor": text("device number"),
    "memory_total_bytes": text("memory"),
    "memory_used_bytes": text("memory used"),
    "display_active": text("drives a display"),
    "mig_enabled": text("MIG"),
    "mig_uuids": text("MIG instances"),
    "compute_mode": text("compute mode"),
    "processes": text("processes on it"),
    "addressed": text("has its place in memory"),
    "excluded": text("left out by the driver"),
    "sleeps": text("may be switched off while idle"),
    "persistence": text("driver stays ready while idle"),
    "slowdowns": text("slowed by the hardware"),
    "recovery": text("needs before it works again"),
    "fabric": text("registered with the NVSwitches"),
    "loaded": text("loaded NVIDIA modules"),
    "on_disk": text("NVIDIA modules on disk"),
    "nouveau_loaded": text("nouveau loaded"),
    "libcuda": text("libcuda"),
    "libcuda_taken": text("libcuda that programs get"),
    "device_nodes": text("device nodes"),
    "nvml_status": text("NVML"),
    "nvml_version": text("NVML version"),
    "nvml_fault": text("fault of NVML"),
    "version": text("version"),
    "cuda_version": text("CUDA version of the driver"),
    "bars": text("settings that forbid a module"),
    "options": text("options of the driver"),
    "firmware": text("firmware of the driver"),
    "uninstaller": text("NVIDIA's own installer left"),
    "driver_packages": text("driver packages"),
    "nvidia_smi": text("nvidia-smi"),
    "switches": text("NVSwitches"),
    "fabric_manager": text("Fabric Manager"),
    "fabric_running": text("Fabric Manager runs"),
    "fabric_version": text("version of Fabric Manager"),
    "origin": text("installed as"),
    "nvcc": text("nvcc"),
    "nvcc_version": text("nvcc version"),
    "targets": text("architectures"),
    "gcc_limit": text("newest gcc it accepts"),
    "clang_limit": text("newest clang it accepts"),
    "manager": text("made by"),
    "interpreter": text("interpreter"),
    "python_version": text("Python"),
    "accelerator": text("computes on"),
    "cuda": text("built for CUDA"),
    "installer": text("installed by"),
    "damaged": text("files that are missing or cut off"),
    "packages": text("packages around torch"),
    "askers": text("packages that ask for a torch"),
    "stray": text("CUDA libraries where its wheels look first"),
    "path_libraries": text("cuDNN in LD_LIBRARY_PATH"),
    "package_settings": text("where packages come from"),
    "installed": text("packages for the GPU"),
    "repositories": text("NVIDIA's repositories"),
    "unread_holds": text("not read"),
    "links": text("links to toolkits"),
    "loader": text("directories that the loader searches"),
    "container_lists": text("lists of driver files for containers"),
    "chosen_by": text("why it is that one"),
    "kernels": text("kernels that can start"),
    "modules": text("NVIDIA modules for it"),
    "builds": text("driver that is built here"),
    "headers": text("headers of that kernel"),
    "built_at_start": text("services that build what is missing"),
    "early_image": text("early boot image"),
    "nouveau": text("nouveau of that kernel"),
    "nouveau_blocks": text("settings that keep nouveau off"),
    "key_known": text("key of its modules is enrolled"),
    "deployment": text("system image that waits"),
    "modules_gone": text("modules of the running kernel removed"),
    "restart_packages": text("packages that wait for a restart"),
    "login_shell": text("login shell"),
    "directories_missing": text("directories of PATH and LD_LIBRARY_PATH that do not exist"),
}


def words_of_field(name: str, value: Any) -> Text:
    """The value of a fact whose field says what its number counts."""
    if name.endswith("_bytes"):
        return gibibytes(value)
    return text("none") if name == "wsl" and not value else words_of(value)


def words_of(value: Any) -> Text:
    """Any value, as people read it."""
    if isinstance(value, bool):
        return text("yes") if value else text("no")
    if isinstance(value, Enum) and type(value) not in _RECORDS:
        return verbatim(str(value.value))
    if isinstance(value, tuple):
        if not value:
            return text("none")
        first, *rest = map(words_of, value)
        for one in rest:
            first = text("{before}, {one}", before=first, one=one)
        return first
    if value == "":
        return text("none")
    in_words = _RECORDS.get(type(value))
    return in_words(value) if in_words else verbatim(str(value))


def _link(link: PcieLink) -> Text:
    return text(
        "×{width} at {speed} GT/s (at most ×{max_width} at {max_speed} GT/s)",
        width=link.width,
        speed=f"{link.speed_gigatransfers:g}",
        max_width=link.max_width,
        max_speed=f"{link.max_speed_gigatransfers:g}",
    )


def _process(process: GpuProcess) -> Text:
    if isinstance(process.memory_used_bytes, Known):
        return text("process {pid} with {memory}", pid=process.pid, memory=gibibytes(process.memory_used_bytes.value))
    return text("process {pid}", pid=process.pid)


def _recovery(wanted: Recovery) -> Text:
    if wanted.value.isdecimal():
        return text("action {number} of NVML, which is newer than what I know", number=wanted.value)
    return verbatim(wanted.value) if wanted.value else text("none")


def _module(module: KernelModule) -> Text:
    version = str(module.version.value) if isinstance(module.version, Known) else "?"
    if not module.path:  # a pasted text says what is loaded and not from where
        return verbatim(version)
    if not isinstance(module.open_flavour, Known):
        return text("{version} ({path})", version=version, path=module.path)
    if module.open_flavour.value:
        return text("{version}, open ({path})", version=version, path=module.path)
    return text("{version}, proprietary ({path})", version=version, path=module.path)


def _toolkit_link(one: ToolkitLink) -> Text:
    if one.exists:
        return verbatim(f"{one.path} → {one.target}")
    return text("{path} → {target}, which is not there", path=one.path, target=one.target)


def _container_list(one: ContainerList) -> Text:
    if not isinstance(one.driver, Known):
        return verbatim(one.path)
    return text("{version} ({path})", version=str(one.driver.value), path=one.path)


def _node(node: DeviceNode) -> Text:
    if node.readable and node.writable:
        return text("{path}: usable", path=node.path)
    return text(
        "{path}: not usable by this user ({owner}, {mode})", path=node.path, owner=node.owner, mode=f"{node.mode & 0o7777:04o}"
    )


_KEPT = {
    HoldReach.EVERY_UPGRADE: text("no upgrade changes it"),
    HoldReach.AUTOMATIC_UPGRADES: text("not upgraded by itself"),
    HoldReach.NOTHING: text("kept beside what comes"),
}


def words_of_hold(hold: PackageHold) -> Text:
    """What it keeps away, and from which of the installed packages."""
    if hold.reach is HoldReach.OTHER_BRANCHES:
        kept = text("only versions {version}", version=hold.version)
    elif hold.reach is HoldReach.ONE_VERSION:
        kept = text("no version {version}", version=hold.version)
    elif hold.reach is HoldReach.ONE_REPOSITORY:
        kept = text("not from {repository}", repository=hold.repository)
    else:
        kept = _KEPT[hold.reach]
    if hold.reach is HoldReach.EVERY_UPGRADE and hold.version:
        kept = text("held at {version}", version=hold.version)
    if not hold.covers or hold.covers == (hold.pattern,):
        return kept
    return text("{kept}: {packages}", kept=kept, packages=listed(hold.covers))


def _command(command: Command) -> Text:
    if command.path == command.real_path:
        return verbatim(command.path)
    return text("{path}, which is {real}", path=command.path, real=command.real_path)


def _build(build: ModuleBuild) -> Text:
    named = " ".join(filter(None, (build.tool.value, build.version)))
    if build.state is BuildState.FAILED and build.error:
        return text("{build}: {state} ({reason})", build=named, state=build.state.value, reason=build.error)
    return verbatim(f"{named}: {build.state.value}")


def _early_image(image: EarlyImage) -> Text:
    return text("{path}, written {when}", path=image.path, when=minute(image.written))


_RECORDS: dict[type, Callable[[Any], Text]] = {
    Package: lambda package: verbatim(f"{package.name} {package.version} {package.build}".rstrip()),
    Distribution: lambda distribution: verbatim(distribution.name or distribution.id),
    PcieLink: _link,
    GpuProcess: _process,
    KernelModule: _module,
    ModuleBlock: lambda bar: text("{words} ({place})", words=bar.words, place=bar.place),
    Option: lambda option: verbatim(f"{option.name}={option.value}"),
    Library: lambda library: verbatim(library.path),
    TorchAsker: lambda one: verbatim(f"{one.package} {one.version}: torch{one.wanted}"),
    ToolkitLink: _toolkit_link,
    LoaderDirectory: lambda one: text("{words} ({place})", words=one.directory, place=one.file),
    ContainerList: _container_list,
    NvmlStatus: lambda status: verbatim(f"{status.name} ({status.code})"),
    DeviceNode: _node,
    SystemPackage: lambda one: verbatim(f"{one.name} {one.version}"),
    GpuRepository: lambda one: verbatim(one.name or one.id),
    Text: lambda one: one,
    Command: _command,
    ChosenBy: lambda by: CHOSEN[by],
    Recovery: _recovery,
    ModuleBuild: _build,
    EarlyImage: _early_image,
}
