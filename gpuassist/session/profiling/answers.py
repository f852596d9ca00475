"""What the child that reads a profile writes, a line each: how far it is, and what came of it."""

from __future__ import annotations

from enum import Enum
from typing import Union

from msgspec import Struct

from gpuassist.model.profile import ProfileReading

HIDDEN_ARGUMENT = "--read-profile"


class NotRead(str, Enum):
    """Why a file is no profile that can be read here."""

    NO_FILE = "no-file"
    NOTHING_KNOWN = "nothing-known"
    EMPTY = "empty"
    DAMAGED = "damaged"
    NO_EVENTS = "no-events"
    NSYS_REPORT = "nsys-report"
    NCU_REPORT = "ncu-report"
    NSYS_STREAM = "nsys-stream"
    MEMRAY = "memray"
    MEMRAY_PAGE = "memray-page"
    LINE_PROFILE = "line-profile"
    PAGE = "page"
    PICTURE = "picture"
    SNAPSHOT = "snapshot"
    TOO_LARGE = "too-large"
    MEMORY = "memory"
    NUMPY = "numpy"


class ReadSoFar(Struct, frozen=True, tag=True):
    """Bytes of the file, of so many."""

    read: int
    of: int


class ReadWhole(Struct, frozen=True, tag=True):
    """What the file tells."""

    readings: tuple[ProfileReading, ...]


class ReadNothing(Struct, frozen=True, tag=True):
    """Why not, with the operating system's words or the reader's."""

    why: NotRead
    words: str = ""


ChildLine = Union[ReadSoFar, ReadWhole, ReadNothing]
