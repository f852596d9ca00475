"""The NVIDIA driver: its kernel module, its user-space libraries, its device nodes, and what NVML says."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.version import Version


class KernelModule(Struct, frozen=True):
    """An nvidia.ko, loaded or on disk. `open_flavour` is true for the open kernel modules (licence `Dual MIT/GPL`); `signer` names
    the key that a file is signed with, empty where it is not signed.
    """

    path: str
    version: Fact[Version] = NOT_ASKED
    licence: Fact[str] = NOT_ASKED
    open_flavour: Fact[bool] = NOT_ASKED
    signer: Fact[str] = NOT_ASKED


class Library(Struct, frozen=True):
    """A shared library of the driver by its real file, with the version in that file's name."""

    path: str
    version: Fact[Version] = NOT_ASKED


class NvmlStatus(Struct, frozen=True):
    """What `nvmlInit` returned: 0 success, 9 driver not loaded, 12 library missing, 18 version mismatch (nvml.h)."""

    code: int
    name: str


class DeviceNode(Struct, frozen=True):
    """A `/dev/nvidia*` node and what this user may do with it; `mode` is the permission bits, `owner` `root:video`."""

    path: str
    mode: int
    owner: str
    readable: bool
    writable: bool


class ModuleBlock(Struct, frozen=True):
    """A setting that keeps a kernel module from loading: `place` is a file and its line, or the kernel's command line."""

    module: str
    place: str
    words: str


class Option(Struct, frozen=True):
    """An option that the loaded module runs with, `PreserveVideoMemoryAllocations` and `0`."""

    name: str
    value: str


class Driver(Struct, frozen=True):
    """`loaded` and `on_disk` are empty tuples where somebody looked and found none; so are `bars`, and `driver_packages`, those
    of the distribution. `libcuda_taken` is the file that a program gets which asks the loader for `libcuda.so.1`: empty of none.
    `firmware` is the loaded version's files of it, `uninstaller` that of NVIDIA's own installer, `nvidia_smi` the program: both
    empty where they are not there. `nvml_fault` is `hang` where NVML did not come back in time, the signal that its library
    crashed with (`SIGSEGV`), and empty where it answered or refused. `switches` counts the NVSwitches on the PCI bus,
    `fabric_manager` is the program that sets them up (empty where not there), `fabric_running` whether it does, and
    `fabric_version` its version.
    """

    loaded: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    on_disk: Fact[tuple[KernelModule, ...]] = NOT_ASKED
    nouveau_loaded: Fact[bool] = NOT_ASKED
    libcuda: Fact[tuple[Library, ...]] = NOT_ASKED
    libcuda_taken: Fact[str] = NOT_ASKED
    device_nodes: Fact[tuple[DeviceNode, ...]] = NOT_ASKED
    nvml_status: Fact[NvmlStatus] = NOT_ASKED
    nvml_version: Fact[str] = NOT_ASKED
    nvml_fault: Fact[str] = NOT_ASKED
    version: Fact[Version] = NOT_ASKED
    cuda_version: Fact[Version] = NOT_ASKED
    bars: Fact[tuple[ModuleBlock, ...]] = NOT_ASKED
    options: Fact[tuple[Option, ...]] = NOT_ASKED
    firmware: Fact[tuple[str, ...]] = NOT_ASKED
    uninstaller: Fact[str] = NOT_ASKED
    driver_packages: Fact[tuple[str, ...]] = NOT_ASKED
    nvidia_smi: Fact[str] = NOT_ASKED
    switches: Fact[int] = NOT_ASKED
    fabric_manager: Fact[str] = NOT_ASKED
    fabric_running: Fact[bool] = NOT_ASKED
    fabric_version: Fact[Version] = NOT_ASKED
