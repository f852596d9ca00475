"""Time on pixels: which pixel shows which stretch, and where the marks of the clock stand. Without Qt.

Pixels are numbered from the axis' zero and not from the plot's edge, so that a plot that moves on shows the same pixels one further
to the left, and only what is new has to be painted.
"""

from __future__ import annotations

import math
from datetime import datetime
from functools import lru_cache

from msgspec import Struct

_STEPS_SECONDS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 14400, 21600, 43200)


class TimeGrid(Struct, frozen=True):
    """`span` seconds that end at `until`, `width` pixels wide."""

    span: float
    until: float
    width: int

    @property
    def step(self) -> float:
        """The seconds of a pixel."""
        return self.span / self.width

    @property
    def last(self) -> int:
        """The number of the pixel at the right edge."""
        return math.floor(self.until / self.step)

    @property
    def first(self) -> int:
        """The number of the pixel at the left edge."""
        return self.last - self.width + 1

    def place(self, time: float) -> int:
        """How far from the left edge a moment is; it may lie beyond either edge."""
        return math.floor(time / self.step) - self.first

    def time(self, place: float) -> float:
        """The moment in the middle of a pixel, counted from the left edge."""
        return (self.first + place + 0.5) * self.step


@lru_cache(maxsize=16)  # lanes below each other have the same
def clock_marks(grid: TimeGrid, epoch_of_zero: float, at_most: int) -> tuple[tuple[int, str], ...]:
    """Where on the grid whole minutes (or seconds, or hours) of this machine's clock are, and what it shows then."""
    fits = next((place for place, step in enumerate(_STEPS_SECONDS) if grid.span / step <= max(1, at_most)), -1)
    # In a narrow plot the only mark may lie beyond an edge: the next finer step has one that does not.
    return _marks(grid, epoch_of_zero, _STEPS_SECONDS[fits]) or _marks(grid, epoch_of_zero, _STEPS_SECONDS[fits - 1])


def _marks(grid: TimeGrid, epoch_of_zero: float, step: float) -> tuple[tuple[int, str], ...]:
    end = epoch_of_zero + grid.until
    zone = datetime.fromtimestamp(end).astimezone().utcoffset()
    shift = zone.total_seconds() if zone is not None else 0.0
    newest = math.floor((end + shift) / step) * step - shift
    marks = []
    for number in range(int(grid.span // step), -1, -1):
        epoch = newest - number * step
        place = grid.place(epoch - epoch_of_zero)
        if 0 <= place < grid.width:
            moment = datetime.fromtimestamp(epoch)
            marks.append((place, f"{moment:%H:%M:%S}" if step < 60 else f"{moment:%H:%M}"))
    return tuple(marks)
