"""Whole numbers in foreign words. Python's own `int` raises for "²", which `str.isdigit` takes, and for more than 4300 digits."""

from __future__ import annotations

_MOST_DIGITS = 18  # what fits into 64 bits, whichever they are


def whole_number(words: str) -> int | None:
    """The number that plain digits write; none of anything else, nor of more digits than anything here is counted with."""
    return int(words) if words.isascii() and words.isdigit() and len(words) <= _MOST_DIGITS else None
