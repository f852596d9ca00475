"""Arch and what is built on it: the newest driver with its open modules, older branches in the AUR, Manjaro's own tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import Brings, DistributionPackages, held
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.driver_packages import Keeper
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

_LEGACY = 580  # the branch that the AUR keeps beside the newest (Arch Linux news of December 2025, NVIDIA 590 driver)
# What stands behind the version and the number of a build: 6.17.8-zen1-1-zen, 6.12.58-1-cachyos-lts, 7.1.13-2-MANJARO.
_ENDING = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-rc\d+)?-(?:[a-z]+\d+-)?\d+(?:[.-](?:rt)?\d+)*-(?P<ending>[A-Za-z][\w-]*)\Z")
_MANJARO = re.compile(r"(?P<major>\d+)\.(?P<minor>\d+)\..*?(?P<rt>-rt\d*)?-MANJARO\Z")


class Arch(DistributionPackages):
    """Modules for two kernels come built, those for others are built from their headers."""

    holders = (Keeper.OWN, Keeper.AUR)
    examples = (Distribution("arch", (), "", "Arch Linux"),)
    releases = ("arch",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """nouveau leaves the image that starts the machine, where it has a GPU."""
        legacy = _is_legacy(move, place)
        if place.system.distribution == "manjaro":
            if legacy:
                return (use("driver-install-mhwd-branch", branch=move.version.major),)
            return () if move.pinned else (use("driver-install-mhwd"),)
        kernel = kernel_package(place.system)
        if legacy:
            uses: tuple[UsedCommand, ...] = (
                *self.headers(place.system),
                use("driver-install-proprietary", branch=move.version.major),
            )
        elif move.pinned or not move.open_module:
            return ()
        elif kernel == "linux":
            uses = (use("driver-install-open"),)
        elif kernel == "linux-lts":
            uses = (use("driver-install-open-lts"),)
        elif kernel.startswith("linux-cachyos"):
            uses = (use("driver-install-open-kernel", package=f"{kernel}-nvidia-open"),)
        else:
            uses = (use("driver-install-open-dkms", package=f"{kernel}-headers"),)
        return (*uses, use("initramfs-rebuild")) if place.system.nouveau else uses

    def headers(self, system: System) -> tuple[UsedCommand, ...]:
        return (use("kernel-headers-install-of", package=f"{kernel_package(system)}-headers"),)

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        if place.system.distribution == "manjaro":
            return use("driver-packages-ask-mhwd")
        return use("driver-packages-ask", packages=f"nvidia-open nvidia-{move.version.major}xx-dkms")

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """The AUR's packages cannot stand beside Arch's own; mhwd exchanges its own."""
        there = place.system.driver
        other = there is not None and _is_legacy(move, place) != (there.major <= _LEGACY)
        return (use("driver-packages-remove"),) if other and place.system.distribution != "manjaro" else ()

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text, brings: Brings = Brings.BRANCH) -> Text:
        """The AUR has the proprietary module alone."""
        if not any(one.key == "driver-install-proprietary" for one in uses):
            return super().does(uses, branch, flavour, brings)
        return text(
            "Install NVIDIA's driver, branch {branch}, from the AUR, after the headers that its module is built with", branch=branch
        )


PACKAGES = Arch()


def kernel_package(system: System) -> str:
    """The package of a kernel by the end of its name: `linux-lts` of `6.12.58-1-lts`, `linux` of `6.17.8-arch1-1`, Manjaro's
    `linux612` by its version.
    """
    manjaro = _MANJARO.match(system.kernel)
    if manjaro is not None:
        return f"linux{manjaro['major']}{manjaro['minor']}{'-rt' if manjaro['rt'] else ''}"
    found = _ENDING.match(system.kernel)
    ending = found["ending"] if found is not None else ""
    return f"linux-{ending}" if ending and ending != "generic" else "linux"


def _is_legacy(move: DriverMove, place: InstallPlace) -> bool:
    """An older branch, whose packages in the AUR have the proprietary module."""
    record = held(move, place)
    if record is not None:
        return record.holder is Keeper.AUR or (place.system.distribution == "manjaro" and record.branch <= _LEGACY)
    older = move.version.major <= _LEGACY and (move.pinned or not move.open_module)
    return older and not place.system.needs_open
