"""Stretches of time, united and subtracted: of millions of them only as many are kept as somebody could tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]

_MOST = 1 << 20
_NONE = np.zeros(0)


class Stretches:
    """A union of intervals that grows. Beyond a million of them the shortest pauses between two are taken as filled: `coarse` says
    how long such a pause was at most, in the unit of the times.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._begins, self._ends = _NONE, _NONE
        self._waiting: list[tuple[Times, Times]] = []
        self._count = 0
        self.coarse = 0.0

    def add(self, begins: Times, ends: Times) -> None:
        """More of them, in any order."""
        if len(begins):
            self._waiting.append((begins, ends))
            self._count += len(begins)
            if self._count > self._most:
                self._settle()

    def united(self) -> tuple[Times, Times]:
        """Begins and ends, sorted, none touching the next."""
        self._settle()
        return self._begins, self._ends

    def _settle(self) -> None:
        if not self._waiting:
            return
        begins = np.concatenate([self._begins, *(one for one, _ in self._waiting)])
        ends = np.concatenate([self._ends, *(one for _, one in self._waiting)])
        self._waiting, self._count = [], 0
        self._begins, self._ends = unite(begins, ends, self.coarse)
        half = self._most // 2
        if len(self._begins) > half:
            pauses = self._begins[1:] - self._ends[:-1]
            self.coarse = float(np.partition(pauses, len(pauses) - half)[len(pauses) - half])
            self._begins, self._ends = unite(self._begins, self._ends, self.coarse)


def unite(begins: Times, ends: Times, pause: float = 0.0) -> tuple[Times, Times]:
    """The union; what lies no more than `pause` apart counts as one."""
    if not len(begins):
        return _NONE, _NONE
    order = np.argsort(begins, kind="stable")
    begins, ends = begins[order], np.maximum.accumulate(ends[order])
    fresh = np.concatenate(([True], begins[1:] > ends[:-1] + pause))
    last = np.concatenate((fresh[1:], [True]))
    return begins[fresh], ends[last]


def shared_out(kinds: Sequence[tuple[Times, Times]], begin: float, end: float, parts: int) -> NDArray[np.float64]:
    """How much of each of `parts` equal pieces of [begin, end] each kind has; where several lay over each other the first has it.

    A row for each piece; the last column is what none of them has.
    """
    edges = np.linspace(begin, end, parts + 1)
    taken = np.zeros(parts + 1)
    all_begins, all_ends = _NONE, _NONE
    columns = list[Times]()
    for begins, ends in kinds:
        all_begins, all_ends = unite(np.concatenate((all_begins, begins)), np.concatenate((all_ends, ends)))
        covered = _covered(all_begins, all_ends, edges)
        columns.append(np.diff(covered - taken))
        taken = covered
    columns.append(np.diff(edges) - np.diff(taken))
    return np.maximum(np.stack(columns, axis=1), 0.0)


def _covered(begins: Times, ends: Times, edges: Times) -> Times:
    """How much of the time before each edge is covered."""
    if not len(begins):
        return np.zeros(len(edges))
    sums = np.concatenate(([0.0], np.cumsum(ends - begins)))
    before = np.searchsorted(begins, edges, side="right")
    inside = np.where(before > 0, np.minimum(edges, ends[before - 1]) - begins[before - 1], 0.0)
    return np.where(before > 0, sums[np.maximum(before - 1, 0)] + inside, 0.0)
