"""Writes tests/cases/machines/: recorded machines with what is found on them, so that a change of findings shows as a diff.

`python tools/make_cases.py` from the project's root. A machine is written once and then kept as it is; its findings, the shipped
examples and their findings are written anew each time: read the diff before it is committed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpuassist.model.driver import KernelModule, Library, ModuleBlock, NvmlStatus, Option
from gpuassist.model.environment import Manager, Package, TorchAsker
from gpuassist.model.fact import Known
from gpuassist.model.gpu import GpuProcess, Holder, PcieLink, Recovery
from gpuassist.model.machine import Distribution, decode_machine, encode_machine
from gpuassist.model.next_start import BuildState, BuildTool, ChosenBy, EarlyImage, ModuleBuild, NextStart
from gpuassist.model.system_wide import ContainerList, LoaderDirectory, SystemWide, ToolkitLink
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.model.words import ENGLISH
from tests.holds_cases import hold, packages_of
from tests.session.told import told_of
from tests.values import ARCH, DEBIAN, FEDORA, GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, UBUNTU_24, Env, machine

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "cases" / "machines"
EXAMPLES = ROOT / "resources" / "machines"
DEBIAN_13 = Distribution("debian", (), "13", "Debian GNU/Linux 13 (trixie)")
ROCKY = Distribution("rocky", ("rhel", "centos", "fedora"), "9.4", "Rocky Linux 9.4")
TUMBLEWEED = Distribution("opensuse-tumbleweed", ("opensuse", "suse"), "20261120", "openSUSE Tumbleweed")
TITAN_V, GTX_780, RTX_2080 = "10de:1d81", "10de:1004", "10de:1e82"
A100, H100 = "10de:20b2", "10de:2330"
STUBS = "/usr/local/cuda-12.4/targets/x86_64-linux/lib/stubs"


def packages(words: str) -> tuple[Package, ...]:
    """From `torch==2.5.1 triton==3.1.0`, conda's with their build as `pytorch=2.4.1=build`."""
    named = (one.replace("==", " ").replace("=", " ").split() for one in words.split())
    return tuple(Package(name, version, *build) for name, version, *build in named)


NO_TOOLKIT: dict[str, Any] = {"toolkits": (), "nvcc": ""}
BARE: dict[str, Any] = {**NO_TOOLKIT, "environments": ()}
CUDA_13: dict[str, Any] = {"driver": "580.95.05", "cuda": "13.0", "open_module": True}


def _computing(pid: int, used: int) -> GpuProcess:
    return GpuProcess(pid, "compute", Known(used, "NVML"))


def _loader(directory: str, *libraries: str) -> LoaderDirectory:
    return LoaderDirectory("/etc/ld.so.conf.d/cuda-12-1.conf", directory, directory, libraries)


def _libcuda(folder: str, version: str) -> Library:
    return _libcuda_at(f"/usr/lib/{folder}", version)


def _libcuda_at(directory: str, version: str) -> Library:
    return Library(f"{directory}/libcuda.so.{version}", Known(Version.parse(version), "file name"))


CDI, LIBCUDA = "/etc/cdi/nvidia.yaml", "/usr/lib*/libcuda.so*"
BARRED = Known((ModuleBlock("nvidia", "/etc/modprobe.d/integrated.conf:2", "blacklist nvidia"),), "/etc/modprobe.d")
NOUVEAU_BARRED = Known(
    (ModuleBlock("nouveau", "/etc/modprobe.d/blacklist-nouveau.conf:1", "blacklist nouveau"),), "/etc/modprobe.d"
)
MOK_NEW = "/sys/firmware/efi/efivars/MokNew-605dab50-e046-4300-abb6-3dd810dd8b23"
FORGETS = Known((Option("PreserveVideoMemoryAllocations", "0"), Option("ExcludedGpus", "")), "/proc/driver/nvidia/params")

RUNNING, COMING = "6.8.0-60-generic", "6.11.0-29-generic"


