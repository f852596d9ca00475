"""Foreign programs: each in a process group of its own, with a time limit and a clean environment, killed whole when it hangs.

A frozen gpuassist carries its own libraries in LD_LIBRARY_PATH and hands them to its children (PyInstaller manual, "LD_LIBRARY_PATH
considerations"); `clean` takes that back, so that the user's shells and interpreters load the user's libraries.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

_OURS = ("QT_", "PYSIDE", "PYQTGRAPH_", "_PYI_", "_MEIPASS")
OUTPUT_AT_MOST_BYTES = 4 << 20
_LOOK_AGAIN_SECONDS = 0.1
_LAST_WAIT_SECONDS = 0.5


class Ending(str, Enum):
    """How a program ended, or why it did not start."""

    EXITED = "exited"
    KILLED = "killed"
    TIMED_OUT = "timed out"
    NOT_FOUND = "not found"
    NOT_STARTED = "not started"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program left behind; `status` is its exit status, a signal's number where it was killed, and 0 where it never ran."""

    ending: Ending
    status: int
    stdout: bytes
    stderr: bytes
    seconds: float
    words: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with status 0."""
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
    ) -> Outcome:
        """Runs `command` for at most `seconds`; never raises for what the program does."""


class RealProcesses:
    """The operating system's own."""

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
    ) -> Outcome:
        """See `Processes.run`."""
        began = time.monotonic()
        try:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                cwd=directory,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            return Outcome(Ending.NOT_FOUND, 0, b"", b"", 0.0, str(error))
        except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
            return Outcome(Ending.NOT_STARTED, 0, b"", b"", 0.0, str(error))
        try:
            return _collect(child, stdin, seconds, began)
        finally:
            _let_go(child)


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


def end_group(pid: int) -> None:
    """Kills the process group that `pid` leads; one that is gone already is what was wanted."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _collect(child: subprocess.Popen[bytes], stdin: bytes, seconds: float, began: float) -> Outcome:
    stdout, stderr, ending = _await(child, stdin, began + seconds)
    return Outcome(
        ending,
        abs(child.returncode or 0),
        stdout[:OUTPUT_AT_MOST_BYTES],
        stderr[:OUTPUT_AT_MOST_BYTES],
        time.monotonic() - began,
    )


def _await(child: subprocess.Popen[bytes], stdin: bytes, deadline: float) -> tuple[bytes, bytes, Ending]:
    # A second communicate() sends no input (CPython 3.11), so what is given input is waited for in one go.
    given, slice_seconds = (stdin, deadline) if stdin else (None, _LOOK_AGAIN_SECONDS)
    if not stdin and child.stdin is not None:
        child.stdin.close()
        child.stdin = None
    while True:
        try:
            stdout, stderr = child.communicate(given, timeout=max(0.0, min(slice_seconds, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            given = None
        else:
            return stdout, stderr, _ending(child)
        if child.poll() is not None:
            # The program has ended, but one that it left in the background (a shell's start-up file does) holds the pipes.
            end_group(child.pid)
            return *_leftovers(child), _ending(child)
        if time.monotonic() >= deadline:
            end_group(child.pid)
            return *_leftovers(child), Ending.TIMED_OUT


def _ending(child: subprocess.Popen[bytes]) -> Ending:
    return Ending.EXITED if child.returncode >= 0 else Ending.KILLED


def _leftovers(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    # A grandchild that left the group can hold the pipes open for ever: take what is there and go.
    try:
        return child.communicate(timeout=0.5)
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", late.stderr or b""


def _let_go(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(timeout=_LAST_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        # In uninterruptible sleep (a GPU driver that hangs) not even SIGKILL ends it: what it said must not wait for that.
        threading.Thread(target=child.wait, name=f"waits for {child.pid}", daemon=True).start()
