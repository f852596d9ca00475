"""What a package is to GPU work, by its name: the filter of every log, and the subject of an entry.

The names are those of the distributions' own packages, of NVIDIA's repositories, RPM Fusion, ELRepo, Manjaro, CachyOS and Proxmox.
"""

from __future__ import annotations

from functools import lru_cache

from gpuassist.formats.packages import is_of_interest, normalised
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.past import Subject

# The first that matches has the name: what belongs to a driver by its letters and is none stands before the drivers.
_RULES = (
    (
        Subject.LIBRARY,
        # cuDNN, NCCL and TensorRT as Debian's, NVIDIA's and Arch's packages call them; the C and C++ libraries that wheels need
        r"nvidia-cudnn|(?:lib)?cudnn\S*|(?:lib)?nccl\d?(?:-\S+)?|libnccl-\S+|tensorrt\S*|(?:lib|python3-lib)nvinfer\S*"
        r"|libnvonnxparsers?\S*"
        r"|(?:lib)?cutensor\S*|(?:lib)?cusparselt\S*|(?:lib)?nvshmem\S*|glibc|libc6|libstdc\+\+6?",
    ),
    (
        Subject.TOOLKIT,
        r"nvidia-cuda-(?:toolkit\S*|dev|gdb|doc)|nvidia-(?:profiler|visual-profiler|opencl-dev)"
        r"|cuda|cuda-\d+-\d+|cuda-\d+\.\d+|cuda-(?:toolkit|tools|nvcc|compiler|cudart|runtime|libraries|minimal-build|crt"
        r"|nvvm|nvrtc|driver-dev"
        r"|cccl|cupti|gdb|nvml|profiler-api|sandbox|nvtx|culibos|tileiras|command-line-tools|visual-tools|opencl"
        r"|demo-suite|documentation|samples"
        r"|nsight|sanitizer|cuobjdump|cuxxfilt|nvdisasm|nvprune|nvprof|nvvp|memcheck)\S*"
        r"|libcu(?:dart|blas(?:lt)?|fft|fftw|rand|solver(?:mg)?|sparse|file|obj\S*?)\d*(?:[-.]\S*)?|libnv(?:jitlink|jpeg"
        r"|rtc|fatbin|vm|ptxcompiler|blas|toolsext)\S*"
        r"|libnpp\S*",
    ),
    (
        Subject.SYSTEM_PACKAGE,
        r"(?:lib)?nvidia-container\S*|nvidia-docker2?|nvidia-(?:vaapi-driver|patch|settings|cuda-mps)|libnvidia-egl-\S+"
        r"|cuda-keyring|cuda-repo-\S+"
        r"|nvidia-texture-tools\S*|python3-\S*nvidia\S*|(?:linux|kernel)-firmware(?:-\S+)?",
    ),
    (
        Subject.KERNEL,
        # Ubuntu calls its kernel for DGX by this name as well: linux-image-6.8.0-1008-nvidia
        r"linux-(?:image|headers)-\S+|linux-(?:image|headers)|linux-modules(?:-extra|-ipu6|-iwlwifi|-usbio)?-\d\S+"
        r"|linux-nvidia(?:-64k)?(?:-\S+)?"
        r"|linux-(?:generic|lowlatency|virtual|oem|aws|azure|gcp|gke|oracle|ibm|kvm|raspi|intel-iotg|xilinx\S*"
        r"|tegra\S*)(?:-\S+)?"
        r"|linux(?:-(?:lts|zen|hardened|rt|rt-lts|mainline|xanmod\S*|cachyos|cachyos-(?!\S*nvidia)\S+|surface|t2|asahi"
        r"|amd64|arm64|\d\S*)){0,2}(?:-headers)?"
        r"|linux\d{2,4}(?:-rt)?(?:-headers)?"
        r"|kernel(?:-(?:64k|rt|uek|lt|ml|longterm|debug|default|azure|preempt|longterm|pae|automotive|16k|vanilla))?"
        r"(?:-(?:core|modules|internal|partner|devel|matched|base|optional|extra)){0,4}"
        r"|kernel\d+\.\d+(?:-devel|-modules-extra)?"
        r"|(?:proxmox|pve)-(?:default-)?(?:kernel|headers)(?:-\S+)?",
    ),
    (
        Subject.DRIVER,
        r"(?:lib32-|lib64)?nvidia(?:-\S+)?|libnvidia-\S+|nvidia\S*|(?:akmod|kmod|dkms)-nvidia\S*|linux-(?:modules|objects"
        r"|signatures)-nvidia\S*|linux\S*-nvidia\S*"
        r"|xserver-xorg-video-nvidia\S*|xorg-x11-(?:drv-)?nvidia\S*|x11-video-nvidia\S*|libnvcuvid1\S*|libcuda1\S*"
        r"|libcudadebugger1\S*"
        r"|libnvoptix1\S*|libnvidia\S*|lib\S*-nvidia\S*|libxnvctrl\S*|cuda-drivers\S*|cuda-compat\S*"
        r"|(?:lib32-)?opencl-nvidia\S*|libxnvctrl\S*"
        r"|NVIDIA-Linux\S*|firmware-nvidia\S*|glx-alternative-nvidia|system76-driver-nvidia|bumblebee-nvidia|mhwd-nvidia\S*"
        r"|media-driver-nvidia",
    ),
    (
        Subject.SECURE_BOOT,
        r"shim(?:-(?:signed|helpers\S*|unsigned\S*|x64|aa64|ia32))?|mokutil|secureboot-db|sbctl|sbsigntools?"
        r"|grub\S*-signed\S*"
        r"|grub2-efi-(?:x64|aa64|ia32)(?:-modules)?|grub2-(?:x86_64|arm64)-efi|openSUSE-signkey-cert",
    ),
    (Subject.TORCH, r"python3?\d*-(?:py)?torch(?:-cuda|-opt|-opt-cuda|-rocm)?|python3-torch|libtorch\S*|pytorch\S*"),
    (
        Subject.COMPILER,
        r"(?:gcc|g\+\+|cpp)(?:-\d+(?:\.\d+)?)?|gcc\d+(?:-c\+\+)?|gcc-c\+\+|gcc-toolset-\d+(?:-gcc(?:-c\+\+)?)?"
        r"|cuda-gcc(?:-c\+\+)?|build-essential|base-devel"
        r"|clang(?:-?\d+)?|libstdc\+\+-(?:\d+-)?dev(?:el)?",
    ),
    (
        Subject.DISTRIBUTION,
        r"ostree-deployment|base-files|(?:fedora|centos|centos-stream|redhat|rocky|almalinux|oraclelinux|openSUSE|Leap|sles|system|manjaro"
        r"|nobara|bazzite)-release\S*"
        r"|pop-desktop|linuxmint-info\S*|mint-info\S*|endeavouros-release",
    ),
    (
        Subject.SYSTEM_PACKAGE,
        r"dkms|akmods|kmodtool|kmod|initramfs-tools(?:-core)?|dracut|mkinitcpio|grub(?:2|-common|-pc|2-common|2-tools"
        r"|-efi-\S+)?|systemd-boot(?:-\S+)?"
        r"|firmware-misc-nonfree|ubuntu-drivers-common|optimus-manager"
        r"|envycontrol|bumblebee|primus\S*"
        r"|xorg-server|xserver-xorg-core|xserver-xorg-video-nouveau|xorg-x11-server(?:-Xorg)?|xorg-x11-drv-nouveau"
        r"|xf86-video-nouveau|mesa|Mesa|lib32-mesa"
        r"|mesa-(?:dri-drivers|libGL|libEGL|vulkan-drivers)|libgl1-mesa-dri|mesa-vulkan-drivers|vulkan-nouveau|libglvnd\d?"
        r"|egl-wayland\d?"
        r"|docker-ce|docker\.io|docker|moby-engine|containerd\.io|containerd|podman"
        r"|python3?|python3\.\d+|python3\d{1,2}|python3-(?:minimal|libs)|python3\.\d+-minimal",
    ),
)
_ANY = lazy_regex("|".join(f"(?P<rule{number}>{words})" for number, (_subject, words) in enumerate(_RULES)))
_ARCHITECTURE = lazy_regex(r"(?::(?:i386|armhf|x32)|\.i[356]86)$")  # as entries name packages of another one than the machine's
_TORCH = frozenset({"torch", "pytorch", "libtorch", "pytorch-gpu", "pytorch-cpu", "torch-nightly"})
_LONGEST = 200  # characters of a name: dpkg, rpm and pacman have none half as long


