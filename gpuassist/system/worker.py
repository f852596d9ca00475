"""A child of our own that answers what it is asked, and that may hang or crash in a library: it never takes us along.

How it starts, and with what it ends, `system.piped_child` says.
"""

from __future__ import annotations

import os
import select
import time
from threading import Lock
from typing import Any

from gpuassist.system import frames
from gpuassist.system.groups import end_group, under_way
from gpuassist.system.piped_child import PipedChild
from gpuassist.system.streams import Ended, Quiet

_LAST_WAIT_SECONDS = 0.5
_PIECE = 1 << 16


class Worker:
    """Asks a child that was started. One thread asks; `kill` may be called from any."""

    def __init__(self, child: PipedChild) -> None:
        self.pid, self._requests, self._answers = child.pid, child.requests, child.answers
        self._pending = bytearray()
        self._lock = Lock()
        self._status: int | None = None
        os.set_blocking(self._answers, False)
        self._poll = select.poll()
        self._poll.register(self._answers, select.POLLIN)

    def send(self, document: Any) -> bool:
        """Asks; false where the child is gone."""
        try:
            frames.write(self._requests, document)
        except OSError:
            return False
        return True

    def receive(self, seconds: float) -> Any:
        """The next answer, or a `Quiet`; raises `frames.FrameError` for anything that is none."""
        deadline = time.monotonic() + seconds
        while (document := frames.taken(self._pending)) is None:
            left = deadline - time.monotonic()
            if left <= 0 or not self._poll.poll(left * 1000):
                return Quiet.SILENT
            try:
                piece = os.read(self._answers, _PIECE)
            except BlockingIOError:
                continue
            if not piece:
                return Quiet.CLOSED
            self._pending += piece
        return document

    def kill(self) -> None:
        """Ends it at once, whatever it does; whoever waits in `receive` hears that it is closed."""
        with self._lock:
            if self._status is None:
                end_group(self.pid)

    def end(self, *, patience: float = 0.0) -> Ended | None:
        """Closes its pipe, gives it `patience` seconds to end by itself, then ends it. None where not even that could: it is in
        uninterruptible sleep inside the driver, see `is_there`.
        """
        os.close(self._requests)
        self._requests = -1
        ended_by_us = not self._ends_within(patience)
        if ended_by_us:
            self.kill()
            self._ends_within(_LAST_WAIT_SECONDS)
        self._close_pipes()
        if self._status is None:
            return None
        number = os.waitstatus_to_exitcode(self._status)
        return Ended(max(number, 0), _signal_name(-number) if number < 0 else "", "", ended_by_us)

    @property
    def is_there(self) -> bool:
        return not self._reaped()

    def _ends_within(self, seconds: float) -> bool:
        """Its end of the pipe closes first of all, which wakes us; nobody is told when the process itself is gone."""
        deadline = time.monotonic() + seconds
        while not self._reaped():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            if self._poll.poll(left * 1000) and not self._drained():
                time.sleep(min(0.001, left))
        return True

    def _drained(self) -> bool:
        try:
            return bool(os.read(self._answers, _PIECE))
        except OSError:
            return False

    def _reaped(self) -> bool:
        with self._lock:
            if self._status is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # somebody else waited for every child there is
                    pid, status = self.pid, 0
                if pid:
                    self._status = status
                    under_way.discard(self.pid)
            return self._status is not None

    def _close_pipes(self) -> None:
        for descriptor in (self._requests, self._answers):
            if descriptor >= 0:
                os.close(descriptor)
        self._requests = self._answers = -1


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
