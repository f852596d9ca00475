"""Reads a start-up file in whichever language it is written, always into the same values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gpuassist.formats import shell
from gpuassist.formats.shell_reading import Reading


class Dialect(str, Enum):
    """The language of a start-up file; `ENVIRONMENT` is a list of NAME=value that no shell reads."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    ENVIRONMENT = "environment"


def read_startup(content: bytes, dialect: Dialect, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME)."""
    if dialect in {Dialect.BASH, Dialect.ZSH}:
        return shell.read(content, known)
    return Reading((), (), (), 1)
