"""A directory for what is made along the way, and gone when it is done."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from gpuassist.system.disk import Disk


@contextmanager
def scratch(parent: str) -> Iterator[str]:
    """A new empty directory in `parent`, which is made where it is not there; only this user may look in."""
    Disk().make_directory(parent)
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=parent, ignore_cleanup_errors=True) as directory:
        yield directory
