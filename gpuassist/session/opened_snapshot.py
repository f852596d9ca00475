"""A memory snapshot as it is looked at: one device of it, told by the lines of the program or by whole stacks."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.memory_story import DeviceStory, SnapshotStory
from gpuassist.session.memory_timeline import MemoryTimeline, SparseCurve
from gpuassist.session.snapshot_owners import Grouping, LineOf, OwnerLine, Owners, owners_of, reserved_of, timeline_of


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
    grouping: Grouping
    owners: Owners
    timeline: MemoryTimeline
    reserved: SparseCurve

    def line(self, owner: int) -> OwnerLine:
        """What an owner is told by."""
        return self.owners.lines[owner]

    @property
    def has_times(self) -> bool:
        """Whether torch kept when each event was."""
        return bool(len(self.timeline.lives.seconds))


def look_at_device(opened: OpenedSnapshot, device: int, grouping: Grouping, line_of: LineOf) -> DeviceLook:
    """Takes some tenths of a second for a million events."""
    story = opened.device(device)
    owners = owners_of(opened.snapshot, line_of, grouping)
    return DeviceLook(opened, story, grouping, owners, timeline_of(opened.snapshot, story, owners), reserved_of(story))


class OwnerChange(Struct, frozen=True):
    """What a line held at the peak of another snapshot and of this one."""

    line: OwnerLine
    before: int
    after: int

    @property
    def grown(self) -> int:
        return self.after - self.before


def compared(this: DeviceLook, other: DeviceLook) -> tuple[OwnerChange, ...]:
    """The lines whose memory at the peak is another in this snapshot than in the other one, what grew most first."""
    before, after = _by_line(other), _by_line(this)
    lines = dict.fromkeys((*after, *before))
    changes = (OwnerChange(line, before.get(line, 0), after.get(line, 0)) for line in lines)
    return tuple(sorted((one for one in changes if one.grown), key=lambda one: -one.grown))


def _by_line(look: DeviceLook) -> dict[OwnerLine, int]:
    held: dict[OwnerLine, int] = {}
    for owner, size in enumerate(look.timeline.shares(look.timeline.total.peak).tolist()):
        if size:
            held[look.line(owner)] = held.get(look.line(owner), 0) + size
    return held
