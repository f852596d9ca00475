"""Arch and what is built on it: the newest driver with its open modules, older branches in the AUR, Manjaro's own tool."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import Brings, DistributionPackages, headers_elsewhere, held
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.driver_packages import Keeper
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

_LEGACY = 580  # the branch that the AUR keeps beside the newest (Arch Linux news of December 2025, NVIDIA 590 driver)
# What stands behind the version and the number of a build: 6.17.8-zen1-1-zen, 6.12.58-1-cachyos-lts, 7.1.13-2-MANJARO.
# The kernel linux: 6.17.8-arch1-1, 7.0.8-artix1-1. Of no other name is it known whose it is.
_PLAIN = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-rc\d+)?-[a-z]+\d+-\d+(?:\.\d+)*\Z")
_ENDING = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-rc\d+)?-(?:[a-z]+\d+-)*\d+(?:[.-](?:rt)?\d+)*-(?P<ending>[A-Za-z][\w-]*)\Z")
# Those that lie in repositories of Arch, of CachyOS and of linux-surface; others their owners build, with their headers.
_IN_REPOSITORIES = re.compile(r"linux(?:-(?:lts|zen|hardened|rt|rt-lts|surface|cachyos(?:-[\w-]+)?))?\Z|linux\d+(?:-rt)?\Z")
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
            uses: tuple[UsedCommand, ...] = (*self.headers(place), use("driver-install-proprietary", branch=move.version.major))
        elif move.pinned or not move.open_module:
            return ()
        elif kernel == "linux":
            uses = (use("driver-install-open"),)
        elif kernel == "linux-lts":
            uses = (use("driver-install-open-lts"),)
        elif kernel.startswith("linux-cachyos"):
            uses = (use("driver-install-open-kernel", package=f"{kernel}-nvidia-open"),)
        elif _IN_REPOSITORIES.match(kernel):
            uses = (use("driver-install-open-dkms", package=f"{kernel}-headers"),)
        else:
            uses = (*self.headers(place), use("driver-install-open-dkms-alone"))
        return (*uses, use("initramfs-rebuild")) if place.system.nouveau else uses

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """Those of a kernel that lies in no repository are there, or its builder has them."""
        kernel = kernel_package(place.system)
        if _IN_REPOSITORIES.match(kernel):
            return (use("kernel-headers-install-of", package=f"{kernel}-headers"),)
        return (use("check-kernel-headers"),)

    def module_anew(self, place: InstallPlace, packages: tuple[str, ...]) -> tuple[UsedCommand, ...]:
        """A module that came built is for the kernel that was installed with it, which runs from the next start on."""
        kernel = kernel_package(place.system)
        built = any(one.startswith("nvidia-open") for one in packages) and not any("-dkms" in one for one in packages)
        if built and (kernel in {"linux", "linux-lts"} or kernel.startswith("linux-cachyos")):
            return ()
        if built and _IN_REPOSITORIES.match(kernel):
            return (use("driver-install-open-dkms", package=f"{kernel}-headers"),)
        return super().module_anew(place, packages)

    def remarks(self, move: DriverMove, place: InstallPlace) -> tuple[Text, ...]:
        return () if _IN_REPOSITORIES.match(kernel_package(place.system)) else (headers_elsewhere(place.system),)

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        if place.system.distribution == "manjaro":
            return use("driver-packages-ask-mhwd")
        return use("driver-packages-ask", packages=f"nvidia-open nvidia-{move.version.major}xx-dkms")

    def hold(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        """A line of its own in pacman's settings, to which such lines add up."""
        return (use("packages-hold", value=f"/^\\[options\\]/a IgnorePkg = {' '.join(packages)}"),)

    def hold_remarks(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[Text, ...]:
        return (
            text(
                "a system of which some packages stay behind is one that Arch does not support: hold for days or weeks, until the "
                "cause is mended, and not for months; what needs a newer kernel or library fails first"
            ),
        )

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
    `linux612` by its version; empty where the name tells of none.
    """
    manjaro = _MANJARO.match(system.kernel)
    if manjaro is not None:
        return f"linux{manjaro['major']}{manjaro['minor']}{'-rt' if manjaro['rt'] else ''}"
    found = _ENDING.match(system.kernel)
    if found is not None:
        return f"linux-{found['ending']}" if found["ending"] != "generic" else "linux"
    return "linux" if not system.kernel or _PLAIN.match(system.kernel) else ""


def _is_legacy(move: DriverMove, place: InstallPlace) -> bool:
    """An older branch, whose packages in the AUR have the proprietary module."""
    record = held(move, place)
    if record is not None:
        return record.holder is Keeper.AUR or (place.system.distribution == "manjaro" and record.branch <= _LEGACY)
    older = move.version.major <= _LEGACY and (move.pinned or not move.open_module)
    return older and not place.system.needs_open
