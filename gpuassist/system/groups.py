"""The process groups of programs that we started and that have not ended: none of them may outlive us."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone, since a start begins with this module
if TYPE_CHECKING:
    from typing import TypeVar

    Child = TypeVar("Child")

under_way: set[int] = set()
litter: set[str] = set()
"""Directories of what is under way, which are taken away where we end before it does."""

_SIGKILL = 9  # without `signal`, whose enumerations cost every start a millisecond


_LAST_WAIT_SECONDS = 2.0  # for a start that hangs, as of a program on a disk that has gone; any other is over by then
_starting: set[object] = set()
_started = threading.Condition()


def end_all() -> None:
    """Kills them. Ctrl-C and a closed window end us while a thread still waits for the user's shell, which hears of neither.

    One that is being started is waited for; where that takes too long it is killed as soon as it is there.
    """
    with _started:
        _started.wait_for(lambda: not _starting, _LAST_WAIT_SECONDS)
        _starting.clear()
        pids = tuple(under_way)
    for pid in pids:
        end_group(pid)
    if litter:
        import shutil

        for directory in tuple(litter):
            shutil.rmtree(directory, ignore_errors=True)


def begin(start: Callable[[], Child], pid_of: Callable[[Child], int]) -> Child:
    """Starts a program and counts it among those under way, with no moment between at which it could be forgotten."""
    token = object()
    _starting.add(token)
    wanted = True
    try:
        child = start()
        under_way.add(pid_of(child))
        wanted = token in _starting
    finally:
        with _started:
            _starting.discard(token)
            _started.notify_all()
    if not wanted:
        end_group(pid_of(child))
    return child


def end_group(pid: int) -> None:
    """Kills the process group that `pid` leads; one that is gone already is what was wanted."""
    try:
        os.killpg(pid, _SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
