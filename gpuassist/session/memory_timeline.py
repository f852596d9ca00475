"""What a program's torch held after each event of its recording, and who held it: any stretch of a million events within a frame.

A point is the state after an event; point 0 is what there was before the first one. A point's figures hold until the next.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

BLOCK = 32  # points: so many at each end of a column are looked at one by one, the rest a block at a time

Places = NDArray[np.int64]


class BlockLives(Struct, frozen=True):
    """Every block that was allocated, one row each, oldest first: its size in bytes, who allocated it, and the points from which up
    to which, without that, it was there: 0 where it was there before the first event, `events + 1` where it was never freed.

    An owner is a number from 0 up to `owners`. `seconds` is when each event was, counted from the first; empty where nobody knows.
    """

    sizes: Places
    owned_by: Places
    starts: Places
    ends: Places
    events: int
    owners: int
    seconds: NDArray[np.float64]


class Extremes(Struct, frozen=True):
    """Of each column the least and the greatest total, and the point at which it was greatest."""

    lows: Places
    highs: Places
    at: Places


class StepCurve:
    """A figure that every event may change, by points."""

    def __init__(self, values: Places) -> None:
        self.values = values
        self._peaks, self._lows, self._highs = _blocks(values)

    @property
    def peak(self) -> int:
        """The first point at which it was greatest."""
        return int(np.argmax(self.values))

    def extremes(self, starts: Places, ends: Places) -> Extremes:
        """Of columns, each of the points from a start up to and without an end, in order and none of them empty."""
        head = np.minimum(-(-starts // BLOCK) * BLOCK, ends)
        tail = np.maximum(ends // BLOCK * BLOCK, head)
        lows, highs, at = self._looked_at(starts, head)
        for found in (self._by_blocks(head // BLOCK, tail // BLOCK), self._looked_at(tail, ends)):
            lows = np.minimum(lows, found[0])
            at = np.where(found[1] > highs, found[2], at)
            highs = np.maximum(highs, found[1])
        return Extremes(lows, highs, at)

    def _looked_at(self, starts: Places, ends: Places) -> tuple[Places, Places, Places]:
        # Fewer than a block each.
        points = starts[:, np.newaxis] + np.arange(BLOCK)
        values = self.values[np.minimum(points, len(self.values) - 1)]
        inside = points < ends[:, np.newaxis]
        highs = np.where(inside, values, _LEAST)
        place = np.argmax(highs, axis=1)
        lows = np.where(inside, values, _MOST).min(axis=1)
        return lows, np.take_along_axis(highs, place[:, np.newaxis], axis=1)[:, 0], starts + place

    def _by_blocks(self, starts: Places, ends: Places) -> tuple[Places, Places, Places]:
        lows, highs = np.full(len(starts), _MOST), np.full(len(starts), _LEAST)
        at = np.zeros(len(starts), np.int64)
        some = np.flatnonzero(ends > starts)
        if not len(some):
            return lows, highs, at
        # Between the end of a column and the start of the next reduceat makes a column too, which nobody asked for.
        cuts = np.column_stack((starts[some], ends[some])).ravel()
        lows[some] = np.minimum.reduceat(self._lows, cuts)[::2]
        highs[some] = np.maximum.reduceat(self._highs, cuts)[::2]
        counts = ends[some] - starts[some]
        column = np.repeat(np.arange(len(some)), counts)
        block = np.arange(len(column)) + np.repeat(starts[some] - np.cumsum(counts) + counts, counts)
        reached = np.flatnonzero(self._highs[block] == highs[some][column])
        first = np.searchsorted(column[reached], np.arange(len(some)))
        at[some] = self._peaks[block[reached[first]]]
        return lows, highs, at


class SparseCurve:
    """A figure that few events change: the points from which on it has each value, the first of them 0."""

    def __init__(self, points: Places, values: Places) -> None:
        self.points, self.values = points, values

    def at(self, point: int) -> int:
        """What it was at a point."""
        return int(self.values[int(np.searchsorted(self.points, point, side="right")) - 1])

    def bounds(self, starts: Places, ends: Places) -> tuple[Places, Places]:
        """Of columns, each of the points from a start up to and without an end, the least and the greatest."""
        first = np.searchsorted(self.points, starts, side="right") - 1
        cuts = np.column_stack((first, np.searchsorted(self.points, ends, side="left"))).ravel()
        lows = np.minimum.reduceat(np.append(self.values, _MOST), cuts)[::2]
        return lows, np.maximum.reduceat(np.append(self.values, _LEAST), cuts)[::2]


class MemoryTimeline:
    """Made once of a recording, on a job: sorting two million changes takes a few tenths of a second."""

    def __init__(self, lives: BlockLives) -> None:
        self.lives = lives
        self._points = points = lives.events + 1
        freed = lives.ends < points
        at = np.concatenate((lives.starts, lives.ends[freed]))
        change = np.concatenate((lives.sizes, -lives.sizes[freed]))
        steps = np.zeros(points, np.int64)
        np.add.at(steps, at, change)  # bincount would weigh in doubles, and what was freed is to be gone to the byte
        self.total = StepCurve(np.cumsum(steps))
        keys = np.concatenate((lives.owned_by, lives.owned_by[freed])) * points + at
        order = np.argsort(keys, kind="stable")
        self._keys = keys[order]
        self._held: Places = np.concatenate(([0], np.cumsum(change[order])))
        self._begins = np.searchsorted(self._keys, np.arange(lives.owners) * points)
        self._rows = np.argsort(lives.owned_by, kind="stable")
        self._rows_begin = np.searchsorted(lives.owned_by[self._rows], np.arange(lives.owners + 1))

    @property
    def last(self) -> int:
        """The last point."""
        return self._points - 1

    def held(self, owners: Places, at: Places) -> Places:
        """What each of these owners held at each of these points: a row an owner."""
        wanted = owners[:, np.newaxis] * self._points + at
        places = np.searchsorted(self._keys, wanted, side="right")
        return self._held[places] - self._held[self._begins[owners]][:, np.newaxis]

    def shares(self, at: int) -> Places:
        """What every owner held at a point."""
        return self.held(np.arange(self.lives.owners), np.array([at]))[:, 0]

    def alive(self, owner: int, at: int) -> Places:
        """The rows of the blocks that an owner held at a point, oldest first."""
        rows = self._rows[self._rows_begin[owner] : self._rows_begin[owner + 1]]
        return rows[self._lives_at(rows, at)]

    def all_alive(self, at: int) -> Places:
        """The rows of all blocks that were there at a point."""
        rows = np.arange(len(self.lives.sizes))
        return rows[self._lives_at(rows, at)]

    def second(self, point: float) -> float:
        """When the event of a point was; 0 before the first one and where nobody knows."""
        seconds = self.lives.seconds
        event = min(int(point), len(seconds)) - 1
        return float(seconds[event]) if event >= 0 else 0.0

    def _lives_at(self, rows: Places, at: int) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = (self.lives.starts[rows] <= at) & (self.lives.ends[rows] > at)
        return found


_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def _blocks(total: Places) -> tuple[Places, Places, Places]:
    """Of each whole block where it is greatest, its least and its greatest; the rest at the end is always looked at one by one."""
    whole = total[: len(total) // BLOCK * BLOCK].reshape(-1, BLOCK)
    peaks = np.arange(len(whole)) * BLOCK + (np.argmax(whole, axis=1) if len(whole) else 0)
    lows, highs = whole.min(axis=1, initial=_MOST), whole.max(axis=1, initial=_LEAST)
    return peaks, np.append(lows, _MOST), np.append(highs, _LEAST)  # one more, for the end of the last column
