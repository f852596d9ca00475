"""The bytes that ship with gpuassist: the one place that knows where they lie in a wheel, a bundle and a checkout."""

from __future__ import annotations

import os  # not pathlib, which costs every start 8 ms

_PACKAGE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


class ResourceError(ValueError):
    """A name that leads out of the resources."""


class Resources:
    """Read-only access by relative name, such as `knowledge/gpus.json`."""

    def __init__(self, base: str | os.PathLike[str] = "") -> None:
        shipped = os.path.join(_PACKAGE, "_resources")
        here = shipped if os.path.isdir(shipped) else os.path.join(os.path.dirname(_PACKAGE), "resources")
        self._base = os.fspath(base) or here

    def read(self, name: str) -> bytes:
        """The bytes of one resource; raises `FileNotFoundError` where there is none."""
        with open(self._place(name), "rb") as file:
            return file.read()

    def names(self, folder: str, ending: str = "") -> tuple[str, ...]:
        """The names in a folder that end so, sorted, without the folder."""
        return tuple(sorted(name for name in os.listdir(self._place(folder)) if name.endswith(ending)))

    def _place(self, name: str) -> str:
        if name.startswith("/") or ".." in name.split("/"):
            raise ResourceError(name)
        return os.path.join(self._base, name)
