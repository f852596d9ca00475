"""The NVIDIA driver from files: its kernel module in memory and on disk, and the device nodes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from gpuassist.detect.accounts import Accounts
from gpuassist.detect.modules_on_disk import on_disk
from gpuassist.detect.small_files import made, read
from gpuassist.formats.kernel_module import forbidden_by_command_line, forbidden_by_file, is_open, parse_version
from gpuassist.model.driver import DeviceNode, Driver, KernelModule, ModuleBlock, Option
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.pci import DEVICES, is_nvidia
from gpuassist.system.world import World

MODULE = "/sys/module/nvidia"
PROC_VERSION = "/proc/driver/nvidia/version"
_OPEN_LICENCE, _CLOSED_LICENCE = "Dual MIT/GPL", "NVIDIA"  # MODULE_LICENSE of the two flavours' sources


def probe(world: World) -> Driver:
    """All that files tell but the driver's library, which is `detect.libcuda`'s; what NVML says is `detect.nvml`'s."""
    files = world.files
    found = Driver(
        loaded=_loaded(files),
        on_disk=on_disk(world),
        nouveau_loaded=_is_loaded(files, "nouveau"),
        device_nodes=_device_nodes(world),
    )
    return with_setup(files, found)


def _loaded(files: Files) -> Fact[tuple[KernelModule, ...]]:
    shown = read(files, PROC_VERSION)
    present = _is_loaded(files, "nvidia")
    if isinstance(shown, Unknown) and (isinstance(present, Unknown) or not present.value):
        return made(present, lambda _absent: ())
    version = made(read(files, f"{MODULE}/version"), Version.parse)
    in_proc = parse_version(shown.value) if isinstance(shown, Known) else None
    if isinstance(version, Unknown) and in_proc is not None:
        version = Known(in_proc, PROC_VERSION)
    if isinstance(shown, Known):
        open_flavour: Fact[bool] = Known(is_open(shown.value), PROC_VERSION)
    else:  # P marks a proprietary module (kernel manual, "Tainted kernels")
        open_flavour = made(read(files, f"{MODULE}/taint"), lambda flags: "P" not in flags)
    licence = made(open_flavour, lambda is_open: _OPEN_LICENCE if is_open else _CLOSED_LICENCE)
    source = MODULE if isinstance(present, Known) and present.value else PROC_VERSION
    return Known((KernelModule(source, version, licence, open_flavour),), source)


def _is_loaded(files: Files, module: str) -> Fact[bool]:
    if not files.is_directory("/sys/module"):
        return Unknown(text("{path} is not there, so the loaded modules cannot be told", path="/sys/module"))
    path = f"/sys/module/{module}"
    return Known(files.is_directory(path), path)


def _device_nodes(world: World) -> Fact[tuple[DeviceNode, ...]]:
    files = world.files
    if not files.is_directory("/dev"):
        return Unknown(text("{path} is not there, so the device nodes cannot be listed", path="/dev"))
    accounts = Accounts(world)
    paths = [path for path in files.glob("/dev/nvidia*") if files.exists(path) and not files.is_directory(path)]
    nodes = []
    for path in paths:
        status = files.status(path)
        owner = f"{accounts.user(status.st_uid)}:{accounts.group(status.st_gid)}"
        nodes.append(DeviceNode(path, status.st_mode & 0o7777, owner, files.may(path, os.R_OK), files.may(path, os.W_OK)))
    return Known(tuple(nodes), "/dev/nvidia*")


# How the driver was set up: what forbids it, its options and firmware, who installed it, and whether nvidia-smi came with it.


PARAMETERS = "/proc/driver/nvidia/params"
_COMMAND_LINE = "/proc/cmdline"
_MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")
_ASKED_MODULES = frozenset({"nvidia", "nouveau"})
_ASKED_OPTIONS = ("PreserveVideoMemoryAllocations", "UseKernelSuspendNotifiers", "EnableGpuFirmware", "ExcludedGpus")
_FIRMWARE = ("/lib/firmware", "/usr/lib/firmware", "/lib/firmware/updates", "/run/current-system/firmware")
_UNINSTALLERS = ("/usr/bin/nvidia-uninstall", "/usr/local/bin/nvidia-uninstall")
_DPKG, _PACMAN = "/var/lib/dpkg/info", "/var/lib/pacman/local"
# dpkg keeps a package's checksums as long as it is installed, its list of files longer.
_PACKAGES = (
    *(f"{_DPKG}/{name}.md5sums" for name in ("libnvidia-compute-*", "nvidia-utils-*", "libcuda1", "libcuda1:*", "nvidia-smi")),
    # The kernel's half of it.
    *(f"{_DPKG}/{name}.md5sums" for name in ("linux-modules-nvidia-*", "nvidia-dkms-*", "nvidia-*kernel*dkms")),
    f"{_PACMAN}/nvidia-utils-*",
)
_PROGRAMS = (
    "/usr/bin/nvidia-smi",
    "/usr/local/bin/nvidia-smi",
    "/usr/lib/nvidia/current/nvidia-smi",
    "/usr/lib/wsl/lib/nvidia-smi",
    "/run/current-system/sw/bin/nvidia-smi",
    "/opt/bin/nvidia-smi",
    "/usr/local/nvidia/bin/nvidia-smi",
)


