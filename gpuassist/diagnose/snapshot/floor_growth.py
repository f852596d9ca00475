"""What grows from step to step, told by the allocations that stay: a list of losses with their graphs, outputs that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from gpuassist.diagnose.snapshot.lines import StackLines
from gpuassist.model.memory_story import Allocations

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Whole

_STAYED_AT_LEAST = 4  # allocations of one line
_LINES_AT_MOST = 200
_PART_OF_HISTORY = 4  # the allocations that stayed span a quarter of it at least
_LOOKS = 64  # of what stayed, one in each of so many parts of the history counts at most
_NEAR_FLOOR = 10  # within a tenth of the way from the floor to the peak


class KeptByLine(Struct, frozen=True):
    """A line whose allocations stay, one group after the other, while memory rises and falls between them."""

    group: int  # of StackLines.groups
    bytes: int
    allocations: int
    stack: int
    first: int
    last: int


def kept_by_lines(allocations: Allocations, active: Whole, lines: StackLines) -> tuple[KeptByLine, ...]:
    """Those lines, most bytes first. What the step that was under way at the end holds is no growth, and neither is what a model is
    made of: nothing is given back between two of its allocations.
    """
    count = len(active) - 1
    settled = _last_time_near_floor(active)
    stayed = np.flatnonzero((allocations.start > 0) & (allocations.end > count) & (allocations.start <= settled))
    if len(stayed) < _STAYED_AT_LEAST:
        return ()
    different, of_row = np.unique(allocations.stack[stayed], return_inverse=True)
    groups = np.array([lines.group(int(stack)) for stack in different])[of_row.ravel()]
    totals = np.bincount(groups, weights=allocations.size[stayed])
    found = []
    for group in np.argsort(-totals, kind="stable")[:_LINES_AT_MOST].tolist():
        rows = stayed[groups == group]
        if lines.groups[group][1] and _rises_and_falls(allocations, active, rows, count):
            size, start = allocations.size[rows], allocations.start[rows]
            largest = int(allocations.stack[rows[int(size.argmax())]])
            found.append(KeptByLine(group, int(size.sum()), len(rows), largest, int(start[0]), int(start[-1])))
    return tuple(found)


def _last_time_near_floor(active: Whole) -> int:
    half = active[len(active) // 2 :]
    floor = int(half.min())
    near = floor + (int(half.max()) - floor) // _NEAR_FLOOR
    return int(np.flatnonzero(active <= near)[-1])


def _rises_and_falls(allocations: Allocations, active: Whole, rows: Whole, count: int) -> bool:
    """Whether between most of those that stayed, looked at some way apart, more came and went again than stayed."""
    apart, last = [], -count
    for row in rows.tolist():
        if allocations.start[row] - last >= count / _LOOKS:
            apart.append(row)
            last = int(allocations.start[row])
    start, size = allocations.start[apart], allocations.size[apart]
    if len(apart) < _STAYED_AT_LEAST or (start[-1] - start[0]) * _PART_OF_HISTORY < count:
        return False
    given_back = np.concatenate(([0], np.cumsum(np.maximum(-np.diff(active), 0))))
    steps = np.diff(given_back[start]) > np.maximum(size[:-1], size[1:])
    return int(steps.sum()) >= _STAYED_AT_LEAST - 1
