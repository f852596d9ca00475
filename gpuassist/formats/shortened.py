"""A quotation that is too long, cut at the end of a word, and marked as cut."""

from __future__ import annotations

MARK = " …"
_LONGEST_WORD = 40  # characters of a word that is not cut itself


def shortened(words: str, most: int) -> str:
    """The words, or no more than so many characters of them and a mark."""
    if len(words) <= most:
        return words
    shorter, _, rest = words[:most].rpartition(" ")
    cut = shorter if shorter and len(rest) < _LONGEST_WORD else words[:most]
    return cut.rstrip() + MARK
