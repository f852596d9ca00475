"""The kernel's name tells which packages belong to it: Ubuntu's signed modules, Arch's headers."""

from __future__ import annotations

from types import ModuleType

import pytest

from gpuassist.install.drivers import arch, debian, rhel, ubuntu
from gpuassist.install.drivers.arch import kernel_package
from gpuassist.install.drivers.opensuse import enterprise_name
from gpuassist.install.drivers.ubuntu import signed_modules
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import UsedCommand
from gpuassist.knowledge.families import Family
from gpuassist.model.version import Version
from tests.values import knowledge


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
        ("ubuntu", "24.04", "6.8.0-1025-nvidia-64k", "nvidia-64k"),
        ("ubuntu", "24.04", "6.17.0-1003-nvidia-64k", "nvidia-64k-hwe-24.04"),
        ("ubuntu", "22.04", "5.15.0-1055-nvidia", "nvidia"),
        ("ubuntu", "24.04", "6.11.0-1023-oem", "6.11.0-1023-oem"),
        ("ubuntu", "24.04", "6.16.3-x64v3-xanmod1", ""),
        ("ubuntu", "24.04", "6.17.0-custom", ""),
        ("ubuntu", "24.04", "6.19.3-061903-generic", ""),
        ("ubuntu", "24.04", "6.8.1-1040-realtime", ""),
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
        ("6.12.58-1-cachyos-lts", "linux-cachyos-lts"),
        ("6.12.109-1-MANJARO", "linux612"),
        ("6.12.100-1-rt20-MANJARO", "linux612-rt"),
        ("7.3.0-rc2-1-MANJARO", "linux73"),
        ("6.17.0-1-mine", "linux-mine"),
        ("7.0.8-artix1-1", "linux"),
        ("7.0.2-rt5-arch1-1-rt", "linux-rt"),
        ("7.0.5-273-tkg-bore", "linux-tkg-bore"),
        ("7.0.5-custom", ""),
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


@pytest.mark.parametrize(
    ("system", "lines"),
    [
        (System("debian", "12", "6.1.0-37-amd64"), "sudo apt install linux-headers-$(uname -r) linux-headers-amd64"),
        (System("debian", "12", "6.1.0-37-cloud-amd64"), "sudo apt install linux-headers-$(uname -r) linux-headers-cloud-amd64"),
        (System("debian", "13", "6.12.48+deb13-rt-amd64"), "sudo apt install linux-headers-$(uname -r) linux-headers-rt-amd64"),
        (System("debian", "12", "6.1.0-37-cloud-arm64"), "sudo apt install linux-headers-$(uname -r) linux-headers-cloud-arm64"),
        (System("debian", "12", "6.8.12-9-pve"), "sudo apt install proxmox-headers-$(uname -r) proxmox-default-headers"),
    ],
)
def test_debians_headers_are_of_the_kernels_kind(system: System, lines: str) -> None:
    assert rendered(Family.DEBIAN, debian.kernel_headers(system)) == [lines]


def test_ubuntus_headers_follow_the_kernels_kind() -> None:
    grace = System("ubuntu", "24.04", "6.8.0-1025-nvidia-64k")
    assert rendered(Family.UBUNTU, ubuntu.kernel_headers(grace)) == [
        "sudo apt install linux-headers-$(uname -r) linux-headers-nvidia-64k"
    ]
    own = System("ubuntu", "24.04", "6.16.3-x64v3-xanmod1")
    assert rendered(Family.UBUNTU, ubuntu.kernel_headers(own)) == ["sudo apt install linux-headers-$(uname -r)"]


@pytest.mark.parametrize(
    ("system", "last"),
    [
        (System("rocky", "9.6", "5.14.0-570.el9.aarch64+64k"), "sudo dnf install kernel-64k-devel-matched kernel-headers"),
        (System("rhel", "9.6", "5.14.0-570.el9.x86_64+rt"), "sudo dnf install kernel-rt-devel-matched kernel-headers"),
        (System("ol", "9.6", "5.15.0-312.187.5.1.el9uek.x86_64"), "sudo dnf install kernel-uek-devel-$(uname -r) kernel-headers"),
        (System("amzn", "2023", "6.1.150-174.273.amzn2023.x86_64"), "sudo dnf install kernel-modules-extra-$(uname -r)"),
        (System("amzn", "2023", "6.12.40-64.114.amzn2023.x86_64"), "sudo dnf install kernel6.12-modules-extra-$(uname -r)"),
    ],
)
def test_red_hats_like_name_their_headers_by_the_kernel(system: System, last: str) -> None:
    assert rendered(Family.RHEL, *rhel.kernel_headers(system))[-1] == last


