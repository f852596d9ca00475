"""Debian: NVIDIA's packages where its repository holds the driver, else Debian's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import Brings, DistributionPackages, SigningKey, add_repository, from_nvidia
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace
    from gpuassist.knowledge.change import DriverMove

_OWN = "driver-install-proprietary"
# NVIDIA's repository for Debian 13 began with 590 (NVIDIA/cuda-repo-management issues 38 and 40); Debian's own driver there is 550.
_WITHOUT_OLD_BRANCHES = frozenset({"debian13"})


class Debian(DistributionPackages):
    """apt exchanges its packages by itself."""

    signing_key = SigningKey.BUILDING
    providers = frozenset({"gcp"})
    venv_apart = True
    examples = (Distribution("debian", (), "", "Debian"),)
    releases = ("debian 13", "debian 12")

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """None for a branch that only an older release's repository holds."""
        if place.repository in _WITHOUT_OLD_BRANCHES and (move.pinned or not move.open_module):
            return () if move.pinned else (use(_OWN),)
        if not place.repository:
            return ()
        return (add_repository(place), use("kernel-headers-install"), from_nvidia(move))

    def brings(self, move: DriverMove, uses: tuple[UsedCommand, ...]) -> Brings:
        """Debian's own driver is the one that the release came with."""
        return Brings.THEIRS if _is_own(uses) else super().brings(move, uses)

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text) -> Text:
        """Debian's own stands outside of its main section."""
        if not _is_own(uses):
            return super().does(uses, branch, flavour)
        return text(
            "With Debian's contrib, non-free and non-free-firmware enabled, install Debian's own driver, {flavour}", flavour=flavour
        )

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """What is built on Debian numbers its releases otherwise."""
        release = distribution.version_id.partition(".")[0]
        return f"debian{release}" if distribution.id == "debian" and whole_number(release) is not None else ""


PACKAGES = Debian()


def _is_own(uses: tuple[UsedCommand, ...]) -> bool:
    return any(one.key == _OWN for one in uses)