def _coming(version: str, build: BuildState, *, headers: bool = True) -> NextStart:
    """A kernel that came since the start, and how far DKMS got for it; no `version` where it has no module."""
    base = f"/lib/modules/{COMING}"
    module = KernelModule(
        f"{base}/updates/dkms/nvidia.ko.zst",
        Known(Version.parse(version or "0"), base),
        Known("Dual MIT/GPL", base),
        Known(value=True, source=base),
        Known("ubuntu Secure Boot Module Signature key", base),
    )
    return NextStart(
        kernel=Known(COMING, "/etc/default/grub"),
        chosen_by=Known(ChosenBy.FIRST, "/etc/default/grub"),
        kernels=Known((COMING, RUNNING), "/boot"),
        modules=Known((module,) if version else (), base),
        builds=Known((ModuleBuild(BuildTool.DKMS, "nvidia", "580.95.05", build),), "/var/lib/dkms"),
        headers=Known(headers, f"{base}/build"),
        modules_gone=Known(value=False, source=f"/lib/modules/{RUNNING}"),
        restart_packages=Known((f"linux-image-{COMING}",), "/run/reboot-required.pkgs"),
    )


_IMAGE = EarlyImage(
    f"/boot/initrd.img-{RUNNING}", "2026-09-01T10:00:00.000+00:00", blocks_after=("/etc/modprobe.d/blacklist-nouveau.conf",)
)
OLD_IMAGE = NextStart(
    kernel=Known(RUNNING, f"/boot/vmlinuz-{RUNNING}"),
    chosen_by=Known(ChosenBy.ONLY, f"/boot/vmlinuz-{RUNNING}"),
    kernels=Known((RUNNING,), "/boot"),
    early_image=Known(_IMAGE, _IMAGE.path),
    nouveau=Known(value=True, source=f"/lib/modules/{RUNNING}"),
    nouveau_blocks=NOUVEAU_BARRED,
)

_HELD_535 = hold("nvidia-driver-535", version="535.183.01-0ubuntu0.24.04.1", source="/var/lib/dpkg/status:31207")

