"""What keeps a driver as it is while NVIDIA's repository, which has drivers of its own, is added for a toolkit."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.repositories import Held, RepositoryRecord
from gpuassist.model.text import Text, text

_FROM_ELSEWHERE = frozenset({Family.UBUNTU, Family.FEDORA, Family.OPENSUSE})  # whose drivers other repositories bring


class KeptDriver(Struct, frozen=True):
    """The commands before the repository is added and after it; none where nothing could exchange the driver."""

    before: tuple[UsedCommand, ...] = ()
    after: tuple[UsedCommand, ...] = ()
    does: Text | None = None


def kept_driver(move: DriverMove | None, place: InstallPlace, repository: RepositoryRecord | None) -> KeptDriver:
    """For the driver that is there, or comes with the same plan. One from NVIDIA's own installer is no package, and one of another
    system (WSL2, a container) is not exchanged here.
    """
    branch = move.version.major if move is not None else place.system.driver.major if place.system.driver is not None else None
    if branch is None or place.family is not place.packages or (move is None and place.system.uninstaller):
        return KeptDriver()
    last = place.system.last_branch
    old = last is not None and branch <= last
    words = {"repository": place.repository, "architecture": place.repository_architecture}
    pinned = repository is not None and branch in repository.pins
    if _from_elsewhere(branch, move, place, repository):
        does = text(
            "Add NVIDIA's repository for the toolkit, and keep it from the driver: it has newer ones of its own, and the next "
            "upgrade would exchange the one that is there. A driver from NVIDIA's own repository would stay at its version too"
        )
        kept = _kept(words)
        if place.packages in {Family.UBUNTU, Family.DEBIAN}:  # apt reads its preferences before it knows the repository
            return KeptDriver((kept,), (use("driver-branch-kept", branch=branch),) if old and pinned else (), does)
        return KeptDriver((), (kept,), does)
    if not old:
        return KeptDriver()
    does = text(
        "Add NVIDIA's repository for the toolkit, and keep the driver at branch {branch}: newer ones, which the next upgrade would "
        "bring, no longer serve every GPU of this machine",
        branch=branch,
    )
    if place.packages is Family.RHEL:
        return KeptDriver((), (use("driver-version-lock", branch=branch),), does)
    if place.packages is Family.DEBIAN:
        return (
            KeptDriver((), (use("driver-branch-kept", branch=branch),), does) if pinned else KeptDriver((_kept(words),), (), does)
        )
    return KeptDriver()


def _kept(words: dict[str, str]) -> UsedCommand:
    return use("driver-kept", **words)


def _from_elsewhere(branch: int, move: DriverMove | None, place: InstallPlace, repository: RepositoryRecord | None) -> bool:
    """Whether the distribution's own repositories, or RPM Fusion's, bring the driver: what NVIDIA's lacks came from there."""
    if place.packages is Family.FEDORA and move is not None and move.pinned and move.open_module:
        return False  # NVIDIA's packages, for a branch that was asked for
    if place.packages is Family.DEBIAN:
        return repository is not None and repository.driver(branch) is Held.LACKS
    return place.packages in _FROM_ELSEWHERE
