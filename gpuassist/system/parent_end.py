"""A child of ours that may hang in a driver must not outlive us, whatever ends us."""

from __future__ import annotations

import ctypes
import os

_PR_SET_PDEATHSIG = 1
_SIGKILL = 9


def hear_of_parents_end(signal: int = _SIGKILL) -> None:
    """Has the kernel send this process a signal when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0)


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when the thread that started it ends; ends it now where process `parent` is gone already."""
    hear_of_parents_end()
    if os.getppid() != parent:
        os._exit(0)
