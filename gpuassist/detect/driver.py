"""The NVIDIA driver from files: its kernel module in memory and on disk, libcuda, and the device nodes."""

from __future__ import annotations

import os
import re

from gpuassist.detect.accounts import Accounts
from gpuassist.detect.driver_setup import with_setup
from gpuassist.detect.modules import on_disk
from gpuassist.detect.reading import made, read
from gpuassist.formats.nvidia_version import is_open, parse_version
from gpuassist.model.driver import DeviceNode, Driver, KernelModule, Library
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.world import World

MODULE = "/sys/module/nvidia"
PROC_VERSION = "/proc/driver/nvidia/version"
_OPEN_LICENCE, _CLOSED_LICENCE = "Dual MIT/GPL", "NVIDIA"  # MODULE_LICENSE of the two flavours' sources
_LIBRARY_DIRECTORIES = (
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu/nvidia/current",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu/nvidia",
    "/usr/lib/aarch64-linux-gnu/tegra",
    "/usr/lib64",
    "/usr/lib64/nvidia",
    "/usr/lib",
    "/usr/lib/nvidia*",
    "/usr/lib/wsl/lib",
    "/run/opengl-driver/lib",
)
_LIBCUDA_VERSION = re.compile(r"libcuda\.so\.(\d{3,}\.\d+(?:\.\d+)?)")
_ELF_32_BIT = b"\x7fELF\x01"


def probe(world: World) -> Driver:
    """All that files tell; what NVML says is `detect.nvml`'s."""
    files = world.files
    found = Driver(
        loaded=_loaded(files),
        on_disk=on_disk(world),
        nouveau_loaded=_is_loaded(files, "nouveau"),
        libcuda=_libcuda(files),
        device_nodes=_device_nodes(world),
    )
    return with_setup(files, found)


def _loaded(files: Files) -> Fact[tuple[KernelModule, ...]]:
    shown = read(files, PROC_VERSION)
    present = _is_loaded(files, "nvidia")
    if isinstance(shown, Unknown) and (isinstance(present, Unknown) or not present.value):
        return made(present, lambda _absent: ())
    version = made(read(files, f"{MODULE}/version"), Version.parse)
    if isinstance(version, Unknown):
        version = _proc_version(shown, otherwise=version)
    open_flavour = _open_flavour(files, shown)
    licence = made(open_flavour, lambda is_open: _OPEN_LICENCE if is_open else _CLOSED_LICENCE)
    source = MODULE if isinstance(present, Known) and present.value else PROC_VERSION
    return Known((KernelModule(source, version, licence, open_flavour),), source)


def _is_loaded(files: Files, module: str) -> Fact[bool]:
    if not files.is_directory("/sys/module"):
        return Unknown(text("{path} is not there, so the loaded modules cannot be told", path="/sys/module"))
    path = f"/sys/module/{module}"
    return Known(files.is_directory(path), path)


def _proc_version(shown: Fact[str], *, otherwise: Fact[Version]) -> Fact[Version]:
    version = parse_version(shown.value) if isinstance(shown, Known) else None
    return Known(version, PROC_VERSION) if version else otherwise


def _open_flavour(files: Files, shown: Fact[str]) -> Fact[bool]:
    if isinstance(shown, Known):
        return Known(is_open(shown.value), PROC_VERSION)
    # P marks a proprietary module (kernel manual, "Tainted kernels").
    return made(read(files, f"{MODULE}/taint"), lambda flags: "P" not in flags)


def _libcuda(files: Files) -> Fact[tuple[Library, ...]]:
    found = dict.fromkeys(
        files.real(path)
        for directory in _LIBRARY_DIRECTORIES
        for path in files.glob(f"{directory}/libcuda.so*")
        if files.is_file(path)
    )
    libraries = tuple(Library(path, _library_version(path)) for path in found if not _is_32_bit(files, path))
    return Known(libraries, "/usr/lib*/libcuda.so*")


def _is_32_bit(files: Files, path: str) -> bool:
    # Fedora and Arch keep a 32-bit driver beside the other, for games; no CUDA program loads it.
    try:
        return files.read_bytes(path, len(_ELF_32_BIT)) == _ELF_32_BIT
    except OSError:
        return False


def _library_version(path: str) -> Fact[Version]:
    found = _LIBCUDA_VERSION.fullmatch(path.rpartition("/")[2])
    if found is None:
        return Unknown(text("the name of {path} does not carry the driver's version", path=path))
    return Known(Version.parse(found[1]), path)


def _device_nodes(world: World) -> Fact[tuple[DeviceNode, ...]]:
    files = world.files
    if not files.is_directory("/dev"):
        return Unknown(text("{path} is not there, so the device nodes cannot be listed", path="/dev"))
    accounts = Accounts(world)
    paths = [path for path in files.glob("/dev/nvidia*") if files.exists(path) and not files.is_directory(path)]
    return Known(tuple(_device_node(files, path, accounts) for path in paths), "/dev/nvidia*")


def _device_node(files: Files, path: str, accounts: Accounts) -> DeviceNode:
    status = files.status(path)
    return DeviceNode(
        path,
        status.st_mode & 0o7777,
        f"{accounts.user(status.st_uid)}:{accounts.group(status.st_gid)}",
        files.may(path, os.R_OK),
        files.may(path, os.W_OK),
    )
