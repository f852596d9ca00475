"""Ctrl-C while modules are being imported, and while the program leaves: nothing is under way then that had to be ended in order.

Raised there, as a `KeyboardInterrupt`, it becomes a traceback where nobody has a `try` yet, an `ImportError` in a library that
catches too much, or is lost in a callback of the importer's own.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from gpuassist.system.groups import end_all

INTERRUPTED = 130


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
