"""Ctrl-C, a closed terminal and a logout while something runs that must be ended in order: counted instead of raised."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
