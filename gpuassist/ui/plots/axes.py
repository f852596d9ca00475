"""Where a lane's memory is marked: whole steps of GiB up to the card's capacity. Without Qt."""

from __future__ import annotations

from functools import lru_cache

GIB = 1 << 30
HEADROOM = 1.06  # how far the axis goes over the capacity, so that its line and mark are seen whole
_STEPS_GIB = (0.25, 0.5, 1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256)
# What a card calls 24 GB it reports as 23.99 GiB and 80 GB as 79.6: the mark at the top carries the rounded figure.
_TOP_MARK_NEAR = 0.04

Mark = tuple[float, str]


@lru_cache(maxsize=32)
def memory_marks(capacity_bytes: float, at_most: int = 4) -> tuple[Mark, ...]:
    """Marks from 0 to the card's capacity, in GiB."""
    capacity = capacity_bytes / GIB
    step = next((step for step in _STEPS_GIB if capacity / step <= at_most), _STEPS_GIB[-1])
    below = [index * step for index in range(int(capacity / step) + 1) if capacity - index * step > step * 0.4]
    nearest = round(capacity / step) * step
    top = nearest if abs(nearest - capacity) <= _TOP_MARK_NEAR * capacity else capacity
    return (*((value * GIB, f"{value:g}") for value in below), (capacity_bytes, f"{top:.3g}"))
