"""A directory for what is made along the way, and gone when it is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def scratch(parent: str) -> Iterator[str]:
    """A new empty directory in `parent`, which is made where it is not there; only this user may look in."""
    os.makedirs(parent, mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="scratch-", dir=parent, ignore_cleanup_errors=True) as directory:
        yield directory
