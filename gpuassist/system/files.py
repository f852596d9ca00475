"""Files as the machine names them, wherever its root is: `/` live, a directory with a recorded machine in tests.

Every path is an absolute POSIX path of that machine; symlinks are followed inside its root, as chroot would.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import stat
from collections.abc import Iterator
from typing import BinaryIO, cast

NOWHERE = "/dev/null/nowhere"
"""The root of a machine of which no file can be read."""

_LINKS_AT_MOST = 40  # as the kernel's MAXSYMLINKS


class Files:
    """Reading under a root; missing files raise the same `OSError` as the kernel does."""

    def __init__(self, root: str = "/") -> None:
        self.root = os.path.realpath(root)

    @property
    def live(self) -> bool:
        """Whether this is the running machine's own tree, not a recorded one."""
        return self.root == "/"

    def read_bytes(self, path: str, limit: int = -1) -> bytes:
        """The file's bytes, at most `limit` of them."""
        with open(self.place(path), "rb") as file:
            return file.read(limit)

    def read_part(self, path: str, offset: int, size: int) -> bytes:
        """`size` bytes from `offset` on, fewer where the file ends before."""
        with open(self.place(path), "rb", opener=_without_waiting) as file:
            file.seek(offset)
            return file.read(size)

    def pieces(self, path: str, size: int) -> Iterator[bytes]:
        """The file's bytes from the first to the last, `size` at a time: for pipes, which have no length and no second reading."""
        with open(self.place(path), "rb") as file:
            while piece := file.read(size):
                yield piece

    def read_text(self, path: str, limit: int = -1) -> str:
        """The file as UTF-8; bytes that are not become U+FFFD."""
        return self.read_bytes(path, limit).decode("utf-8", "replace")

    def text_without_waiting(self, path: str, limit: int) -> str:
        """The same of what must be no pipe: raises `OSError` for one that has a writer, and finds one without it empty."""
        return _beginning(self.place(path), limit).decode("utf-8", "replace")

    def opened(self, path: str) -> BinaryIO:
        """A regular file, to be read in parts; raises `OSError` for anything else, and never waits as for a pipe's writer."""
        place = self.place(path)
        if not stat.S_ISREG(os.stat(place).st_mode):  # before: to open some devices does something
            raise OSError(errno.EINVAL, "it is no regular file")
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        file = open(descriptor, "rb", buffering=0)  # noqa: SIM115 -- the caller closes it
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            file.close()
            raise OSError(errno.EINVAL, "it is no regular file")
        return cast("BinaryIO", file)

    def head(self, path: str, limit: int = -1) -> bytes:
        """What can be read of the file's beginning: nothing of one that is not there, or that others alone may read."""
        try:
            return self.read_bytes(path) if limit < 0 else _beginning(self.place(path), limit)
        except OSError:
            return b""

    def text(self, path: str, limit: int = -1) -> str:
        """The same as text, for who takes an empty file and none for the same."""
        return self.head(path, limit).decode("utf-8", "replace")

    def names(self, path: str) -> tuple[str, ...]:
        """What a directory holds, sorted; empty where it cannot be listed."""
        try:
            return tuple(sorted(os.listdir(self.place(path))))
        except OSError:
            return ()

    def exists(self, path: str) -> bool:
        """Whether the path leads to something, after symlinks."""
        return os.path.exists(self.place(path))

    def is_file(self, path: str) -> bool:
        return os.path.isfile(self.place(path))

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(self.place(path))

    def is_link(self, path: str) -> bool:
        """Whether the last part of the path is a symlink, dangling or not."""
        return os.path.islink(self._inside(os.path.dirname(path), os.path.basename(path)))

    def readlink(self, path: str) -> str:
        return os.readlink(self._inside(os.path.dirname(path), os.path.basename(path)))

    def status(self, path: str) -> os.stat_result:
        return os.stat(self.place(path))

    def own_status(self, path: str) -> os.stat_result:
        """The same of what has this name itself, which may be a symlink."""
        return os.lstat(self._inside(os.path.dirname(path), os.path.basename(path)))

    def may(self, path: str, mode: int) -> bool:
        """Whether this user may access it so (`os.R_OK`, `os.W_OK`, `os.X_OK`)."""
        return os.access(self.place(path), mode)

    def real(self, path: str) -> str:
        """The path with every symlink followed inside the root; a missing tail stays as it is."""
        return self._resolve(path)

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Paths that match a pattern with `*`, `?` and `[]` in any part, sorted; hidden names only where it says so."""
        return tuple(sorted(self._glob("/", _parts(pattern))))

    def place(self, path: str) -> str:
        """Where this machine's file lies for the operating system; only ports and the programs they start need it."""
        return path if self.live else self.root + self._resolve(path)

    def _inside(self, directory: str, name: str) -> str:
        return os.path.join(self.place(directory or "/"), name)

    def _glob(self, base: str, parts: list[str]) -> Iterator[str]:
        if not parts:
            yield base
            return
        for name in self._matching(base, parts[0]):
            path = os.path.join(base, name)
            if len(parts) == 1 or self.is_directory(path):
                yield from self._glob(path, parts[1:])

    def _matching(self, base: str, pattern: str) -> Iterator[str]:
        if not any(sign in pattern for sign in "*?["):
            path = os.path.join(base, pattern)
            if self.exists(path) or self.is_link(path):
                yield pattern
            return
        for name in self.names(base):
            if fnmatch.fnmatchcase(name, pattern) and (pattern.startswith(".") or not name.startswith(".")):
                yield name

    def _resolve(self, path: str) -> str:
        if self.live:
            return os.path.realpath(path)
        todo = _parts(path)
        done: list[str] = []
        followed = 0
        while todo:
            part = todo.pop(0)
            if part == "..":
                del done[-1:]
                continue
            here = os.path.join(self.root, *done, part)
            if os.path.islink(here) and followed < _LINKS_AT_MOST:
                followed += 1
                target = os.readlink(here)
                done = [] if target.startswith("/") else done
                todo[:0] = _parts(target)
                continue
            done.append(part)
        return "/" + "/".join(done)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def _without_waiting(place: str, flags: int) -> int:
    """A descriptor; a pipe that nobody writes to is empty, where it would be waited for without an end."""
    return os.open(place, flags | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)


def _beginning(place: str, limit: int) -> bytes:
    """Without a file object, which doubles what a small file of the kernel's costs: 20 of them are read every second."""
    descriptor = _without_waiting(place, os.O_RDONLY)
    try:
        read = piece = os.read(descriptor, limit)
        while piece and len(read) < limit:
            piece = os.read(descriptor, limit - len(read))
            read += piece
    finally:
        os.close(descriptor)
    return read