def with_setup(files: Files, driver: Driver) -> Driver:
    argument = read(files, _COMMAND_LINE)
    told = [ModuleBlock(name, _COMMAND_LINE, words) for name, words in forbidden_by_command_line(value_or(argument, ""))]
    told += blocks_in_files(files)
    return replace(
        driver,
        bars=Known(tuple(one for one in told if one.module in _ASKED_MODULES), "/etc/modprobe.d"),
        options=made(read(files, PARAMETERS), lambda words: tuple(_options(words))) if files.exists(PARAMETERS) else NOT_ASKED,
        firmware=_firmware(files, value_or(driver.loaded, ())),
        uninstaller=_first(files, _UNINSTALLERS),
        driver_packages=_packages(files),
        nvidia_smi=_first(files, _PROGRAMS),
        **_fabric(files),
    )


def blocks_in_files(files: Files) -> list[ModuleBlock]:
    """What modprobe's files forbid; a file of one directory hides those of its name in the later ones."""
    told: list[ModuleBlock] = []
    seen: set[str] = set()
    for path in (path for directory in _MODPROBE for path in files.glob(f"{directory}/*.conf")):
        name = path.rpartition("/")[2]
        if name not in seen:
            seen.add(name)
            rows = forbidden_by_file(value_or(read(files, path), ""))
            told += [ModuleBlock(module, f"{path}:{number}", line) for module, number, line in rows]
    return told


# What joins the GPUs of a server's baseboard: its switches on the PCI bus, and the service that sets them up.


_FABRIC_MANAGER = ("/usr/bin/nv-fabricmanager",)
_FABRIC_NAME = "nv-fabricmanager"[:15]  # a process' name is cut (proc(5), comm)
_DPKG_STATUS = "/var/lib/dpkg/status"
_DPKG_FABRIC = lazy_regex(r"^Package: nvidia-fabricmanager(?:-\d+)?\n(?:.+\n)*?Version: (\d+\.\d[\d.]*)", re.MULTILINE)
_SWITCH = "0x0680"  # PCI class: a bridge of another kind


def _fabric(files: Files) -> dict[str, Fact[Any]]:
    program = _first(files, _FABRIC_MANAGER)
    if not value_or(program, ""):
        runs_not = Known(value=False, source=_FABRIC_MANAGER[0])
        return {"switches": _switches(files), "fabric_manager": program, "fabric_running": runs_not}
    status = read(files, _DPKG_STATUS)
    found = _DPKG_FABRIC.search(status.value) if isinstance(status, Known) else None
    unlisted = Unknown(text("the version of {path} is in no file that can be read", path=_FABRIC_MANAGER[0]))
    return {
        "switches": _switches(files),
        "fabric_manager": program,
        "fabric_running": _runs(files),
        "fabric_version": Known(Version.parse(found[1]), _DPKG_STATUS) if found else unlisted,
    }


def _switches(files: Files) -> Fact[int]:
    if not files.is_directory(DEVICES):
        return Unknown(text("{path} is not there, so the PCI devices cannot be listed", path=DEVICES))
    devices = (f"{DEVICES}/{name}" for name in files.names(DEVICES))
    ours = (one for one in devices if is_nvidia(files.text(f"{one}/vendor", 64).strip()))
    return Known(sum(files.text(f"{one}/class", 64).strip().startswith(_SWITCH) for one in ours), DEVICES)


def _runs(files: Files) -> Fact[bool]:
    names = [files.text(f"{path}/comm", 64).strip() for path in files.glob("/proc/[0-9]*")]
    if not any(names):
        return Unknown(text("{path} is not there, so the processes cannot be listed", path="/proc"))
    return Known(_FABRIC_NAME in names, "/proc/*/comm")


def _options(words: str) -> Iterator[Option]:
    for line in words.splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() in _ASKED_OPTIONS:
            yield Option(name.strip(), value.strip().strip('"'))


def _firmware(files: Files, loaded: tuple[KernelModule, ...]) -> Fact[tuple[str, ...]]:
    """The files of the loaded version; a container sees none of the host's."""
    version = loaded[0].version if loaded else NOT_ASKED
    if isinstance(version, Unknown):
        return version
    roots = [root for root in _FIRMWARE if files.is_directory(root)]
    if not roots:
        return Unknown(text("{path} is not there, so the driver's firmware cannot be looked for", path=_FIRMWARE[0]))
    found = dict.fromkeys(files.real(path) for root in roots for path in files.glob(f"{root}/nvidia/{version.value}/gsp*"))
    return Known(tuple(found), f"{_FIRMWARE[0]}/nvidia/{version.value}")


def _packages(files: Files) -> Fact[tuple[str, ...]]:
    place = next((place for place in (_DPKG, _PACMAN) if files.is_directory(place)), "")
    if not place:
        return Unknown(text("the packages of this distribution are not listed in files that can be read"))
    found = (path.rpartition("/")[2] for pattern in _PACKAGES for path in files.glob(pattern))
    return Known(tuple(name.removesuffix(".md5sums").partition(":")[0] for name in found), place)


def _first(files: Files, paths: tuple[str, ...]) -> Fact[str]:
    return Known(next((path for path in paths if files.exists(path)), ""), paths[0])
