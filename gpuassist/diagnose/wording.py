"""Patterns put together from the wordings of a message, one a line."""

from __future__ import annotations


def one_of(*wordings: str) -> str:
    """A pattern that takes any of them."""
    return f"(?:{'|'.join(wordings)})"
