"""A picture that is moved along looks as if it had been painted at once."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.ui.plots.raster import Numbers
from gpuassist.ui.plots.strip import Strip
from gpuassist.ui.plots.time_grid import TimeGrid

ROWS = 3


class Painted:
    """Columns that hold their own number; what is from `newest` on may change."""

    def __init__(self) -> None:
        self.newest, self.columns = 0.0, 0

    def __call__(self, first: int, end: int) -> tuple[Numbers, float]:
        self.columns += end - first
        return np.tile(np.arange(first, end) % 200, (ROWS, 1)).astype(np.uint8), self.newest


@settings(deadline=None)
@given(st.lists(st.floats(-60, 60), max_size=12))
def test_moves_end_where_one_paint_does(steps: list[float]) -> None:
    moved, at_once, paint, until = Strip(), Strip(), Painted(), 1000.0
    moved.show(TimeGrid(50, until, 50), ROWS, 0, paint)
    for step in steps:
        until += step
        paint.newest = until
        moved.show(TimeGrid(50, until, 50), ROWS, 0, paint)
    at_once.show(TimeGrid(50, until, 50), ROWS, 0, paint)
    assert (moved.numbers == at_once.numbers).all()


def test_only_what_is_new_is_painted() -> None:
    strip, paint = Strip(), Painted()
    paint.newest = 999.0
    strip.show(TimeGrid(50, 1000, 50), ROWS, 0, paint)
    paint.columns = 0
    strip.show(TimeGrid(50, 1003, 50), ROWS, 0, paint)
    assert paint.columns == 5


def test_something_else_is_painted_whole() -> None:
    strip, paint = Strip(), Painted()
    strip.show(TimeGrid(50, 1000, 50), ROWS, 0, paint)
    paint.columns = 0
    strip.show(TimeGrid(50, 1000, 50), ROWS, 1, paint)
    assert paint.columns == 50
