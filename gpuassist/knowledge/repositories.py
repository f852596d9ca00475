"""What a package repository holds, as far as somebody looked."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.version import Version


class Held(str, Enum):
    """Whether a repository has a release; `UNKNOWN` where nobody looked, or where newer ones may have come since."""

    HOLDS = "holds"
    LACKS = "lacks"
    UNKNOWN = "unknown"


class Sighting(str, Enum):
    """How it is known what a repository holds: by its own list of files, or by a page that names them."""

    INDEX = "index"
    PAGE = "page"


class RepositoryRecord(Struct, frozen=True):
    """A package repository for one architecture (NVIDIA's names: `ubuntu2404`, `sbsa`), and the oldest and newest CUDA toolkit and
    driver that were seen there (None: none was). `begins` where it is known that nothing older is there, `ends` where nothing newer
    is or will be; `lacks` are releases between the two that are missing, `pins` the branches whose package that keeps apt to them
    was seen there (`nvidia-driver-pinning-580`).
    """

    repository: str
    architecture: str
    first_toolkit: Version | None
    last_toolkit: Version | None
    first_driver: Version | None
    last_driver: Version | None
    begins: bool
    ends: bool
    lacks: tuple[Version, ...]
    pins: tuple[int, ...]
    seen: Sighting
    source: str
    checked: str

    def toolkit(self, release: Version) -> Held:
        """Whether it has a CUDA release."""
        if release.release in self.lacks:
            return Held.LACKS
        return self._holding(release.release, self.first_toolkit, self.last_toolkit)

    def driver(self, branch: int) -> Held:
        """Whether it has a driver of a branch."""
        first, last = (Version(one.parts[:1]) if one is not None else None for one in (self.first_driver, self.last_driver))
        return self._holding(Version((branch,)), first, last)

    def _holding(self, wanted: Version, first: Version | None, last: Version | None) -> Held:
        if first is not None and first <= wanted <= (last or first):
            return Held.HOLDS
        if first is None and last is None:  # somebody looked at all that there is, and there was none
            return Held.LACKS if self.begins and self.seen is Sighting.INDEX else Held.UNKNOWN
        older = self.begins and first is not None and wanted < first
        newer = self.ends and last is not None and wanted > last
        return Held.LACKS if older or newer else Held.UNKNOWN
