"""What packages are to GPU work, by the names that distributions give them."""

from __future__ import annotations

from gpuassist.formats.package_logs.kinds import subject_of
from gpuassist.model.past import Subject
from tests.rows import for_each

SYSTEM = {
    Subject.DRIVER: """
        libnvidia-gl-580:i386 nvidia-driver-libs.i686
        nvidia-driver-580 nvidia-driver-580-open nvidia-driver-580-server nvidia-driver nvidia-driver-full nvidia-utils-580
        nvidia-utils libnvidia-compute-580 libnvidia-gl-580 nvidia-dkms-580 nvidia-dkms-580-open nvidia-kernel-source-580
        nvidia-kernel-common-580 nvidia-kernel-dkms nvidia-open-kernel-dkms nvidia-headless-no-dkms-580-server
        nvidia-firmware-580-580.95.05 firmware-nvidia-gsp linux-modules-nvidia-580-generic
        linux-modules-nvidia-580-open-6.8.0-48-generic linux-objects-nvidia-580-6.8.0-48-generic
        linux-signatures-nvidia-6.8.0-48-generic xserver-xorg-video-nvidia-580 libcuda1 libnvcuvid1 libnvidia-ml1
        libnvidia-cfg1 libglx-nvidia0 libgl1-nvidia-glvnd-glx nvidia-open nvidia-open-580 cuda-drivers cuda-drivers-580
        cuda-compat-12-8 nvidia-fabricmanager-580 nvidia-persistenced nvidia-modprobe nvidia-driver-pinning-580 nvidia-prime
        akmod-nvidia kmod-nvidia kmod-nvidia-6.11.4-301.fc41.x86_64 kmod-nvidia-open-dkms kmod-nvidia-latest-dkms
        xorg-x11-drv-nvidia xorg-x11-drv-nvidia-cuda-libs xorg-x11-drv-nvidia-470xx nvidia-kmod-common nvidia-driver-cuda
        nvidia nvidia-lts nvidia-open nvidia-open-dkms nvidia-dkms nvidia-470xx-dkms nvidia-470xx-utils lib32-nvidia-utils
        opencl-nvidia linux612-nvidia linux-cachyos-nvidia-open nvidia-open-driver-G06-signed-kmp-default
        nvidia-driver-G06-kmp-default nvidia-compute-G06 nvidia-gl-G06 nvidia-gfxG05-kmp-default x11-video-nvidiaG05
        nvidia-common-G06 nvidia-compute-utils-G06 system76-driver-nvidia NVIDIA-Linux
        """,
    Subject.KERNEL: """
        kernel6.12 kernel6.12-devel
        linux-image-6.8.0-48-generic linux-headers-6.8.0-48-generic linux-headers-6.8.0-48 linux-modules-6.8.0-48-generic
        linux-modules-extra-6.8.0-48-generic linux-generic linux-generic-hwe-24.04 linux-image-generic linux-headers-generic
        linux-image-amd64 linux-headers-amd64 linux-image-unsigned-6.8.0-48-generic linux-image-6.1.0-28-amd64
        linux-headers-6.1.0-28-common linux-oem-24.04 linux-aws linux-nvidia linux-nvidia-64k-hwe-24.04
        linux-image-6.8.0-1008-nvidia linux-headers-nvidia-64k-hwe-24.04 kernel kernel-core kernel-modules
        kernel-modules-core kernel-modules-extra kernel-devel kernel-devel-matched kernel-64k-devel-matched kernel-default
        kernel-default-devel kernel-devel kernel-lt kernel-ml-devel kernel-uek linux linux-lts linux-zen linux-headers
        linux-lts-headers linux-zen-headers linux-hardened linux-cachyos linux-cachyos-headers linux612 linux612-headers
        proxmox-kernel-6.8.12-4-pve-signed pve-headers proxmox-default-headers
        """,
    Subject.TOOLKIT: """
        cuda cuda-12-8 cuda-13-0 cuda-toolkit cuda-toolkit-12-8 cuda-toolkit-12-8-config-common cuda-nvcc-12-8
        cuda-cudart-12-8 cuda-cudart-dev-12-8 cuda-libraries-12-8 cuda-runtime-12-8 cuda-tools nvidia-cuda-toolkit
        nvidia-cuda-dev nvidia-profiler libcublas-12-8 libcublas-dev-12-8 libcublas12 libcudart12 libcusparse-12-8
        libcufft-12-8 libcurand-12-8 libcusolver-12-8 libnpp-12-8 libnvjitlink-12-8 cuda-nsight-compute-12-8
        """,
    Subject.LIBRARY: """
        libc6:i386 glibc.i686
        libcudnn9-cuda-12 libcudnn8 libcudnn9-dev-cuda-12 cudnn cudnn9-cuda-12 nvidia-cudnn libnccl2 libnccl-dev nccl
        libnvinfer10 libnvinfer-plugin10 tensorrt python3-libnvinfer libcutensor2 libcusparselt0 libc6 glibc libstdc++6
        """,
    Subject.SECURE_BOOT: """
        shim-signed shim shim-x64 mokutil secureboot-db grub-efi-amd64-signed grub2-efi-x64 sbctl
        """,
    Subject.TORCH: "python3-torch python-pytorch python-pytorch-cuda python-pytorch-opt-cuda python3-torch-cuda libtorch2.6",
    Subject.COMPILER: """
        gcc gcc-13 g++ g++-13 gcc-c++ gcc13 gcc13-c++ gcc14 cpp-13 clang clang-18 build-essential gcc-toolset-13-gcc-c++ base-devel
        """,
    Subject.DISTRIBUTION: """
        ostree-deployment base-files fedora-release-common rocky-release openSUSE-release redhat-release almalinux-release
        """,
    Subject.SYSTEM_PACKAGE: """
        linux-firmware-nvidia kernel-firmware-nvidia
        dkms akmods nvidia-container-toolkit nvidia-container-toolkit-base libnvidia-container1 libnvidia-container-tools
        nvidia-docker2 nvidia-settings cuda-keyring linux-firmware firmware-misc-nonfree xserver-xorg-core xorg-server
        mesa-vulkan-drivers mesa python python3 python3.12 python313 docker-ce initramfs-tools dracut mkinitcpio grub
        grub-pc libglvnd ubuntu-drivers-common
        """,
}
NOTHING = """
        linux-libc-dev linux-api-headers linux-tools-common linux-tools-6.8.0-48-generic linux-doc linux-base linux-perf
        linux-sound-base kernel-headers kernel-tools kernel-tools-libs kernel-srpm-macros kernel-macros bash curl libcurl4
        libcups2 libcurl3-gnutls libcunit1 gcc-12-base gcc-avr gcc-arm-none-eabi libgcc-s1 cppcheck python3-apt
        python3-numpy nano firefox libnvme1 libnvpair3linux nvme-cli nvtop openssh-server systemd libcue2 libcudf-dev
        libreoffice-common
        """


@for_each(("subject", "names"), SYSTEM.items())
def test_a_package_of_the_system_has_its_subject(subject: Subject, names: str) -> None:
    assert {name: found for name in names.split() if (found := subject_of(name)) is not subject} == {}


def test_what_gpu_work_does_not_depend_on_has_none() -> None:
    assert {name: found for name in NOTHING.split() if (found := subject_of(name))} == {}


def test_in_an_environment_torch_is_torch_and_what_it_stands_on_a_package() -> None:
    for name in ("torch", "pytorch", "libtorch", "pytorch-gpu"):
        assert subject_of(name, in_environment=True) is Subject.TORCH
    for name in ("nvidia-cublas-cu12", "nvidia_cudnn_cu12", "triton", "numpy", "cuda-nvcc", "pytorch-cuda", "vllm", "python"):
        assert subject_of(name, in_environment=True) is Subject.PYTHON_PACKAGE, name
    for name in ("requests", "flask", "tqdm"):
        assert subject_of(name, in_environment=True) is None


def test_a_name_without_end_is_nothing() -> None:
    assert subject_of("nvidia-" + "x" * 100_000) is None
