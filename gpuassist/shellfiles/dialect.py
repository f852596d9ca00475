"""Reads a start-up file in whichever language it is written, always into the same values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gpuassist.shellfiles import bash as shell
from gpuassist.shellfiles import environment_file, fish, zsh
from gpuassist.shellfiles.statements import Reading


class Dialect(str, Enum):
    """The language of a start-up file; the last two are lists of NAME=value that no shell reads: in /etc/environment nothing is
    expanded, in environment.d ${NAME} is.
    """

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"
    ENVIRONMENT = "environment"
    ENVIRONMENT_D = "environment.d"


def read_startup(content: bytes, dialect: Dialect, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME)."""
    if dialect is Dialect.BASH:
        return shell.read(content, known)
    if dialect is Dialect.ZSH:
        return zsh.read(content, known)
    if dialect is Dialect.FISH:
        return fish.read(content, known)
    return environment_file.read(content, known, expands=dialect is Dialect.ENVIRONMENT_D)
