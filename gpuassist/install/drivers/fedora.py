"""Fedora: RPM Fusion's packages, whose module akmods builds and signs; NVIDIA's for a branch that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import DistributionPackages, SigningKey, add_repository, by_flavour, from_nvidia
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace
    from gpuassist.knowledge.change import DriverMove


class Fedora(DistributionPackages):
    """RPM Fusion has the newest driver, and the last one with the proprietary module."""

    signing_key = SigningKey.BEFORE  # akmods signs while it builds (RPM Fusion, Howto/Secure Boot)
    examples = (Distribution("fedora", (), "", "Fedora"),)
    releases = ("fedora 42",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """RPM Fusion's where they hold it."""
        if not (move.pinned and move.open_module):
            return (use(by_flavour(move), branch=move.version.major),)
        return (add_repository(place), from_nvidia(move)) if place.repository else ()

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """NVIDIA's packages and RPM Fusion's cannot stand side by side, nor two of RPM Fusion's branches."""
        there = place.system.driver
        other = there is not None and (move.pinned or (not move.open_module and there.major != move.version.major))
        return (use("driver-packages-remove"),) if other else ()

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text) -> Text:
        """RPM Fusion is not among Fedora's own repositories."""
        if uses[0].key == "cuda-repository-add":
            return super().does(uses, branch, flavour)
        return text(
            "With RPM Fusion's nonfree repository enabled, install NVIDIA's driver, branch {branch}, {flavour}",
            branch=branch,
            flavour=flavour,
        )

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """What is built on Fedora numbers its releases otherwise."""
        release = distribution.version_id.partition(".")[0]
        return f"fedora{release}" if distribution.id == "fedora" and whole_number(release) is not None else ""


PACKAGES = Fedora()
