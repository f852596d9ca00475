"""Ctrl-C: at once while nothing is under way that had to be ended in order, counted where something is.

Raised as a `KeyboardInterrupt` while modules are imported or the program leaves, it becomes a traceback where nobody has a `try`
yet, an `ImportError` in a library that catches too much, or is lost in a callback of the importer's own.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from gpuassist.system.groups import end_all

INTERRUPTED = 130
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a shutdown, a closed terminal


def end_at_once() -> None:
    """From now on Ctrl-C ends the program without a word; where it is ignored, as in a shell's background, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """From now on it is raised again as a `KeyboardInterrupt`."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ending_at_once() -> Iterator[None]:
    """For an import that takes long once the program is at work."""
    end_at_once()
    try:
        yield
    finally:
        raise_again()


def _end(number: int, frame: FrameType | None) -> None:
    end_all()
    os._exit(INTERRUPTED)


@contextmanager
def counted_interrupts() -> Iterator[Callable[[], bool]]:
    """Whether one of them came since; only the main thread hears of signals, so elsewhere none ever does."""
    came = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        came.set()

    if threading.current_thread() is not threading.main_thread():
        yield came.is_set
        return
    before = [(one, signal.signal(one, hear)) for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]  # as under nohup
    try:
        yield came.is_set
    finally:
        for number, handler in before:
            signal.signal(number, handler)
