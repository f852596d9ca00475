"""Ctrl-C: at once while nothing is under way that had to be ended in order, counted where something is.

Raised as a `KeyboardInterrupt` while modules are imported or the program leaves, it becomes a traceback where nobody has a `try`
yet, an `ImportError` in a library that catches too much, or is lost in a callback of the importer's own.
"""

from __future__ import annotations

import math
import os
import signal
import threading
import time
from collections.abc import Iterator
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


def leave_signals_to_others() -> None:
    """For a thread beside one that waits for signals: the kernel hands them to any that takes them."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())


@contextmanager
def ending_at_once() -> Iterator[None]:
    """For an import that takes long once the program is at work."""
    end_at_once()
    try:
        yield
    finally:
        raise_again()


@contextmanager
def ending_in_order() -> Iterator[None]:
    """A wish to end (SIGTERM, a closed terminal) leaves as an exit would, through every `finally`: for what must be written."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if handler is signal.SIG_DFL and threading.current_thread() is threading.main_thread():
            signal.signal(number, _leave)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _leave:
                signal.signal(number, handler)


def _leave(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _end(number: int, frame: FrameType | None) -> None:
    end_all()
    os._exit(INTERRUPTED)


class Interrupts:
    """Called, whether one came; a wish to end that has a `grace` counts that much later."""

    def __init__(self, grace: float) -> None:
        self.terminated = False
        self._grace, self._after = grace, math.inf

    def hear(self, number: int, frame: FrameType | None) -> None:
        self.terminated = self.terminated or number == signal.SIGTERM
        self._after = min(self._after, time.monotonic() + (self._grace if number == signal.SIGTERM else 0.0))

    def __call__(self) -> bool:
        return time.monotonic() >= self._after


@contextmanager
def counted_interrupts(grace: float = 0.0) -> Iterator[Interrupts]:
    """Whether one of them came since; only the main thread hears of signals, so elsewhere none ever does. Where a SIGTERM means
    that what is awaited ends soon by itself, it has a `grace` of seconds.
    """
    came = Interrupts(grace)
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    # as under nohup
    before = [(one, signal.signal(one, came.hear)) for one in _SIGNALS if signal.getsignal(one) is not signal.SIG_IGN]
    try:
        yield came
    finally:
        for number, handler in before:
            signal.signal(number, handler)
