"""The files that describe a Python environment: pyvenv.cfg and the names in conda-meta."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuassist.model.version import Version, VersionError

_CONDA_PYTHON = re.compile(r"python-(\d{1,9}(?:\.\d{1,9})+)-[^-]+\.json")
_LIBRARY = re.compile(r"python(\d{1,9}\.\d{1,9})t?")


def parse_pyvenv(words: str) -> dict[str, str]:
    """The keys of a pyvenv.cfg, in lower case as `site` reads them."""
    pairs = (line.partition("=") for line in words.splitlines() if "=" in line)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def python_version(settings: dict[str, str]) -> Version | None:
    """The interpreter's version: `version` of venv, `version_info` of virtualenv and uv."""
    words = settings.get("version") or settings.get("version_info", "")
    try:
        return Version(Version.parse(words).parts[:3])
    except VersionError:
        return None


def conda_python(names: Iterable[str]) -> Version | None:
    """The Python that conda installed, from the names of its conda-meta records."""
    return next((Version.parse(found[1]) for name in names if (found := _CONDA_PYTHON.fullmatch(name))), None)


def library_versions(names: Iterable[str]) -> tuple[Version, ...]:
    """The versions of the `pythonX.Y` directories among the names in a `lib`, newest first."""
    found = {Version.parse(match[1]) for name in names if (match := _LIBRARY.fullmatch(name))}
    return tuple(sorted(found, reverse=True))
