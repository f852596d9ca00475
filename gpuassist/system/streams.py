"""Foreign programs whose output is read while they run, each started, read and ended behind a port.

A *stream* reports line by line on a descriptor of its own while its standard output and error are kept as text; one that is given
an input reports on its standard output, because nothing else leads out of where it runs, and its input stays open as long as it is
wanted. A *program*
believes that it prints on a terminal, so that it shows its progress, and has nothing to read: whoever asks finds the end of
the input; whatever it starts is known by a mark in its environment even where it leaves the program's session. Each runs in a
process group of its own, which is ended whole when it hangs or is no longer wanted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

DESCRIPTOR = "{descriptor}"
"""Stands in a command for the number of the descriptor that the program reports on."""

MARK = "GPUASSIST_RUN"
"""The environment variable by which all that a program starts is found again."""

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

    def start(
        self, command: Sequence[str], *, environment: Mapping[str, str], directory: str = "/", given: bytes = b""
    ) -> Stream | NotStarted:
        """Starts `command`, in which `DESCRIPTOR` stands for the number to report on; whoever starts it must `end` it.

        Where something is `given` to its standard input, it reports on its standard output. That input is closed when it shall
        end, or when this process has ended: it must take that as the wish to end, and has a moment to follow it.
        """


class ProgramEnd(Struct, frozen=True):
    """How it ended: with a status, or by a signal (`SIGKILL`). `left` counts what it had left running, which was ended with it;
    `stuck` where not even that ended it.
    """

    status: int
    signal: str = ""
    left: int = 0
    stuck: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself and says that all went well."""
        return not (self.status or self.signal or self.stuck)


class Program(Protocol):
    """A program that runs."""

    def read(self, *, seconds: float) -> bytes | Quiet:
        """The next piece of what it prints, at most 64 KiB; closed once it has ended, or nothing more of it can come."""

    def ended(self) -> bool:
        """Whether it has ended by itself."""

    def interrupt(self) -> None:
        """Asks it and its children to stop, as Ctrl-C at a terminal does."""

    def terminate(self) -> None:
        """Asks again, in the way that a shutdown does."""

    def end(self) -> ProgramEnd:
        """Ends it with all that it started, and says how it ended; once or again."""


class Programs(Protocol):
    """Starts programs, and finds those that an earlier gpuassist left running."""

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
        """Starts `command`; whoever starts it must `end` it."""

    def marked(self, mark: str) -> tuple[int, ...]:
        """The processes of this user that carry the mark."""

    def end_marked(self, mark: str) -> int:
        """Ends them, and says how many there were."""
