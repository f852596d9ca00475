"""What grows from step to step, told by the allocations that stay: a list of losses with their graphs, outputs that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from gpuassist.diagnose.snapshot.lines import StackLines
from gpuassist.model.memory_story import Allocations, MemoryKind

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Whole

_STAYED_AT_LEAST = 4  # allocations of one line
_LINES_AT_MOST = 200
_PART_OF_HISTORY = 4  # the allocations that stayed span a quarter of it at least
_LOOKS = 64  # of what stayed, one in each of so many parts of the history counts at most
_NEAR_FLOOR = 10  # within a tenth of the way from the floor to the peak
_MADE_TO_STAY = frozenset({MemoryKind.PARAMETERS, MemoryKind.OPTIMIZER})


class KeptByLine(Struct, frozen=True):
    """A line whose allocations stay: `again` and again, while memory rises and falls between them, or made between two steps."""

    group: int  # of StackLines.groups
    bytes: int
    allocations: int
    stack: int
    first: int
    last: int
    again: bool = True


def kept_by_lines(allocations: Allocations, active: Whole, lines: StackLines) -> tuple[KeptByLine, ...]:
    """Those lines, most bytes first. What the step that was under way at the end holds is no growth, and neither is what a model is
    made of: nothing is given back between two of its allocations.
    """
    count = len(active) - 1
    stayed = np.flatnonzero((allocations.start > 0) & (allocations.end > count))
    if len(stayed) < _STAYED_AT_LEAST:
        return ()
    different, of_row = np.unique(allocations.stack[stayed], return_inverse=True)
    groups = np.array([lines.group(int(stack)) for stack in different])[of_row.ravel()]
    totals = np.bincount(groups, weights=allocations.size[stayed])
    settled, counted = _last_time_near_floor(active), _last_time_near_floor(active, _rise_of_floor(active), 3)
    given_back = np.concatenate(([0], np.cumsum(np.maximum(-np.diff(active), 0))))
    found = []
    for group in np.argsort(-totals, kind="stable")[:_LINES_AT_MOST].tolist():
        _, own, kind = lines.groups[group]
        rows = stayed[groups == group]
        start = allocations.start[rows]
        grows = own and _rises_and_falls(allocations, given_back, rows[start <= settled], count)
        if not grows and (not own or kind in _MADE_TO_STAY or not _came_between_steps(start, given_back, int(active.max()))):
            continue
        rows = rows[start <= max(settled, counted)] if grows else rows
        size, start = allocations.size[rows], allocations.start[rows]
        largest = int(allocations.stack[rows[int(size.argmax())]])
        found.append(KeptByLine(group, int(size.sum()), len(rows), largest, int(start[0]), int(start[-1]), again=grows))
    return tuple(found)


def _last_time_near_floor(active: Whole, rise: float = 0.0, part: int = _NEAR_FLOOR) -> int:
    """In the second half, above a floor that rises by so much an event; near is within one `part` of the way to the peak."""
    half = len(active) // 2
    above = active[half:] - rise * np.arange(len(active) - half)
    near = above.min() + (above.max() - above.min()) / part
    return half + int(np.flatnonzero(above <= near)[-1])


def _rise_of_floor(active: Whole) -> float:
    """From the lowest of the third quarter to the lowest of the last."""
    half, quarter = len(active) // 2, len(active) - len(active) // 4
    if quarter <= half or quarter >= len(active):
        return 0.0
    first, last = half + int(active[half:quarter].argmin()), quarter + int(active[quarter:].argmin())
    return max(float(active[last] - active[first]) / (last - first), 0.0)


def _came_between_steps(start: Whole, given_back: Whole, peak: int) -> bool:
    """Whether as much as the peak came and went before the first of them, and half as much after the last: neither a model nor what
    the first step makes.
    """
    if len(start) < _STAYED_AT_LEAST:
        return False
    before, after = given_back[start[0]], given_back[-1] - given_back[start[-1]]
    return bool(before >= peak and 2 * after >= peak)


def _rises_and_falls(allocations: Allocations, given_back: Whole, rows: Whole, count: int) -> bool:
    """Whether between most of those that stayed, looked at some way apart, more came and went again than stayed."""
    apart, last = [], -count
    for row in rows.tolist():
        if allocations.start[row] - last >= count / _LOOKS:
            apart.append(row)
            last = int(allocations.start[row])
    start, size = allocations.start[apart], allocations.size[apart]
    if len(apart) < _STAYED_AT_LEAST or (start[-1] - start[0]) * _PART_OF_HISTORY < count:
        return False
    steps = np.diff(given_back[start]) > np.maximum(size[:-1], size[1:])
    return int(steps.sum()) >= _STAYED_AT_LEAST - 1
