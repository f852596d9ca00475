"""A wish to end (SIGTERM, SIGHUP, Ctrl-C) while the main thread runs somebody else's loop, which Python's handlers must wait for.

The kernel's number of it goes through a pipe to a thread of its own. That asks the loop to end in order; where the loop does not
answer, because it hangs, the program ends all the same.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from gpuassist.system.groups import end_all

GRACE_SECONDS = 8.0  # a checked program is given 2 s to end, a stopped one is killed after them
_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


@contextmanager
def hearing(asked: Callable[[], None], *, grace_seconds: float = GRACE_SECONDS) -> Iterator[None]:
    """Calls `asked`, on another thread, once for the first such signal; a second one ends the program at once. Where one is
    ignored, as under nohup, it stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.getsignal(one) for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN}
    reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(reader, True)
    woken = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    ears = _Ears(reader, frozenset(before), asked, grace_seconds)
    for one in before:
        signal.signal(one, _nothing)
    ears.start()
    try:
        yield
    finally:
        ears.over.set()
        signal.set_wakeup_fd(woken)
        for one, handler in before.items():
            signal.signal(one, handler)
        os.write(writer, b"\0")
        ears.join()
        os.close(writer)
        os.close(reader)


class _Ears(threading.Thread):
    def __init__(self, reader: int, numbers: frozenset[int], asked: Callable[[], None], grace_seconds: float) -> None:
        super().__init__(name="gpuassist-signals", daemon=True)
        self.over = threading.Event()
        self._reader, self._numbers, self._asked, self._grace_seconds = reader, numbers, asked, grace_seconds
        self._patience: threading.Timer | None = None

    def run(self) -> None:
        while not self.over.is_set():
            for number in os.read(self._reader, 1):
                if number in self._numbers:
                    self._hear(number)
        if self._patience is not None:
            self._patience.cancel()

    def _hear(self, number: int) -> None:
        if self._patience is not None:
            _end(number, self.over)
            return
        self._patience = threading.Timer(self._grace_seconds, _end, (number, self.over))
        self._patience.daemon = True
        self._patience.start()
        self._asked()


def _end(number: int, over: threading.Event) -> None:
    if not over.is_set():
        end_all()
        os._exit(128 + number)


def _nothing(number: int, frame: FrameType | None) -> None:
    """What is to be done is done by the thread."""
