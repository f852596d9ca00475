"""A recording, as `detect --json` prints it, from a few words about a machine: what a judge writes down of somebody's computer.

`machines.jsonl` holds the machines, made up after what people own and rent; `cards.jsonl` and `systems.jsonl` what they are of.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

_Kind = TypeVar("_Kind")

HOME = "/home/you"

# driver branch -> the CUDA that its libcuda reports (docs.nvidia.com/deploy/cuda-compatibility; 565 is the one without a toolkit)
_CUDA_OF_BRANCH = {
    390: "9.1", 450: "11.0", 460: "11.2", 470: "11.4", 510: "11.6", 515: "11.7", 520: "11.8", 525: "12.0", 530: "12.1", 535: "12.2",
    540: "12.6", 545: "12.3", 550: "12.4", 555: "12.5", 560: "12.6", 565: "12.7", 570: "12.8", 575: "12.9", 580: "13.0",
    590: "13.1", 595: "13.2", 610: "13.3", 615: "13.4", 620: "13.5",
}  # fmt: skip

# 572 is R570, 576 R575, 581 and 582 R580, 591 R590 (docs.nvidia.com/datacenter/tesla: R570 is 570.172.08, under Windows 573.48)
_CUDA_OF_WINDOWS = {572: "12.8", 576: "12.9", 581: "13.0", 582: "13.0", 591: "13.1"}

# first toolkit that knows, first that no longer knows (release notes of 9.0, 11.0, 12.0, 13.0 and of the new ones)
_TARGETS = [
    (20, 0, 90), (30, 0, 110), (35, 0, 120), (37, 0, 120), (50, 0, 130), (52, 0, 130), (53, 0, 130), (60, 80, 130), (61, 80, 130),
    (62, 80, 130), (70, 90, 130), (72, 92, 130), (75, 100, 999), (80, 110, 999), (86, 111, 999), (87, 114, 999), (89, 118, 999),
    (90, 118, 999), (100, 128, 999), (101, 128, 130), (103, 129, 999), (110, 130, 999), (120, 128, 999), (121, 129, 999),
]  # fmt: skip
_GCC_LIMITS = [(134, 16), (130, 15), (128, 14), (124, 13), (120, 12), (117, 11), (111, 10), (110, 9), (101, 8)]


_DEB = "/usr/lib/x86_64-linux-gnu"
_STATUSES = {
    0: "NVML_SUCCESS",
    9: "NVML_ERROR_DRIVER_NOT_LOADED",
    12: "NVML_ERROR_LIBRARY_NOT_FOUND",
    18: "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
}
_ARCHES = {"manjaro", "cachyos", "endeavouros"}
_BRANCH_OF_PACKAGE = re.compile(r"nvidia-driver-(\d+(?:-server)?)(?:-open)?")


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
    switches: int | None = None
    """How many NVSwitches stand on the PCI bus; none where nobody looked, as are the next three."""
    fabric_manager: str | None = None
    fabric_running: bool | None = None
    fabric_version: str = ""


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
    damaged: tuple[str, ...] = ()
    shadowed: str = ""
    """Another torch, which the first one hides."""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    note: str
    system: str | None
    """A key of `systems.jsonl`; none where the distribution could not be read."""
    gpus: tuple[Gpu, ...] | None
    driver: Driver | None = Driver()
    kernel: str = ""
    arch: str = "x86_64"
    secure_boot: bool | None = False
    wsl: int = 0
    container: str = ""
    jetson: bool = False
    l4t: str | None = None
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
    codename: str = ""
    variant: str = ""
    image: bool = False


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text("utf-8").splitlines()]


def _by_key(name: str, kind: type[_Kind]) -> dict[str, _Kind]:
    return {record.pop("key"): msgspec.convert(record, kind) for record in _read(name)}


CARDS = _by_key("cards.jsonl", Card)
SYSTEMS = _by_key("systems.jsonl", System)
MACHINES = _by_key("machines.jsonl", Machine)


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


def _asked(value: Any, source: str) -> dict[str, Any]:
    return _unasked() if value is None else _known(value, source)


def _unasked() -> dict[str, Any]:
    return {"value": None, "reason": "not looked at", "asked": False}


class _Build:
    def __init__(self, machine: Machine, system: System | None) -> None:
        self.machine = machine
        self.system = system
        self.kernel = machine.kernel or (system.kernel if system else "")
        self.libraries = (
            "/usr/lib/wsl/lib" if machine.wsl else (system.libraries if system else "/usr/lib64").replace("x86_64", machine.arch)
        )

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
            {
                "id": system.id,
                "id_like": system.like.split(),
                "version_id": system.version,
                "name": system.name,
                "codename": system.codename,
                "variant": system.variant,
                "image": system.image,
            }
            if system
            else None
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
            "l4t": _unasked() if machine.l4t is None else _known(machine.l4t, "/etc/nv_tegra_release"),
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
            "pci_id": _unknown(f"{place}/device is not readable")
            if silent or not card.pci_id
            else _known(card.pci_id, f"{place}/device"),
            "name": _unknown("not known without a driver")
            if silent
            else _known(named, "NVML nvmlDeviceGetName" if answers else by_id),
            "architecture": _unknown("not known without a PCI id") if silent else _known(card.architecture, by_id),
            "compute_capability": _unknown("not known without a PCI id") if silent else capability,
            "kernel_driver": no_pci if virtual else _known("" if holder == "none" else holder, f"{place}/driver"),
            "power_state": no_pci if virtual else _known("asleep" if gpu.asleep else "active", f"{place}/power/runtime_status"),
            "pcie_link": no_pci
            if virtual
            else _known(
                {"width": 16, "max_width": 16, "speed_gigatransfers": 2.5, "max_speed_gigatransfers": 16.0},
                f"{place}/current_link_speed",
            ),
            "index": asked(index, "nvmlDeviceGetIndex"),
            "uuid": asked(f"GPU-{index:08x}-0000-4000-8000-000000000000", "nvmlDeviceGetUUID"),
            "minor": asked(index, "nvmlDeviceGetMinorNumber"),
            "memory_total_bytes": asked(card.gib << 30, "nvmlDeviceGetMemoryInfo"),
            "memory_used_bytes": asked(300 << 20, "nvmlDeviceGetMemoryInfo"),
            "display_active": asked(False, "nvmlDeviceGetDisplayActive"),
            "mig_enabled": asked(gpu.mig, "nvmlDeviceGetMigMode"),
            "mig_uuids": asked(
                [f"MIG-{index:08x}-0000-5000-8000-00000000000{n}" for n in range(gpu.instances)], "nvmlDeviceGetMigMode"
            ),
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
        status = (
            driver.status
            if driver.status is not None
            else (0 if answers else (9 if driver.version and driver.libcuda != () else 12))
        )
        loaded = [self._module(driver.version, "nvidia", "/proc/driver/nvidia/version")] if driver.version and driver.loaded else []
        lies = driver.version if driver.on_disk is None else driver.on_disk
        path = f"/lib/modules/{self.kernel}/updates/dkms/nvidia.ko.zst"
        on_disk = [self._module(lies, path, path)] if lies else []
        libraries = ((driver.version,) if driver.version else ()) if driver.libcuda is None else driver.libcuda
        refused = _unknown(f"NVML refused nvmlInit: {_STATUSES[status]}")
        nodes = (
            ["/dev/nvidia0", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"] if loaded else []
        )
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
            or _known(
                [{"path": node, "mode": 438, "owner": "root:root", "readable": True, "writable": True} for node in nodes],
                "/dev/nvidia*",
            ),
            "nvml_status": wants or _known({"code": status, "name": _STATUSES[status]}, "NVML nvmlInit"),
            "nvml_version": wants or (_known(f"12.{driver.version}", "NVML nvmlSystemGetNVMLVersion") if answers else refused),
            "nvml_fault": _known("", "NVML"),
            "version": wants or (_known(driver.version, "NVML nvmlSystemGetDriverVersion") if answers else refused),
            "cuda_version": wants
            or (
                _known(driver.cuda or self._cuda(driver.version), "NVML nvmlSystemGetCudaDriverVersion_v2")
                if answers and libraries
                else refused
            ),
            "bars": _known([], "/etc/modprobe.d"),
            "options": _unasked(),
            "firmware": _unasked(),
            "uninstaller": wants or _known(driver.uninstaller, "/usr/bin/nvidia-uninstall"),
            "driver_packages": wants or self._packages(driver),
            "switches": _asked(driver.switches, "/sys/bus/pci/devices"),
            "fabric_manager": _asked(driver.fabric_manager, "/usr/bin"),
            "fabric_running": _asked(driver.fabric_running, "/proc"),
            "fabric_version": _asked(driver.fabric_version or None, "/usr/bin/nv-fabricmanager --version"),
            "nvidia_smi": wants or _known("/usr/bin/nvidia-smi" if libraries else "", "/usr/bin/nvidia-smi"),
        }

    def _packages(self, driver: Driver) -> dict[str, Any]:
        """As the probe lists them: with dpkg by name, with pacman by name and release; an rpm database is no file to read."""
        system = self.system
        if system is None or driver.packages is None:
            return _unknown("not readable")
        if system.id in {"arch", *_ARCHES}:
            return _known([f"{name}-{driver.version}-1" for name in driver.packages], "/var/lib/pacman/local")
        if not {"debian", "ubuntu"} & {system.id, *system.like.split()}:
            return _unknown("the packages of this distribution are not listed in files that can be read")
        found = dict.fromkeys(driver.packages)
        for name in driver.packages:
            words = _BRANCH_OF_PACKAGE.fullmatch(name)
            if words:
                found |= dict.fromkeys((f"libnvidia-compute-{words[1]}", f"nvidia-utils-{words[1]}"))
        return _known(list(found), "/var/lib/dpkg/info")

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
        found = (
            [{"family": "g++", "path": "/usr/bin/g++", "version": _known(version, "/usr/bin/g++ -dumpfullversion -dumpversion")}]
            if version
            else []
        )
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
        "targets": _known(
            [f"compute_{each}" for each, first, gone in _TARGETS if first <= number < gone], f"{nvcc} --list-gpu-arch"
        ),
        "gcc_limit": _known(limit, f"{root}/include/crt/host_config.h"),
        "clang_limit": _unasked(),
        "links": [],
        "wrappers": [],
    }


def _environment(environment: Environment) -> dict[str, Any]:
    prefix = environment.prefix or (
        f"{HOME}/miniforge3/envs/{environment.name}" if environment.manager == "conda" else f"{HOME}/{environment.name}"
    )
    site = f"{prefix}/lib/python{environment.python}/site-packages"
    packages = [dict(zip(("name", "version", "build"), (*each.split("=="), ""), strict=False)) for each in environment.packages]
    return {
        "prefix": prefix,
        "name": environment.name,
        "manager": _known(environment.manager, prefix),
        "interpreter": _known(f"{prefix}/bin/python", f"{prefix}/bin/python"),
        "python_version": _known(environment.python, f"{prefix}/lib"),
        "active": _known(environment.active, "a new terminal"),
        "torch": _known(_torches(environment, site), site),
        "packages": _known(packages, site),
        "libraries": _unasked(),
        "sites": _unasked(),
        "stray": _known([], HOME),
    }


def _torches(environment: Environment, site: str) -> list[dict[str, Any]]:
    user = f"{HOME}/.local/lib/python{environment.python}/site-packages"
    found = [(version, place) for version, place in ((environment.torch, site), (environment.shadowed, user)) if version]
    return [_torch(environment, version, place) for version, place in found]


def _torch(environment: Environment, version: str, site: str) -> dict[str, Any]:
    _, _, tag = version.partition("+")
    cuda = f"{tag[2:-1]}.{tag[-1]}" if tag.startswith("cu") else ""
    kind = "cuda" if cuda else "rocm" if tag.startswith("rocm") else "cpu"
    targets = environment.targets.split() or (_wheel_targets(version, tag) if cuda else [])
    return {
        "path": f"{site}/torch",
        "version": _known(version, f"{site}/torch/version.py"),
        "accelerator": _known(kind, f"{site}/torch/version.py"),
        "cuda": _known(cuda, f"{site}/torch/version.py") if cuda else _unknown("built without CUDA"),
        "targets": _known([f"sm_{each}" for each in targets], f"{site}/torch/lib/libtorch_python.so"),
        "installer": _known(environment.installer, site),
        "damaged": _known(list(environment.damaged), site),
    }


def _wheel_targets(version: str, tag: str) -> list[str]:
    """What PyTorch's own x86-64 wheels hold (measured in the wheels; pytorch/RELEASE.md)."""
    minor = int(version.split(".")[1])
    if version.startswith("1."):
        return ["37", "50", "60", "70", "75", "80", "86"]
    if tag in {"cu117", "cu118"}:
        return ["37", "50", "60", "70", "75", "80", "86", "90"]
    if tag in {"cu121", "cu124", "cu126"}:
        return ["50", "60", "70", "75", "80", "86", "90"]
    if tag in {"cu128", "cu129"} and 8 <= minor <= 10:
        return ["70", "75", "80", "86", "90", "100", "120"]
    return ["75", "80", "86", "90", "100", "120"]
