"""Sizes of memory as programs print them, in bytes, and bytes as they are shown."""

from __future__ import annotations

import re

from gpuassist.model.lazy_regex import lazy_regex

SIZE = r"(?:\d{1,3}(?:,\d{3}){1,8}|\d{1,20}(?:\.\d{1,20})?)(?:bytes|byte|(?:[KMGTPE]i?)?B|[KMGTPE](?![A-Za-z]))"
"""A size without spaces in it, as a pattern that is read with case ignored."""

_PARTS = lazy_regex(r"([\d.,]{1,60})(bytes?|(?:[kmgtpe]i?)?b|[kmgtpe])", re.IGNORECASE)
_POWERS = {prefix: power for power, prefix in enumerate("bkmgtpe")}
_DECIMAL = lazy_regex(r"\d+(?:\.\d+)?")
_GROUPED = lazy_regex(r"\d{1,3}(?:,\d{3})+")


def read_size(words: str) -> int | None:
    """The bytes of a size such as `1.50GiB`, `412 MiB`, `0 bytes`, `8,589,934,592 bytes`; None for what is none.

    Programs of this field count in powers of 1024 whatever they call the unit.
    """
    found = _PARTS.fullmatch("".join(words.split()))
    if found is None:
        return None
    number, unit = found[1], found[2].lower()
    if _GROUPED.fullmatch(number):
        number = number.replace(",", "")
    if not _DECIMAL.fullmatch(number):
        return None
    return round(float(number) * (1 << 10 * _POWERS[unit[0]]))


def shown_size(count: int) -> str:
    """Bytes as torch prints them: two decimals of the largest unit that fits."""
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if abs(size) < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} bytes" if unit == "bytes" else f"{size:.2f} {unit}"
