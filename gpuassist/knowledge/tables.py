"""Typed records over the knowledge files: parsed lazily by kind, a damaged line named and skipped."""

from __future__ import annotations

from collections.abc import Callable


class Knowledge:
    """What is known about NVIDIA's products; `read` gives the bytes of a resource such as `knowledge/gpus.json`."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
