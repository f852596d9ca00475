"""Reads a start-up file in whichever language it is written, always into the same values."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

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
    """Reads a whole file; `known` are variables that are set before it runs (HOME).

    A reader is imported where its language comes up: most homes have one, and naming a dialect takes no grammar.
    """
    if dialect is Dialect.BASH:
        from gpuassist.shellfiles import bash

        return bash.read(content, known)
    if dialect is Dialect.ZSH:
        from gpuassist.shellfiles import zsh

        return zsh.read(content, known)
    if dialect is Dialect.FISH:
        from gpuassist.shellfiles import fish

        return fish.read(content, known)
    from gpuassist.shellfiles import environment_file

    return environment_file.read(content, known, expands=dialect is Dialect.ENVIRONMENT_D)
