"""Processes that carry a mark in their environment: found and ended wherever they went, out of their group and session included."""

from __future__ import annotations

import os
from functools import partial

from gpuassist.system.programs import MARK
from gpuassist.system.stop_process import Stopped, stop

_ROUNDS = 5  # one that is found may have started another meanwhile
_SECONDS_TO_END = 0.1


def marked(mark: str) -> tuple[int, ...]:
    """The processes of this user that carry the mark and have not ended, this one left out."""
    found = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return tuple(pid for pid in found if pid != os.getpid() and carries(pid, mark))


def end_marked(mark: str) -> int:
    """Ends them, and says how many there were."""
    count = 0
    for _ in range(_ROUNDS):
        there = marked(mark)
        if not there:
            break
        ways = [stop(pid, partial(carries, pid, mark), seconds=_SECONDS_TO_END) for pid in there]
        count += sum(way in {Stopped.ENDED, Stopped.KILLED} for way in ways)
    return count


def carries(pid: int, mark: str) -> bool:
    """Whether a process carries the mark; not one that has ended, whose environment is gone, nor another user's."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    except OSError:
        return False
