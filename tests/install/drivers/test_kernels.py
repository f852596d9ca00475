"""The kernel's name tells which packages belong to it: Ubuntu's signed modules, Arch's headers."""

from __future__ import annotations

import pytest

from gpuassist.install.drivers.arch import kernel_package
from gpuassist.install.drivers.opensuse import enterprise_name
from gpuassist.install.drivers.ubuntu import signed_modules
from gpuassist.install.place import System


@pytest.mark.parametrize(
    ("distribution", "release", "kernel", "ending"),
    [
        ("ubuntu", "24.04", "6.8.0-60-generic", "generic"),
        ("ubuntu", "24.04", "6.14.0-24-generic", "generic-hwe-24.04"),
        ("ubuntu", "22.04", "5.15.0-130-generic", "generic"),
        ("ubuntu", "22.04", "6.8.0-60-lowlatency", "lowlatency-hwe-22.04"),
        ("ubuntu", "24.04", "6.14.0-1021-aws", "aws"),
        ("ubuntu", "24.04", "6.8.0-1036-azure", "azure"),
        ("ubuntu", "24.10", "6.11.0-9-generic", "6.11.0-9-generic"),
        ("linuxmint", "22.1", "6.8.0-60-generic", "6.8.0-60-generic"),
        ("ubuntu", "24.04", "6.16.3-x64v3-xanmod1", ""),
        ("ubuntu", "24.04", "6.17.0-custom", ""),
        ("ubuntu", "24.04", "", ""),
    ],
)
def test_signed_modules_are_named_after_the_kernel(distribution: str, release: str, kernel: str, ending: str) -> None:
    assert signed_modules(System(distribution, release, kernel)) == ending


@pytest.mark.parametrize(
    ("kernel", "package"),
    [
        ("6.17.8-arch1-1", "linux"),
        ("6.12.58-1-lts", "linux-lts"),
        ("6.17.8-zen1-1-zen", "linux-zen"),
        ("6.15.10-hardened1-1-hardened", "linux-hardened"),
        ("6.17.7-3-cachyos", "linux-cachyos"),
        ("6.17.0-1-mine", "linux-mine"),
        ("", "linux"),
    ],
)
def test_arch_kernel_is_named_by_its_ending(kernel: str, package: str) -> None:
    assert kernel_package(System("arch", "", kernel)) == package


@pytest.mark.parametrize(
    ("release", "major"), [("9.6", 9), ("10", 10), ("2023", 2023), ("", 0), ("trixie/sid", 0), ("²", 0), ("9" * 5000, 0)]
)
def test_major_release_is_the_first_number(release: str, major: int) -> None:
    assert System("rocky", release).major == major


@pytest.mark.parametrize(
    ("distribution", "release", "name"),
    [
        ("sles", "15.7", "sle15sp7"),
        ("sled", "15.6", "sle15sp6"),
        ("sles", "16.0", "sle16"),
        ("sles", "16.1", "sle16.1"),
        ("rhel", "9", ""),
    ],
)
def test_suse_enterprise_is_named_as_nvidia_does(distribution: str, release: str, name: str) -> None:
    assert enterprise_name(System(distribution, release)) == name
