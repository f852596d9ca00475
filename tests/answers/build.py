"""A recording, as `detect --json` prints it, from a few words about a machine: what a judge writes down about somebody's computer, not what gpuassist makes of it."""

from __future__ import annotations

from typing import Any

import msgspec

HOME = "/home/you"

# driver branch -> the CUDA that its libcuda reports (docs.nvidia.com/deploy/cuda-compatibility; 565 is the one without a toolkit)
_CUDA_OF_BRANCH = {
    390: "9.1", 450: "11.0", 460: "11.2", 470: "11.4", 510: "11.6", 515: "11.7", 520: "11.8", 525: "12.0", 530: "12.1", 535: "12.2", 540: "12.6",
    545: "12.3", 550: "12.4", 555: "12.5", 560: "12.6", 565: "12.7", 570: "12.8", 575: "12.9", 580: "13.0", 590: "13.1", 595: "13.2", 610: "13.3",
    615: "13.4", 620: "13.5",
}  # fmt: skip

# Windows numbers: 572 is R570, 576 R575, 581 and 582 R580, 591 R590 (docs.nvidia.com/datacenter/tesla, "R570: 570.172.08 (Linux)/573.48 (Windows)")
_CUDA_OF_WINDOWS = {566: "12.7", 572: "12.8", 573: "12.8", 576: "12.9", 577: "12.9", 581: "13.0", 582: "13.0", 591: "13.1", 596: "13.2"}

# first toolkit that knows, first that no longer knows (release notes of 9.0, 11.0, 12.0, 13.0 and of the new ones)
_TARGETS = [
    (20, 0, 90), (30, 0, 110), (35, 0, 120), (37, 0, 120), (50, 0, 130), (52, 0, 130), (53, 0, 130), (60, 80, 130), (61, 80, 130), (62, 80, 130),
    (70, 90, 130), (72, 92, 130), (75, 100, 999), (80, 110, 999), (86, 111, 999), (87, 114, 999), (89, 118, 999), (90, 118, 999), (100, 128, 999),
    (101, 128, 130), (103, 129, 999), (110, 130, 999), (120, 128, 999), (121, 129, 999),
]  # fmt: skip
_GCC_LIMITS = [(134, 16), (130, 15), (128, 14), (124, 13), (120, 12), (117, 11), (111, 10), (110, 9), (101, 8)]


class Card(msgspec.Struct, frozen=True):
    name: str
    architecture: str
    capability: str
    pci_id: str
    gib: int


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    card: str
    held_by: str = ""
    """Which kernel driver has it: empty follows the machine's NVIDIA driver, `none` is unbound."""
    mig: bool = False
    instances: int = 0
    nvml: bool = True
    named: str = ""
    asleep: bool = False
    unknown: bool = False


class Driver(msgspec.Struct, frozen=True, kw_only=True):
    version: str = ""
    open: bool = True
    loaded: bool = True
    on_disk: str | None = None
    """Another version on disk than the loaded one; an empty string is no module for the running kernel."""
    libcuda: tuple[str, ...] | None = None
    packages: tuple[str, ...] | None = ()
    uninstaller: str = ""
    status: int | None = None
    cuda: str = ""


