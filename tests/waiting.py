"""Waiting for what another process does, and not for seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

_PATIENCE_SECONDS = 100.0


def until(condition: Callable[[], object]) -> bool:
    """Whether it came true in time."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())
