"""Patterns put together from the wordings of a message, one a line."""

from __future__ import annotations

import re


def one_of(*wordings: str) -> str:
    """A pattern that takes any of them."""
    return f"(?:{'|'.join(wordings)})"


# Patterns for sentences of the kernel's log, which breaks them anywhere and puts its mark in front of each piece.


# Between two words: a space, or the end of a line with the time stamp, the host and the mark of the next one.
GAP = r"\s{1,40}(?:[^\n]{0,80}NVRM:\s{1,3})?"


def wrapped(words: str) -> str:
    """A pattern for these plain words, wherever the log breaks them."""
    return GAP.join(map(re.escape, words.split()))
