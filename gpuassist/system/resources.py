"""The bytes that ship with gpuassist: the one place that knows where they lie in a wheel, a bundle and a checkout."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

_PACKAGE = Path(__file__).resolve().parent.parent


class ResourceError(ValueError):
    """A name that leads out of the resources."""


class Resources:
    """Read-only access by relative name, such as `knowledge/gpus.json`."""

    def __init__(self, base: Path | None = None) -> None:
        shipped = _PACKAGE / "_resources"
        self._base = base or (shipped if shipped.is_dir() else _PACKAGE.parent / "resources")

    def read(self, name: str) -> bytes:
        """The bytes of one resource; raises `FileNotFoundError` where there is none."""
        return self._place(name).read_bytes()

    def names(self, folder: str, ending: str = "") -> tuple[str, ...]:
        """The names in a folder that end so, sorted, without the folder."""
        return tuple(sorted(entry.name for entry in self._place(folder).iterdir() if entry.name.endswith(ending)))

    def _place(self, name: str) -> Path:
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise ResourceError(name)
        return self._base / pure
