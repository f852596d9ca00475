"""Files of one kind that are kept under XDG state for later looks: for this user alone, few, small, and never worth an error.

What another user could have written is not read, nor is what lies there as a symlink; where homes are shared, a name made of the
machine's id says whose a file is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec import Struct

from gpuassist.install.records import write_whole
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.system.ownership import require_own_state, why_untrusted
from gpuassist.system.world import World

_NAME = lazy_regex(r"(\d{8}-\d{6})-(\d{1,9})\.json")
_HALF = ".new"  # what `write_whole` leaves of a file where it was ended


class UnusableFileError(Exception):
    """A file that is kept cannot be used; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class KeptFiles(Struct, frozen=True):
    """A directory of such files, none larger than `largest` bytes. Each is named by a second (`20261123-101500`) and, where one
    second has several, by a number.
    """

    kind: str
    largest: int

    def root(self, world: World) -> str:
        """The directory that holds them."""
        return f"{world.surroundings.state()}/{self.kind}"

    def path(self, world: World, name: str) -> str:
        return f"{self.root(world)}/{name}"

    def names(self, world: World) -> list[str]:
        """The files, newest first: those of one second by their number."""
        found = [name for name in world.disk.names(self.root(world)) if _NAME.fullmatch(name)]
        return sorted(found, key=lambda name: (second_of(name), _number(name)), reverse=True)

    def make_room(self, world: World) -> None:
        """Makes the directory; raises `OSError`, and `UntrustedStateError` where others may write in it."""
        require_own_state(world, self.root(world))
        world.disk.make_directory(self.root(world))
        require_own_state(world, self.root(world))

    def free_name(self, world: World, second: str) -> str:
        """A name of that second above all that it has: one that was let go of must not become the newest's."""
        number = max((_number(name) for name in self.names(world) if second_of(name) == second), default=0) + 1
        return f"{second}-{number}.json"

    def read(self, world: World, name: str) -> bytes:
        """The content of one of them; raises `UnusableFileError`."""
        try:
            content, status = world.disk.read_own(self.path(world, name), self.largest + 1)
        except OSError as error:
            raise UnusableFileError(text("it could not be read: {error}", error=error.strerror or str(error))) from error
        reason = why_untrusted(world, status)
        if reason is not None:
            raise UnusableFileError(reason)
        if len(content) > self.largest:
            raise UnusableFileError(text("it is too large"))
        return content

    def write(self, world: World, name: str, content: bytes, *, lasting: bool = True) -> None:
        """Writes it in one step; where it is not to be `lasting`, the disk is not waited for, and a power cut may halve it."""
        write_whole(world.disk, self.path(world, name), content, lasting=lasting)

    def remove(self, world: World, names: Iterable[str]) -> None:
        for name in names:
            world.disk.remove(self.path(world, name))

    def halves(self, world: World) -> list[str]:
        """What was left of writing by a program that was ended meanwhile."""
        found = (name for name in world.disk.names(self.root(world)) if name.endswith(_HALF))
        return [name for name in found if _NAME.fullmatch(name.removesuffix(_HALF))]


def second_of(name: str) -> str:
    """The second that a file's name says, `20261123-101500`."""
    return name[:15]


def machine_identity(world: World) -> str:
    """Names this machine where homes are shared: made from its id, which is nobody else's business (machine-id(5))."""
    try:
        identity = world.files.read_text("/etc/machine-id", 100).strip()
    except OSError:
        return ""
    return hashlib.sha256(f"gpuassist {identity}".encode()).hexdigest()[:16]


def _number(name: str) -> int:
    return int(name.removesuffix(".json").split("-")[2])
