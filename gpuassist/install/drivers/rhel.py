"""RHEL and its like: NVIDIA's packages, whose module dkms builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import (
    DistributionPackages,
    SigningKey,
    add_repository,
    by_flavour,
    is_of_another_flavour,
)
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# Packages of several branches stand in streams up to release 9 (NVIDIA Driver Installation Guide, kernel modules, table 5).
_FIRST_WITHOUT_STREAMS = 10
_EPEL = "https://dl.fedoraproject.org/pub/epel/epel-release-latest-{major}.noarch.rpm"  # Fedora documentation, EPEL


class Rhel(DistributionPackages):
    """Of one release all share NVIDIA's repository; Amazon Linux has one of its own."""

    signing_key = SigningKey.BUILDING
    providers = frozenset({"gcp"})
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
            use("kernel-headers-install-uek" if "uek" in system.kernel else "kernel-headers-install"),
            add_repository(place),
        )
        if _has_streams(system):
            return (
                *before,
                use("driver-install-open-branch" if move.open_module and move.pinned else by_flavour(move), branch=branch),
            )
        lock = (use("driver-version-lock", branch=branch),) if move.pinned or not move.open_module else ()
        return (*before, *lock, use(f"{by_flavour(move)}-unpinned"))

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """A stream is reset before another is taken."""
        if place.system.driver is None:
            return ()
        if is_of_another_flavour(move, place) or move.pinned:
            return (use("driver-packages-remove"),)
        return (use("driver-stream-reset"),) if _has_streams(place.system) else ()

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        release = distribution.version_id.partition(".")[0]
        if whole_number(release) is None or (distribution.id == "amzn" and release != "2023"):
            return ""
        return f"amzn{release}" if distribution.id == "amzn" else f"rhel{release}"

    def compiler(self, major: int) -> str:
        return f"/opt/rh/gcc-toolset-{major}/root/usr/bin/g++"


PACKAGES = Rhel()


def _epel(system: System) -> str:
    """The package that adds EPEL; empty on Amazon Linux, which has dkms itself."""
    name, major = system.distribution, system.major
    if name == "amzn" or not major:
        return ""
    if name == "ol":
        return f"oracle-epel-release-el{major}"
    return _EPEL.format(major=major) if name == "rhel" else "epel-release"


def _has_streams(system: System) -> bool:
    return system.major < _FIRST_WITHOUT_STREAMS or system.distribution == "amzn"
