"""What a package of a distribution belongs to, by its name: driver, kernel, toolkit, libraries, containers."""

from __future__ import annotations

from gpuassist.model.holds import HeldPart
from gpuassist.model.lazy_regex import lazy_regex

# What has NVIDIA's name and no part in computing, or is of all versions at once.
_NONE = lazy_regex(
    r"nvidia-(?:prime|gpu-firmware|texture-tools|vaapi|installer-cleanup|support|driver-(?:pinning|assistant)|detect|repo|fs|gds|"
    r"system|spark|sandboxutils)|firmware-nvidia-graphics|libnvidia-egl-|egl-wayland|cuda-(?:keyring|repo)|libva-nvidia|"
    r"linux-firmware|libnvidia-container-dev"
)
_WORDS = ("nvidia", "cuda", "linux", "kernel", "cudnn", "nccl", "cublas", "libnv", "libxnvctrl")
_CONTAINERS = lazy_regex(r"(?:lib)?nvidia-container|nvidia-docker|nvidia-ctk")
_LIBRARIES = lazy_regex(r"(?:lib)?(?:nvidia-)?(?:cudnn|nccl)")
_TOOLKIT = lazy_regex(
    r"cuda(?:\Z|-(?!drivers)|\d)|nvidia-(?:cuda-(?!mps)|nsight|profiler|visual-profiler|opencl-dev)|libcudart|libcublas"
)
_DRIVER = lazy_regex(
    r"(?:lib|lib32-)?nvidia(?:\Z|[-A-Z]|\d)|cuda-drivers|akmod-nvidia|kmod-nvidia|xorg-x11-(?:drv-)?nvidia|"
    r"xserver-xorg-video-nvidia|x11-video-nvidia|linux-(?:modules|objects|signatures)-nvidia|libcuda(?:\d|debugger|\Z)|libnvcuvid|"
    r"libnvoptix|(?:lib32-)?opencl-nvidia|linux(?:\d+|-cachyos[a-z-]*|-lts|-zen)-nvidia|lib(?:gl1|egl|glx|gles)-?nvidia|firmware-nvidia-gsp|"
    r"libnvsdm|libxnvctrl"
)
_KERNEL = lazy_regex(
    r"linux\Z|linux\d+(?:-rt)?(?:-headers)?\Z|linux-(?:image|headers|modules|generic|lowlatency|oem|virtual|aws|azure|gcp|oracle|"
    r"nvidia|hwe)(?:-|\Z)|linux-(?:lts|zen|hardened|rt|rt-lts|cachyos[a-z-]*)(?:-headers)?\Z|linux-(?:amd64|arm64)\Z|"
    r"kernel(?:-(?:core|modules|devel|headers|default|longterm|uek|lt|ml|64k|rt|azure)[a-z0-9-]*)?\Z|(?:proxmox|pve)-kernel"
)


def part_of(package: str) -> HeldPart | None:
    """None for a package that has nothing to do with computing on a GPU."""
    if not any(word in package for word in _WORDS) or _NONE.match(package):  # most of a system's thousands have none of them
        return None
    if _CONTAINERS.match(package):
        return HeldPart.CONTAINERS
    if _LIBRARIES.match(package):
        return HeldPart.LIBRARIES
    if _TOOLKIT.match(package):
        return HeldPart.TOOLKIT
    if _DRIVER.match(package):
        return HeldPart.DRIVER
    return HeldPart.KERNEL if _KERNEL.match(package) else None


# Names that stand for each part, by which a pattern is known that covers nothing that is installed.
EXAMPLES = (
    *("nvidia-driver-580", "nvidia-driver", "nvidia-open", "cuda-drivers", "libnvidia-compute-580", "nvidia-dkms-580"),
    *("akmod-nvidia", "kmod-nvidia-latest-dkms", "xorg-x11-drv-nvidia", "nvidia-utils", "linux-modules-nvidia-580-generic"),
    *("nvidia-open-dkms", "nvidia-driver-cuda", "nvidia-kernel-dkms", "libcuda1", "nvidia-compute-G06", "nvidia-580xx-dkms"),
    *("linux-image-generic", "linux-generic", "linux-headers-generic", "kernel", "kernel-core", "kernel-default", "linux"),
    *(
        "linux-lts",
        "linux-image-6.8.0-45-generic",
        "cuda-toolkit-12-8",
        "cuda",
        "nvidia-cuda-toolkit",
        "libcudnn9-cuda-12",
        "cudnn",
        "libnccl2",
    ),
    *("nccl", "nvidia-container-toolkit", "libnvidia-container1"),
)
