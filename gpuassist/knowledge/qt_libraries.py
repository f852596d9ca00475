"""Libraries of the system that Qt needs beside those that come with it: in which package of each distribution they are."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge.families import Family
from gpuassist.knowledge.rows import Row, Source, source_of, text_of

_COLUMNS = {
    Family.UBUNTU: "debian",
    Family.DEBIAN: "debian",
    Family.FEDORA: "fedora",
    Family.RHEL: "fedora",
    Family.ARCH: "arch",
    Family.OPENSUSE: "opensuse",
}


class QtLibrary(Struct, frozen=True):
    """One shared library, by the name that programs ask for, and its packages."""

    name: str
    packages: tuple[tuple[Family, str], ...]
    source: str
    checked: str

    def package(self, families: tuple[Family, ...]) -> str:
        """The one for the first of these families that has any; empty where none has."""
        known = dict(self.packages)
        return next((known[family] for family in families if family in known), "")


def qt_library(row: Row, sources: dict[str, Source]) -> QtLibrary:
    source = source_of(row, sources)
    packages = tuple((family, text_of(row, column)) for family, column in _COLUMNS.items())
    return QtLibrary(text_of(row, "library"), packages, source.text, source.checked)
