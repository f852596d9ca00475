"""Ending a process that is not our child: asked first, then killed, and never another one that took over its number."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Callable
from enum import Enum
from functools import partial

from gpuassist.system.streams import MARK

_KILLED_WITHIN_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.02
_LISTEN_AGAIN_SECONDS = 0.1  # how soon somebody who changed their mind is heard
_ROUNDS = 5  # one that is found may have started another meanwhile
_SECONDS_TO_END = 0.1


class Stopped(str, Enum):
    """What became of it."""

    ENDED = "ended"  # by itself, when it was asked
    KILLED = "killed"
    GONE = "gone"  # before it was asked
    FORBIDDEN = "forbidden"
    SPARED = "spared"  # asked, and then not killed, because it was called off
    STILL_THERE = "still there"  # in uninterruptible sleep, where not even SIGKILL reaches it


def never() -> bool:
    """For who does not call it off."""
    return False


def stop(pid: int, is_the_one: Callable[[], bool], *, seconds: float, called_off: Callable[[], bool] = never) -> Stopped:
    """Asks it to end (SIGTERM), waits that long, then kills it (SIGKILL), unless that was called off meanwhile.

    `is_the_one` looks whether the number still belongs to the process that is meant; it is asked after the kernel has given us a
    handle of the process, so that no other one can take its place between the look and the signal.
    """
    try:
        process = _handle(pid)
    except ProcessLookupError:
        return Stopped.GONE
    try:
        return _stop(process, seconds, called_off) if is_the_one() else Stopped.GONE
    except ProcessLookupError:
        return Stopped.GONE
    except PermissionError:
        return Stopped.FORBIDDEN
    finally:
        process.close()


def _stop(process: _Pidfd | _Number, seconds: float, called_off: Callable[[], bool]) -> Stopped:
    process.send(signal.SIGTERM)
    if _ends(process, seconds, called_off):
        return Stopped.ENDED
    if called_off():
        return Stopped.SPARED
    try:
        process.send(signal.SIGKILL)
    except ProcessLookupError:
        return Stopped.ENDED
    return Stopped.KILLED if process.ends(_KILLED_WITHIN_SECONDS) else Stopped.STILL_THERE


def _ends(process: _Pidfd | _Number, seconds: float, called_off: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not process.ends(max(0.0, min(_LISTEN_AGAIN_SECONDS, deadline - time.monotonic()))):
        if called_off() or time.monotonic() >= deadline:
            return False
    return True


def _handle(pid: int) -> _Pidfd | _Number:
    opens = getattr(os, "pidfd_open", None)  # not in a Python that was built for an older C library
    if opens is None:
        return _Number(pid)
    try:
        return _Pidfd(opens(pid))
    except OSError as error:
        if error.errno != errno.ENOSYS:  # Linux before 5.3, as in Enterprise Linux 8
            raise
        return _Number(pid)


class _Pidfd:
    """A handle of the process itself, which no later one of the same number can be mistaken for."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def send(self, number: signal.Signals) -> None:
        signal.pidfd_send_signal(self._descriptor, number)

    def ends(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)  # readable when its process ends
        return bool(poll.poll(seconds * 1000))

    def close(self) -> None:
        os.close(self._descriptor)


class _Number:
    """Its number alone, for kernels without handles."""

    def __init__(self, pid: int) -> None:
        self._pid = pid

    def send(self, number: signal.Signals) -> None:
        os.kill(self._pid, number)

    def ends(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self._is_there():
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_AGAIN_SECONDS)
        return True

    def close(self) -> None:
        """There is nothing to let go of."""

    def _is_there(self) -> bool:
        try:
            with open(f"/proc/{self._pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] not in {b"Z", b"X"}  # ended, and waits for its parent
        except (OSError, IndexError):
            return False


# Processes that carry a mark in their environment: found wherever they went, out of their group and session included.


def marked(mark: str) -> tuple[int, ...]:
    """The processes of this user that carry the mark and have not ended, this one left out."""
    found = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return tuple(pid for pid in found if pid != os.getpid() and carries(pid, mark))


def end_marked(mark: str) -> int:
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
