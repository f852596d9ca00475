"""A file of the user's that we make: whole under its name, or not there, and never in the place of another."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import BinaryIO

from gpuassist.system.disk import Disk


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """What is written here stands at `path` once it is whole; raises `FileExistsError` where something does already."""
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
    part = f"{path}.part"
    with suppress(FileNotFoundError):
        os.unlink(part)
    descriptor = os.open(
        part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666
    )  # the umask says who may read
    with ExitStack() as undone:
        undone.callback(_remove, part)
        with open(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Disk().place_new(part, path)
        undone.pop_all()


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
