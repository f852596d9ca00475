"""Where the plot's axes are marked and how: whole steps of GiB, and time back from now."""

from __future__ import annotations

from gpuassist.model.text import Text, text

GIB = 1 << 30
_STEPS_GIB = (0.25, 0.5, 1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256)
_STEPS_SECONDS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200)
_MARKS_AT_MOST = 6
# What a card calls 24 GB it reports as 23.99 GiB and 80 GB as 79.6: the mark at the top carries the rounded figure.
_TOP_MARK_NEAR = 0.04

Mark = tuple[float, str]


def memory_marks(capacity_bytes: float, at_most: int = 4) -> tuple[Mark, ...]:
    """Marks from 0 to the card's capacity, in GiB."""
    capacity = capacity_bytes / GIB
    step = next((step for step in _STEPS_GIB if capacity / step <= at_most), _STEPS_GIB[-1])
    below = [index * step for index in range(int(capacity / step) + 1) if capacity - index * step > step * 0.4]
    nearest = round(capacity / step) * step
    top = nearest if abs(nearest - capacity) <= _TOP_MARK_NEAR * capacity else capacity
    return (*((value * GIB, f"{value:g}") for value in below), (capacity_bytes, f"{top:.3g}"))


def time_marks(window_seconds: float) -> tuple[tuple[float, Text], ...]:
    """Marks from the window's left edge to now, in seconds (now is 0)."""
    step = next((step for step in _STEPS_SECONDS if window_seconds / step <= _MARKS_AT_MOST), _STEPS_SECONDS[-1])
    count = int(window_seconds / step)
    return tuple((-index * step, ago(index * step)) for index in range(count, -1, -1))


def ago(seconds: float) -> Text:
    """How long ago, in the unit that reads best."""
    if seconds < 1:
        return text("now")
    if seconds < 120 and seconds % 60:
        return text("−{seconds} s", seconds=round(seconds))
    if seconds < 7200 and seconds % 3600:
        return text("−{minutes} min", minutes=round(seconds / 60))
    return text("−{hours} h", hours=f"{seconds / 3600:g}")
