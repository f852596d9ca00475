"""The CUDA libraries of a process: which file each was loaded from, its version, and why that one."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Parameters, Text


class Way(str, Enum):
    """How the loader came to a file (ld.so(8)), in the order in which it looks."""

    PRELOAD = "preload"
    RPATH = "rpath"
    LIBRARY_PATH = "library-path"
    RUNPATH = "runpath"
    CACHE = "cache"
    DEFAULT = "default"
    PATH = "path"  # a program asked for this very file
    BUILT_IN = "built-in"  # linked into the file of another library
    UNKNOWN = "unknown"


class LibraryLoaded(Struct, frozen=True):
    """A library in a process: `name` as `libcudnn`, `version` empty where nothing tells it. `variable` is the one without which
    another file, or none, would have been found; empty where none had a say. `package` is the wheel, or conda's package, of it.
    """

    name: str
    path: str
    version: str
    why: Text
    way: Way = Way.UNKNOWN
    package: str = ""
    variable: str = ""


class LibraryFault(Struct, frozen=True):
    """What cannot be right about the libraries of a process; `problem` is its entry in the catalogue, empty of none."""

    text: Text
    libraries: tuple[str, ...]
    problem: str = ""
    parameters: Parameters = ()


class LibraryDifference(Struct, frozen=True):
    """A library that is another file in the user's variables than without them. `older` where that file is older than the other, or
    than what torch was built with (`wanted`, empty where torch does not say).
    """

    mine: LibraryLoaded
    clean: LibraryLoaded
    variable: str
    older: bool
    wanted: str = ""