@lru_cache(4096)
def subject_of(package: str, *, in_environment: bool = False) -> Subject | None:
    """What a package of the system is to GPU work, or one of a Python or conda environment; None where it is nothing to it."""
    if len(package) > _LONGEST:
        return None
    if in_environment:
        name = normalised(package)
        if name in _TORCH:
            return Subject.TORCH
        return Subject.PYTHON_PACKAGE if name == "python" or is_of_interest(name) or _BESIDE_TORCH.fullmatch(name) else None
    found = _ANY.fullmatch(_ARCHITECTURE.sub("", package))
    return _RULES[int((found.lastgroup or "").removeprefix("rule"))][0] if found else None


# What an environment brings of the toolkit and of compilers, and the engines that stand on a certain torch.
_BESIDE_TORCH = lazy_regex(
    r"cuda(?:-\S+)?|nccl|libcu\S+|libnv\S+|cupy\S*|vllm|sglang|deepspeed|transformers|accelerate|lightning"
    r"|pytorch-lightning|gcc|gxx|gcc-linux-64"
    r"|gxx-linux-64|gcc-impl-linux-64|sysroot-linux-64|libstdcxx(?:-ng)?|libgcc(?:-ng)?|magma\S*|apex"
    r"|transformer-engine\S*|flashinfer\S*|ninja"
)
