"""Processes that work beside each other: forks that tell their parent what they find, a JSON object a line."""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import sys
import time
import warnings
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import worker

_PIECE = 1 << 16
_LAST_WAIT_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1

Say = Callable[[Dict[str, Any]], None]


class Fork:
    """A process of ours; `status` is none until it has ended."""

    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self.pipe = pid, pipe
        self.status: Optional[int] = None
        self.pending = b""

    @property
    def death(self) -> str:
        """How it ended, where it did not end well."""
        return death(self.status) if self.status else ""


def start(work: Callable[[Say], None]) -> Fork:
    """Runs `work` in a fork. It must not have touched CUDA, nor run anything in several threads, or the fork cannot."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that threads of other libraries are not in the fork is known
        pid = os.fork()
    if pid:
        os.close(writing)
        return Fork(pid, reading)
    error: Optional[BaseException] = None
    try:
        end_with_parent()
        os.close(reading)
        _, error = worker.attempt(lambda: work(lambda line: write(writing, line)))
        if error is not None:
            write(writing, {"type": "error", "verdict": "error", "error": worker.said(error)})
    finally:  # a fork never returns into its parent's code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0 if error is None else 1)  # taking torch apart may hang on a broken driver, and proves nothing


def write(descriptor: int, line: Dict[str, Any]) -> None:
    rest = (json.dumps(line, allow_nan=False) + "\n").encode()
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def hear(forks: Sequence[Fork], seconds: float) -> List[Tuple[int, Dict[str, Any]]]:
    """What they say within at most that time, by their places; notes which have ended."""
    told: List[Tuple[int, Dict[str, Any]]] = []
    open_ones = [one for one in forks if one.pipe >= 0]
    ready, _, _ = select.select([one.pipe for one in open_ones], [], [], seconds)
    if not open_ones:
        time.sleep(min(seconds, 0.01))
    for place, one in enumerate(forks):
        if one.pipe in ready:
            piece = os.read(one.pipe, _PIECE)
            *lines, one.pending = (one.pending + piece).split(b"\n")
            told += [(place, json.loads(line)) for line in lines]
            if not piece:
                os.close(one.pipe)
                one.pipe = -1
        if one.status is None and one.pipe < 0:
            pid, status = os.waitpid(one.pid, os.WNOHANG)
            one.status = status if pid else None
    return told


def end(forks: Sequence[Fork]) -> None:
    """Ends those that still run; waits for each, but not for ever: what a driver holds is not even killed."""
    running = [one for one in forks if one.status is None]
    for one in running:
        os.kill(one.pid, signal.SIGKILL)
    until = time.monotonic() + _LAST_WAIT_SECONDS
    for one in running:
        while one.status is None and time.monotonic() < until:
            pid, status = os.waitpid(one.pid, os.WNOHANG)
            one.status = status if pid else None
            time.sleep(0.0 if pid else 0.002)
    for one in forks:
        if one.pipe >= 0:
            os.close(one.pipe)
            one.pipe = -1


def death(status: int) -> str:
    """What a status of `waitpid` says."""
    if not os.WIFSIGNALED(status):
        return "the process ended with status {}".format(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    try:
        return "the process was ended by {}".format(signal.Signals(number).name)
    except ValueError:
        return "the process was ended by signal {}".format(number)


def pages_loaded(pid: int) -> int:
    """For how many pages of files a process has waited so far: `majflt` of proc_pid_stat(5); 0 where that is not told."""
    try:
        with open("/proc/{}/stat".format(pid), encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[9])  # its name, in brackets, may hold anything
    except (OSError, ValueError, IndexError):
        return 0


def end_with_parent() -> None:
    """Asks the kernel to end this process when its parent ends."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # no Linux, or no dynamic libc: the runner ends the whole group
