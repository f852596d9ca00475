"""Which stretch of a recording of allocations is shown, on an axis of events or of seconds, and on which pixels. Without Qt."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gpuassist.session.memory_timeline import MemoryTimeline, Places
from gpuassist.ui.plots.raster import Floats

_LEAST_POINTS = 12.0  # in sight: one more zoom shows nothing new
_LEAST_SECONDS = 20e-6
_STEPS = (1.0, 2.0, 5.0)
_SIZE_STEPS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))

AxisMark = tuple[float, str]
"""Where it is on the axis, and what it says."""


class PlotAxis(Protocol):
    """Points of a recording on an axis whose zero is at the first of them."""

    @property
    def end(self) -> float:
        """Where the last point has been seen."""
        ...

    @property
    def least(self) -> float:
        """The least that is worth showing."""
        ...

    def place(self, point: float) -> float:
        """Where a point begins."""
        ...

    def point(self, place: float) -> int:
        """Which point holds at a place."""
        ...

    def columns(self, edges: Floats) -> tuple[Places, Places]:
        """Of the columns between these edges, the first point that is seen in each, and the one after the last."""
        ...

    def words(self, place: float, step: float) -> str:
        """What a mark there says, where marks stand so far from each other."""
        ...


class EventAxis:
    """Each event takes as much room as any other."""

    def __init__(self, timeline: MemoryTimeline) -> None:
        self._last = timeline.last
        self.end, self.least = float(timeline.last + 1), min(_LEAST_POINTS, timeline.last + 1.0)

    def place(self, point: float) -> float:
        return float(point)

    def point(self, place: float) -> int:
        return min(max(0, int(place)), self._last)

    def columns(self, edges: Floats) -> tuple[Places, Places]:
        starts = np.clip(np.floor(edges[:-1]).astype(np.int64), 0, self._last)
        return starts, np.clip(np.ceil(edges[1:]).astype(np.int64), starts + 1, self._last + 1)

    def words(self, place: float, step: float) -> str:
        if step >= 1e6 and place:
            return f"{place / 1e6:g} M"
        return f"{place / 1e3:g} k" if step >= 1e3 and place else f"{place:g}"


class ClockAxis:
    """Events stand where they happened in time; one that came before the one before it is drawn with that."""

    def __init__(self, timeline: MemoryTimeline) -> None:
        self._begins = np.concatenate(([0.0], np.maximum.accumulate(timeline.lives.seconds)))
        self._last = timeline.last
        span = float(self._begins[-1])
        self.end = span * 1.002 or 1.0  # what holds after the last event is seen, too
        self.least = min(_LEAST_SECONDS, self.end)

    def place(self, point: float) -> float:
        return float(self._begins[min(max(0, int(point)), self._last)])

    def point(self, place: float) -> int:
        return max(0, int(np.searchsorted(self._begins, place, side="right")) - 1)

    def columns(self, edges: Floats) -> tuple[Places, Places]:
        starts = np.maximum(np.searchsorted(self._begins, edges[:-1], side="right") - 1, 0)
        ends = np.searchsorted(self._begins, edges[1:], side="left")
        return starts, np.clip(ends, starts + 1, self._last + 1)

    def words(self, place: float, step: float) -> str:
        if not place:
            return "0"
        if step >= 1:
            minutes, seconds = divmod(round(place), 60)
            return f"{minutes}:{seconds:02d} min" if minutes else f"{seconds} s"
        if step >= 1e-3:
            return f"{place:.3g} s" if place >= 1 else f"{place * 1e3:g} ms"
        return f"{place * 1e3:.3f} ms"


class AllocationView:
    """From `left` to `right` of an axis; nothing beyond its ends is ever shown."""

    def __init__(self, axis: PlotAxis) -> None:
        self.axis = axis
        self.left, self.right = 0.0, axis.end

    @property
    def span(self) -> float:
        return self.right - self.left

    @property
    def is_whole(self) -> bool:
        return self.span >= self.axis.end

    def show(self, left: float, right: float) -> None:
        """This stretch, or the nearest to it that can be shown."""
        span = min(max(right - left, self.axis.least), self.axis.end)
        middle = (left + right) / 2
        self.left = min(max(0.0, middle - span / 2), self.axis.end - span)
        self.right = self.left + span

    def show_whole(self) -> None:
        self.left, self.right = 0.0, self.axis.end

    def zoom(self, factor: float, at: float) -> None:
        """So many times as much; the place `at` stays where it is."""
        span = min(max(self.span * factor, self.axis.least), self.axis.end)
        share = (at - self.left) / self.span
        left = at - share * span
        self.left = min(max(0.0, left), self.axis.end - span)
        self.right = self.left + span

    def pan(self, by: float) -> None:
        """Forward, or back where that is negative."""
        span = self.span
        self.left = min(max(0.0, self.left + by), self.axis.end - span)
        self.right = self.left + span

    def bring(self, place: float) -> None:
        """Has this place in sight, with as little movement as that takes."""
        if place < self.left:
            self.pan(place - self.left - self.span * 0.1)
        elif place >= self.right:
            self.pan(place - self.right + self.span * 0.1)

    def columns(self, width: int) -> tuple[Places, Places]:
        """The points of each pixel."""
        return self.axis.columns(np.linspace(self.left, self.right, width + 1))

    def marks(self, at_most: int) -> tuple[AxisMark, ...]:
        """Round places of the axis, no more than that many."""
        size = 10.0 ** np.floor(np.log10(self.span / max(1, at_most)))
        step = float(next((size * one for one in _STEPS if self.span / (size * one) <= at_most), size * 10))
        if isinstance(self.axis, EventAxis):
            step = max(1.0, step)
        first = int(np.ceil(self.left / step))
        places = [number * step for number in range(first, first + at_most + 1) if number * step <= self.right]
        return tuple((place, self.axis.words(place, step)) for place in places)


def size_marks(top: float, at_most: int) -> tuple[AxisMark, ...]:
    """Round sizes from 0 up to a top, in the largest unit of which the top has one."""
    unit, name = next((one for one in _SIZES if top >= one[0]), (1, "B"))
    wanted = top / unit / max(1, at_most)
    quarters = (0.25, 0.5) if unit > 1 else ()
    step = next((one for one in (*quarters, *_SIZE_STEPS) if one >= wanted), 1024)
    return tuple(
        (number * step * unit, f"{number * step:g} {name}" if number else "0") for number in range(int(top / unit / step) + 1)
    )