class Toolkit(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    root: str = ""
    origin: str = "local"


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    python: str
    torch: str = ""
    name: str = "train"
    manager: str = "venv"
    prefix: str = ""
    active: bool = True
    installer: str = "pip"
    targets: str = ""
    packages: tuple[str, ...] = ()


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    note: str
    system: str | None
    """A key of SYSTEMS; none where the distribution could not be read."""
    gpus: tuple[Gpu, ...] | None
    driver: Driver | None = Driver()
    kernel: str = ""
    arch: str = "x86_64"
    secure_boot: bool | None = False
    wsl: int = 0
    container: str = ""
    jetson: bool = False
    provider: str | None = ""
    product: str | None = ""
    administrator: bool | None = True
    hybrid: bool | None = False
    glibc: str = ""
    gcc: str = ""
    toolkits: tuple[Toolkit, ...] = ()
    nvcc: str = ""
    """The root whose nvcc wins on PATH."""
    environments: tuple[Environment, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


class System(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    like: str = ""
    version: str = ""
    name: str
    kernel: str
    glibc: str
    gcc: str
    libraries: str = "/usr/lib64"
    python: str = "3.12"


CARDS: dict[str, Card] = {
    "gtx580": Card("NVIDIA GeForce GTX 580", "Fermi", "2.0", "10de:1080", 1),
    "quadro4000": Card("NVIDIA Quadro 4000", "Fermi", "2.0", "10de:06dd", 2),
    "gt710": Card("NVIDIA GeForce GT 710", "Kepler", "3.5", "10de:128b", 2),
    "gtx680": Card("NVIDIA GeForce GTX 680", "Kepler", "3.0", "10de:1180", 2),
    "gtx780ti": Card("NVIDIA GeForce GTX 780 Ti", "Kepler", "3.5", "10de:100a", 3),
    "k40": Card("NVIDIA Tesla K40m", "Kepler", "3.5", "10de:1023", 12),
    "k80": Card("NVIDIA Tesla K80", "Kepler", "3.7", "10de:102d", 12),
    "gtx750ti": Card("NVIDIA GeForce GTX 750 Ti", "Maxwell", "5.0", "10de:1380", 2),
    "gtx970": Card("NVIDIA GeForce GTX 970", "Maxwell", "5.2", "10de:13c2", 4),
    "m60": Card("NVIDIA Tesla M60", "Maxwell", "5.2", "10de:13f2", 8),
    "gtx1060": Card("NVIDIA GeForce GTX 1060 6GB", "Pascal", "6.1", "10de:1c03", 6),
    "gtx1070": Card("NVIDIA GeForce GTX 1070", "Pascal", "6.1", "10de:1b81", 8),
    "gtx1080ti": Card("NVIDIA GeForce GTX 1080 Ti", "Pascal", "6.1", "10de:1b06", 11),
    "p100": Card("Tesla P100-PCIE-16GB", "Pascal", "6.0", "10de:15f8", 16),
    "p40": Card("Tesla P40", "Pascal", "6.1", "10de:1b38", 24),
    "v100": Card("Tesla V100-SXM2-16GB", "Volta", "7.0", "10de:1db1", 16),
    "titanv": Card("NVIDIA TITAN V", "Volta", "7.0", "10de:1d81", 12),
    "gtx1650": Card("NVIDIA GeForce GTX 1650", "Turing", "7.5", "10de:1f82", 4),
    "gtx1660ti": Card("NVIDIA GeForce GTX 1660 Ti", "Turing", "7.5", "10de:2182", 6),
    "rtx2060": Card("NVIDIA GeForce RTX 2060", "Turing", "7.5", "10de:1f08", 6),
    "rtx2080ti": Card("NVIDIA GeForce RTX 2080 Ti", "Turing", "7.5", "10de:1e04", 11),
    "t4": Card("Tesla T4", "Turing", "7.5", "10de:1eb8", 16),
    "a100": Card("NVIDIA A100-SXM4-80GB", "Ampere", "8.0", "10de:20b2", 80),
    "a100-40": Card("NVIDIA A100-SXM4-40GB", "Ampere", "8.0", "10de:20b0", 40),
    "a100-pcie": Card("NVIDIA A100 80GB PCIe", "Ampere", "8.0", "10de:20b5", 80),
    "rtx3050l": Card("NVIDIA GeForce RTX 3050 Laptop GPU", "Ampere", "8.6", "10de:25a2", 4),
    "rtx3060": Card("NVIDIA GeForce RTX 3060", "Ampere", "8.6", "10de:2503", 12),
    "rtx3070": Card("NVIDIA GeForce RTX 3070", "Ampere", "8.6", "10de:2484", 8),
    "rtx3080": Card("NVIDIA GeForce RTX 3080", "Ampere", "8.6", "10de:2206", 10),
    "rtx3090": Card("NVIDIA GeForce RTX 3090", "Ampere", "8.6", "10de:2204", 24),
    "a6000": Card("NVIDIA RTX A6000", "Ampere", "8.6", "10de:2230", 48),
    "a10": Card("NVIDIA A10", "Ampere", "8.6", "10de:2236", 24),
    "a10g": Card("NVIDIA A10G", "Ampere", "8.6", "10de:2237", 24),
    "orin": Card("Orin (nvgpu)", "Ampere", "8.7", "", 61),
    "rtx4060": Card("NVIDIA GeForce RTX 4060", "Ada Lovelace", "8.9", "10de:2882", 8),
    "rtx4070": Card("NVIDIA GeForce RTX 4070", "Ada Lovelace", "8.9", "10de:2786", 12),
    "rtx4080": Card("NVIDIA GeForce RTX 4080", "Ada Lovelace", "8.9", "10de:2704", 16),
    "rtx4090": Card("NVIDIA GeForce RTX 4090", "Ada Lovelace", "8.9", "10de:2684", 24),
    "rtx6000ada": Card("NVIDIA RTX 6000 Ada Generation", "Ada Lovelace", "8.9", "10de:26b1", 48),
    "l4": Card("NVIDIA L4", "Ada Lovelace", "8.9", "10de:27b8", 24),
    "l40s": Card("NVIDIA L40S", "Ada Lovelace", "8.9", "10de:26b9", 48),
    "h100": Card("NVIDIA H100 80GB HBM3", "Hopper", "9.0", "10de:2330", 80),
    "h100-pcie": Card("NVIDIA H100 PCIe", "Hopper", "9.0", "10de:2331", 80),
    "h200": Card("NVIDIA H200", "Hopper", "9.0", "10de:2335", 141),
    "gh200": Card("NVIDIA GH200 480GB", "Hopper", "9.0", "10de:2342", 96),
    "b200": Card("NVIDIA B200", "Blackwell", "10.0", "10de:2901", 180),
    "rtx5060": Card("NVIDIA GeForce RTX 5060", "Blackwell", "12.0", "10de:2d05", 8),
    "rtx5060ti": Card("NVIDIA GeForce RTX 5060 Ti", "Blackwell", "12.0", "10de:2d04", 16),
    "rtx5070": Card("NVIDIA GeForce RTX 5070", "Blackwell", "12.0", "10de:2f04", 12),
    "rtx5070ti": Card("NVIDIA GeForce RTX 5070 Ti", "Blackwell", "12.0", "10de:2c05", 16),
    "rtx5080": Card("NVIDIA GeForce RTX 5080", "Blackwell", "12.0", "10de:2c02", 16),
    "rtx5090": Card("NVIDIA GeForce RTX 5090", "Blackwell", "12.0", "10de:2b85", 32),
    "pro6000": Card("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "Blackwell", "12.0", "10de:2bb1", 96),
    "gb10": Card("NVIDIA GB10", "Blackwell", "12.1", "10de:2e12", 119),
    "thor": Card("NVIDIA Thor", "Blackwell", "11.0", "10de:2b00", 122),
}

_DEB = "/usr/lib/x86_64-linux-gnu"

SYSTEMS: dict[str, System] = {
    "ubuntu20": System(id="ubuntu", like="debian", version="20.04", name="Ubuntu 20.04.6 LTS", kernel="5.15.0-139-generic", glibc="2.31", gcc="9.4.0", libraries=_DEB, python="3.8"),
    "ubuntu22": System(id="ubuntu", like="debian", version="22.04", name="Ubuntu 22.04.5 LTS", kernel="6.8.0-90-generic", glibc="2.35", gcc="11.4.0", libraries=_DEB, python="3.10"),
    "ubuntu24": System(id="ubuntu", like="debian", version="24.04", name="Ubuntu 24.04.4 LTS", kernel="6.17.0-14-generic", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "ubuntu25": System(id="ubuntu", like="debian", version="25.10", name="Ubuntu 25.10", kernel="6.17.0-14-generic", glibc="2.42", gcc="15.2.0", libraries=_DEB, python="3.13"),
    "ubuntu26": System(id="ubuntu", like="debian", version="26.04", name="Ubuntu 26.04.1 LTS", kernel="7.0.0-22-generic", glibc="2.43", gcc="15.2.0", libraries=_DEB, python="3.14"),
    "mint22": System(id="linuxmint", like="ubuntu debian", version="22.2", name="Linux Mint 22.2", kernel="6.14.0-37-generic", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "lmde7": System(id="linuxmint", like="debian", version="7", name="LMDE 7 (gigi)", kernel="6.12.57+deb13-amd64", glibc="2.41", gcc="14.2.0", libraries=_DEB, python="3.13"),
    "lmde6": System(id="linuxmint", like="debian", version="6", name="LMDE 6 (faye)", kernel="6.1.0-40-amd64", glibc="2.36", gcc="12.2.0", libraries=_DEB, python="3.11"),
    "pop22": System(id="pop", like="ubuntu debian", version="22.04", name="Pop!_OS 22.04 LTS", kernel="6.17.4-76061704-generic", glibc="2.35", gcc="11.4.0", libraries=_DEB, python="3.10"),
    "pop24": System(id="pop", like="ubuntu debian", version="24.04", name="Pop!_OS 24.04 LTS", kernel="6.17.9-76061709-generic", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "zorin18": System(id="zorin", like="ubuntu debian", version="18", name="Zorin OS 18", kernel="6.14.0-37-generic", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "elementary8": System(id="elementary", like="ubuntu debian", version="8", name="elementary OS 8", kernel="6.14.0-37-generic", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "debian11": System(id="debian", version="11", name="Debian GNU/Linux 11 (bullseye)", kernel="5.10.0-36-amd64", glibc="2.31", gcc="10.2.1", libraries=_DEB, python="3.9"),
    "debian12": System(id="debian", version="12", name="Debian GNU/Linux 12 (bookworm)", kernel="6.1.0-41-amd64", glibc="2.36", gcc="12.2.0", libraries=_DEB, python="3.11"),
    "debian13": System(id="debian", version="13", name="Debian GNU/Linux 13 (trixie)", kernel="6.12.57+deb13-amd64", glibc="2.41", gcc="14.2.0", libraries=_DEB, python="3.13"),
    "proxmox9": System(id="debian", version="13", name="Debian GNU/Linux 13 (trixie)", kernel="6.17.2-1-pve", glibc="2.41", gcc="14.2.0", libraries=_DEB, python="3.13"),
    "proxmox8": System(id="debian", version="12", name="Debian GNU/Linux 12 (bookworm)", kernel="6.8.12-15-pve", glibc="2.36", gcc="12.2.0", libraries=_DEB, python="3.11"),
    "kali": System(id="kali", like="debian", version="2026.3", name="Kali GNU/Linux Rolling", kernel="6.18.5+kali-amd64", glibc="2.42", gcc="15.2.0", libraries=_DEB, python="3.13"),
    "fedora41": System(id="fedora", version="41", name="Fedora Linux 41 (Workstation Edition)", kernel="6.17.10-100.fc41.x86_64", glibc="2.40", gcc="14.3.1", python="3.13"),
    "fedora42": System(id="fedora", version="42", name="Fedora Linux 42 (Workstation Edition)", kernel="6.18.7-100.fc42.x86_64", glibc="2.41", gcc="15.2.1", python="3.13"),
    "fedora43": System(id="fedora", version="43", name="Fedora Linux 43 (KDE Plasma Desktop Edition)", kernel="6.19.8-200.fc43.x86_64", glibc="2.42", gcc="15.2.1", python="3.14"),
    "fedora44": System(id="fedora", version="44", name="Fedora Linux 44 (Workstation Edition)", kernel="7.0.6-200.fc44.x86_64", glibc="2.43", gcc="16.0.1", python="3.14"),
    "silverblue43": System(id="fedora", version="43", name="Fedora Linux 43.20260901.0 (Silverblue)", kernel="6.19.8-200.fc43.x86_64", glibc="2.42", gcc="", python="3.14"),
    "kinoite44": System(id="fedora", version="44", name="Fedora Linux 44.20261101.0 (Kinoite)", kernel="7.0.6-200.fc44.x86_64", glibc="2.43", gcc="", python="3.14"),
    "bazzite": System(id="bazzite", like="fedora", version="43", name="Bazzite 43 (FROM Fedora Kinoite)", kernel="6.17.7-ba19.fc43.x86_64", glibc="2.42", gcc="", python="3.14"),
    "nobara": System(id="nobara", like="rhel centos fedora", version="43", name="Nobara Linux 43 (KDE Plasma)", kernel="6.19.5-200.nobara.fc43.x86_64", glibc="2.42", gcc="15.2.1", python="3.14"),
    "rhel8": System(id="rhel", like="fedora", version="8.10", name="Red Hat Enterprise Linux 8.10 (Ootpa)", kernel="4.18.0-553.83.1.el8_10.x86_64", glibc="2.28", gcc="8.5.0", python="3.6"),
    "rhel9": System(id="rhel", like="fedora", version="9.6", name="Red Hat Enterprise Linux 9.6 (Plow)", kernel="5.14.0-570.58.1.el9_6.x86_64", glibc="2.34", gcc="11.5.0", python="3.9"),
    "rhel10": System(id="rhel", like="fedora", version="10.1", name="Red Hat Enterprise Linux 10.1 (Coughlan)", kernel="6.12.0-124.13.1.el10_1.x86_64", glibc="2.39", gcc="14.3.1"),
    "rocky8": System(id="rocky", like="rhel centos fedora", version="8.10", name="Rocky Linux 8.10 (Green Obsidian)", kernel="4.18.0-553.83.1.el8_10.x86_64", glibc="2.28", gcc="8.5.0", python="3.6"),
    "rocky9": System(id="rocky", like="rhel centos fedora", version="9.6", name="Rocky Linux 9.6 (Blue Onyx)", kernel="5.14.0-570.58.1.el9_6.x86_64", glibc="2.34", gcc="11.5.0", python="3.9"),
    "alma10": System(id="almalinux", like="rhel centos fedora", version="10.1", name="AlmaLinux 10.1 (Heliotrope Lion)", kernel="6.12.0-124.13.1.el10_1.x86_64", glibc="2.39", gcc="14.3.1"),
    "oracle9": System(id="ol", like="fedora", version="9.6", name="Oracle Linux Server 9.6", kernel="6.12.0-104.43.4.2.el9uek.x86_64", glibc="2.34", gcc="11.5.0", python="3.9"),
    "oracle8": System(id="ol", like="fedora", version="8.10", name="Oracle Linux Server 8.10", kernel="5.15.0-313.189.5.el8uek.x86_64", glibc="2.28", gcc="8.5.0", python="3.6"),
    "stream10": System(id="centos", like="rhel fedora", version="10", name="CentOS Stream 10 (Coughlan)", kernel="6.12.0-170.el10.x86_64", glibc="2.39", gcc="14.3.1"),
    "stream9": System(id="centos", like="rhel fedora", version="9", name="CentOS Stream 9", kernel="5.14.0-640.el9.x86_64", glibc="2.34", gcc="11.5.0", python="3.9"),
    "al2023": System(id="amzn", like="fedora", version="2023", name="Amazon Linux 2023.9.20251110", kernel="6.1.158-178.288.amzn2023.x86_64", glibc="2.34", gcc="11.5.0", python="3.9"),
    "leap156": System(id="opensuse-leap", like="suse opensuse", version="15.6", name="openSUSE Leap 15.6", kernel="6.4.0-150600.23.78-default", glibc="2.38", gcc="7.5.0", python="3.6"),
    "leap16": System(id="opensuse-leap", like="suse opensuse", version="16.0", name="openSUSE Leap 16.0", kernel="6.12.0-160000.7-default", glibc="2.40", gcc="15.2.0", python="3.13"),
    "tumbleweed": System(id="opensuse-tumbleweed", like="opensuse suse", version="20261110", name="openSUSE Tumbleweed", kernel="7.0.3-1-default", glibc="2.43", gcc="16.1.0", python="3.13"),
    "sles15": System(id="sles", like="suse", version="15.7", name="SUSE Linux Enterprise Server 15 SP7", kernel="6.4.0-150700.53.22-default", glibc="2.38", gcc="7.5.0", python="3.6"),
    "arch": System(id="arch", name="Arch Linux", kernel="7.0.8-arch1-1", glibc="2.43", gcc="16.1.1", libraries="/usr/lib", python="3.14"),
    "arch-lts": System(id="arch", name="Arch Linux", kernel="6.18.12-1-lts", glibc="2.43", gcc="16.1.1", libraries="/usr/lib", python="3.14"),
    "arch-zen": System(id="arch", name="Arch Linux", kernel="7.0.8-zen1-1-zen", glibc="2.43", gcc="16.1.1", libraries="/usr/lib", python="3.14"),
    "manjaro": System(id="manjaro", like="arch", name="Manjaro Linux", kernel="6.18.11-1-MANJARO", glibc="2.42", gcc="15.2.1", libraries="/usr/lib", python="3.13"),
    "cachyos": System(id="cachyos", like="arch", name="CachyOS", kernel="7.0.8-2-cachyos", glibc="2.43", gcc="16.1.1", libraries="/usr/lib", python="3.14"),
    "endeavour": System(id="endeavouros", like="arch", name="EndeavourOS", kernel="7.0.8-arch1-1", glibc="2.43", gcc="16.1.1", libraries="/usr/lib", python="3.14"),
    "nixos": System(id="nixos", version="25.11", name="NixOS 25.11 (Xantusia)", kernel="6.12.60", glibc="2.40", gcc="", libraries="/run/opengl-driver/lib", python="3.13"),
    "gentoo": System(id="gentoo", version="2.18", name="Gentoo Linux", kernel="6.18.12-gentoo-dist", glibc="2.42", gcc="15.2.1", python="3.13"),
    "void": System(id="void", name="Void", kernel="6.12.60_1", glibc="2.41", gcc="14.2.1", libraries="/usr/lib", python="3.14"),
    "alpine": System(id="alpine", version="3.23.0", name="Alpine Linux v3.23", kernel="6.18.1-0-lts", glibc="", gcc="15.2.0", libraries="/usr/lib"),
    "wsl22": System(id="ubuntu", like="debian", version="22.04", name="Ubuntu 22.04.5 LTS", kernel="6.6.87.2-microsoft-standard-WSL2", glibc="2.35", gcc="11.4.0", libraries=_DEB, python="3.10"),
    "wsl24": System(id="ubuntu", like="debian", version="24.04", name="Ubuntu 24.04.3 LTS", kernel="6.6.87.2-microsoft-standard-WSL2", glibc="2.39", gcc="13.3.0", libraries=_DEB),
    "wsldebian": System(id="debian", version="13", name="Debian GNU/Linux 13 (trixie)", kernel="6.6.87.2-microsoft-standard-WSL2", glibc="2.41", gcc="14.2.0", libraries=_DEB, python="3.13"),
    "jetpack5": System(id="ubuntu", like="debian", version="20.04", name="Ubuntu 20.04.6 LTS", kernel="5.10.216-tegra", glibc="2.31", gcc="9.4.0", libraries="/usr/lib/aarch64-linux-gnu/tegra", python="3.8"),
    "jetpack6": System(id="ubuntu", like="debian", version="22.04", name="Ubuntu 22.04.5 LTS", kernel="5.15.148-tegra", glibc="2.35", gcc="11.4.0", libraries="/usr/lib/aarch64-linux-gnu/nvidia", python="3.10"),
    "jetpack7": System(id="ubuntu", like="debian", version="24.04", name="Ubuntu 24.04.3 LTS", kernel="6.8.12-tegra", glibc="2.39", gcc="13.3.0", libraries="/usr/lib/aarch64-linux-gnu/nvidia"),
}  # fmt: skip


def recording(machine: Machine) -> dict[str, Any]:
    """The whole document, as a saved recording holds it."""
    system = SYSTEMS[machine.system] if machine.system else None
    build = _Build(machine, system)
    return {
        "schema": 1,
        "taken_at": "2026-11-21T09:00:00.000+00:00",
        "host": build.host(),
        "gpus": build.gpus(),
        "driver": build.driver(),
        "toolkits": _known([_toolkit(each) for each in machine.toolkits], "/usr/local/cuda*"),
        "compilers": build.compilers(),
        "environments": _known([_environment(each) for each in machine.environments], HOME),
        "shell": build.shell(),
        "holders": _known([], "/proc/*/fd"),
        "note": machine.note,
        "system": {"links": _unasked(), "loader": _unasked(), "container_lists": _unasked()},
        "path_libraries": _known([], "LD_LIBRARY_PATH"),
        "package_settings": _unasked(),
    }


def _known(value: Any, source: str) -> dict[str, Any]:
    return {"value": value, "source": source}


def _unknown(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason, "asked": True}


def _unasked() -> dict[str, Any]:
    return {"value": None, "reason": "not looked at", "asked": False}


class _Build:
    def __init__(self, machine: Machine, system: System | None) -> None:
        self.machine = machine
        self.system = system
        self.kernel = machine.kernel or (system.kernel if system else "")
        self.libraries = "/usr/lib/wsl/lib" if machine.wsl else (system.libraries if system else "/usr/lib64").replace("x86_64", machine.arch)

    @property
    def _answers(self) -> bool:
        """Whether NVML has an answer: the module is loaded and a library of its version is there."""
        driver = self.machine.driver
        if driver is None or not driver.version or driver.status not in {None, 0}:
            return False
        return driver.loaded

    def host(self) -> dict[str, Any]:
        machine, system = self.machine, self.system
        about = (
            {"id": system.id, "id_like": system.like.split(), "version_id": system.version, "name": system.name} if system else None
        )
        glibc = machine.glibc or (system.glibc if system else "")
        return {
            "distribution": _known(about, "/etc/os-release") if about else _unknown("/etc/os-release is not there"),
            "kernel": _known(self.kernel, "/proc/sys/kernel/osrelease") if self.kernel else _unknown("not readable"),
            "architecture": _known(machine.arch, "/proc/sys/kernel/arch"),
            "glibc": _known(glibc, f"{self.libraries}/libc.so.6") if glibc else _unknown("libc.so.6 is not there"),
            "wsl": _known(machine.wsl, "/proc/sys/kernel/osrelease"),
            "container": _known(machine.container, "/proc/1/cgroup"),
            "jetson": _known(machine.jetson, "/proc/device-tree/compatible"),
            "secure_boot": _maybe(machine.secure_boot, "/sys/firmware/efi/efivars"),
            "key_pending": _known(False, "/sys/firmware/efi/efivars") if machine.secure_boot is not None else _unasked(),
            "realtime": _known(False, "/sys/kernel/realtime"),
            "slept": _known(0, "/sys/power/suspend_stats/success"),
            "unattended": _known(False, "/etc/apt/apt.conf.d"),
            "provider": _maybe(machine.provider, "/sys/class/dmi/id"),
            "product": _maybe(machine.product, "/sys/class/dmi/id/product_name"),
            "hybrid": _maybe(machine.hybrid, "/sys/class/dmi/id/chassis_type"),
            "administrator": _maybe(machine.administrator, "/etc/group"),
        }

    def gpus(self) -> dict[str, Any]:
        if self.machine.gpus is None:
            return _unknown("/sys/bus/pci/devices is not readable")
        found = [self._gpu(gpu, index) for index, gpu in enumerate(self.machine.gpus)]
        return _known(found, "NVML" if self.machine.wsl else "/sys/bus/pci/devices")

    def _holder(self, gpu: Gpu) -> str:
        driver = self.machine.driver
        return gpu.held_by or ("nvidia" if driver and driver.version and driver.loaded else "none")

    def _gpu(self, gpu: Gpu, index: int) -> dict[str, Any]:
        card = CARDS[gpu.card]
        address = f"0000:{index + 1:02x}:00.0"
        place = f"/sys/bus/pci/devices/{address}"
        virtual = bool(self.machine.wsl) or not card.pci_id
        holder = self._holder(gpu)
        answers = gpu.nvml and holder == "nvidia" and self._answers
        by_id = f"PCI id {card.pci_id}"
        no_pci = _unknown("WSL2 shows no PCI device" if self.machine.wsl else "no PCI device")

        def asked(value: Any, call: str) -> dict[str, Any]:
            return _known(value, f"NVML {call}") if answers else _unknown("NVML was not asked: the driver is not loaded")

        named = gpu.named or card.name
        capability = asked(card.capability, "nvmlDeviceGetCudaComputeCapability") if answers else _known(card.capability, by_id)
        silent = gpu.unknown
        return {
            "pci_address": _known(address, "NVML" if virtual else "/sys/bus/pci/devices"),
            "pci_id": _unknown(f"{place}/device is not readable") if silent or not card.pci_id else _known(card.pci_id, f"{place}/device"),
            "name": _unknown("not known without a driver") if silent else _known(named, "NVML nvmlDeviceGetName" if answers else by_id),
            "architecture": _unknown("not known without a PCI id") if silent else _known(card.architecture, by_id),
            "compute_capability": _unknown("not known without a PCI id") if silent else capability,
            "kernel_driver": no_pci if virtual else _known("" if holder == "none" else holder, f"{place}/driver"),
            "power_state": no_pci if virtual else _known("asleep" if gpu.asleep else "active", f"{place}/power/runtime_status"),
            "pcie_link": no_pci
            if virtual
            else _known(
                {"width": 16, "max_width": 16, "speed_gigatransfers": 2.5, "max_speed_gigatransfers": 16.0}, f"{place}/current_link_speed"
            ),
            "index": asked(index, "nvmlDeviceGetIndex"),
            "uuid": asked(f"GPU-{index:08x}-0000-4000-8000-000000000000", "nvmlDeviceGetUUID"),
            "minor": asked(index, "nvmlDeviceGetMinorNumber"),
            "memory_total_bytes": asked(card.gib << 30, "nvmlDeviceGetMemoryInfo"),
            "memory_used_bytes": asked(300 << 20, "nvmlDeviceGetMemoryInfo"),
            "display_active": asked(False, "nvmlDeviceGetDisplayActive"),
            "mig_enabled": asked(gpu.mig, "nvmlDeviceGetMigMode"),
            "mig_uuids": asked([f"MIG-{index:08x}-0000-5000-8000-00000000000{n}" for n in range(gpu.instances)], "nvmlDeviceGetMigMode"),
            "compute_mode": asked("default", "nvmlDeviceGetComputeMode"),
            "processes": asked([], "nvmlDeviceGetComputeRunningProcesses"),
            "addressed": _unasked(),
            "excluded": _unasked(),
            "sleeps": _unasked(),
            "persistence": _unasked(),
            "slowdowns": _unasked(),
            "recovery": _unasked(),
        }

    def _module(self, version: str, path: str, source: str) -> dict[str, Any]:
        driver = self.machine.driver
        flavour = driver is not None and driver.open
        return {
            "path": path,
            "version": _known(version, source),
            "licence": _known("Dual MIT/GPL" if flavour else "NVIDIA", source),
            "open_flavour": _known(flavour, source),
        }

    def driver(self) -> dict[str, Any]:
        machine, driver = self.machine, self.machine.driver
        unread = driver is None
        driver = driver or Driver()
        answers = self._answers
        status = driver.status if driver.status is not None else (0 if answers else (9 if driver.version and driver.libcuda != () else 12))
        names = {0: "NVML_SUCCESS", 9: "NVML_ERROR_DRIVER_NOT_LOADED", 12: "NVML_ERROR_LIBRARY_NOT_FOUND", 18: "NVML_ERROR_LIB_RM_VERSION_MISMATCH", 999: "NVML_ERROR_UNKNOWN"}
        loaded = [self._module(driver.version, "nvidia", "/proc/driver/nvidia/version")] if driver.version and driver.loaded else []
        lies = driver.version if driver.on_disk is None else driver.on_disk
        path = f"/lib/modules/{self.kernel}/updates/dkms/nvidia.ko.zst"
        on_disk = [self._module(lies, path, path)] if lies else []
        libraries = ((driver.version,) if driver.version else ()) if driver.libcuda is None else driver.libcuda
        refused = _unknown(f"NVML refused nvmlInit: {names[status]}")
        nodes = ["/dev/nvidia0", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"] if loaded else []
        no_module = _unknown("WSL2 has no NVIDIA kernel module")
        nouveau = any(gpu.held_by == "nouveau" for gpu in machine.gpus or ())
        wants = _unknown("not readable") if unread else None
        return {
            "loaded": wants or (no_module if machine.wsl else _known(loaded, "/sys/module/nvidia")),
            "on_disk": wants or (no_module if machine.wsl else _known(on_disk, f"/lib/modules/{self.kernel}")),
            "nouveau_loaded": _known(nouveau, "/sys/module/nouveau"),
            "libcuda": wants
            or _known(
                [_library(each, self._library_directory(each)) for each in libraries],
                f"{self.libraries}/libcuda.so*",
            ),
            "device_nodes": wants
            or _known([{"path": node, "mode": 438, "owner": "root:root", "readable": True, "writable": True} for node in nodes], "/dev/nvidia*"),
            "nvml_status": wants or _known({"code": status, "name": names[status]}, "NVML nvmlInit"),
            "nvml_version": wants or (_known(f"12.{driver.version}", "NVML nvmlSystemGetNVMLVersion") if answers else refused),
            "nvml_fault": _known("", "NVML"),
            "version": wants or (_known(driver.version, "NVML nvmlSystemGetDriverVersion") if answers else refused),
            "cuda_version": wants
            or (_known(driver.cuda or self._cuda(driver.version), "NVML nvmlSystemGetCudaDriverVersion_v2") if answers and libraries else refused),
            "bars": _known([], "/etc/modprobe.d"),
            "options": _unasked(),
            "firmware": _unasked(),
            "uninstaller": wants or _known(driver.uninstaller, "/usr/bin/nvidia-uninstall"),
            "driver_packages": wants or _maybe(list(driver.packages) if driver.packages is not None else None, "the package database"),
            "nvidia_smi": wants or _known("/usr/bin/nvidia-smi" if libraries else "", "/usr/bin/nvidia-smi"),
        }

    def _library_directory(self, version: str) -> str:
        """Inside WSL2 the Windows driver's library is the one in /usr/lib/wsl/lib; another version is a Linux package's."""
        driver = self.machine.driver
        if self.machine.wsl and driver is not None and version != driver.version:
            return _DEB
        return self.libraries

    def _cuda(self, version: str) -> str:
        branch = int(version.split(".")[0])
        return (_CUDA_OF_WINDOWS if self.machine.wsl else _CUDA_OF_BRANCH)[branch]

    def compilers(self) -> dict[str, Any]:
        version = self.machine.gcc or (self.system.gcc if self.system else "")
        found = [{"family": "g++", "path": "/usr/bin/g++", "version": _known(version, "/usr/bin/g++ -dumpfullversion -dumpversion")}] if version else []
        return _known(found, "/usr/bin")

    def shell(self) -> dict[str, Any]:
        machine = self.machine
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        commands = [{"name": "g++", "path": "/usr/bin/g++", "real_path": "/usr/bin/g++"}] if self.compilers()["value"] else []
        if machine.nvcc:
            path = path if machine.nvcc == "/usr" else f"{machine.nvcc}/bin:{path}"
            commands.append({"name": "nvcc", "path": f"{machine.nvcc}/bin/nvcc", "real_path": f"{machine.nvcc}/bin/nvcc"})
        variables = sorted([("PATH", path), *machine.variables])
        terminal = {
            "shell": "/bin/bash",
            "variables": [{"name": name, "value": value} for name, value in variables],
            "commands": commands,
            "shadows": [],
        }
        files = [{"path": f"{HOME}/{name}", "exists": True, "content": _unasked()} for name in (".bashrc", ".profile")]
        return {
            "login_shell": _known("/bin/bash", "/etc/passwd"),
            "startup_files": _known(files, HOME),
            "new_terminal": _known(terminal, "bash -l, bash -i"),
            "own": _known(terminal, "gpuassist's own environment"),
            "directories_missing": _known([], "bash -l, bash -i"),
        }


def _maybe(value: Any, source: str) -> dict[str, Any]:
    return _unknown("not readable") if value is None else _known(value, source)


def _library(version: str, directory: str) -> dict[str, Any]:
    return {"path": f"{directory}/libcuda.so.{version}", "version": _known(version, "file name")}


def _number(version: str) -> int:
    major, minor, *_ = version.split(".")
    return int(major) * 10 + int(minor)


def _toolkit(toolkit: Toolkit) -> dict[str, Any]:
    number = _number(toolkit.version)
    root = toolkit.root or f"/usr/local/cuda-{number // 10}.{number % 10}"
    nvcc = f"{root}/bin/nvcc"
    limit = next(limit for first, limit in _GCC_LIMITS if number >= first)
    return {
        "root": root,
        "origin": _known(toolkit.origin, root),
        "version": _known(toolkit.version, f"{nvcc} --version"),
        "nvcc": _known(nvcc, nvcc),
        "nvcc_version": _known(toolkit.version, f"{nvcc} --version"),
        "targets": _known([f"compute_{each}" for each, first, gone in _TARGETS if first <= number < gone], f"{nvcc} --list-gpu-arch"),
        "gcc_limit": _known(limit, f"{root}/include/crt/host_config.h"),
        "clang_limit": _unasked(),
        "links": [],
        "wrappers": [],
    }


def _environment(environment: Environment) -> dict[str, Any]:
    prefix = environment.prefix or (f"{HOME}/miniforge3/envs/{environment.name}" if environment.manager == "conda" else f"{HOME}/{environment.name}")
    site = f"{prefix}/lib/python{environment.python}/site-packages"
    packages = [dict(zip(("name", "version", "build"), (*each.split("=="), ""), strict=False)) for each in environment.packages]
    return {
        "prefix": prefix,
        "name": environment.name,
        "manager": _known(environment.manager, prefix),
        "interpreter": _known(f"{prefix}/bin/python", f"{prefix}/bin/python"),
        "python_version": _known(environment.python, f"{prefix}/lib"),
        "active": _known(environment.active, "a new terminal"),
        "torch": _known([_torch(environment, site)] if environment.torch else [], site),
        "packages": _known(packages, site),
        "libraries": _unasked(),
        "sites": _unasked(),
        "stray": _known([], HOME),
    }


def _torch(environment: Environment, site: str) -> dict[str, Any]:
    version = environment.torch
    _, _, tag = version.partition("+")
    cuda = f"{tag[2:-1]}.{tag[-1]}" if tag.startswith("cu") else ""
    targets = environment.targets.split() or (_wheel_targets(version, tag) if cuda else [])
    return {
        "path": f"{site}/torch",
        "version": _known(version, f"{site}/torch/version.py"),
        "accelerator": _known("cuda" if cuda else "cpu", f"{site}/torch/version.py"),
        "cuda": _known(cuda, f"{site}/torch/version.py") if cuda else _unknown("built without CUDA"),
        "targets": _known([f"sm_{each}" for each in targets], f"{site}/torch/lib/libtorch_python.so"),
        "installer": _known(environment.installer, site),
        "damaged": _known([], site),
    }


def _wheel_targets(version: str, tag: str) -> list[str]:
    """What PyTorch's own x86-64 wheels hold (measured in the wheels; pytorch/RELEASE.md)."""
    minor = int(version.split(".")[1])
    if version.startswith("1."):
        return "37 50 60 70 75 80 86".split()
    if tag in {"cu117", "cu118"}:
        return "37 50 60 70 75 80 86 90".split()
    if tag in {"cu121", "cu124", "cu126"}:
        return "50 60 70 75 80 86 90".split()
    if tag in {"cu128", "cu129"} and 8 <= minor <= 10:
        return "70 75 80 86 90 100 120".split()
    return "75 80 86 90 100 120".split()
