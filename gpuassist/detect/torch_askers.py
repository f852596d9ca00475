"""Which installed packages ask for certain versions of torch: read from the head of their metadata, nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.detect.host import architecture
from gpuassist.formats.packages import HEAD_AT_MOST_BYTES, PackageMetadata, read_package_metadata
from gpuassist.formats.requirement import asked, marker_environment
from gpuassist.model.environment import TorchAsker
from gpuassist.model.fact import value_or
from gpuassist.model.version import Version
from gpuassist.system.files import Files

_TORCH = "torch"
_ASKING = b"requires-dist: torch"


def read(files: Files, sites: tuple[str, ...], python: Version) -> tuple[TorchAsker, ...]:
    """Those with a range of versions, by name; of a package that lies in two directories the first counts, as for Python."""
    packages: dict[str, PackageMetadata] = {}
    for site in sites:
        for one in _asking(files, site):
            packages.setdefault(one.name, one)
    environment = marker_environment(python, value_or(architecture(files), "x86_64"))
    found = (one for one in asked(packages, environment, about={_TORCH}) if one.name == _TORCH and one.package != _TORCH)
    wishes = (TorchAsker(one.package, one.version, one.wanted[len(_TORCH) :]) for one in found)
    return tuple(sorted({one for one in wishes if one.wanted}, key=lambda one: (one.package, one.wanted)))


def _asking(files: Files, site: str) -> Iterator[PackageMetadata]:
    for name in files.names(site):
        head = files.head(f"{site}/{name}/METADATA", HEAD_AT_MOST_BYTES) if name.endswith(".dist-info") else b""
        # Of 300 packages a handful name torch: the others are not worth 100 µs each.
        if _ASKING in head.lower():
            one = read_package_metadata(head.decode("utf-8", "replace"))
            if one is not None:
                yield one
