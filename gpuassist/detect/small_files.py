"""Small files as facts: what cannot be read is unknown, and says which file and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.files import Files

T = TypeVar("T")
Made = TypeVar("Made")

_AT_MOST_BYTES = 1 << 20


def read(files: Files, path: str) -> Fact[str]:
    """The text of a small file, without the white space around it."""
    try:
        return Known(files.text_without_waiting(path, _AT_MOST_BYTES).strip(), path)
    except OSError as error:
        return unreadable(path, error)


def unreadable(path: str, error: OSError) -> Unknown:
    return Unknown(text("{path} could not be read: {error}", path=path, error=error.strerror or str(error)))


def made(fact: Fact[T], make: Callable[[T], Made]) -> Fact[Made]:
    """A fact of what `make` makes of the value; a `ValueError` of its says that the source holds something else."""
    if isinstance(fact, Unknown):
        return fact
    try:
        return Known(make(fact.value), fact.source)
    except ValueError:
        return Unknown(text("{source} holds something else than expected: {found}", source=fact.source, found=str(fact.value)[:80]))
