"""Which driver branches a release's packages really hold: the table `driver_packages.json`, read as the shelf of one system.

A branch is held, or its packages lead to another branch (transitional packages), or they are known to hold none, or nobody
looked: then no command is given for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from gpuassist.model.version import Version


class Keeper(str, Enum):
    """Whose packages: the distribution's own, NVIDIA's CUDA repository, RPM Fusion's, the AUR's, NVIDIA's repository for SUSE; and
    NVIDIA's installer, which is no package.
    """

    OWN = "own"
    NVIDIA = "nvidia"
    RPMFUSION = "rpmfusion"
    AUR = "aur"
    NVIDIA_SUSE = "nvidia-suse"
    RUNFILE = "runfile"


class Extent(str, Enum):
    """What a row says: this branch alone, this and every later one (with which the repository also begins), or the newest, which
    was this one when somebody looked.
    """

    BRANCH = "branch"
    ONWARD = "onward"
    BEGINS = "begins"
    ROLLING = "rolling"


_LATER_TOO = frozenset({Extent.ONWARD, Extent.BEGINS})


class Seen(str, Enum):
    """Whether the repository's own index was read, or a page that tells of it."""

    INDEX = "index"
    PAGE = "page"


class DriverPackage(Struct, frozen=True):
    """What the packages of a branch bring on a release of a distribution: `brings` is the branch that comes (0: they hold none),
    `package` what is installed where that is not made from the branch's number, `open` and `proprietary` the kernel modules that
    there are; `newest_kernel` the newest that this module is known to be built for, None where nobody says.
    """

    distribution: str
    release: str
    holder: Keeper
    branch: int
    brings: int
    extent: Extent
    open: bool
    proprietary: bool
    package: str
    version: str
    newest_kernel: Version | None
    seen: Seen
    source: str
    checked: str

    def covers(self, branch: int, *, pinned: bool) -> bool:
        if self.extent is Extent.BRANCH:
            return branch == self.branch
        return branch >= self.branch and (self.extent is not Extent.ROLLING or not pinned)

    def fits(self, kernel: Version | None) -> bool:
        """Whether its module is known to be built for that kernel; what is not known does not count against it."""
        return self.newest_kernel is None or kernel is None or kernel.release <= self.newest_kernel.release


class Reach(str, Enum):
    """How far a branch can be had."""

    HELD = "held"
    OTHER = "another branch comes"
    KERNEL = "not built for this kernel"
    ABSENT = "known to be absent"
    UNKNOWN = "nobody looked"


class Shelved(Struct, frozen=True):
    """What the shelf has for a branch; `record` is the row that says so, `branch` the one that comes."""

    reach: Reach
    branch: int
    record: DriverPackage | None = None


class Shelf(Struct, frozen=True):
    """The packages of one release of a distribution, the preferred holder's first; `kernel` is the one that runs there. Empty
    where nothing is known of them.
    """

    rows: tuple[DriverPackage, ...] = ()
    holders: tuple[Keeper, ...] = (Keeper.OWN,)
    kernel: Version | None = None

    def look(self, branch: int, *, open_module: bool, pinned: bool = False) -> Shelved:
        """What there is of a branch with that kernel module."""
        every = [one for holder in self.holders for one in self._of(holder) if one.covers(branch, pinned=pinned)]
        fitting = [one for one in every if one.brings and (one.open if open_module else one.proprietary)]
        real = [one for one in fitting if one.brings == branch or one.extent is not Extent.BRANCH]
        for one in real:
            if one.fits(self.kernel):
                return Shelved(Reach.HELD, branch if one.extent in _LATER_TOO else one.brings, one)
        if real:
            return Shelved(Reach.KERNEL, branch, real[0])
        other = next((one for one in fitting if one.brings != branch), None)
        if other is not None:
            # A transitional package may lead to another one: 470 to 535, and that to 580.
            further = self.look(other.brings, open_module=open_module, pinned=True) if other.brings != branch else None
            comes = further.branch if further is not None and further.reach is Reach.OTHER else other.brings
            return Shelved(Reach.OTHER, comes, other)
        absent = all(self._lacks(holder, branch) for holder in self.holders)
        return Shelved(Reach.ABSENT if absent else Reach.UNKNOWN, branch, next(iter(every), None))

    def preferred(self, branches: Iterable[int], *, open_module: bool) -> tuple[int, ...]:
        """Of these branches those that the most preferred holder has that has any; none where no holder has one. Where that is
        the newest, whichever it is, that goes before a branch that it keeps for older cards.
        """
        wanted = tuple(branches)
        for holder in self.holders:
            alone = Shelf(self.rows, (holder,), self.kernel)
            found = [alone.look(one, open_module=open_module) for one in wanted]
            held = [one for one in found if one.reach is Reach.HELD]
            rolling = [one for one in held if one.record is not None and one.record.extent is Extent.ROLLING]
            if held:
                return tuple(dict.fromkeys(one.branch for one in rolling or held))
        return ()

    def holds(self) -> tuple[tuple[int, bool], ...]:
        """Every branch that is on it, lowest first, and whether later ones are as well."""
        here = (one for one in self.rows if one.brings and one.holder in self.holders)
        return tuple(sorted({(one.brings, one.extent is not Extent.BRANCH) for one in here}))

    def _of(self, holder: Keeper) -> tuple[DriverPackage, ...]:
        return tuple(one for one in self.rows if one.holder is holder)

    def _lacks(self, holder: Keeper, branch: int) -> bool:
        """Whether it is known that a holder has nothing of a branch: a row says so, its repository begins later, or the whole
        index was read (which is then said of the branches that it lacks) and this is not in it.
        """
        rows = self._of(holder)
        told = any(one.branch == branch and one.extent is Extent.BRANCH for one in rows)
        alone = all(one.extent is Extent.ROLLING for one in rows)  # the newest is all that it has
        starts = [one.branch for one in rows if alone or one.extent is Extent.BEGINS]
        whole = any(not one.brings for one in rows) and all(one.seen is Seen.INDEX for one in rows)
        return told or whole or (bool(starts) and branch < min(starts))


def shelf_of(rows: Iterable[DriverPackage], base: tuple[str, str], holders: tuple[Keeper, ...], kernel: Version | None) -> Shelf:
    """The shelf of a distribution's release, both as the table has them."""
    name, release = base
    here = (one for one in rows if one.distribution == name and one.release == release)
    return Shelf(tuple(here) if name else (), holders, kernel)


def installer_of(rows: Iterable[DriverPackage], branch: int) -> DriverPackage | None:
    """NVIDIA's last installer of a branch that has ended, which any distribution can run."""
    return next((one for one in rows if one.holder is Keeper.RUNFILE and one.branch == branch), None)
