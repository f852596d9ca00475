"""How the segments of a device lie, and whose a block is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from gpuassist.model.memory_snapshot import BlockState, MemorySnapshot, SegmentTable
from gpuassist.model.memory_story import Allocations, Fragmentation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gpuassist.model.memory_snapshot import Whole

_LARGE_PAGE, _SMALL_PAGE = 20 << 20, 2 << 20  # of torch's allocator, by its pools of large and of small blocks


class BlockOwner(Struct, frozen=True):
    """Where an address lies: rows of the segments, of the blocks and of the allocations, None where it lies in none of them."""

    segment: int | None
    block: int | None
    allocation: int | None
    stack: int


def fragmentation_of(snapshot: MemorySnapshot, device: int) -> Fragmentation:
    segments, blocks = snapshot.segments, snapshot.blocks
    here = np.flatnonzero(segments.device == device)
    of_segment = np.repeat(np.arange(len(segments)), np.diff(segments.first_block))
    mine = np.isin(of_segment, here)
    state, size = blocks.state[mine], blocks.size[mine]
    used = (state == BlockState.ACTIVE) | (state == BlockState.AWAITING_FREE)
    active, free = state == BlockState.ACTIVE, state == BlockState.INACTIVE
    in_use = np.zeros(len(segments), bool)
    in_use[of_segment[mine][used]] = True
    returnable = np.where(in_use[of_segment[mine]], _whole_pages(snapshot, of_segment[mine], mine), size)
    private = (segments.pool_owner[here] != 0) | (segments.pool[here] != 0)
    asked = np.minimum(blocks.requested[mine][active], size[active])
    return Fragmentation(
        segments=len(here),
        blocks=len(size),
        reserved_bytes=int(segments.size[here].sum()),
        allocated_bytes=int(size[active].sum()),
        awaiting_bytes=int(size[state == BlockState.AWAITING_FREE].sum()),
        inactive_bytes=int(size[free].sum()),
        split_bytes=int((size - returnable)[free].sum()),
        empty_bytes=int(returnable[free].sum()),
        largest_free_bytes=int(size[free].max(initial=0)),
        rounding_bytes=int((size[active] - asked).sum()),
        private_bytes=int(segments.size[here][private].sum()),
        expandable_bytes=int(segments.size[here][segments.is_expandable[here] == 1].sum()),
    )


def _whole_pages(snapshot: MemorySnapshot, of_segment: Whole, blocks: NDArray[np.bool_]) -> Whole:
    """How much of each of these blocks is whole pages of an expandable segment: torch unmaps those one by one."""
    segments = snapshot.segments
    page = np.where(segments.is_large[of_segment] == 1, _LARGE_PAGE, _SMALL_PAGE)
    start = snapshot.blocks.address[blocks] - segments.address[of_segment]
    end = start + snapshot.blocks.size[blocks]
    pages = np.maximum(end // page - -(-start // page), 0)
    whole: Whole = np.where(segments.is_expandable[of_segment] == 1, pages * page, 0)
    return whole


def owner_of(snapshot: MemorySnapshot, allocations: Allocations | None, address: int, moment: int | None = None) -> BlockOwner:
    """Whose an address is: of the segments at the end, or at a moment of the history where `allocations` are given."""
    segment = _segment_at(snapshot.segments, address)
    block = stack = None
    if segment is not None:
        first, end = int(snapshot.segments.first_block[segment]), int(snapshot.segments.first_block[segment + 1])
        block = _covering(snapshot.blocks.address[first:end], snapshot.blocks.size[first:end], address)
        block = None if block is None else block + first
        stack = None if block is None else int(snapshot.blocks.stack[block])
    allocation = None
    if allocations is not None:
        at = int(allocations.end.max(initial=1)) - 1 if moment is None else moment
        rows = np.flatnonzero((allocations.start <= at) & (at < allocations.end))
        found = _covering(allocations.address[rows], allocations.size[rows], address)
        if found is not None:
            allocation = int(rows[found])
            stack = int(allocations.stack[allocation])
    return BlockOwner(segment, block, allocation, -1 if stack is None else stack)


def _segment_at(segments: SegmentTable, address: int) -> int | None:
    return _covering(segments.address, segments.size, address)


def _covering(starts: Whole, sizes: Whole, address: int) -> int | None:
    rows = np.flatnonzero((starts <= address) & (address < starts + np.maximum(sizes, 1)))
    return int(rows[0]) if len(rows) else None
