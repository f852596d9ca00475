"""A memory snapshot as it is looked at: one device of it, told by the lines of the program or by whole stacks."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.snapshot.story import story_of
from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.memory_story import DeviceStory, SnapshotStory
from gpuassist.model.text import text, verbatim
from gpuassist.session.memory_timeline import MemoryTimeline, SparseCurve
from gpuassist.session.snapshot_owners import OwnerGrouping, OwnerLine, StackOwners, owners_of, reserved_of, timeline_of
from gpuassist.session.torch_snapshot.opening import memory_free, memory_needed, open_snapshot

_LONG_SECONDS = 10.0
_START_SECONDS = 0.5
_BYTES_A_SECOND = 30e6  # on two busy processors, 2026-11-24 (benchmarks/snapshot.py)


class OpenedSnapshot(Struct, frozen=True):
    """What was read of a file, and what it means."""

    path: str
    snapshot: MemorySnapshot
    story: SnapshotStory

    def device(self, number: int) -> DeviceStory:
        """The story of a device; the first where there is no such one."""
        return next((one for one in self.story.devices if one.device == number), self.story.devices[0])


class DeviceLook(Struct, frozen=True):
    """A device with its allocations by owner."""

    opened: OpenedSnapshot
    story: DeviceStory
    grouping: OwnerGrouping
    owners: StackOwners
    timeline: MemoryTimeline
    reserved: SparseCurve

    def line(self, owner: int) -> OwnerLine:
        """What an owner is told by."""
        return self.owners.lines[owner]

    @property
    def has_times(self) -> bool:
        """Whether torch kept when each event was."""
        return bool(len(self.timeline.lives.seconds))


def look_at_device(opened: OpenedSnapshot, device: int, grouping: OwnerGrouping) -> DeviceLook:
    """Takes some tenths of a second for a million events."""
    story = opened.device(device)
    owners = owners_of(opened.snapshot, grouping)
    return DeviceLook(opened, story, grouping, owners, timeline_of(opened.snapshot, story, owners), reserved_of(story))


class OwnerChange(Struct, frozen=True):
    """What a line held in another snapshot and in this one."""

    line: OwnerLine
    before: int
    after: int

    @property
    def grown(self) -> int:
        return self.after - self.before


def compared(this: DeviceLook, other: DeviceLook, *, at_end: bool = False) -> tuple[OwnerChange, ...]:
    """The lines whose memory at the peak, or at the end, is another here than in the other snapshot, what grew most first."""
    before, after = _by_line(other, at_end=at_end), _by_line(this, at_end=at_end)
    lines = dict.fromkeys((*after, *before))
    changes = (OwnerChange(line, before.get(line, 0), after.get(line, 0)) for line in lines)
    return tuple(sorted((one for one in changes if one.grown), key=lambda one: -one.grown))


def _by_line(look: DeviceLook, *, at_end: bool) -> dict[OwnerLine, int]:
    held: dict[OwnerLine, int] = {}
    point = look.timeline.last if at_end else look.timeline.total.peak
    for owner, size in enumerate(look.timeline.shares(point).tolist()):
        if size:
            held[look.line(owner)] = held.get(look.line(owner), 0) + size
    return held


# Opening a file.


class ReadingOutlook(Struct, frozen=True):
    """What reading a file will take: bytes of memory for all of it and for some of its events, and what is free, None where nobody
    says; seconds.
    """

    path: str
    size: int
    memory: int
    memory_for_part: int
    free: int | None
    seconds: float

    @property
    def is_large(self) -> bool:
        """Whether to ask how much of it is wanted."""
        return self.seconds >= _LONG_SECONDS or not self.fits

    @property
    def fits(self) -> bool:
        """Whether there is memory for all of it."""
        return self.free is None or self.memory <= self.free

    @property
    def part_fits(self) -> bool:
        """Whether there is memory for some of its events."""
        return self.free is None or self.memory_for_part <= self.free


def reading_outlook(session: Session, path: str) -> ReadingOutlook:
    """Looks at the file's size alone; raises `SnapshotError` where there is none."""
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError) as error:
        raise SnapshotError(verbatim(getattr(error, "strerror", None) or str(error))) from error
    part = EventRange(first=-1)
    return ReadingOutlook(
        path, size, memory_needed(size), memory_needed(size, part), memory_free(session), size / _BYTES_A_SECOND + _START_SECONDS
    )


def read_opened(
    session: Session,
    path: str,
    wanted: EventRange = EVERYTHING,
    *,
    card_bytes: int | None = None,
    tell: Callable[[int, int], None] = lambda *_: None,
    ends: Callable[[], bool] = lambda: False,
) -> OpenedSnapshot:
    """Reads it in a child of ours; raises as `open_snapshot` does, and where it tells of no GPU."""
    snapshot = open_snapshot(session, path, wanted, tell=tell, ends=ends)
    story = story_of(snapshot, card_bytes)
    if not story.devices:
        raise SnapshotError(text("it is a memory snapshot, but an empty one: no memory was allocated and nothing was recorded"))
    return OpenedSnapshot(path, snapshot, story)
