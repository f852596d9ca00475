"""When each allocation came and went, out of a device's events and of the blocks that are left at their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gpuassist.model.memory_snapshot import NO_STACK, BlockState, DeviceTrace, MemorySnapshot, TraceAction
from gpuassist.model.memory_story import Allocations

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Codes, Whole


def allocations_of(snapshot: MemorySnapshot, trace: DeviceTrace) -> Allocations:
    """Every allocation that was there at some moment of the range, in the order of their starts.

    A free without its allocation is of one from before the history; its stack is not known, since torch may have noted where it
    was freed. A block that is in use at the end and was not allocated in the history was there before it, too.
    """
    events, count = trace.events, len(trace.events)
    born, gone = events.action == TraceAction.ALLOC, events.action == freeing_action(events.action)
    either = np.flatnonzero(born | gone)
    order = either[np.lexsort((either, events.address[either]))]
    address, is_born = events.address[order], born[order]
    same_as_next = np.zeros(len(order), bool)
    same_as_next[:-1] = address[1:] == address[:-1]
    following = np.full(len(order), count + 1, np.int64)
    following[:-1][same_as_next[:-1]] = order[1:][same_as_next[:-1]] + 1
    first_of_address = np.ones(len(order), bool)
    first_of_address[1:] = ~same_as_next[:-1]
    made = order[is_born]
    unseen = order[~is_born & first_of_address]
    seen: tuple[Whole, ...] = (address[is_born], events.size[made], made + 1, following[is_born], events.stack[made])
    before = _before(trace, events.address[unseen], events.size[unseen], unseen + 1)
    still = _still_there(snapshot, trace, seen, before)
    rows = [np.concatenate(columns) for columns in zip(seen, before, still, strict=True)]
    in_order = np.argsort(rows[2], kind="stable")
    address, size, start, end, stack = (column[in_order] for column in rows)
    return Allocations(address, size, start, end, _requested(trace, address, start, end), stack.astype(np.int32))


def freeing_action(actions: Codes) -> TraceAction:
    """What ends an allocation: where the recording skips completed frees (`skip_actions`), that the program let go of it."""
    if (actions == TraceAction.FREE_COMPLETED).any() or not (actions == TraceAction.FREE_REQUESTED).any():
        return TraceAction.FREE_COMPLETED
    return TraceAction.FREE_REQUESTED


def _before(trace: DeviceTrace, address: Whole, size: Whole, end: Whole) -> tuple[Any, ...]:
    """Those that the history saw only the end of; where a part of the file was left out, that part knows their stacks."""
    stack = np.full(len(address), NO_STACK, np.int32)
    earlier = trace.earlier
    if len(earlier.address) and len(address):
        order = np.argsort(earlier.address, kind="stable")
        place = np.minimum(np.searchsorted(earlier.address[order], address), len(order) - 1)
        known = earlier.address[order][place] == address
        stack[known] = earlier.stack[order][place][known]
    return address, size, np.zeros(len(address), np.int64), end, stack


def _still_there(
    snapshot: MemorySnapshot, trace: DeviceTrace, seen: tuple[Whole, ...], before: tuple[Whole, ...]
) -> tuple[Whole, ...]:
    """What is in use at the end and the history does not account for."""
    count = len(trace.events)
    blocks, held = snapshot.blocks, _blocks_of(snapshot, trace.device)
    used = held & (blocks.alive == 1) & ((blocks.state == BlockState.ACTIVE) | (blocks.state == BlockState.AWAITING_FREE))
    asked = np.where(blocks.requested[used] > 0, blocks.requested[used], blocks.size[used])
    address = np.concatenate((blocks.address[used], trace.later.address, trace.earlier.address))
    size = np.concatenate((asked, trace.later.size, trace.earlier.size))
    stack = np.concatenate((blocks.stack[used], np.full(len(trace.later.address), NO_STACK, np.int32), trace.earlier.stack))
    address, first = np.unique(address, return_index=True)
    open_ones = seen[0][seen[3] > count]
    unaccounted = ~np.isin(address, open_ones) & ~np.isin(address, before[0])
    rows = first[unaccounted]
    nothing = np.zeros(len(rows), np.int64)
    return address[unaccounted], size[rows], nothing, nothing + count + 1, stack[rows]


def _requested(trace: DeviceTrace, address: Whole, start: Whole, end: Whole) -> Whole:
    """The moment at which the program let go of each: that of `end` where there is none of its own."""
    events = trace.events
    wanted = np.flatnonzero(events.action == TraceAction.FREE_REQUESTED)
    if not len(wanted) or not len(address):
        return end.copy()
    order = wanted[np.lexsort((wanted, events.address[wanted]))]
    requests = np.empty(len(order), [("address", np.int64), ("moment", np.int64)])
    requests["address"], requests["moment"] = events.address[order], order + 1
    keys = np.empty(len(address), requests.dtype)
    keys["address"], keys["moment"] = address, start
    place = np.minimum(np.searchsorted(requests, keys), len(order) - 1)
    found = requests[place]
    fits = (found["address"] == address) & (found["moment"] >= start) & (found["moment"] <= end)
    return np.where(fits, found["moment"], end)


def active_bytes(allocations: Allocations, events: int) -> Whole:
    """What was allocated at each moment, from before the first event to after the last."""
    change = np.zeros(events + 2, np.int64)
    np.add.at(change, allocations.start, allocations.size)
    np.subtract.at(change, allocations.end, allocations.size)
    active: Whole = np.cumsum(change)[: events + 1]
    return active


def reserved_bytes(snapshot: MemorySnapshot, trace: DeviceTrace) -> Whole:
    """What torch had from the driver at each moment: counted back from the segments at the end."""
    events = trace.events
    more = (events.action == TraceAction.SEGMENT_ALLOC) | (events.action == TraceAction.SEGMENT_MAP)
    less = (events.action == TraceAction.SEGMENT_FREE) | (events.action == TraceAction.SEGMENT_UNMAP)
    change = np.zeros(len(events) + 1, np.int64)
    change[1:] = np.where(more, events.size, 0) - np.where(less, events.size, 0)
    here = snapshot.segments.device == trace.device
    at_end = int(snapshot.segments.size[here].sum()) - trace.reserved_later
    grown = np.cumsum(change)
    reserved: Whole = np.maximum(grown - grown[-1] + at_end, 0)
    return reserved


def _blocks_of(snapshot: MemorySnapshot, device: int) -> Whole:
    counts = np.diff(snapshot.segments.first_block)
    return np.repeat(snapshot.segments.device == device, counts)
