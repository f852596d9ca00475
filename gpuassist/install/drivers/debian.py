"""Debian and what is built on it: NVIDIA's packages where its repository holds the driver, else Debian's own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import (
    DistributionPackages,
    SigningKey,
    add_repository,
    from_nvidia,
    headers_elsewhere,
    held,
)
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.driver_packages import Keeper
from gpuassist.knowledge.families import packages_base
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# Debian 12 took the firmware out of non-free (Debian 12 release notes, section 2.2).
_SECTIONS = "main contrib non-free non-free-firmware"
_FIRST_WITH_FIRMWARE = 12
# Debian's kernels end in the machine, with their kind before it: 6.1.0-37-cloud-amd64, 6.12.43+deb13-rt-amd64, and Liquorix' for it
# as well: 6.18.4-1-liquorix-amd64. Others (6.16.3-x64v3-xanmod1, 6.12.47+rpt-rpi-2712) have headers of their own name alone.
_KERNEL = re.compile(r"[+-](?:(?P<kind>cloud|rt|liquorix)-)?(?P<machine>amd64|arm64)\Z")


class Debian(DistributionPackages):
    """apt exchanges its packages by itself."""

    signing_key = SigningKey.BUILDING
    providers = frozenset({"gcp"})
    venv_apart = True
    holders = (Keeper.NVIDIA, Keeper.OWN)
    examples = (Distribution("debian", (), "", "Debian"),)
    releases = ("debian 13", "debian 12")

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """The repository first, then the headers of this kernel, then the driver."""
        record = held(move, place)
        if record is None or record.holder is Keeper.NVIDIA:
            if not place.repository:
                return ()
            return (add_repository(place), kernel_headers(place.system), from_nvidia(move))
        opened = ("nvidia-open-kernel-dkms",) if move.open_module else ()
        packages = " ".join((*opened, record.package, "firmware-misc-nonfree"))
        return (_sections(place.system), kernel_headers(place.system), use("driver-packages-install", packages=packages))

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        return (kernel_headers(place.system),)

    def remarks(self, move: DriverMove, place: InstallPlace) -> tuple[Text, ...]:
        """Whose headers a kernel has that is not Debian's."""
        kernel = place.system.kernel
        foreign = bool(kernel) and not kernel.endswith("-pve") and _KERNEL.search(kernel) is None
        return (headers_elsewhere(place.system),) if foreign else ()

    def hold_check(self, place: InstallPlace) -> Text:
        return text("`apt-mark showhold` lists them")

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        branch = move.version.major
        legacy = f"nvidia-tesla-{branch}-driver" if branch > 390 else f"nvidia-legacy-{branch}xx-driver"
        return use("driver-packages-ask", packages=f"nvidia-driver {legacy}")

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """That of Debian's release, also for Linux Mint's Debian edition, whose packages are Debian's; Devuan has another init."""
        _, release = packages_base(distribution)
        return f"debian{release}" if distribution.id in {"debian", "linuxmint"} and whole_number(release) is not None else ""


PACKAGES = Debian()


def kernel_headers(system: System) -> UsedCommand:
    """The headers of the running kernel, and the package that follows its kind: a dkms module is built anew for each."""
    if system.kernel.endswith("-pve"):
        return use("kernel-headers-install-proxmox")
    found = _KERNEL.search(system.kernel)
    if found is None:
        return use("kernel-headers-install-running" if system.kernel else "kernel-headers-install")
    kind = f"{found['kind']}-" if found["kind"] else ""
    return use("kernel-headers-install-of", package=f"linux-headers-{kind}{found['machine']}")


def _sections(system: System) -> UsedCommand:
    old = (whole_number(system.base[1]) or _FIRST_WITH_FIRMWARE) < _FIRST_WITH_FIRMWARE
    return use("apt-sections-enable", sections=_SECTIONS.rpartition(" ")[0] if old else _SECTIONS)
