"""The world of `--read-only`: nothing is written through it, and no step of an install is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from gpuassist.system.disk import READ_ONLY, ReadOnlyDisk
from gpuassist.system.streams import NotStarted
from gpuassist.system.world import RealPrograms, World


class NoPrograms(RealPrograms):
    """Ends what it is told to, and starts nothing: what runs on a terminal of its own are installers."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> NotStarted:
        return NotStarted(READ_ONLY, missing=False)


def read_only(world: World) -> World:
    """The same world, in which nothing is written."""
    return replace(world, disk=ReadOnlyDisk(), programs=NoPrograms())
