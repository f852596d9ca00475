"""Puts one file's new bytes in place of the old ones in one step, or leaves everything as it was: a sibling, flushed, then renamed.

The directories that a new file needs are made before and taken away again after, only empty ones and only ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from gpuassist.model.plan import FileEdit
from gpuassist.system.world import World

_NEW_FILE_MODE = 0o644
_DIRECTORY_MODE_AT_MOST = 0o775


class ChangedError(Exception):
    """Somebody else changed the file after it was read; `path` is how the user names it."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


def put(world: World, edit: FileEdit, change: str) -> None:
    """Replaces the file's bytes in one step; raises `ChangedError` or `OSError`, and has then changed nothing."""
    beside = sibling(world, edit.target, change)
    world.disk.remove(beside)  # a crash may have left it; the id in its name makes it ours
    placed = False
    try:
        world.disk.create(beside)
        world.disk.write(beside, edit.after)
        if edit.existed:
            # Owner, mode, ACL and SELinux label go with the file, not with its bytes.
            world.disk.copy_attributes(world.files.place(edit.target), beside)
        else:
            world.disk.set_mode(beside, _NEW_FILE_MODE if edit.mode is None else edit.mode)
        world.disk.flush(beside)
        _swap(world, edit, beside)
        placed = True
    finally:
        if not placed:
            world.disk.remove(beside)
    flush_directory(world, edit.target)


def take_away(world: World, edit: FileEdit) -> None:
    """Removes a file that was made by us and holds what `edit` found in it; raises as `put` does."""
    place = world.files.place(edit.target)
    if world.disk.read(place) != edit.before:
        raise ChangedError(edit.path)
    world.disk.remove(place)
    flush_directory(world, edit.target)


def make_directories(world: World, paths: Iterable[str]) -> tuple[str, ...]:
    """Makes these, the outermost first, as open as what they lie in; says which ones were not there already."""
    made: list[str] = []
    for path in paths:
        parent = str(PurePosixPath(path).parent)
        mode = world.files.status(parent).st_mode & _DIRECTORY_MODE_AT_MOST
        try:
            world.disk.add_directory(world.files.place(path), mode)
        except FileExistsError:
            continue
        made.append(path)
        flush_directory(world, path)
    return tuple(made)


def remove_directories(world: World, paths: Iterable[str]) -> None:
    """Takes directories that we made away again, the innermost first, as far as they are empty."""
    try:
        for path in reversed(tuple(paths)):
            if not world.disk.remove_directory(world.files.place(path)):
                return
    except OSError as error:
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("directory not removed: %s", error)


def flush_directory(world: World, path: str) -> None:
    """Makes a change of a directory durable; where that fails the change stands all the same."""
    try:
        world.disk.flush(world.files.place(str(PurePosixPath(path).parent)))
    except OSError as error:
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("directory of %s not flushed: %s", path, error)


def sibling(world: World, target: str, change: str) -> str:
    """The name beside the file under which its new bytes are written first."""
    path = PurePosixPath(world.files.place(target))
    return f"{path.parent}/.{path.name.lstrip('.')}.gpuassist-{change}"


def _swap(world: World, edit: FileEdit, beside: str) -> None:
    place = world.files.place(edit.target)
    if not edit.existed:
        try:
            world.disk.place_new(beside, place)
        except FileExistsError as error:
            raise ChangedError(edit.path) from error
        return
    if world.disk.read(place) != edit.before:
        raise ChangedError(edit.path)
    try:
        world.disk.replace(beside, place)
    except OSError:
        if not _took_place(world, edit, beside):
            raise


def _took_place(world: World, edit: FileEdit, beside: str) -> bool:
    # A network file system may rename, lose the answer, ask again and be told that there is nothing to rename.
    try:
        return not world.disk.exists(beside) and world.disk.read(world.files.place(edit.target)) == edit.after
    except OSError:
        return False