CASES: dict[str, dict[str, Any]] = {
    "next-kernel-without-headers": {
        "next_start": _coming("", BuildState.ADDED, headers=False),
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "next-kernel-with-an-older-module": {
        "next_start": _coming("580.82.07", BuildState.ADDED),
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "early-image-older-than-the-block": {"next_start": OLD_IMAGE, "distribution": UBUNTU_24, **CUDA_13, **BARE},
    "sound-and-waiting-for-a-restart": {
        "next_start": _coming("580.95.05", BuildState.INSTALLED),
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "debian-13-no-driver": {"driver": "", "distribution": DEBIAN_13, "glibc": "2.41", "gcc": ("14.2.0",), **BARE},
    "fedora-secure-boot-module-not-loaded": {
        "driver": "",
        "on_disk": "580.95.05",
        "libcuda": "580.95.05",
        "secure_boot": True,
        "distribution": FEDORA,
        **BARE,
    },
    "ubuntu-new-kernel-without-module": {"driver": "", "on_disk": "", "libcuda": "550.54.14", "distribution": UBUNTU_24, **BARE},
    "debian-12-rtx-5090-driver-535": {"gpus": (RTX_5090,), "driver": "535.247.01", "cuda": "12.2", "distribution": DEBIAN, **BARE},
    "arch-gtx-1080-ti-driver-595": {"gpus": (GTX_1080_TI,), "driver": "595.45.04", "cuda": "13.2", "distribution": ARCH, **BARE},
    "rocky-gtx-780-driver-550": {"gpus": (GTX_780,), "distribution": ROCKY, "glibc": "2.34", **BARE},
    "tumbleweed-rtx-5090-proprietary": {
        "gpus": (RTX_5090,),
        "driver": "580.95.05",
        "cuda": "13.0",
        "distribution": TUMBLEWEED,
        **BARE,
    },
    "titan-v-open-module": {
        "gpus": (TITAN_V,),
        "environments": (Env("train", "2.7.1+cu126", active=True),),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "graphics-only-driver": {"libcuda": "", **BARE},
    "conda-torch-for-cuda-13": {
        "environments": (Env("research", "2.11.0+cu130", "3.12", manager=Manager.CONDA, active=True),),
        **NO_TOOLKIT,
    },
    "only-root-may-open-the-device": {"node_mode": 0o600},
    "docker-without-gpus": {"driver": "", "container": "docker", "libcuda": "", **BARE},
    "uv-cpu-torch": {
        "environments": (Env(".venv", "2.15.0+cpu", "3.13", manager=Manager.UV, active=True),),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "rtx-5090-torch-2-6": {"gpus": (RTX_5090,), "environments": (Env("comfy", "2.6.0+cu124", "3.12"),), **CUDA_13, **NO_TOOLKIT},
    "gtx-1080-ti-torch-for-cuda-13": {
        "gpus": (GTX_1080_TI,),
        "driver": "580.95.05",
        "cuda": "13.0",
        "environments": (Env("train", "2.11.0+cu130"),),
        **NO_TOOLKIT,
    },
    "gtx-780-old-torch": {
        "gpus": (GTX_780,),
        "driver": "470.256.02",
        "cuda": "11.4",
        "environments": (Env("train", "1.13.1+cu117"),),
        **NO_TOOLKIT,
    },
    "only-gpu-kept-for-virtual-machine": {"driver": "", "bound": "vfio-pci", **BARE},
    "toolkit-of-another-major-than-torch": {"toolkits": ("13.0.88",), "nvcc": "13.0", **CUDA_13},
    "two-cards-torch-runs-on-one": {
        "gpus": (GTX_1080_TI, RTX_4090),
        "driver": "580.95.05",
        "cuda": "13.0",
        "environments": (Env("train", "2.11.0+cu130", active=True),),
        **NO_TOOLKIT,
    },
    "toolkit-not-on-path": {"nvcc": "", "environments": ()},
    "gtx-1080-ti-cuda-13": {
        "gpus": (GTX_1080_TI,),
        "driver": "580.95.05",
        "cuda": "13.0",
        "toolkits": ("13.0.88",),
        "nvcc": "13.0",
        "environments": (Env("train", "2.7.1+cu126", active=True),),
    },
    "cuda-13-before-torchs-12": {"toolkits": ("13.0.88", "12.4.131"), "nvcc": "13.0", **CUDA_13},
    "cuda-home-of-another-toolkit": {
        "toolkits": ("11.8.89", "12.4.131"),
        "variables": {"CUDA_HOME": "/usr/local/cuda-11.8", "LD_LIBRARY_PATH": "/usr/local/cuda-11.8/lib64"},
    },
    "fedora-gcc-15-cuda-12-9": {
        "distribution": FEDORA,
        "glibc": "2.41",
        "gcc": ("15.1.1",),
        "toolkits": ("12.9.86",),
        "nvcc": "12.9",
        "environments": (),
    },
    "stubs-and-a-folder-that-is-gone": {
        "variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-12.4/lib64/stubs:/usr/local/cuda-11.2/lib64"},
        "missing": ("/usr/local/cuda-11.2/lib64",),
    },
    "settings-left-on": {
        "variables": {
            "CUDA_LAUNCH_BLOCKING": "1",
            "NVIDIA_TF32_OVERRIDE": "0",
            "PYTORCH_ALLOC_CONF": "expandable_segments:True",
            "PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128",
        },
        **NO_TOOLKIT,
    },
    "program-stopped-on-the-gpu": {
        "holders": (
            Holder(4711, "you", "python train.py", ("/dev/nvidia0", "/dev/nvidiactl"), state=Known("T", "/proc/4711/stat")),
        ),
        **NO_TOOLKIT,
    },
    "three-cards-in-bad-states": {
        "gpus": (RTX_3090, RTX_3090, RTX_3090),
        "told": {
            "compute_mode": ("default", "exclusive process", "prohibited"),
            "recovery": (Recovery.NONE, Recovery.RESET, Recovery.NONE),
            "slowdowns": (("heat", "power brake"), (), ()),
            "pcie_link": (PcieLink(16, 16, 2.5, 16.0), PcieLink(16, 16, 2.5, 16.0), PcieLink(4, 16, 2.5, 16.0)),
            "processes": (
                (_computing(4101, 20 << 30), _computing(4102, 306 << 20), _computing(4103, 306 << 20)),
                (_computing(4102, 20 << 30),),
                (_computing(4103, 20 << 30),),
            ),
            **dict.fromkeys(("display_active", "persistence", "sleeps"), (False, False, False)),
        },
        **NO_TOOLKIT,
    },
    "laptop-whose-driver-is-forbidden": {
        "driver": "",
        "on_disk": "580.95.05",
        "libcuda": "580.95.05",
        "driver_facts": {"bars": BARRED},
        "distribution": FEDORA,
        **BARE,
    },
    "nouveau-in-an-old-boot-image": {
        "driver": "",
        "bound": "nouveau",
        "libcuda": "",
        "driver_facts": {"bars": NOUVEAU_BARRED},
        **BARE,
    },
    "key-not-confirmed-at-the-start": {
        "driver": "",
        "on_disk": "580.95.05",
        "libcuda": "580.95.05",
        "secure_boot": True,
        "host_facts": {"key_pending": Known(value=True, source=MOK_NEW)},
        "distribution": UBUNTU_24,
        **BARE,
    },
    "realtime-kernel": {
        "driver": "",
        "on_disk": "",
        "libcuda": "535.247.01",
        "host_facts": {
            "realtime": Known(value=True, source="/sys/kernel/realtime"),
            "kernel": Known("6.1.0-28-rt-amd64", "/proc/sys/kernel/osrelease"),
        },
        "distribution": DEBIAN,
        **BARE,
    },
    "driver-replaced-overnight": {
        "libcuda": "580.105.08",
        "on_disk": "580.105.08",
        "host_facts": {"unattended": Known(value=True, source="/etc/apt/apt.conf.d/20auto-upgrades")},
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "sound-driver-without-fixes": {
        "driver": "525.147.05",
        "cuda": "12.0",
        "environments": (Env("train", "2.5.1+cu121", active=True),),
        **NO_TOOLKIT,
    },
    "gpu-without-a-place-in-memory": {
        "gpus": (RTX_5090,),
        "dead": (RTX_5090,),
        "told": {"addressed": (False,)},
        **CUDA_13,
        **BARE,
    },
    "one-of-two-cards-left-alone": {
        "gpus": (RTX_4090, RTX_3090),
        "dead": (RTX_3090,),
        "told": {"kernel_driver": ("nvidia", "")},
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "one-of-two-cards-off-the-bus": {
        "gpus": (RTX_4090, RTX_3090),
        "dead": (RTX_3090,),
        "told": {"recovery": (Recovery.NONE, Recovery.POWER_CYCLE)},
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "open-module-without-its-firmware": {
        "dead": (RTX_4090,),
        "driver_facts": {"firmware": Known((), "/lib/firmware/nvidia/580.95.05")},
        "distribution": UBUNTU_24,
        **CUDA_13,
        **BARE,
    },
    "two-installers-one-gpu-left-out": {
        "gpus": (RTX_3090, RTX_4090),
        "dead": (RTX_4090,),
        "told": {"excluded": (False, True)},
        "driver_facts": {
            "uninstaller": Known("/usr/bin/nvidia-uninstall", "/usr/bin/nvidia-uninstall"),
            "driver_packages": Known(("libnvidia-compute-550", "nvidia-utils-550"), "/var/lib/dpkg/info"),
            "options": Known((Option("ExcludedGpus", "GPU-2684aaaa-0000-4000-8000-000000000001"),), "/proc/driver/nvidia/params"),
        },
        **BARE,
    },
    "sound-laptop-watched-without-nvidia-smi": {
        "told": {"sleeps": (True,)},
        "holders": (Holder(2210, "you", "/usr/bin/python3 /usr/bin/nvitop", ("/dev/nvidia0", "/dev/nvidiactl")),),
        "host_facts": {"slept": Known(3, "/sys/power/suspend_stats/success")},
        "driver_facts": {"nvidia_smi": Known("", "/usr/bin/nvidia-smi"), "options": FORGETS},
        "environments": (Env("train", "2.9.1+cu128", "3.12", active=True),),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "devices-counted-from-one": {"gpus": (RTX_3090, RTX_3090), "variables": {"CUDA_VISIBLE_DEVICES": "1,2"}},
    "wsl-without-windows-driver": {"wsl": 2, "driver": "", "libcuda": "", **BARE},
    "no-gpu-at-all": {"gpus": (), "driver": "", "libcuda": "", **BARE},
    "wheels-exchanged-by-another-package": {
        "environments": (
            Env(
                "serve",
                "2.5.1+cu124",
                active=True,
                packages=packages(
                    "torch==2.5.1 torchvision==0.19.1 triton==3.3.1 nvidia-cublas-cu12==12.8.4.1 nvidia-nvjitlink-cu12==12.4.127"
                    " nvidia-cudnn-cu12==9.1.0.70 nvidia-nccl-cu12==2.21.5 numpy==1.26.4"
                ),
            ),
        ),
        **NO_TOOLKIT,
    },
    "package-that-pins-another-torch": {
        "gpus": (RTX_5090,),
        "environments": (
            Env(
                "serve",
                "2.9.1+cu128",
                active=True,
                packages=packages("torch==2.9.1 torchvision==0.24.1 triton==3.5.1 xformers==0.0.29.post3 numpy==2.2.6"),
                askers=(
                    TorchAsker("bitsandbytes", "0.49.2", "<3,>=2.3"),
                    TorchAsker("torchvision", "0.24.1", "==2.9.1"),
                    TorchAsker("vllm", "0.8.5", "==2.6.0"),
                    TorchAsker("xformers", "0.0.29.post3", "==2.6.0"),
                ),
            ),
        ),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "older-cudnn-in-the-library-path": {
        "environments": (Env("vision", "2.5.1+cu124", active=True, packages=packages("torch==2.5.1 nvidia-cudnn-cu12==9.1.0.70")),),
        "variables": {"LD_LIBRARY_PATH": "/opt/cudnn/lib"},
        "cudnn": "9.0.0",
        **NO_TOOLKIT,
    },
    "driver-library-in-the-project": {
        "environments": (Env("game", "2.12.1+cu130", "3.12", active=True, stray=("/home/you/libcuda.so.1",)),),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "pip-torch-over-the-old-conda-channel": {
        "environments": (
            Env(
                "research",
                "2.6.0+cu124",
                manager=Manager.CONDA,
                active=True,
                packages=packages(
                    "torch==2.6.0 numpy==1.26.4 pytorch=2.4.1=py3.11_cuda12.4_cudnn9.1.0_0 pytorch-cuda=12.4=hc786d27_7"
                ),
            ),
        ),
        **NO_TOOLKIT,
    },
    "turing-with-flash-attention": {
        "gpus": (RTX_2080,),
        "environments": (
            Env(
                "chat",
                "2.6.0+cu124",
                active=True,
                packages=packages(
                    "torch==2.6.0 triton==3.2.0 bitsandbytes==0.44.1 flash-attn==2.7.4.post1"
                    " onnxruntime==1.20.1 onnxruntime-gpu==1.20.1"
                ),
            ),
        ),
        **NO_TOOLKIT,
    },
    "torch-cut-off-beside-numpy-2": {
        "environments": (
            Env(
                "old",
                "2.2.2+cu121",
                active=True,
                packages=packages("torch==2.2.2 numpy==2.1.0 triton==2.2.0"),
                damaged=("torch/lib/libtorch_cuda.so", "torch/functional.py"),
            ),
        ),
        **NO_TOOLKIT,
    },
    "last-torchaudio-beside-a-newer-torch": {
        "environments": (
            Env(
                "audio",
                "2.12.1+cu130",
                "3.12",
                active=True,
                packages=packages("torchaudio==2.11.0 setuptools==82.0.1"),
            ),
        ),
        **CUDA_13,
        **NO_TOOLKIT,
    },
    "leftovers-of-three-toolkits": {
        "driver": "580.95.05",
        "cuda": "13.0",
        "toolkits": ("12.4.131", "12.1.105"),
        "system": SystemWide(
            Known(
                (
                    ToolkitLink("/usr/local/cuda", "/usr/local/cuda-11.8", exists=False, alternatives=True),
                    ToolkitLink("/usr/local/cuda-12", "/usr/local/cuda-12.4", exists=True, alternatives=True),
                ),
                "/usr/local/cuda",
            ),
            Known((_loader("/usr/local/cuda-12.1/targets/x86_64-linux/lib", "libcublas.so", "libcudart.so"),), "/etc/ld.so.conf.d"),
            Known((), "/etc/cdi, /var/run/cdi"),
        ),
    },
    "containers-of-the-driver-before": {
        "driver": "580.95.05",
        "cuda": "13.0",
        "variables": {"LD_LIBRARY_PATH": "/usr/local/cuda-12.8/compat"},
        "driver_facts": {"libcuda": Known((_libcuda("x86_64-linux-gnu", "580.95.05"), _libcuda("nvidia", "535.161.07")), LIBCUDA)},
        "system": SystemWide(
            Known((), "/usr/local/cuda"),
            Known((), "/etc/ld.so.conf.d"),
            Known((ContainerList(CDI, Known(Version.parse("535.161.07"), CDI)),), "/etc/cdi, /var/run/cdi"),
        ),
        **NO_TOOLKIT,
    },
    "lxc-whose-devices-are-refused": {
        "driver": "580.95.05",
        "container": "lxc",
        "driver_facts": {"nvml_status": Known(NvmlStatus(999, "NVML_ERROR_UNKNOWN"), "NVML nvmlInit")},
        **BARE,
    },
    "docker-without-the-compute-part": {
        "driver": "580.95.05",
        "container": "docker",
        "libcuda": "",
        "variables": {"NVIDIA_DRIVER_CAPABILITIES": "utility,video"},
        **BARE,
    },
    "driver-where-the-loader-does-not-look": {
        "driver": "580.95.05",
        "container": "docker",
        "driver_facts": {
            "libcuda": Known((_libcuda_at("/usr/local/nvidia/lib64", "580.95.05"),), LIBCUDA),
            "libcuda_taken": Known("", "/etc/ld.so.cache"),
        },
        **BARE,
    },
    "stub-in-the-loaders-cache": {
        "driver_facts": {"libcuda_taken": Known(f"{STUBS}/libcuda.so", "/etc/ld.so.cache")},
        "system": SystemWide(
            loader=Known((LoaderDirectory("/etc/ld.so.conf.d/stubs.conf", STUBS, STUBS, ("libcuda.so",)),), "/etc/ld.so.conf.d")
        ),
        "environments": (Env("train", "2.6.0+cu124", "3.11", active=True),),
        **NO_TOOLKIT,
    },
    "sound-module-that-leads-to-the-driver": {
        "driver": "580.95.05",
        "cuda": "13.0",
        "variables": {"LD_LIBRARY_PATH": "/opt/cluster/nvidia/580/lib64"},
        "driver_facts": {
            "libcuda": Known((_libcuda_at("/opt/cluster/nvidia/580/lib64", "580.95.05"),), LIBCUDA),
            "libcuda_taken": Known("/opt/cluster/nvidia/580/lib64/libcuda.so.580.95.05", "LD_LIBRARY_PATH, /etc/ld.so.cache"),
        },
        "environments": (Env("train", "2.8.0+cu128", "3.12", active=True),),
        **NO_TOOLKIT,
    },
    "hgx-h100-whose-fabric-manager-stands-still": {
        "gpus": (H100,) * 8,
        "driver": "595.71.05",
        "cuda": "13.2",
        "open_module": True,
        "distribution": UBUNTU_24,
        "told": {"fabric": ("in progress",) * 8},
        "driver_facts": {
            "switches": Known(4, "/sys/bus/pci/devices"),
            "fabric_manager": Known("/usr/bin/nv-fabricmanager", "/usr/bin/nv-fabricmanager"),
            "fabric_running": Known(value=False, source="/proc/*/comm"),
            "fabric_version": Known(Version.parse("580.95.05"), "/var/lib/dpkg/status"),
        },
        **BARE,
    },
    "mig-without-an-instance": {"gpus": (A100,), "told": {"mig_enabled": (True,), "mig_uuids": ((),)}, **CUDA_13, **BARE},
    "mig-with-two-instances": {
        "gpus": (A100,),
        "told": {
            "mig_enabled": (True,),
            "mig_uuids": (("MIG-5c89852c-d268-5b5c-8f5c-0e1a4b4b0001", "MIG-5c89852c-d268-5b5c-8f5c-0e1a4b4b0002"),),
        },
        **CUDA_13,
        **BARE,
    },
    "nvcc-newer-than-the-driver": {"toolkits": ("13.0.88", "12.4.131"), "nvcc": "13.0", "environments": ()},
    "orin-with-a-torch-of-pypi": {
        "gpus": (RTX_3090,),
        "driver": "540.4.0",
        "cuda": "12.6",
        "open_module": True,
        "told": {"name": ("Orin (nvgpu)",), "pci_id": ("",), "compute_capability": (ComputeCapability(8, 7),)},
        "host_facts": {
            "jetson": Known(value=True, source="/etc/nv_tegra_release"),
            "architecture": Known("aarch64", "/proc/sys/kernel/arch"),
            "l4t": Known("36.4.3", "/etc/nv_tegra_release"),
        },
        "environments": (Env("robot", "2.13.0+cu130", "3.10", active=True, targets="sm_80 sm_90 sm_100 sm_110 sm_120"),),
        **NO_TOOLKIT,
    },
    "halves-of-two-branches": {
        "driver": "580.95.05",
        "libcuda": "595.45.04",
        "cuda": "13.0",
        "open_module": True,
        "distribution": UBUNTU_24,
        "driver_facts": {
            "driver_packages": Known(
                ("libnvidia-compute-595", "nvidia-utils-595", "linux-modules-nvidia-580-open-6.8.0-60-generic"),
                "/var/lib/dpkg/info",
            )
        },
        **BARE,
    },
    "pascal-whose-next-driver-drops-it": {
        "gpus": (GTX_1080_TI,),
        "driver": "580.95.05",
        "cuda": "13.0",
        "distribution": DEBIAN,
        "holds": Known((), "/var/lib/dpkg/status"),
        "system_packages": packages_of("cuda-drivers nvidia-driver nvidia-kernel-dkms libcuda1", repository="debian12"),
        **BARE,
    },
    "driver-held-for-years": {
        "driver": "535.183.01",
        "cuda": "12.2",
        "open_module": True,
        "distribution": UBUNTU_24,
        "holds": Known((_HELD_535,), "/var/lib/dpkg/status"),
        "system_packages": packages_of("nvidia-driver-535 libnvidia-compute-535 nvidia-dkms-535", "535.183.01-0ubuntu0.24.04.1"),
        **BARE,
    },
    "arch-driver-held-without-its-kernel": {
        "distribution": ARCH,
        "holds": Known((hold("nvidia-open nvidia-utils", source="/etc/pacman.conf:24"),), "/etc/pacman.conf"),
        "system_packages": packages_of("nvidia-open nvidia-utils linux=6.17.8", "580.95.05-1", source="/var/lib/pacman/local"),
        **CUDA_13,
        **BARE,
    },
    "rtx-5090-whose-old-driver-is-held": {
        "gpus": (RTX_5090,),
        "driver": "535.183.01",
        "cuda": "12.2",
        "distribution": UBUNTU_24,
        "holds": Known((_HELD_535,), "/var/lib/dpkg/status"),
        "system_packages": packages_of("nvidia-driver-535 libnvidia-compute-535 nvidia-dkms-535", "535.183.01-0ubuntu0.24.04.1"),
        **BARE,
    },
    "server-whose-driver-upgrades-by-itself": {
        "gpus": (H100,),
        "distribution": UBUNTU_24,
        "host_facts": {"unattended": Known(value=True, source="/etc/apt/apt.conf.d/20auto-upgrades")},
        "holds": Known((), "/var/lib/dpkg/status"),
        "system_packages": packages_of("nvidia-driver-580-open libnvidia-compute-580 nvidia-dkms-580-open"),
        **CUDA_13,
        **BARE,
    },
    "sound-pascal-under-windows-r580": {
        "wsl": 2,
        "gpus": (GTX_1080_TI,),
        "driver": "582.28",
        "cuda": "13.0",
        "environments": (Env("train", "2.7.1+cu126", "3.11", active=True),),
        **NO_TOOLKIT,
    },
    "sound-sm-86-code-on-8-9": {"environments": (Env("old", "2.0.1+cu118", "3.11", active=True),), **NO_TOOLKIT},
    "sound-newer-cuda-minor-than-driver": {
        "driver": "535.247.01",
        "cuda": "12.2",
        "environments": (Env("train", "2.8.0+cu128", "3.12", active=True),),
        **NO_TOOLKIT,
    },
    "sound-turing-and-blackwell": {
        "gpus": (RTX_2080, RTX_5090),
        "environments": (Env("train", "2.9.1+cu128", "3.12", active=True),),
        **CUDA_13,
        **NO_TOOLKIT,
    },
}


def main() -> int:
    """Writes what is missing, and all findings."""
    for name, recipe in CASES.items():
        facts = FOLDER / name / "facts.json"
        if not facts.exists():
            _write(facts, encode_machine(machine(**recipe), ENGLISH))
        _write(FOLDER / name / "findings.json", told_of(facts))
    for example in sorted(EXAMPLES.glob("*.json")):
        # As `detect --json` prints it now: a fact that is new since then stands there as one that nobody asked for.
        _write(example, encode_machine(decode_machine(json.loads(example.read_text("utf-8"))), ENGLISH))
        _write(FOLDER / example.stem / "findings.json", told_of(example))
    return 0


def _write(path: Path, document: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main())
