"""What package managers and installers say leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import nvidia_installer, packages
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.values import Recipe, machine

SIGNATURES = (*packages.SIGNATURES, *nvidia_installer.SIGNATURES)

SUMMARY = """\
===========
= Summary =
===========
Driver:   Not Selected
Toolkit:  Installed in /usr/local/cuda-12.1/
***WARNING: Incomplete installation! This installation did not install the CUDA Driver. A driver of \
version at least 530.00 is required for CUDA 12.1 functionality to work.
"""


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (" libcuda1-390 : Depends: nvidia-compute-390 but it is not installable", "libcuda1-390"),
        (
            " nvidia-driver-535 : Depends: libnvidia-gl-535 (= 535.183.01-0ubuntu1) but it is not going to be installed",
            "nvidia-driver-535",
        ),
        (" cuda-drivers : Depends: nvidia-driver (>= 550) but 535.183.01-1 is to be installed", "cuda-drivers"),
        (
            "trying to overwrite '/usr/lib/x86_64-linux-gnu/libnvidia-cfg.so.1', which is also in package libnvidia-cfg1-535",
            "libnvidia-cfg1-535",
        ),
        ("package nvidia-driver-3:550.54.14-1.el9.x86_64 from cuda conflicts with nvidia-kmod", "nvidia-driver-3:550.54.14"),
        ("nvidia-utils: /usr/lib/libcuda.so exists in filesystem", "nvidia-utils"),
        ("dpkg: dependency problems prevent configuration of nvidia-driver-535:", "nvidia-driver-535"),
    ],
)
def test_packages_of_several_sources_conflict(words: str, package: str) -> None:
    assert problem(SIGNATURES, words) == "apt-nvidia-package-conflict"
    assert parameters(SIGNATURES, words)["package"].startswith(package[:14])


def test_transitional_package_is_told() -> None:
    words = " libcuda1-390 : Depends: nvidia-compute-390 but it is not installable\nE: you have held broken packages."
    assert parameters(SIGNATURES, words)["transitional"] == "yes"


@pytest.mark.parametrize(
    "words",
    [
        "Existing package manager installation of the driver found. It is strongly recommended that you remove this",
        "The NVIDIA driver appears to have been installed previously using a different installer.",
    ],
)
def test_two_sources_are_a_conflict(words: str) -> None:
    assert problem(SIGNATURES, words) == "apt-nvidia-package-conflict"


@pytest.mark.parametrize(
    "words",
    [
        " libreoffice : Depends: python3-uno but it is not going to be installed\nE: you have held broken packages.",
        "The following NEW packages will be installed: nvidia-driver-535",
        "Depends: nvidia-driver-535, libc6",
        "Conflicting values set for option Signed-By regarding source https://download.docker.com/linux/ubuntu",
        "deb [signed-by=/usr/share/keyrings/cuda-archive-keyring.gpg] https://developer.download.nvidia.com/compute/cuda/repos/x /",
        "Installation of the toolkit is complete",
        "merge conflicts with main",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "E: Conflicting values set for option Signed-By regarding source https://nvidia.github.io/libnvidia-container/stable/deb"
            "/amd64/ /: /usr/share/keyrings/nvidia-container-toolkit-keyring.gpg !=\nE: The list of sources could not be read.",
            {"source": "https://nvidia.github.io/libnvidia-container/stable/deb/amd64/", "origin": "container"},
        ),
        (
            "E: Conflicting values set for option Signed-By regarding source https://developer.download.nvidia.com/compute/cuda"
            "/repos/ubuntu2204/x86_64/ /: /usr/share/keyrings/cuda-archive-keyring.gpg != ",
            {"source": "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2204/x86_64/", "origin": "cuda"},
        ),
        (
            "E: Für die Option Signed-By sind für die Quelle http://repo.download.nvidia.com/jetson/common Werte gesetzt",
            {"source": "http://repo.download.nvidia.com/jetson/common"},
        ),
    ],
)
def test_source_with_two_keys_is_named(words: str, told: dict[str, str]) -> None:
    assert problem(SIGNATURES, words) == "apt-signed-by-conflict"
    assert parameters(SIGNATURES, words) == told


def test_summary_of_the_installer_names_cuda_and_the_driver_it_wants() -> None:
    assert problem(SIGNATURES, SUMMARY) == "cuda-installer-without-driver"
    assert parameters(SIGNATURES, SUMMARY) == {"cuda": "12.1", "needed": "530.00"}


def test_summary_is_harmless_where_the_driver_serves_the_toolkit() -> None:
    told = parameters(SIGNATURES, SUMMARY, machine(Recipe(driver="525.147.05", cuda="12.0")))
    assert told == {"cuda": "12.1", "needed": "530.00", "driver": "525.147.05", "served": "yes"}


def test_summary_with_an_older_driver_names_that_as_well() -> None:
    assert problems(SIGNATURES, SUMMARY, machine(Recipe(driver="470.82.01", cuda="11.4"))) == {
        "cuda-installer-without-driver",
        "driver-too-old-for-cuda",
    }


CONFLICT = "apt-nvidia-package-conflict"


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("xserver-xorg-video-nvidia-550 : Depends: libnvidia-cfg1-550 but it is not going to be installed",
         "xserver-xorg-video-nvidia-550"),
        (" nvidia-driver-535 : Conflicts: libnvidia-gl-550 but 550.90.07 is to be installed", "nvidia-driver-535"),
        (" libnvidia-compute-535 : Breaks: libnvidia-compute-550 but 550.54 is installed", "libnvidia-compute-535"),
        (" cuda-drivers-550 : PreDepends: nvidia-driver-550 but it is not installable", "cuda-drivers-550"),
        ("trying to overwrite '/usr/lib/x86_64-linux-gnu/libcuda.so', which is also in package libcuda1 470.57", "libcuda1"),
        ("trying to overwrite shared '/etc/OpenGL/x.json', which is also in package nvidia-driver-470", "nvidia-driver-470"),
        ("package akmod-nvidia-3:550.78 from rpmfusion conflicts with kmod-nvidia provided by x", "akmod-nvidia-3:550.78"),
        ("cannot install both nvidia-driver-560.35 and nvidia-driver-550.90", "nvidia-driver-560.35"),
        ("file /usr/bin/nvidia-smi from install of xorg-x11-drv-nvidia-cuda-550 conflicts with file from nvidia-driver-cuda",
         "xorg-x11-drv-nvidia-cuda-550"),
    ],
)  # fmt: skip
def test_package_in_the_way_is_named(words: str, package: str) -> None:
    assert problem(SIGNATURES, words) == CONFLICT
    assert parameters(SIGNATURES, words)["package"].startswith(package.partition(":")[0])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("An alternate method of installing the NVIDIA driver was detected.", CONFLICT),
        ("an alternate driver installation method has been detected", ""),
        ("[ERROR]: Install of 418.67 failed, quitting", "module-already-loaded"),
        ("Installation failed. See log at /var/log/cuda-installer.log for details.", "module-already-loaded"),
        ("[ERROR]: Install of driver component failed.", "module-already-loaded"),
        ("Consult the driver log at /var/log/nvidia-installer.log for more details.", "module-already-loaded"),
    ],
)
def test_installer_that_stops_says_why(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        " libssl-dev : Depends: libssl3 but it is not going to be installed",
        " nvidia-driver-535 : Depends: libnvidia-gl-535 (>= 535)",
        "trying to overwrite '/usr/share/man/x', which is also in package nvidia-driver-470",
        "package python3-nvidia conflicts with python2",
        "file /usr/bin/x from install of foo conflicts with file from package bar",
        "cannot install both bash-5 and bash-4",
        "Install of extras succeeded",
    ],
)
def test_package_of_something_else_is_left(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
