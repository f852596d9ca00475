"""Whose memory it is: the allocations of a snapshot by the line of the program that made them, or by their whole stack."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gpuassist.diagnose.snapshot.lines import StackLines
from gpuassist.model.memory_snapshot import NO_STACK, DeviceTrace, MemorySnapshot, StackFrame
from gpuassist.model.memory_story import DeviceStory, MemoryKind
from gpuassist.session.memory_timeline import BlockLives, MemoryTimeline, Places, SparseCurve

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Small


class OwnerGrouping(str, Enum):
    """What is one owner."""

    LINE = "line"
    STACK = "stack"


class OwnerLine(Struct, frozen=True):
    """What an owner is told by: its line, none where torch kept no stack, and what its memory is for."""

    frame: StackFrame | None
    is_users: bool
    kind: MemoryKind = MemoryKind.UNKNOWN


class StackOwners(Struct, frozen=True):
    """Which owner each stack belongs to, `NO_STACK` last; owners are numbers, whose lines are `lines`."""

    of_stack: Places
    lines: tuple[OwnerLine, ...]

    def of(self, stacks: Small) -> Places:
        """The owners of these stacks."""
        found: Places = self.of_stack[stacks]  # -1, which is NO_STACK, is the last
        return found


def owners_of(snapshot: MemorySnapshot, grouping: OwnerGrouping) -> StackOwners:
    """Every stack of a snapshot with its owner: two stacks that are told by the same line have one, where lines are asked for."""
    count, told = len(snapshot.stack_starts) - 1, StackLines(snapshot)
    groups = [told.group(stack) for stack in (*range(count), NO_STACK)]
    lines = tuple(OwnerLine(*group) for group in told.groups)
    if grouping is OwnerGrouping.STACK:
        return StackOwners(np.arange(count + 1), tuple(lines[group] for group in groups))
    return StackOwners(np.array(groups, np.int64), lines)


def timeline_of(snapshot: MemorySnapshot, story: DeviceStory, owners: StackOwners) -> MemoryTimeline:
    """A device's allocations on its events."""
    allocations = story.allocations
    return MemoryTimeline(
        BlockLives(
            allocations.size,
            owners.of(allocations.stack),
            allocations.start,
            allocations.end,
            story.events,
            len(owners.lines),
            seconds_of(snapshot, story.device),
        )
    )


def trace_of(snapshot: MemorySnapshot, device: int) -> DeviceTrace | None:
    """What was recorded of a device."""
    return next((one for one in snapshot.traces if one.device == device), None)


def seconds_of(snapshot: MemorySnapshot, device: int) -> NDArray[np.float64]:
    """When each event was, in seconds since the first; empty where torch kept no times."""
    trace = trace_of(snapshot, device)
    if trace is None or not len(trace.events) or not trace.events.time_us.any():
        return np.empty(0, np.float64)
    times = trace.events.time_us
    seconds: NDArray[np.float64] = (times - times[0]) / 1e6
    return seconds


def reserved_of(story: DeviceStory) -> SparseCurve:
    """What torch had reserved, by points."""
    changes = np.concatenate(([0], np.flatnonzero(np.diff(story.reserved)) + 1))
    return SparseCurve(changes, story.reserved[changes])


class OwnerShare(Struct, frozen=True):
    """What an owner held at one moment and, where two are compared, at the one before."""

    owner: int
    held: int
    blocks: int
    before: int = 0

    @property
    def grown(self) -> int:
        return self.held - self.before


def shares_at(timeline: MemoryTimeline, at: int) -> tuple[OwnerShare, ...]:
    """Who held what at a point, most first."""
    held, blocks = timeline.shares(at), _blocks(timeline, at)
    return tuple(OwnerShare(int(one), int(held[one]), int(blocks[one])) for one in _order(held) if blocks[one])


def grown_between(timeline: MemoryTimeline, first: int, last: int) -> tuple[OwnerShare, ...]:
    """Whose memory is more or less at a later point than it was at an earlier one, what grew most first."""
    before, after, blocks = timeline.shares(first), timeline.shares(last), _blocks(timeline, last)
    return tuple(
        OwnerShare(int(one), int(after[one]), int(blocks[one]), int(before[one]))
        for one in _order(after - before)
        if after[one] != before[one]
    )


def _blocks(timeline: MemoryTimeline, at: int) -> Places:
    owned = timeline.lives.owned_by[timeline.all_alive(at)]
    return np.bincount(owned, minlength=timeline.lives.owners)


def _order(values: Places) -> Places:
    return np.argsort(-values, kind="stable")


class StackHeld(Struct, frozen=True):
    """One stack of an owner at a moment."""

    stack: int
    held: int
    blocks: int


def stacks_held(story: DeviceStory, rows: Places) -> tuple[StackHeld, ...]:
    """The stacks of these allocations, what holds most first."""
    stacks, places = np.unique(story.allocations.stack[rows], return_inverse=True)
    held = np.zeros(len(stacks), np.int64)
    np.add.at(held, places, story.allocations.size[rows])
    blocks = np.bincount(places, minlength=len(stacks))
    return tuple(StackHeld(int(stacks[one]), int(held[one]), int(blocks[one])) for one in _order(held))


def row_at_address(story: DeviceStory, address: int, at: int) -> int | None:
    """The allocation in which an address lies at a point; where it is free then, the last before that, and else the first."""
    allocations = story.allocations
    inside = np.flatnonzero((allocations.address <= address) & (address < allocations.address + allocations.size))
    if not len(inside):
        return None
    starts = allocations.start[inside]
    before = inside[starts <= at]
    return int(before[np.argmax(allocations.start[before])]) if len(before) else int(inside[np.argmin(starts)])
