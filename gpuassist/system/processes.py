"""Foreign programs: each in a process group of its own, with a time limit and a clean environment, killed whole when it hangs.

A frozen gpuassist carries its own libraries in LD_LIBRARY_PATH and hands them to its children (PyInstaller manual, "LD_LIBRARY_PATH
considerations"); `clean` takes that back, so that the user's shells and interpreters load the user's libraries.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Protocol

from msgspec import Struct

_HOME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_CHILD = "import sys; sys.path[:] = {paths}; from {module} import main; sys.exit(main())"
_OURS = ("QT_", "PYSIDE", "PYQTGRAPH_", "_PYI_", "_MEIPASS")
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


def own_child(module: str, argument: str, *flags: str) -> tuple[str, ...]:
    """The command line that runs `main` of a module of ours with the very modules that this process would find; a frozen gpuassist,
    which has no interpreter to start, starts itself with `argument`.
    """
    if getattr(sys, "frozen", False):
        return (sys.executable, argument)
    # An empty entry is the directory that Python was started in: nothing of ours lies there.
    paths = ascii([*filter(None, sys.path), _HOME])
    return (sys.executable, "-I", *flags, "-c", _CHILD.format(paths=paths, module=module), argument)


def clean(variables: Mapping[str, str]) -> dict[str, str]:
    """`variables` without what gpuassist or its bundle put in, and with what the bundle had moved aside put back."""
    kept = {name: value for name, value in variables.items() if not name.startswith(_OURS)}
    if not any(name.startswith(("_PYI_", "_MEIPASS")) for name in variables):
        return kept
    for name in ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH"):
        kept.pop(name, None)
        if f"{name}_ORIG" in kept:
            kept[name] = kept.pop(f"{name}_ORIG")
    return kept
