"""A memory snapshot that torch wrote (`torch.cuda.memory._dump_snapshot`): what its allocator held, and what happened before.

A million events are columns of numbers and never a million objects: each field of a table is one array, and row N of all of them
is one thing. Sizes are bytes; addresses are the program's own. A stack is a number: `MemorySnapshot.frames_of` says its lines.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Small = NDArray[np.int32]
    Codes = NDArray[np.uint8]

NO_STACK = -1
"""In place of a stack's number where torch kept none."""
NO_TEXT = -1


class TraceAction(IntEnum):
    """What the allocator did, by the number that stands in `TraceEvents.action`; torch's own word in lower case."""

    ALLOC = 0
    FREE_REQUESTED = 1  # the tensor is gone; a stream may still use its block
    FREE_COMPLETED = 2  # the block can be given out again
    SEGMENT_ALLOC = 3
    SEGMENT_FREE = 4
    SEGMENT_MAP = 5  # of an expandable segment
    SEGMENT_UNMAP = 6
    OOM = 7
    SNAPSHOT = 8
    OTHER = 9  # a word of a newer torch


class BlockState(IntEnum):
    """What a block of a segment is, by the number in `BlockTable.state`."""

    INACTIVE = 0  # cached: torch holds it and nothing is in it
    ACTIVE = 1
    AWAITING_FREE = 2  # freed by the program, still used by a stream
    OTHER = 3


class StackFrame(Struct, frozen=True):
    """A line of a stack."""

    file: str
    line: int
    function: str


class TraceEvents(Struct, frozen=True):
    """What the allocator of one device did, oldest first. For an OOM `address` is the memory that the device had left, -1
    where torch did not say, and `size` what was asked for. `time_us` is 0 where torch kept none, `note` the user's metadata as
    a number in `MemorySnapshot.texts`.
    """

    action: Codes
    address: Whole
    size: Whole
    time_us: Whole
    stack: Small
    stream: Small  # a number in MemorySnapshot.streams
    note: Small

    def __len__(self) -> int:
        return len(self.action)


class DeviceTrace(Struct, frozen=True):
    """The events of a device that were read. Of `recorded` in the file, they are those from `first` on; `earlier` are the rows
    of what was allocated in those that were left out before, and was still there, `later` of what was there at the end of the
    range and was freed after it; by `reserved_later` bytes the reserved memory grew after it.
    """

    device: int
    events: TraceEvents
    recorded: int
    first: int
    earlier: HeldBlocks
    later: HeldBlocks
    reserved_later: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether every event of the file was read."""
        return len(self.events) == self.recorded


class HeldBlocks(Struct, frozen=True):
    """Allocations that are known without the event that made them."""

    address: Whole
    size: Whole
    stack: Small


class SegmentTable(Struct, frozen=True):
    """What torch had from the driver. Blocks `first_block[N]` up to `first_block[N + 1]` lie in segment N: one element more than
    there are segments. A pool of (0, 0) is the common one; any other belongs to a CUDA graph or a `MemPool`.
    """

    device: Small
    address: Whole
    size: Whole
    allocated: Whole
    active: Whole
    requested: Whole
    stream: Small
    pool_owner: Whole
    pool: Whole
    is_large: Codes
    is_expandable: Codes
    stack: Small
    first_block: Whole

    def __len__(self) -> int:
        return len(self.address)


class BlockTable(Struct, frozen=True):
    """The blocks that the segments are divided into, one segment's after the other's, in the order of their addresses. `state` is a
    `BlockState`; `alive` is 0 for one that was allocated after the range of events that was read.
    """

    address: Whole
    size: Whole
    requested: Whole
    state: Codes
    stack: Small
    alive: Codes

    def __len__(self) -> int:
        return len(self.address)


class SnapshotNote(Struct, frozen=True):
    """An annotation of the program's (`record_function`): where it began or ended, by the clock of the events."""

    name: str
    stage: str  # "START" or "END", as torch says
    device: int
    time_us: int


class MemorySnapshot(Struct, frozen=True):
    """Everything that was read of a file. Stack N holds the frames `stack_frames[stack_starts[N]:stack_starts[N + 1]]`, innermost
    first. `settings` are the allocator's, as torch names them. `size` is the file's.
    """

    source: str
    size: int
    traces: tuple[DeviceTrace, ...]
    segments: SegmentTable
    blocks: BlockTable
    frames: tuple[StackFrame, ...]
    stack_starts: Whole
    stack_frames: Small
    streams: tuple[int, ...]
    texts: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    notes: tuple[SnapshotNote, ...]
    unread: tuple[str, ...] = ()  # names of what the file holds and this reader does not know

    def frames_of(self, stack: int) -> tuple[StackFrame, ...]:
        """The lines of a stack, innermost first; none for `NO_STACK`."""
        if stack < 0:
            return ()
        return tuple(self.frames[place] for place in self.stack_frames[self.stack_starts[stack] : self.stack_starts[stack + 1]])

    @property
    def events(self) -> int:
        """How many events were read, of all devices."""
        return sum(len(trace.events) for trace in self.traces)

    @property
    def devices(self) -> tuple[int, ...]:
        """Devices that have segments or events."""
        traced = {trace.device for trace in self.traces if len(trace.events)}
        return tuple(sorted(traced | set(self.segments.device.tolist())))
