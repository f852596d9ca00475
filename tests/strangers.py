"""Files of another user's: given away where this process is root, and otherwise by being somebody else ourselves."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from gpuassist.system.files import Files
from gpuassist.system.world import World

NOBODY = 65534


def given_away(world: World, *paths: Path) -> World:
    """The world of a user to whom these paths, and for an ordinary user all others of his too, do not belong."""
    if os.geteuid() != 0:
        return replace(world, surroundings=replace(world.surroundings, uid=os.geteuid() + 1))
    for path in paths:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    return world


@dataclass
class OwnedFiles(Files):
    """The real files as if all of them were root's and nobody else's to write in, but those with an owner and a mode given here."""

    given: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    root: str = "/"

    def status(self, path: str) -> os.stat_result:
        return self._as_given(path, super().status(path))

    def own_status(self, path: str) -> os.stat_result:
        return self._as_given(path, super().own_status(path))

    def _as_given(self, path: str, found: os.stat_result) -> os.stat_result:
        owner, mode = self.given.get(path, (0, 0o755))
        return os.stat_result((stat.S_IFMT(found.st_mode) | mode, *found[1:4], owner, 0, *found[6:]))
