"""Installed CUDA toolkits and the host compilers that nvcc calls."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.version import Target, Version


class Origin(str, Enum):
    """How a toolkit came to be where it is."""

    LOCAL = "local"
    PACKAGE = "package"
    CONDA = "conda"
    WHEEL = "wheel"
    HOME = "home"


class Toolkit(Struct, frozen=True):
    """A toolkit by its real directory. `version` is the CUDA release with its patch number (12.4.1, or nvcc's 12.4.131 where
    no version.json says); `links` are the symlinks that lead to it; `targets` are what its own nvcc lists (PTX names);
    `gcc_limit` is the newest gcc major that its own host_config.h accepts; `wrappers` are programs elsewhere, no symlinks, that
    run its nvcc (`/usr/bin/nvcc` of Debian).
    """

    root: str
    origin: Fact[Origin] = NOT_ASKED
    version: Fact[Version] = NOT_ASKED
    nvcc: Fact[str] = NOT_ASKED
    nvcc_version: Fact[Version] = NOT_ASKED
    targets: Fact[tuple[Target, ...]] = NOT_ASKED
    gcc_limit: Fact[int] = NOT_ASKED
    clang_limit: Fact[int] = NOT_ASKED
    links: tuple[str, ...] = ()
    wrappers: tuple[str, ...] = ()

    def runs_as(self, path: str) -> bool:
        """Whether calling the program at `path`, symlinks followed, runs this toolkit's nvcc."""
        return path in self.wrappers or (isinstance(self.nvcc, Known) and self.nvcc.value == path)


class Compiler(Struct, frozen=True):
    """A host compiler: its family (`gcc`, `g++`, `clang`), where it is, and its version."""

    family: str
    path: str
    version: Fact[Version] = NOT_ASKED
