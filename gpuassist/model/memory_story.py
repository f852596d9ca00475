"""What a memory snapshot means, for one device: who held what from when to when, the peak, what grew, how the segments lie.

`diagnose/snapshot/` makes these values of a `MemorySnapshot`. A moment is the number of an event: `0` is before the first, `N`
after the last of N.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from gpuassist.model.finding import Severity
from gpuassist.model.memory_snapshot import StackFrame
from gpuassist.model.text import Text

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Small, Whole


class Allocations(Struct, frozen=True):
    """Each allocation of one device, by where it began. It is there at the moments from `start` up to, and without, `end`: at
    `start` 0 it was there before the first event, at an `end` of one more than there are events it was never freed.
    `requested` is the moment at which the program let go of it: between that and `end` a stream may have used it.
    """

    address: Whole
    size: Whole
    start: Whole
    end: Whole
    requested: Whole
    stack: Small

    def __len__(self) -> int:
        return len(self.address)


class MemoryKind(str, Enum):
    """What memory is for, where its stack shows it."""

    PARAMETERS = "parameters"
    OPTIMIZER = "optimizer"  # its state
    FORWARD = "forward"  # made in a module's forward: activations
    BACKWARD = "backward"  # gradients, and what is needed on the way to them
    UNKNOWN = "unknown"


class StackShare(Struct, frozen=True):
    """What the allocations of one line of the program's hold together at a moment, as far as they are of one kind. `line` is the
    innermost line of the user's own code, the innermost of all where no line is the user's, and None where torch kept no stack;
    `stack` is the one of the largest of them.
    """

    line: StackFrame | None
    is_users: bool
    bytes: int
    allocations: int
    stack: int
    kind: MemoryKind = MemoryKind.UNKNOWN


class MemoryPeak(Struct, frozen=True):
    """The moment at which most was allocated, and who held it, most first."""

    moment: int
    bytes: int
    shares: tuple[StackShare, ...]


class GrowthShare(Struct, frozen=True):
    """What the allocations of one line hold at a later moment and held at an earlier one."""

    line: StackFrame | None
    is_users: bool
    before_bytes: int
    after_bytes: int
    stack: int

    @property
    def grown_bytes(self) -> int:
        return self.after_bytes - self.before_bytes


class Fragmentation(Struct, frozen=True):
    """How the segments of a device lie at the end. `inactive` is what torch holds and nothing is in; `split` the part of it
    that lies beside something in use, so that it cannot be given back; `empty` the part that can: segments in which nothing is,
    and whole pages of expandable ones.
    """

    segments: int
    blocks: int
    reserved_bytes: int
    allocated_bytes: int
    awaiting_bytes: int
    inactive_bytes: int
    split_bytes: int
    empty_bytes: int
    largest_free_bytes: int
    rounding_bytes: int  # given out beyond what was asked for
    private_bytes: int  # in pools of CUDA graphs and of `MemPool`
    expandable_bytes: int


class OutOfMemoryEvent(Struct, frozen=True):
    """An allocation that failed: what was asked for, what the card had left by torch's own words (None where it did not say),
    and what torch had allocated and reserved then.
    """

    moment: int
    asked_bytes: int
    free_bytes: int | None
    allocated_bytes: int
    reserved_bytes: int | None
    stack: int


class DeviceStory(Struct, frozen=True):
    """All of one device. `active` is what was allocated after each event, with the start before the first; `reserved` the same
    for what torch had from the driver. `unseen_bytes` of the peak are of allocations from before the history whose stack
    nobody kept.
    """

    device: int
    events: int
    recorded: int
    allocations: Allocations
    active: Whole
    reserved: Whole
    peak: MemoryPeak
    unseen_bytes: int
    earlier_bytes: int  # allocated before the first event that was read
    allocated_bytes: int  # at the end
    reserved_bytes: int
    fragmentation: Fragmentation
    out_of_memory: tuple[OutOfMemoryEvent, ...]
    has_history: bool = True  # else only what there was at the end is known
    ghost_bytes: int = 0  # at the end, of allocations that are in no block: their frees were not recorded


class SnapshotFinding(Struct, frozen=True):
    """A sentence of what a snapshot shows, by its id; `change` is what to do about it, `frame` the line that it is about."""

    id: str
    severity: Severity
    device: int
    title: Text
    explanation: Text
    change: Text
    bytes: int
    frame: StackFrame | None = None


class SnapshotStory(Struct, frozen=True):
    """What there is to say of a snapshot: a story for each device, and findings, the first thing to change first."""

    devices: tuple[DeviceStory, ...]
    findings: tuple[SnapshotFinding, ...]
