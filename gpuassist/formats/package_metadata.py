"""The metadata of an installed Python package: its name, its version and what it asks for (core metadata, PEP 566 and 643)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuassist.formats.installed import normalised

HEAD_AT_MOST_BYTES = 256 << 10  # what comes before the description; that of torch 2.13 is 10 KB
_FIELD = re.compile(r"^(Name|Version|Requires-Dist): *(.+?)\s*$", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PackageMetadata:
    """A package by its normalised name; `requires` as it is written."""

    name: str
    version: str
    requires: tuple[str, ...] = ()


def read_package_metadata(words: str) -> PackageMetadata | None:
    """From the head of a METADATA file; None where it names no package."""
    head = words.replace("\r\n", "\n").partition("\n\n")[0]
    name = version = ""
    requires = []
    for field, value in _FIELD.findall(head):
        key = field.lower()
        if key == "requires-dist":
            requires.append(value)
        elif key == "name":
            name = name or normalised(value)
        else:
            version = version or value
    return PackageMetadata(name, version, tuple(requires)) if name and version else None
