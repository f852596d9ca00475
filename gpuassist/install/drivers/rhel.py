"""RHEL and its like: NVIDIA's packages, whose module dkms builds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import (
    DistributionPackages,
    SigningKey,
    add_repository,
    by_flavour,
    is_of_another_flavour,
)
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.driver_packages import Keeper
from gpuassist.model.machine import Distribution
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# Packages of several branches stand in streams up to release 9 (NVIDIA Driver Installation Guide, kernel modules, table 5).
_FIRST_WITHOUT_STREAMS = 10
# Release 7 has yum alone, and NVIDIA's packages for it are called otherwise (NVIDIA/yum-packaging-nvidia-driver, guide for RHEL 7).
_FIRST_WITH_DNF = 8
_EPEL = "https://dl.fedoraproject.org/pub/epel/epel-release-latest-{major}.noarch.rpm"  # Fedora documentation, EPEL
# Amazon's newer kernels have packages with their number in the name: kernel6.12-modules-extra (awslabs/amazon-eks-ami).
_AMAZON_KERNEL = re.compile(r"(?P<line>\d+\.\d+)\.")
_FIRST_OF_AMAZON = "6.1"
_OTHER_PAGES = re.compile(r"\+(?P<kind>64k|rt)")  # 5.14.0-570.el9.aarch64+64k


class Rhel(DistributionPackages):
    """Of one release all share NVIDIA's repository; Amazon Linux has one of its own."""

    signing_key = SigningKey.BUILDING
    providers = frozenset({"gcp"})
    holders = (Keeper.NVIDIA,)
    examples = (Distribution("rhel", ("fedora",), "", "RHEL"),)
    releases = ("rhel 9",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """EPEL has the modules' builder, the kernel's headers come before it builds; a branch is a stream, or is locked."""
        if not place.repository:
            return ()
        system, branch = place.system, move.version.major
        epel = _epel(system)
        before = (
            *((use("epel-add", package=epel),) if epel else ()),
            *kernel_headers(system),
            add_repository(place),
        )
        installed = use(f"{by_flavour(move)}-unpinned")
        if has_streams(system):
            name = str(branch) if move.pinned or not move.open_module else ""
            stream = f"{name}-open" if name and move.open_module else f"{name}-dkms" if name else "open-dkms"
            return (*before, use("driver-stream-enable", stream=stream), installed)
        lock = (use("driver-version-lock", branch=branch),) if move.pinned or not move.open_module else ()
        return (*before, *lock, installed)

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        return kernel_headers(place.system)

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        """Streams are listed with their branches; release 7 has yum, and packages of each branch."""
        if 0 < place.system.major < _FIRST_WITH_DNF:
            packages = f"nvidia-driver-latest-dkms nvidia-driver-branch-{move.version.major}"
            return use("driver-packages-ask-yum", packages=packages)
        if has_streams(place.system):
            return use("driver-streams-ask")
        return use("driver-packages-ask", packages="nvidia-driver kmod-nvidia-open-dkms")

    def hold(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        """By the plugin of dnf 4, or of yum."""
        yum = "-yum" if 0 < place.system.major < _FIRST_WITH_DNF else ""
        return (use(f"packages-hold{yum}", packages=" ".join(packages)),)

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """A stream is reset before another is taken."""
        if place.system.driver is None:
            return ()
        reset = (use("driver-stream-reset"),) if has_streams(place.system) else ()
        if is_of_another_flavour(move, place) or move.pinned:
            return (use("driver-packages-remove"), *reset)
        return reset

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        release = distribution.version_id.partition(".")[0]
        number = whole_number(release)
        if number is None or number < _FIRST_WITH_DNF or (distribution.id == "amzn" and release != "2023"):
            return ""
        return f"amzn{release}" if distribution.id == "amzn" else f"rhel{release}"

    def compiler(self, major: int) -> str:
        return f"/opt/rh/gcc-toolset-{major}/root/usr/bin/g++"


PACKAGES = Rhel()


def kernel_headers(system: System) -> tuple[UsedCommand, ...]:
    """Those of the running kernel: Oracle's, ELRepo's, one with larger pages, and Amazon's lines have packages of other names."""
    if "uek" in system.kernel:
        return (use("kernel-headers-install-uek"),)
    if system.distribution == "amzn":
        found = _AMAZON_KERNEL.match(system.kernel)
        line = found["line"] if found is not None and found["line"] != _FIRST_OF_AMAZON else ""
        # The driver needs modules that Amazon keeps apart (aws/aws-parallelcluster-cookbook, pull request 2967).
        extra = use("kernel-modules-extra-install-of", line=line) if line else use("kernel-modules-extra-install")
        return (use("kernel-headers-install"), extra)
    if ".elrepo." in system.kernel:
        return (use("kernel-headers-install-elrepo"),)
    other = _OTHER_PAGES.search(system.kernel)
    if other is not None:
        return (use("kernel-headers-install-kind", kind=other["kind"]),)
    return (use("kernel-headers-install"),)


def _epel(system: System) -> str:
    """The package that adds EPEL; empty on Amazon Linux, which has dkms itself."""
    name, major = system.distribution, system.major
    if name == "amzn" or not major:
        return ""
    if name == "ol":
        return f"oracle-epel-release-el{major}"
    return _EPEL.format(major=major) if name == "rhel" else "epel-release"


def has_streams(system: System) -> bool:
    return system.major < _FIRST_WITHOUT_STREAMS or system.distribution == "amzn"
