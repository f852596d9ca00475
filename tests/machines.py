"""Pieces of made-up machines: PCI devices, drivers, toolkits, distributions, written as files under a root."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from tests.fakes import link, put

KERNEL = "6.8.0-60-generic"
UBUNTU = (
    'PRETTY_NAME="Ubuntu 24.04.2 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nVERSION="24.04.2 LTS (Noble Numbat)"\n'
    "VERSION_CODENAME=noble\nID=ubuntu\nID_LIKE=debian\n"
)
DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nID=debian\n'
ARCH = 'NAME="Arch Linux"\nPRETTY_NAME="Arch Linux"\nID=arch\nBUILD_ID=rolling\n'
SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"


def linux(root: Path, *, kernel: str = KERNEL, os_release: str = UBUNTU, secure_boot: bool | None = False) -> None:
    """A plain installation; `secure_boot` is None on a machine that starts with a legacy BIOS."""
    put(root, "/etc/os-release", os_release)
    put(root, "/proc/sys/kernel/osrelease", f"{kernel}\n")
    put(root, "/proc/sys/kernel/arch", "x86_64\n")
    put(root, "/proc/1/cgroup", "0::/init.scope\n")
    put(root, "/lib/x86_64-linux-gnu/libc.so.6", "GNU C Library (Ubuntu GLIBC 2.39-0ubuntu8.4) stable release version 2.39.\n")
    put(root, "/sys/firmware/acpi/pm_profile", "1\n")
    for directory in ("sys/bus/pci/devices", "sys/module", f"lib/modules/{kernel}", "dev"):
        (root / directory).mkdir(parents=True, exist_ok=True)
    if secure_boot is not None:
        put(root, SECURE_BOOT, bytes([6, 0, 0, 0, int(secure_boot)]))


def pci_gpu(
    root: Path,
    address: str = "0000:01:00.0",
    pci_id: str = "10de:2684",
    *,
    driver: str = "nvidia",
    pci_class: str = "0x030000",
    status: str = "active",
    power_state: str = "D0",
    width: str = "16",
    max_width: str = "16",
    speed: str = "16.0 GT/s PCIe",
    max_speed: str = "16.0 GT/s PCIe",
    bridges: tuple[str, ...] = (),
) -> str:
    """A device of the PCI tree as sysfs shows it; gives its path. `bridges` are the addresses of the ports above it."""
    above = "".join(f"{bridge}/" for bridge in bridges)
    path = f"/sys/devices/pci0000:00/{above}{address}"
    vendor, device = pci_id.split(":")
    files = {
        "vendor": f"0x{vendor}",
        "device": f"0x{device}",
        "class": pci_class,
        "power/runtime_status": status,
        "power_state": power_state,
        "current_link_width": width,
        "max_link_width": max_width,
        "current_link_speed": speed,
        "max_link_speed": max_speed,
    }
    for name, content in files.items():
        put(root, f"{path}/{name}", f"{content}\n")
    if driver:
        (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
        link(root, f"{path}/driver", "../" * (4 + len(bridges)) + f"bus/pci/drivers/{driver}")
    link(root, f"/sys/bus/pci/devices/{address}", f"../../../devices/pci0000:00/{above}{address}")
    return path


def pci_bridge(root: Path, bridges: tuple[str, ...], *, max_width: str = "16", max_speed: str = "16.0 GT/s PCIe") -> None:
    """The last of a chain of PCIe ports, with the most that its link can."""
    path = "/sys/devices/pci0000:00/" + "/".join(bridges)
    put(root, f"{path}/class", "0x060400\n")
    put(root, f"{path}/max_link_width", f"{max_width}\n")
    put(root, f"{path}/max_link_speed", f"{max_speed}\n")


def nvidia_driver(
    root: Path, version: str = "580.95.05", *, open_flavour: bool = False, kernel: str = KERNEL, nodes: int = 1
) -> None:
    """A driver that is installed and loaded: module on disk, in the kernel, libcuda, device nodes (as plain files)."""
    loaded_module(root, version, open_flavour=open_flavour)
    module_on_disk(root, version, open_flavour=open_flavour, kernel=kernel)
    libcuda(root, version)
    device_nodes(root, nodes)


def loaded_module(root: Path, version: str, *, open_flavour: bool = False) -> None:
    """What the kernel shows of a loaded nvidia module."""
    put(root, "/sys/module/nvidia/version", f"{version}\n")
    put(root, "/sys/module/nvidia/initstate", "live\n")
    first = (
        f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {version}  Release Build  (dvs@U22)  Wed Sep 24 01:44:30 UTC"
        if open_flavour
        else f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Wed Sep 24 01:44:30 UTC"
    )
    put(root, "/proc/driver/nvidia/version", f"{first}\nGCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n")


def module_on_disk(
    root: Path, version: str, *, open_flavour: bool = False, kernel: str = KERNEL, folder: str = "updates/dkms", packed: str = ""
) -> str:
    """An nvidia.ko of a kernel; `packed` (such as `.xz`) names it so, the caller then packs it. Gives its path."""
    path = f"/lib/modules/{kernel}/{folder}/nvidia.ko{packed}"
    licence = "Dual MIT/GPL" if open_flavour else "NVIDIA"
    put(root, path, module_bytes({"license": licence, "version": version}))
    return path


def libcuda(root: Path, version: str, folder: str = "/usr/lib/x86_64-linux-gnu") -> None:
    """The driver's user-space library with the two links that its packages make."""
    put(root, f"{folder}/libcuda.so.{version}")
    link(root, f"{folder}/libcuda.so.1", f"libcuda.so.{version}")
    link(root, f"{folder}/libcuda.so", "libcuda.so.1")


def device_nodes(root: Path, count: int = 1, *, mode: int = 0o666) -> None:
    """The nodes of so many GPUs; files stand in for character devices, which only root can make."""
    for name in (*(f"nvidia{number}" for number in range(count)), "nvidiactl", "nvidia-uvm", "nvidia-modeset"):
        put(root, f"/dev/{name}", mode=mode)


def toolkit(root: Path, prefix: str = "/usr/local/cuda-12.4", release: str = "12.4.1", *, gcc_limit: int = 13) -> None:
    """A CUDA toolkit's files; its nvcc is an empty program, to be answered by scripted processes."""
    put(root, f"{prefix}/version.json", json.dumps({"cuda": {"name": "CUDA SDK", "version": release}}))
    put(root, f"{prefix}/bin/nvcc", mode=0o755)
    put(root, f"{prefix}/include/crt/host_config.h", f"#if __GNUC__ > {gcc_limit}\n#error -- unsupported GNU version!\n#endif\n")
    put(root, f"{prefix}/lib64/libcudart.so.{release.split('.')[0]}")


def module_bytes(fields: dict[str, str]) -> bytes:
    """A kernel module of nothing but an ELF header and a .modinfo section that holds `fields`."""
    modinfo = b"".join(f"{name}={value}\0".encode() for name, value in fields.items())
    names = b"\0.modinfo\0.shstrtab\0"
    at_names = 64 + len(modinfo)
    at_table = at_names + len(names)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, at_table, 0, 64, 0, 0, 64, 3, 2)
    return header + modinfo + names + bytes(64) + _section(1, 1, 64, len(modinfo)) + _section(10, 3, at_names, len(names))


def _section(name: int, kind: int, offset: int, size: int) -> bytes:
    return struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
