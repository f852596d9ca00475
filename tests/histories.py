"""Made-up histories of machines: what was kept, what the package logs tell, what is there now, and what must be said of it.

Each was written down before its answer was looked at. The forms of names and versions are those that the distributions' own logs
have.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.driver import ModuleBlock
from gpuassist.model.environment import Manager, Package
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.past import KeptMachine, KeptStartupFile, PackageAction, PackageEvent, PackageHistory, StartupLine
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.system_wide import SystemWide, ToolkitLink
from gpuassist.model.text import text
from tests.values import ARCH, FEDORA, RTX_3090, RTX_4090, RTX_5090, Env, machine

KEPT_AT, NOW = "2026-11-14T18:00:00.000+00:00", "2026-11-23T09:00:00.000+00:00"
IDENTITY = "0123456789abcdef"
KERNEL, NEXT_KERNEL = "6.8.0-60-generic", "6.8.0-62-generic"
BASHRC = "/home/you/.bashrc"
TRAIN, LAB = "/home/you/train", "/home/you/miniforge3/envs/lab"

Told = tuple[str, str, str, str, str]
"""Subject, direction, name, before and after."""


class History(Struct, frozen=True):
    """`before` is None where nothing was kept; `findings` are the problems found now, `told` every change in its order."""

    name: str
    before: KeptMachine | None
    now: KeptMachine
    told: tuple[Told, ...]
    history: PackageHistory = PackageHistory()
    findings: tuple[str, ...] = ()
    facts: tuple[tuple[str, Any], ...] = ()
    """Fields of the first change and what they must hold."""


def kept(of: Machine, *startup: KeptStartupFile, at: str = KEPT_AT, by: str = "doctor") -> KeptMachine:
    return KeptMachine(at, IDENTITY, by, of, startup, "boot-1")


def at_last(of: Machine, *startup: KeptStartupFile) -> KeptMachine:
    return KeptMachine(NOW, IDENTITY, "changes", of, startup, "boot-1")


def startup_file(*lines: tuple[int, str], path: str = BASHRC) -> KeptStartupFile:
    return KeptStartupFile(path, str(hash((path, lines))), tuple(StartupLine(number, words) for number, words in lines))


def event(
    at: str,
    action: PackageAction,
    package: str,
    before: str = "",
    after: str = "",
    *,
    by: str = "",
    user: str = "",
    environment: str = "",
    source: str = "/var/log/apt/history.log:12",
) -> PackageEvent:
    return PackageEvent(at, action, package, before, after, source, by, user, environment)


def upgraded(at: str, names: str, before: str, after: str, **rest: str) -> tuple[PackageEvent, ...]:
    return tuple(event(at, PackageAction.UPGRADED, name, before, after, **rest) for name in names.split())


def installed(at: str, names: str, after: str, **rest: str) -> tuple[PackageEvent, ...]:
    return tuple(event(at, PackageAction.INSTALLED, name, "", after, **rest) for name in names.split())


def removed(at: str, names: str, before: str, **rest: str) -> tuple[PackageEvent, ...]:
    return tuple(event(at, PackageAction.REMOVED, name, before, "", **rest) for name in names.split())


def logs(*events: PackageEvent) -> PackageHistory:
    return PackageHistory(tuple(sorted(events, key=lambda one: one.at)), "2026-06-01T00:00:00+00:00")


def with_kernel(of: Machine, release: str) -> Machine:
    return replace(of, host=replace(of.host, kernel=Known(release, "/proc/sys/kernel/osrelease")))


def on_product(of: Machine, product: str) -> Machine:
    return replace(of, host=replace(of.host, product=Known(product, "/sys/class/dmi/id/product_name")))


def with_terminal(of: Machine, terminal: Terminal) -> Machine:
    return replace(of, shell=replace(of.shell, new_terminal=Known(terminal, "bash -l, bash -i")))


def linked(target: str) -> SystemWide:
    return SystemWide(links=Known((ToolkitLink("/usr/local/cuda", target, exists=True, alternatives=True),), "/usr/local/cuda"))


MORNING = "2026-11-23T03:12:04+00:00"
_NVIDIA = (
    "nvidia-driver nvidia-dkms nvidia-kernel-common nvidia-kernel-source nvidia-compute-utils nvidia-utils nvidia-firmware "
    "libnvidia-cfg1 libnvidia-common libnvidia-compute libnvidia-decode libnvidia-encode libnvidia-extra libnvidia-fbc1 "
    "libnvidia-gl libnvidia-compute:i386 libnvidia-decode:i386 libnvidia-encode:i386 libnvidia-extra:i386 libnvidia-fbc1:i386 "
    "libnvidia-gl:i386 xserver-xorg-video-nvidia nvidia-modprobe nvidia-settings cuda-drivers"
)
_OLD, _NEW = "570.86.15-0ubuntu1", "580.95.05-0ubuntu1"
_OLD_LIB, _NEW_LIB = machine(driver="570.86.15"), machine(driver="580.95.05")
_HALF_WAY = machine(driver="570.86.15", on_disk="580.95.05", libcuda="580.95.05")
_UNATTENDED = {"by": "unattended-upgrade"}
_KERNEL_PACKAGES = "linux-image-{0} linux-modules-{0} linux-modules-extra-{0}"
_DRIVER_UPGRADE = (
    *upgraded(MORNING, _NVIDIA, _OLD, _NEW, **_UNATTENDED),
    *upgraded(MORNING, "firefox", "132.0", "133.0", **_UNATTENDED),
)
_KERNEL_UPGRADE = (
    *installed("2026-11-22T03:11:00+00:00", _KERNEL_PACKAGES.format(NEXT_KERNEL), "6.8.0-62.65", **_UNATTENDED),
    *upgraded("2026-11-22T03:11:00+00:00", "linux-image-generic linux-generic", "6.8.0-60.63", "6.8.0-62.65", **_UNATTENDED),
)
_HEALTHY = machine()
_NO_MODULE = replace(
    with_kernel(_HEALTHY, NEXT_KERNEL),
    driver=replace(_HEALTHY.driver, loaded=Known((), "/sys/module/nvidia"), on_disk=Known((), f"/lib/modules/{NEXT_KERNEL}")),
)


def _train(torch: str, *packages: Package, **rest: Any) -> Machine:
    return machine(environments=(Env("train", torch, packages=packages, active=True),), **rest)


def _lab(torch: str, *packages: Package) -> Machine:
    return machine(environments=(Env("lab", torch, manager=Manager.CONDA, packages=packages),))


_PIP = {"by": "pip", "environment": TRAIN, "source": f"{TRAIN}/lib/python3.11/site-packages/torch-2.7.0.dist-info"}
_PIP_AT = "2026-11-22T17:40:11+00:00"
_CONDA = {"by": "conda install pytorch=2.5", "environment": LAB, "source": f"{LAB}/conda-meta/history:41"}
_CONDA_AT = "2026-11-20T10:05:00+00:00"

_CUDA_LINE = 'export PATH="/usr/local/cuda-12.4/bin:$PATH"'
_OTHER_LINE = 'export PATH="/usr/local/cuda-11.8/bin:$PATH"'
_TWO_TOOLKITS = machine(toolkits=("11.8.89", "12.4.131"), nvcc="12.4")
_OTHER_FIRST = machine(toolkits=("11.8.89", "12.4.131"), nvcc="11.8")

ASKED = (
    History(
        "driver upgraded overnight",
        kept(_OLD_LIB),
        at_last(_HALF_WAY),
        (("driver", "upgraded", "driver", "570.86.15", "580.95.05"),),
        logs(*_DRIVER_UPGRADE),
        ("driver-library-mismatch",),
        (("by", "unattended-upgrade"), ("at", MORNING), ("waits", True), ("earliest", "")),
    ),
    History(
        "kernel upgraded without its headers",
        kept(_HEALTHY),
        at_last(_NO_MODULE),
        (("kernel", "upgraded", "kernel", KERNEL, NEXT_KERNEL),),
        logs(*_KERNEL_UPGRADE),
        ("kernel-headers-missing",),
        (("by", "unattended-upgrade"), ("waits", False)),
    ),
    History(
        "torch exchanged by pip",
        kept(_train("2.6.0+cu124", Package("torch", "2.6.0"), Package("nvidia-cudnn-cu12", "9.1.0.70"), Package("numpy", "2.1.0"))),
        at_last(_train("2.7.0+cpu", Package("torch", "2.7.0"), Package("numpy", "2.1.0"))),
        (("torch", "upgraded", "torch", "2.6.0+cu124", "2.7.0+cpu"),),
        logs(*installed(_PIP_AT, "torch", "2.7.0", **_PIP)),
        ("torch-cpu-only",),
        (("place", TRAIN), ("by", "pip"), ("at", _PIP_AT)),
    ),
    History(
        "environment changed by conda",
        kept(_lab("2.6.0+cu124", Package("pytorch", "2.6.0", "cuda124_py311"), Package("mkl", "2024.2.2", "h1"))),
        at_last(_lab("2.5.1+cpu", Package("pytorch", "2.5.1", "cpu_py311"), Package("mkl", "2023.1.0", "h2"))),
        (("torch", "downgraded", "torch", "2.6.0+cu124", "2.5.1+cpu"),),
        logs(
            event(_CONDA_AT, PackageAction.DOWNGRADED, "pytorch", "2.6.0", "2.5.1", **_CONDA),
            event(_CONDA_AT, PackageAction.DOWNGRADED, "mkl", "2024.2.2", "2023.1.0", **_CONDA),
        ),
        ("torch-cpu-only",),
        (("place", LAB), ("by", "conda install pytorch=2.5"), ("packages", ("mkl 2024.2.2 → 2023.1.0",))),
    ),
    History(
        "start-up file edited by hand",
        kept(_TWO_TOOLKITS, startup_file((12, _CUDA_LINE), (20, "conda activate train"))),
        at_last(_OTHER_FIRST, startup_file((12, _OTHER_LINE), (20, "conda activate train"))),
        (("startup-file", "changed", BASHRC, _CUDA_LINE, _OTHER_LINE),),
        findings=("path-order-wrong-nvcc",),
        facts=(("place", f"{BASHRC}:12"), ("at", ""), ("earliest", KEPT_AT), ("latest", NOW)),
    ),
    History(
        "two at once: driver and torch, the driver is broken",
        kept(_train("2.6.0+cu124", driver="570.86.15")),
        at_last(_train("2.7.0+cu126", driver="570.86.15", on_disk="580.95.05", libcuda="580.95.05")),
        (
            ("driver", "upgraded", "driver", "570.86.15", "580.95.05"),
            ("torch", "upgraded", "torch", "2.6.0+cu124", "2.7.0+cu126"),
        ),
        logs(*_DRIVER_UPGRADE, *installed(_PIP_AT, "torch triton", "2.7.0", **_PIP)),
        ("driver-library-mismatch",),
    ),
    History(
        "two at once: driver and torch, torch is broken",
        kept(_train("2.6.0+cu124", driver="570.86.15")),
        at_last(_train("2.7.0+cpu", driver="580.95.05")),
        (
            ("torch", "upgraded", "torch", "2.6.0+cu124", "2.7.0+cpu"),
            ("driver", "upgraded", "driver", "570.86.15", "580.95.05"),
        ),
        logs(*_DRIVER_UPGRADE, *installed(_PIP_AT, "torch", "2.7.0", **_PIP)),
        ("torch-cpu-only",),
    ),
    History(
        "two at once: driver and kernel, neither is blamed",
        kept(_OLD_LIB),
        at_last(with_kernel(_NEW_LIB, NEXT_KERNEL)),
        (
            ("driver", "upgraded", "driver", "570.86.15", "580.95.05"),
            ("kernel", "upgraded", "kernel", KERNEL, NEXT_KERNEL),
        ),
        logs(*_DRIVER_UPGRADE, *_KERNEL_UPGRADE),
    ),
    History(
        "driver downgraded",
        kept(_NEW_LIB),
        at_last(_OLD_LIB),
        (("driver", "downgraded", "driver", "580.95.05", "570.86.15"),),
        logs(
            *removed(MORNING, "nvidia-driver-580 libnvidia-compute-580 nvidia-dkms-580", "580.95.05-0ubuntu0.24.04.1", by="apt"),
            *installed(MORNING, "nvidia-driver-570 libnvidia-compute-570 nvidia-dkms-570", "570.86.15-0ubuntu0.24.04.4", by="apt"),
        ),
        ("driver-too-old-for-cuda",),
    ),
    History(
        "driver installed again",
        kept(_NEW_LIB),
        at_last(_NEW_LIB),
        (("driver", "reinstalled", "driver", "580.95.05", "580.95.05"),),
        logs(*(event(MORNING, PackageAction.REINSTALLED, name, _NEW, _NEW, user="you") for name in _NVIDIA.split())),
        facts=(("user", "you"), ("at", MORNING)),
    ),
    History(
        "a new card",
        kept(machine(gpus=(RTX_4090,))),
        at_last(machine(gpus=(RTX_4090, RTX_5090))),
        (("gpu", "added", "NVIDIA GeForce RTX 5090", "", "0000:02:00.0"),),
        findings=("driver-too-old-for-gpu",),
    ),
    History(
        "the disk in another computer",
        kept(on_product(machine(gpus=(RTX_4090,)), "ASUS ProArt X670E")),
        at_last(on_product(machine(gpus=(RTX_3090,)), "Dell Precision 3660")),
        (
            ("computer", "changed", "computer", "ASUS ProArt X670E", "Dell Precision 3660"),
            ("gpu", "changed", "0000:01:00.0", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3090"),
        ),
    ),
)

_DNF = {"by": "dnf upgrade", "source": "/var/log/dnf.rpm.log:88", "user": "you"}
_DNF_AT = "2026-11-21T20:15:00+00:00"
_FEDORA_OLD, _FEDORA_NEW = "6.11.4-301.fc42.x86_64", "6.11.10-300.fc42.x86_64"
_PACMAN = {"by": "pacman -Syu", "source": "/var/log/pacman.log:9001"}
_PACMAN_AT = "2026-11-23T08:30:00+00:00"
_BLACKLIST = ModuleBlock("nvidia", "/etc/modprobe.d/no-gpu.conf:1", "blacklist nvidia")


def _barred(of: Machine) -> Machine:
    driver = replace(of.driver, bars=Known((_BLACKLIST,), "/etc/modprobe.d"), loaded=Known((), "/sys/module/nvidia"))
    return replace(of, driver=driver)


def _free(of: Machine) -> Machine:
    return replace(of, driver=replace(of.driver, bars=Known((), "/etc/modprobe.d")))


def _without_torch_facts(of: Machine) -> Machine:
    unread = Unknown(text("the disk did not answer"))
    return replace(of, environments=unread, toolkits=unread, gpus=unread, compilers=unread)


_PATHS = Terminal(
    "/bin/bash", (Variable("PATH", "/usr/local/cuda/bin:/usr/bin"),), (Command("nvcc", "/usr/local/cuda/bin/nvcc", "/a/nvcc"),)
)

BLIND = (
    History(
        "Fedora: driver of RPM Fusion and kernel in one transaction, restarted",
        kept(with_kernel(machine(driver="565.77", distribution=FEDORA), _FEDORA_OLD)),
        at_last(with_kernel(machine(driver="570.86.16", distribution=FEDORA), _FEDORA_NEW)),
        (
            ("kernel", "upgraded", "kernel", _FEDORA_OLD, _FEDORA_NEW),
            ("driver", "upgraded", "driver", "565.77", "570.86.16"),
        ),
        logs(
            *upgraded(
                _DNF_AT,
                "akmod-nvidia xorg-x11-drv-nvidia xorg-x11-drv-nvidia-cuda",
                "3:565.77-1.fc42",
                "3:570.86.16-1.fc42",
                **_DNF,
            ),
            *installed(_DNF_AT, "kernel kernel-core kernel-modules kernel-devel", "6.11.10-300.fc42", **_DNF),
            *removed(_DNF_AT, "kernel-core kernel-modules", "6.10.6-200.fc42", **_DNF),
        ),
        ("dkms-build-failed",),
        (("user", "you"), ("at", _DNF_AT)),
    ),
    History(
        "Arch: everything at once, not restarted yet",
        kept(with_kernel(machine(driver="565.77", distribution=ARCH), "6.12.1-arch1-1")),
        at_last(
            replace(
                with_kernel(machine(driver="565.77", libcuda="570.86.16", distribution=ARCH), "6.12.1-arch1-1"),
                driver=replace(
                    machine(driver="565.77", libcuda="570.86.16").driver, on_disk=Known((), "/lib/modules/6.12.1-arch1-1")
                ),
            )
        ),
        (
            ("driver", "upgraded", "driver", "565.77", "570.86.16"),
            ("kernel", "upgraded", "kernel", "6.12.1.arch1-1", "6.12.4.arch1-1"),
        ),
        logs(
            *upgraded(_PACMAN_AT, "linux linux-headers", "6.12.1.arch1-1", "6.12.4.arch1-1", **_PACMAN),
            *upgraded(_PACMAN_AT, "nvidia", "565.77-4", "570.86.16-2", **_PACMAN),
            *upgraded(_PACMAN_AT, "nvidia-utils lib32-nvidia-utils opencl-nvidia", "565.77-2", "570.86.16-1", **_PACMAN),
        ),
        ("driver-library-mismatch",),
        (("waits", True),),
    ),
    History(
        "Secure Boot switched on in the firmware",
        kept(_free(machine(secure_boot=False))),
        at_last(replace(machine(secure_boot=True), driver=_barred(machine()).driver)),
        (
            ("secure-boot", "changed", "secure-boot", "off", "on"),
            ("setting", "added", "blacklist nvidia", "", "blacklist nvidia"),
        ),
        findings=("secure-boot-unsigned-module",),
    ),
    History(
        "one of two cards is gone",
        kept(machine(gpus=(RTX_4090, RTX_3090))),
        at_last(machine(gpus=(RTX_4090,))),
        (("gpu", "removed", "NVIDIA GeForce RTX 3090", "0000:02:00.0", ""),),
    ),
    History(
        "driver taken away by autoremove",
        kept(machine(driver="550.54.14")),
        at_last(machine(driver="", on_disk="", libcuda="")),
        (("driver", "removed", "driver", "550.54.14", ""),),
        logs(
            *removed(
                "2026-11-19T12:00:00+00:00",
                "nvidia-driver-550 libnvidia-compute-550 nvidia-dkms-550 nvidia-utils-550",
                "550.54.14-0ubuntu0.22.04.1",
                by="apt autoremove",
                user="you",
            )
        ),
        ("no-driver",),
        (("by", "apt autoremove"), ("user", "you")),
    ),
    History(
        "upgraded and back again: no look shows it",
        kept(_OLD_LIB),
        at_last(_OLD_LIB),
        (
            ("driver", "downgraded", "driver", "580.95.05", "570.86.15"),
            ("driver", "upgraded", "driver", "570.86.15", "580.95.05"),
        ),
        logs(
            *upgraded("2026-11-20T03:00:00+00:00", "libnvidia-compute nvidia-dkms", _OLD, _NEW),
            *(
                event("2026-11-20T09:30:00+00:00", PackageAction.DOWNGRADED, name, _NEW, _OLD)
                for name in ("libnvidia-compute", "nvidia-dkms")
            ),
        ),
    ),
    History(
        "a newer toolkit takes the link",
        kept(with_terminal(machine(toolkits=("12.4.131",), system=linked("/usr/local/cuda-12.4")), _PATHS)),
        at_last(
            with_terminal(
                machine(toolkits=("12.4.131", "12.8.93"), system=linked("/usr/local/cuda-12.8")),
                replace(_PATHS, commands=(Command("nvcc", "/usr/local/cuda/bin/nvcc", "/b/nvcc"),)),
            )
        ),
        (
            ("toolkit", "added", "CUDA toolkit", "", "12.8.93"),
            ("toolkit", "changed", "/usr/local/cuda", "/usr/local/cuda-12.4", "/usr/local/cuda-12.8"),
        ),
        logs(
            *installed(
                "2026-11-18T14:00:00+00:00", "cuda-toolkit-12-8 cuda-nvcc-12-8 cuda-cudart-12-8", "12.8.1-1", by="apt", user="you"
            )
        ),
        facts=(("user", "you"), ("place", "/usr/local/cuda-12.8")),
    ),
    History(
        "NVIDIA's own installer, which no log knows",
        kept(_OLD_LIB),
        at_last(_NEW_LIB),
        (("driver", "upgraded", "driver", "570.86.15", "580.95.05"),),
        logs(*upgraded(MORNING, "docker-ce", "5:27.3.1-1", "5:28.0.0-1")[:0]),
        facts=(("at", ""), ("earliest", KEPT_AT), ("latest", NOW), ("by", "")),
    ),
    History(
        "a file that forbids the module",
        kept(_free(_HEALTHY)),
        at_last(_barred(_HEALTHY)),
        (("setting", "added", "blacklist nvidia", "", "blacklist nvidia"),),
        findings=("driver-module-blacklisted",),
        facts=(("place", "/etc/modprobe.d/no-gpu.conf:1"),),
    ),
    History(
        "hardly anything could be read",
        kept(_HEALTHY),
        at_last(_without_torch_facts(_HEALTHY)),
        (),
    ),
    History(
        "wheels exchanged by another package",
        kept(_train("2.6.0+cu124", Package("numpy", "2.1.0"), Package("nvidia-cudnn-cu12", "9.1.0.70"), Package("torch", "2.6.0"))),
        at_last(
            _train(
                "2.6.0+cu124",
                Package("numpy", "1.26.4"),
                Package("nvidia-cudnn-cu12", "8.9.7.29"),
                Package("tensorflow", "2.15.0"),
                Package("torch", "2.6.0"),
            )
        ),
        (("python-package", "added", "tensorflow", "", "2.15.0"),),
        logs(
            *installed(_PIP_AT, "tensorflow", "2.15.0", **_PIP),
            *installed(_PIP_AT, "nvidia-cudnn-cu12", "8.9.7.29", **_PIP),
            *installed(_PIP_AT, "numpy", "1.26.4", **_PIP),
        ),
        ("mixed-nvidia-pip-wheels",),
        (("place", TRAIN), ("packages", ("numpy 2.1.0 → 1.26.4", "nvidia-cudnn-cu12 9.1.0.70 → 8.9.7.29"))),
    ),
    History(
        "nothing was kept: the logs alone",
        None,
        at_last(_HALF_WAY),
        (("driver", "upgraded", "driver", "570.86.15", "580.95.05"),),
        logs(*_DRIVER_UPGRADE),
        ("driver-library-mismatch",),
        (("by", "unattended-upgrade"), ("waits", True), ("earliest", "")),
    ),
    History(
        "from the proprietary module to the open one",
        kept(machine(driver="580.95.05", open_module=False)),
        at_last(machine(driver="580.95.05", open_module=True)),
        (("driver", "changed", "driver", "580.95.05 proprietary", "580.95.05 open"),),
        logs(
            *removed(MORNING, "nvidia-dkms-580 nvidia-driver-580", "580.95.05-0ubuntu0.24.04.1", by="apt"),
            *installed(MORNING, "nvidia-dkms-580-open nvidia-driver-580-open", "580.95.05-0ubuntu0.24.04.1", by="apt"),
        ),
        ("open-module-unsupported-gpu",),
        (("by", "apt"), ("at", MORNING)),
    ),
    History(
        "the kernel waits for a restart, an old one was cleared away",
        kept(_HEALTHY),
        at_last(_HEALTHY),
        (
            ("kernel", "upgraded", "kernel", KERNEL, NEXT_KERNEL),
            ("system-package", "removed", "linux-image-6.8.0-58-generic", "6.8.0-58.60", ""),
        ),
        logs(
            *_KERNEL_UPGRADE,
            *removed("2026-11-22T03:20:00+00:00", "linux-image-6.8.0-58-generic linux-modules-6.8.0-58-generic", "6.8.0-58.60"),
        ),
        facts=(("waits", True),),
    ),
)
EVERY = (*ASKED, *BLIND)
