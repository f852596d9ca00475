"""Arch and what is built on it: the newest driver with its open modules, one older branch in the AUR, Manjaro's own tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import DistributionPackages
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

_LEGACY = 580  # the branch that the AUR keeps beside the newest (Arch Linux news of December 2025, NVIDIA 590 driver)
_KERNELS = {"lts": "linux-lts", "zen": "linux-zen", "hardened": "linux-hardened", "rt": "linux-rt", "cachyos": "linux-cachyos"}


class Arch(DistributionPackages):
    """Modules for two kernels come built, those for others are built from their headers."""

    examples = (Distribution("arch", (), "", "Arch Linux"),)
    releases = ("arch",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """nouveau leaves the image that starts the machine, where it has a GPU."""
        if place.system.distribution == "manjaro" and not move.pinned:
            return (use("driver-install-mhwd"),)
        kernel = kernel_package(place.system)
        if _is_legacy(move, place):
            uses: tuple[UsedCommand, ...] = (
                use("kernel-headers-install-of", package=f"{kernel}-headers"),
                use("driver-install-proprietary", branch=move.version.major),
            )
        elif move.pinned or not move.open_module:
            return ()
        elif kernel == "linux":
            uses = (use("driver-install-open"),)
        elif kernel == "linux-lts":
            uses = (use("driver-install-open-lts"),)
        else:
            uses = (use("driver-install-open-dkms", package=f"{kernel}-headers"),)
        return (*uses, use("initramfs-rebuild")) if place.system.nouveau else uses

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """The AUR's packages cannot stand beside Arch's own."""
        there = place.system.driver
        other = there is not None and _is_legacy(move, place) != (there.major <= _LEGACY)
        return (use("driver-packages-remove"),) if other else ()

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text) -> Text:
        """The AUR has the proprietary module alone."""
        if not any(one.key == "driver-install-proprietary" for one in uses):
            return super().does(uses, branch, flavour)
        return text(
            "Install NVIDIA's driver, branch {branch}, from the AUR, after the headers that its module is built with", branch=branch
        )


PACKAGES = Arch()


def kernel_package(system: System) -> str:
    """The package of a kernel by the end of its name: `linux-lts` of `6.12.58-1-lts`, `linux` of `6.17.8-arch1-1`."""
    ending = system.kernel.rpartition("-")[2]
    return _KERNELS.get(ending, f"linux-{ending}" if ending.isalpha() and ending != "generic" else "linux")


def _is_legacy(move: DriverMove, place: InstallPlace) -> bool:
    """An older branch, whose packages in the AUR have the proprietary module."""
    older = move.version.major <= _LEGACY and (move.pinned or not move.open_module)
    return older and not place.system.needs_open
