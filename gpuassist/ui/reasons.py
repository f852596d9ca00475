"""Why something could not be done: an error that a job brought home, in words for the user."""

from __future__ import annotations

from gpuassist.formats.visible import visible
from gpuassist.model.text import Text
from gpuassist.model.words import Words


def reason_of(words: Words, error: Exception) -> str:
    """What a known error says by its own `reason`; what the system says of a file; else the error's own words."""
    return visible(_reason(words, error))


def _reason(words: Words, error: Exception) -> str:
    reason = getattr(error, "reason", None)
    if isinstance(reason, Text):
        return words(reason)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def sentence_case(words: str) -> str:
    """A reason that stands alone."""
    return words[:1].upper() + words[1:]
