"""A foreign program whose output is read while it runs: what is started, read, interrupted and ended behind a port.

It believes that it prints on a terminal, so that it shows its progress, and has nothing to read: whoever asks finds the end of the
input. It runs in a session of its own, and whatever it starts is known by a mark in its environment even where it leaves that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from gpuassist.system.streams import NotStarted, Quiet

MARK = "GPUASSIST_RUN"
"""The environment variable by which all that a program starts is found again."""


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
