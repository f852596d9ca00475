"""A file of the user's that we make: whole under its name, or not there, and in another's place only where the user said so."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from gpuassist.system.disk import Disk


@contextmanager
def new_file(path: str, *, mode: int = 0o666, replaces: bool = False) -> Iterator[BinaryIO]:
    """What is written here stands at `path` once it is whole; raises `FileExistsError` where something does already, unless it
    `replaces` that. The umask has a say in who may read it.
    """
    if os.path.lexists(path) and not replaces:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    part = f"{path}.part"
    with suppress(FileNotFoundError):
        os.unlink(part)
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    with ExitStack() as undone:
        undone.callback(_remove, part)
        with open(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if replaces:
            os.replace(part, path)
        else:
            Disk().place_new(part, path)
        undone.pop_all()


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
