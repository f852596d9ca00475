"""The file that a repair would write: what is really there behind its name, what it holds, and what forbids writing it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import takewhile
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.model.plan import FileEdit
from gpuassist.model.text import Text, text
from gpuassist.system.ownership import open_to_others, strangers_home, why_state_untrusted
from gpuassist.system.world import World

SIZE_AT_MOST_BYTES = 16 << 20
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class FileTarget(Struct, frozen=True):
    """A start-up file: `path` as the user names it, `path_written` after symlinks; `obstacle` says why it may not be written.

    `missing_directories` have to be made for it, the outermost first.
    """

    path: str
    path_written: str
    content: bytes = b""
    exists: bool = False
    obstacle: Text | None = None
    notes: tuple[Text, ...] = ()
    missing_directories: tuple[str, ...] = ()

    def edit(self, after: bytes, dialect: str) -> FileEdit:
        """What gives it these bytes."""
        return FileEdit(self.path, self.path_written, self.content, after, self.exists, dialect)


def examine(world: World, path: str) -> FileTarget:
    """Looks at a start-up file without changing anything; never opens what is not a regular file."""
    real = world.files.real(path)
    home = world.files.real(world.surroundings.home)
    obstacle = strangers_home(world) if real == home or real.startswith(home.rstrip("/") + "/") else None
    if obstacle is None and real.startswith("/etc/"):
        obstacle = text("{path} is a file of the whole system; gpuassist changes only your own start-up files", path=path)
    obstacle = obstacle or _link_forbids(world, path) or _place_forbids(world, path, real)
    obstacle = obstacle or why_state_untrusted(world, f"{world.surroundings.state()}/journal")  # nothing is written off the record
    if obstacle is not None:
        return FileTarget(path, real, obstacle=obstacle)
    if not world.files.exists(path):
        missing = _missing_directories(world, real)
        top = missing[0] if missing else real
        obstacle = _strangers_directory(world, top) or _directory_forbids(world, top)
        notes = (text("{path} does not exist; it will be created, and removed again by undo", path=path), *home_notes(world))
        return FileTarget(path, real, obstacle=obstacle, notes=notes, missing_directories=missing)
    return _existing(world, path, real)


def _existing(world: World, path: str, real: str) -> FileTarget:
    status = world.files.status(real)
    obstacle = _kind_forbids(path, status)
    if obstacle is not None:
        return FileTarget(path, real, exists=True, obstacle=obstacle)
    try:
        content = world.disk.read(world.files.place(real))
    except OSError as error:
        reason = text("{path} cannot be read ({error})", path=path, error=error.strerror or str(error))
        return FileTarget(path, real, exists=True, obstacle=reason)
    obstacle = _content_forbids(path, content) or _mode_forbids(world, path, real) or _directory_forbids(world, real)
    notes = (*_notes(world, path, real), *home_notes(world))
    return FileTarget(path, real, content, exists=True, obstacle=obstacle, notes=notes)


def home_notes(world: World) -> tuple[Text, ...]:
    """A warning where others can write in HOME, and with that put start-up files of their own there."""
    warning = open_to_others(world, world.surroundings.home)
    return (warning,) if warning is not None else ()


def _link_forbids(world: World, path: str) -> Text | None:
    dangling = next((one for one in _with_parents(path) if world.files.is_link(one) and not world.files.exists(one)), None)
    if dangling is None:
        return None
    return text(
        "{path} is a symlink to {target}, and there is nothing. gpuassist does not create files at the end of a link: "
        "please create that file or remove the link.",
        path=dangling,
        target=world.files.readlink(dangling),
    )


def _place_forbids(world: World, path: str, real: str) -> Text | None:
    if real.startswith(("/nix/store/", "/gnu/store/")):
        return text("{path} leads to {target}, a read-only store: change it where that store is built from", path=path, target=real)
    missing = _missing_directories(world, real)
    parent = str(PurePosixPath(missing[0] if missing else real).parent)
    if world.files.real(world.surroundings.home) in missing:  # a home on a disk that is not mounted
        parent = world.surroundings.home
    if not world.files.is_directory(parent):
        return text("{path} cannot be written: {directory} is not a directory", path=path, directory=parent)
    return None


def _missing_directories(world: World, real: str) -> tuple[str, ...]:
    missing = [*takewhile(lambda parent: not world.files.exists(parent), _with_parents(real)[1:])]
    return tuple(reversed(missing))


def _with_parents(path: str) -> tuple[str, ...]:
    return (path, *(str(parent) for parent in PurePosixPath(path).parents))


def _kind_forbids(path: str, status: os.stat_result) -> Text | None:
    if stat.S_ISDIR(status.st_mode):
        return text("{path} is a directory, so no shell reads it as a start-up file", path=path)
    if not stat.S_ISREG(status.st_mode):
        return text("{path} is not a regular file (a pipe, a socket or a device), so it cannot be rewritten", path=path)
    if status.st_size > SIZE_AT_MOST_BYTES:
        return text("{path} is {size} MiB large; a start-up file is not", path=path, size=status.st_size >> 20)
    return None


def _content_forbids(path: str, content: bytes) -> Text | None:
    if content.startswith(_UTF_16):
        return text("{path} is written in UTF-16, which bash cannot read; please save it as UTF-8 first", path=path)
    if b"\0" in content:
        return text("{path} is a binary file (it holds NUL bytes), and no start-up file; move it away, or restore it", path=path)
    return None


def _mode_forbids(world: World, path: str, real: str) -> Text | None:
    status = world.files.status(real)
    if status.st_uid != world.surroundings.uid:
        return text(
            "{path} belongs to another user (uid {owner}; you are uid {uid})",
            path=real,
            owner=status.st_uid,
            uid=world.surroundings.uid,
        )
    # The bits themselves, because root may write what they forbid; somebody set them for a reason.
    if not status.st_mode & stat.S_IWUSR:
        return text("{path} is read-only (mode {mode})", path=real, mode=f"{stat.S_IMODE(status.st_mode):04o}")
    if world.disk.is_locked_by_flag(world.files.place(real)):
        return text("{path} is immutable (`lsattr` shows the flag i or a)", path=real)
    if not world.files.may(real, os.W_OK):
        return text("{path} lies on a read-only file system, or something else forbids writing it", path=real)
    return None


def _directory_forbids(world: World, real: str) -> Text | None:
    parent = str(PurePosixPath(real).parent)
    if world.disk.is_locked_by_flag(world.files.place(parent)):
        return text("{path} is immutable (`lsattr` shows the flag i or a)", path=parent)
    if not world.files.may(parent, os.W_OK | os.X_OK):
        return text("no file can be made in {directory}, and a file is only replaced as a whole", directory=parent)
    return None


def _strangers_directory(world: World, real: str) -> Text | None:
    # Root may write anywhere, but a file of root's in another user's home is one that this user cannot change.
    parent = str(PurePosixPath(real).parent)
    try:
        own = world.files.status(parent).st_uid == world.surroundings.uid
    except OSError:
        own = False
    return None if own else text("{directory} belongs to another user, so no file is made there", directory=parent)


def _notes(world: World, path: str, real: str) -> Iterator[Text]:
    if real != path and world.files.is_link(path):
        yield text("{path} is a symlink; its target {target} is what will be written", path=path, target=real)
    warning = open_to_others(world, real)
    if warning is not None:
        yield warning
    parents = (str(parent) for parent in PurePosixPath(real).parents)
    checkout = next((parent for parent in parents if world.files.exists(f"{parent}/.git")), "")
    if checkout:
        yield text("{target} lies in the git checkout {checkout}: the change will show up there", target=real, checkout=checkout)
    names = world.files.status(real).st_nlink
    if names > 1:
        yield text("{target} has {count} names (hard links); the other names keep the old content", target=real, count=names)
