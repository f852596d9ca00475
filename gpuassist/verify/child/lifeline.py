"""The first process of ours within an image: nobody outside can end what runs there, so that the end of the input does.

A container engine's client that is killed says nothing to the container; but the pipe that it read for us is closed then. That is
heard by a process that does nothing else, and so hangs in no driver. It also becomes the parent of what the checks leave behind.
"""

from __future__ import annotations

import ctypes
import os
import select
import shutil
import signal
import tempfile
import time
from typing import Any, Dict, List, Optional

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PIECE = 1 << 16
_LAST_WAIT_SECONDS = 1.0


def stand_by(request: Dict[str, Any]) -> None:
    """Goes on in a child of this process, which itself ends here: when the child has ended, or when the input has.

    Where the request has no directory for what checks write, it gets one that lies in the image and goes in the end.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if not request["scratch"]:
        request["scratch"] = _directory()
    ours = os.getpid()
    child = os.fork()
    if child:
        status = _await(child)
        _end_rest(child)
        if request["scratch"]:
            shutil.rmtree(request["scratch"], ignore_errors=True)
        os._exit(status)
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != ours:
        os._exit(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


def _directory() -> str:
    try:
        return tempfile.mkdtemp(prefix="gpuassist-")
    except OSError:  # an image that nothing can be written into
        return ""


def _prctl(option: int, argument: int) -> None:
    try:
        ctypes.CDLL(None).prctl(option, argument, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # no Linux, or no dynamic libc


def _await(child: int) -> int:
    """The child's exit status, as a shell gives it; of one that has to be ended because the input has, that of a kill."""
    heard, told = os.pipe()
    os.set_blocking(told, False)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    wanted = True
    while wanted:
        status = _status_of(child)
        if status is not None:
            return status
        there = select.select([0, heard], [], [])[0]
        if heard in there:
            os.read(heard, _PIECE)
        wanted = 0 not in there or bool(os.read(0, _PIECE))
    return 128 + signal.SIGKILL


def _status_of(child: int) -> Optional[int]:
    """None while it runs; whatever else has ended by now is waited for on the way."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return 1
        if pid == child:
            return 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        if not pid:
            return None


def _end_rest(child: int) -> None:
    """Ends what is left of the child's session, then what went its own way: that is this process's child by now."""
    _kill(-child)
    until = time.monotonic() + _LAST_WAIT_SECONDS
    while time.monotonic() < until:
        for pid in _children():
            _kill(pid)
        try:
            if not os.waitpid(-1, os.WNOHANG)[0]:
                time.sleep(0.01)
        except ChildProcessError:
            return  # nothing is left


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _children() -> List[int]:
    ours, found = str(os.getpid()), []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/{}/stat".format(name), encoding="utf-8", errors="replace") as file:
                    parent = file.read().rpartition(")")[2].split()[1]
            except (OSError, IndexError):
                continue
            if parent == ours:
                found.append(int(name))
    return found
