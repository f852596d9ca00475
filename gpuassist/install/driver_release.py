"""Letting go of what keeps the driver's packages, where another is to be installed or somebody wishes it."""

from __future__ import annotations

from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.commands import Commands
from gpuassist.model.holds import HoldReach, PackageHold
from gpuassist.model.plan import Step
from gpuassist.model.text import listed, text


def release_step(holds: tuple[PackageHold, ...], place: InstallPlace, commands: Commands) -> Step:
    """Letting go of these holds, in the way of the tool that keeps each."""
    places = listed(dict.fromkeys(one.source.rpartition(":")[0] for one in holds))
    does = text("Release what keeps these packages at their version ({places})", places=places)
    uses = packages_of(place.family).release(holds, place)
    return step(uses, place, commands, (does, text("`gpuassist plan release` says that nothing is kept any more")))


def releases_before(branch: int, place: InstallPlace, *, of_nvidia: bool) -> tuple[PackageHold, ...]:
    """The holds that would stop a driver of that branch from being installed; `of_nvidia`: from NVIDIA's repository."""
    return tuple(
        one for one in place.system.holds if (of_nvidia if one.reach is HoldReach.ONE_REPOSITORY else not one.lets_through(branch))
    )
