"""Who holds memory at a moment, by the lines of the program; what grew between two moments, or between two snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gpuassist.diagnose.snapshot.lines import StackLines
from gpuassist.model.memory_snapshot import NO_STACK, StackFrame
from gpuassist.model.memory_story import Allocations, GrowthShare, StackShare

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Small, Whole


def there_at(allocations: Allocations, moment: int) -> Whole:
    """The rows of what was allocated at a moment."""
    return np.flatnonzero((allocations.start <= moment) & (moment < allocations.end))


def shares_at(allocations: Allocations, lines: StackLines, moment: int) -> tuple[StackShare, ...]:
    """What each line of the program held at a moment, most first."""
    rows = there_at(allocations, moment)
    return shares(allocations.size[rows], allocations.stack[rows], lines)


def shares(sizes: Whole, stacks: Small, lines: StackLines) -> tuple[StackShare, ...]:
    """Sizes with their stacks, by line."""
    if not len(sizes):
        return ()
    different, of_row = np.unique(stacks, return_inverse=True)
    group_of_stack = np.array([lines.group(int(stack)) for stack in different])
    group_of_row = group_of_stack[of_row.ravel()]
    totals = np.zeros(len(lines.groups), np.int64)
    np.add.at(totals, group_of_row, sizes)
    counts = np.bincount(group_of_row, minlength=len(lines.groups))
    largest = dict(
        zip(group_of_row[np.argsort(sizes, kind="stable")].tolist(), np.argsort(sizes, kind="stable").tolist(), strict=True)
    )
    found = []
    for group, row in largest.items():
        line, own, kind = lines.groups[group]
        found.append(StackShare(line, own, int(totals[group]), int(counts[group]), int(stacks[row]), kind))
    return tuple(sorted(found, key=lambda share: (-share.bytes, str(share.line))))


def growth(before: tuple[StackShare, ...], after: tuple[StackShare, ...]) -> tuple[GrowthShare, ...]:
    """What each line holds in one and held in the other, what grew most first; lines that hold the same in both are left out.
    `stack` is a number of the second, or `NO_STACK` where a line holds nothing there.
    """
    held: dict[StackFrame | None, list[int]] = {}
    users: dict[StackFrame | None, bool] = {}
    for place, several in enumerate((before, after)):
        for share in several:
            row = held.setdefault(share.line, [0, 0, NO_STACK])
            row[place] += share.bytes
            users[share.line] = share.is_users
            if place and row[2] == NO_STACK:
                row[2] = share.stack
    grown = [GrowthShare(line, users[line], row[0], row[1], row[2]) for line, row in held.items() if row[0] != row[1]]
    return tuple(sorted(grown, key=lambda share: (-share.grown_bytes, str(share.line))))
