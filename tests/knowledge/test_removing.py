"""Removing a driver's packages takes the driver, and neither nvcc nor what containers need."""

from __future__ import annotations

import fnmatch
import re
import shlex

from gpuassist.knowledge.families import Family
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

# packages.ubuntu.com and packages.debian.org, and those of NVIDIA's own repository.
OF_THE_DRIVER = (
    "nvidia-driver-595-open",
    "nvidia-driver-580",
    "nvidia-driver",
    "nvidia-open",
    "nvidia-open-580",
    "nvidia-open-kernel-dkms",
    "nvidia-kernel-dkms",
    "nvidia-kernel-open-dkms",
    "nvidia-kernel-common-595",
    "nvidia-kernel-source-595-open",
    "nvidia-kernel-support",
    "nvidia-dkms-595-open",
    "nvidia-headless-no-dkms-595-server-open",
    "nvidia-utils-595-server",
    "nvidia-compute-utils-595",
    "nvidia-firmware-595-595.45.04",
    "nvidia-settings",
    "nvidia-prime",
    "nvidia-persistenced",
    "nvidia-modprobe",
    "nvidia-smi",
    "nvidia-alternative",
    "nvidia-tesla-470-driver",
    "nvidia-legacy-390xx-driver",
    "nvidia-opencl-icd",
    "nvidia-vdpau-driver",
    "nvidia-egl-icd",
    "nvidia-vulkan-icd",
    "libnvidia-compute-595",
    "libnvidia-common-595",
    "libnvidia-cfg1-595",
    "libnvidia-decode-595",
    "libnvidia-gl-595",
    "libnvidia-extra-595",
    "libnvidia-fbc1-595",
    "libnvidia-ml1",
    "libnvidia-ptxjitcompiler1",
    "libnvidia-nvvm4",
    "libnvidia-eglcore",
    "libnvidia-rtcore",
    "libnvidia-gpucomp",
)
SPARED = (
    "nvidia-cuda-toolkit",
    "nvidia-cuda-toolkit-gcc",
    "nvidia-cuda-toolkit-doc",
    "nvidia-cuda-dev",
    "nvidia-cuda-gdb",
    "nvidia-profiler",
    "nvidia-visual-profiler",
    "nvidia-opencl-dev",
    "nvidia-cudnn",
    "nvidia-nsight-systems",
    "nvidia-container-toolkit",
    "nvidia-container-toolkit-base",
    "nvidia-container-runtime",
    "nvidia-docker2",
    "nvidia-jetpack",
    "nvidia-l4t-core",
    "libnvidia-container1",
    "libnvidia-container-tools",
    "libnvidia-container-dev",
    "libnvidia-ml-dev",
)
KEYS = ("driver-remove", "driver-packages-remove", "wsl-linux-driver-remove")


def line_of(key: str, family: Family, start: str) -> str:
    return next(line for line in KNOWLEDGE.commands.render(key, (family, Family.ANY), {}) if line.startswith(start))


@for_each("key", KEYS)
@for_each("family", [Family.UBUNTU, Family.DEBIAN])
def test_apt_takes_the_driver_alone(key: str, family: Family) -> None:
    patterns = shlex.split(line_of(key, family, "sudo apt purge"))[3:]
    taken = {name for name in (*OF_THE_DRIVER, *SPARED) for pattern in patterns if re.search(pattern, name)}
    assert taken == set(OF_THE_DRIVER)
    assert all(set(pattern) & set(".?*") for pattern in patterns)  # else apt takes it for a name


@for_each("key", KEYS)
@for_each("family", [Family.FEDORA, Family.RHEL])
def test_dnf_spares_containers_and_firmware(key: str, family: Family) -> None:
    words = shlex.split(line_of(key, family, "sudo dnf remove"))
    kept = words[words.index("--exclude") + 1].split(",")
    for name in ("nvidia-container-toolkit", "libnvidia-container1", "libnvidia-container-tools", "nvidia-gpu-firmware"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in kept)
    assert not any(fnmatch.fnmatch("akmod-nvidia", pattern) for pattern in kept)


@for_each("key", ["driver-packages-remove", "wsl-linux-driver-remove"])
def test_rpm_of_suse_spares_containers(key: str) -> None:
    line = line_of(key, Family.OPENSUSE, "sudo rpm -e")
    assert "grep -v container" in line


def test_pacman_takes_the_modules_alone() -> None:
    pattern = re.findall(r"'([^']+)'", line_of("driver-packages-remove", Family.ARCH, "sudo pacman"))[0]
    taken = [
        one
        for one in ("nvidia-open", "nvidia-580xx-dkms", "nvidia-lts", "nvidia-utils", "nvidia-container-toolkit")
        if re.fullmatch(pattern, one)
    ]
    assert taken == ["nvidia-open", "nvidia-580xx-dkms", "nvidia-lts"]