def rendered(family: Family, *uses: UsedCommand) -> list[str]:
    return [line for one in uses for line in knowledge().commands.render(one.key, family, one.parameters)]


@pytest.mark.parametrize(
    ("kernel", "keys"),
    [
        ("6.17.8-arch1-1", ["driver-install-open"]),
        ("7.0.2-rt5-arch1-1-rt", ["driver-install-open-dkms"]),
        ("7.0.5-273-tkg-bore", ["check-kernel-headers", "driver-install-open-dkms-alone"]),
        ("7.0.5-custom", ["check-kernel-headers", "driver-install-open-dkms-alone"]),
    ],
)
def test_no_module_that_was_built_for_another_kernel_is_taken(kernel: str, keys: list[str]) -> None:
    where = InstallPlace(families=(Family.ARCH,), system=System("arch", "", kernel))
    assert [one.key for one in arch.PACKAGES.install(DriverMove(Version((615,)), open_module=True), where)] == keys
    assert bool(arch.PACKAGES.remarks(DriverMove(Version((615,)), open_module=True), where)) == (keys[0] == "check-kernel-headers")


@pytest.mark.parametrize(
    ("kernel", "packages", "line"),
    [
        ("6.12.57+deb13-amd64", debian, "sudo apt install linux-headers-$(uname -r) linux-headers-amd64"),
        ("6.18.4-1-liquorix-amd64", debian, "sudo apt install linux-headers-$(uname -r) linux-headers-liquorix-amd64"),
        ("6.18.5-x64v3-xanmod1", debian, "sudo apt install linux-headers-$(uname -r)"),
        ("6.18.3-1.el9.elrepo.x86_64", rhel, 'sudo dnf --enablerepo=elrepo-kernel install "kernel-devel-uname-r == $(uname -r)"'),
        ("6.19.3-061903-generic", ubuntu, "sudo apt install linux-headers-$(uname -r)"),
    ],
)
def test_headers_are_those_of_the_kernel_that_runs(kernel: str, packages: ModuleType, line: str) -> None:
    family = Family(packages.__name__.rpartition(".")[2])
    where = InstallPlace(families=(family,), system=System(family.value, "24.04" if packages is ubuntu else "9", kernel))
    lines = [
        one for use in packages.PACKAGES.headers(where) for one in knowledge().commands.render(use.key, (family,), use.parameters)
    ]
    assert lines == [line]


_BUILT = ["kernel-headers-install-of", "module-rebuild"]


@pytest.mark.parametrize(
    ("packages", "module", "kernel", "keys"),
    [
        (("nvidia-driver-580-open", "nvidia-dkms-580-open"), ubuntu, "6.8.0-60-generic", _BUILT),
        (("nvidia-driver-580-open", "nvidia-utils-580"), ubuntu, "6.8.0-60-generic", ["driver-packages-install"]),
        (("nvidia-driver-580-open",), ubuntu, "6.19.3-061903-generic", ["kernel-headers-install-running", "module-rebuild"]),
        (("nvidia-open-615.71-1", "nvidia-utils-615.71-1"), arch, "7.0.7-arch1-1", []),
        (("nvidia-open-615.71-1", "nvidia-utils-615.71-1"), arch, "7.0.7-zen1-1-zen", ["driver-install-open-dkms"]),
        (("nvidia-open-dkms-615.71-1",), arch, "7.0.7-arch1-1", _BUILT),
    ],
)  # fmt: skip
def test_module_for_a_new_kernel_comes_in_the_way_of_the_packages(
    packages: tuple[str, ...], module: ModuleType, kernel: str, keys: list[str]
) -> None:
    family = Family(module.__name__.rpartition(".")[2])
    where = InstallPlace(families=(family,), system=System(family.value, "24.04", kernel, base=(family.value, "24.04")))
    assert [one.key for one in module.PACKAGES.module_anew(where, packages)] == keys
