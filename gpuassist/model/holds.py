"""What the distribution keeps as it is: holds, pins and locks of packages that GPU work depends on, and those packages."""

from __future__ import annotations

import re
from enum import Enum
from fnmatch import fnmatchcase

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text

_LEADING = re.compile(r"[<>=!\s]*(?:\d+:)?(\d{3})(?!\d)")


class HeldPart(str, Enum):
    """What of the machine a package belongs to."""

    DRIVER = "driver"
    KERNEL = "kernel"
    TOOLKIT = "toolkit"
    LIBRARIES = "libraries"  # cuDNN, NCCL
    CONTAINERS = "containers"  # NVIDIA's container toolkit


class HoldKind(str, Enum):
    """What keeps a package, by the tool whose setting it is."""

    DPKG = "dpkg-hold"
    APT_PIN = "apt-pin"
    UNATTENDED = "unattended-upgrades"
    VERSION_LOCK = "versionlock"
    EXCLUDE = "exclude"
    MODULE_STREAM = "module-stream"
    PACMAN = "ignore-package"
    PACMAN_GROUP = "ignore-group"
    ZYPPER = "zypper-lock"
    OSTREE_PIN = "pinned-deployment"
    OSTREE_OVERRIDE = "override"


class HoldReach(str, Enum):
    """What it keeps away: every other version; those that are not of the one it names; the one that it names; those of one
    repository; those that come by themselves alone; or nothing, where what is there is only kept beside what comes.
    """

    EVERY_UPGRADE = "every-upgrade"
    OTHER_BRANCHES = "other-branches"
    ONE_VERSION = "one-version"
    ONE_REPOSITORY = "one-repository"
    AUTOMATIC_UPGRADES = "automatic-upgrades"
    NOTHING = "nothing"


class PackageHold(Struct, frozen=True):
    """One hold. `pattern` is the package or the pattern as it stands there, `version` what it names (empty where it names none),
    `source` the file, with its line where it has lines; `covers` are the installed packages that it is about, `parts` what these
    belong to, or what the pattern is about where none of them is installed. `repository` is the one that is kept away, by host or
    id, and `owner` the package that brought the file; both are empty where there is none.
    """

    kind: HoldKind
    reach: HoldReach
    pattern: str
    source: str
    version: str = ""
    covers: tuple[str, ...] = ()
    parts: tuple[HeldPart, ...] = ()
    repository: str = ""
    owner: str = ""

    @property
    def is_on_driver(self) -> bool:
        """Whether it keeps a driver from one that is asked for, also where none is installed yet."""
        passing = {HoldReach.AUTOMATIC_UPGRADES, HoldReach.NOTHING}
        return HeldPart.DRIVER in self.parts and self.reach not in passing

    def lets_through(self, branch: int) -> bool:
        """Whether a driver of that branch may still come over what it covers, when somebody upgrades by hand."""
        if self.reach is HoldReach.EVERY_UPGRADE:
            return False
        if self.reach not in {HoldReach.OTHER_BRANCHES, HoldReach.ONE_VERSION}:
            return True
        return self._names(branch) is (self.reach is HoldReach.OTHER_BRANCHES)

    def _names(self, branch: int) -> bool:
        """Whether the version that it names is of the branch: `580*`, `580-dkms`, `3:580.95.05-1.fc43`, `< 590`."""
        words = self.version.strip()
        found = _LEADING.match(words)
        if found is not None and words.startswith("<"):
            return branch < int(found[1]) or (words.startswith("<=") and branch == int(found[1]))
        if found is not None and words.startswith(">"):
            return branch > int(found[1]) or (words.startswith(">=") and branch == int(found[1]))
        if found is not None:
            return int(found[1]) == branch
        return fnmatchcase(f"{branch}.00", words)  # `59*`, `6*`, `59[05]*`


class SystemPackage(Struct, frozen=True):
    """An installed package of the distribution; `version` is the package manager's own."""

    name: str
    version: str
    part: HeldPart


class GpuRepository(Struct, frozen=True):
    """A repository of NVIDIA's that packages come from: `name` as NVIDIA calls it (`ubuntu2404`), empty for one whose place says no
    such name, `id` as the package manager does, `source` the file with its line.
    """

    name: str
    source: str
    id: str = ""


class SystemPackages(Struct, frozen=True):
    """The packages that GPU work depends on, NVIDIA's repositories, and why a file that may hold a package could not be read."""

    installed: Fact[tuple[SystemPackage, ...]] = NOT_ASKED
    repositories: Fact[tuple[GpuRepository, ...]] = NOT_ASKED
    unread_holds: Fact[tuple[Text, ...]] = NOT_ASKED
