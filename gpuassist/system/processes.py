"""Foreign programs: each in a process group of its own, with a time limit and a clean environment, killed whole when it hangs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

OUTPUT_AT_MOST_BYTES = 4 << 20


class Ending(str, Enum):
    """How a program ended, or why it did not start."""

    EXITED = "exited"
    KILLED = "killed"
    TIMED_OUT = "timed out"
    CANCELLED = "cancelled"
    NOT_FOUND = "not found"
    NOT_STARTED = "not started"


class ProcessResult(Struct, frozen=True):
    """What a program left behind; `status` is its exit status, a signal's number where it was killed, and 0 where it never ran."""

    ending: Ending
    status: int
    stdout: bytes
    stderr: bytes
    seconds: float
    words: str = ""

    @property
    def succeeded(self) -> bool:
        return self.ending is Ending.EXITED and self.status == 0

    @property
    def text(self) -> str:
        """Its standard output as UTF-8, with U+FFFD for what is not."""
        return self.stdout.decode("utf-8", "replace")


class Processes(Protocol):
    """Runs programs to their end."""

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        """Runs `command` for at most `seconds`, or until `cancelled`, asked ten times a second, says so; never raises for what the
        program does.
        """
