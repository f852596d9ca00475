"""A foreign program that reports line by line on a descriptor of its own while its standard output and error are kept as text.

It runs in a process group of its own, which is ended whole when it hangs or is no longer wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

DESCRIPTOR = "{descriptor}"
"""Stands in a command for the number of the descriptor that the program reports on."""

OUTPUT_AT_MOST_BYTES = 256 << 10
LINE_AT_MOST_BYTES = 1 << 20


class Quiet(Enum):
    """Why there is no line: none came in time, or none will come any more."""

    SILENT = "silent"
    CLOSED = "closed"


class Ended(Struct, frozen=True):
    """How the program ended: with a status, by a signal (`SIGSEGV`), or because `end` ended it; `output` is the end of what it
    printed.
    """

    status: int
    signal: str
    output: str
    ended_by_us: bool


class NotStarted(Struct, frozen=True):
    """Why the program could not be started, in the operating system's words; `missing` where there is no such file."""

    words: str
    missing: bool


class Stream(Protocol):
    """A program that runs."""

    def line(self, *, seconds: float) -> bytes | Quiet:
        """The next line of its report, without the newline."""

    def end(self, *, patience: float = 0.0) -> Ended:
        """Gives it `patience` seconds to end by itself, ends it with all its children, and says how it ended; once or again."""


class Streams(Protocol):
    """Starts programs that report while they run."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/") -> Stream | NotStarted:
        """Starts `command`, in which `DESCRIPTOR` stands for the number to report on; whoever starts it must `end` it."""
