"""What `gpuassist snapshot` says of a snapshot: for people, and as its document."""

from __future__ import annotations

from gpuassist.cli.answers import AnswerWriter, severest
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.snapshot_wish import SnapshotWish
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.diagnose.snapshot.lines import StackLines, line_of
from gpuassist.diagnose.snapshot.segments import BlockOwner, owner_of
from gpuassist.diagnose.snapshot.shares import growth, shares_at
from gpuassist.diagnose.snapshot.story import story_of
from gpuassist.formats.size import shown_size
from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.event_range import EventRange
from gpuassist.model.codec import Json
from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.memory_story import DeviceStory, GrowthShare, SnapshotStory
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Exit
from gpuassist.present.memory_snapshot import (
    SCHEMA,
    answer_of,
    device_lines,
    growth_words,
    noted_words,
    place_words,
    settings_words,
    share_words,
    snapshot_document,
)
from gpuassist.session.torch_snapshot.opening import open_snapshot

_LINES_SHOWN = 12
Growth = list[tuple[int, tuple[GrowthShare, ...]]]


def tell(asked: SnapshotWish, context: Context) -> Exit:
    """Reads it and writes the answer; raises `ImportError` as a module where there is no numpy."""
    wanted = EventRange(asked.first, asked.end)
    try:
        snapshot = _opened(context, asked.path, wanted)
        other = _opened(context, asked.other, wanted) if asked.other else None
    except _UnreadError as error:
        context.note(error.reason)
        if asked.as_document:
            nothing: dict[str, Json] = {"devices": [], "events": None, "findings": []}
            context.document({"schema": SCHEMA, "file": asked.path, **nothing, "reason": context.session.words(error.reason)})
        return Exit.UNDETERMINED
    card = _largest_card(context, snapshot)
    story = story_of(snapshot, card)
    grown: Growth = []
    if other is not None:
        grown = _difference(snapshot, story, other, story_of(other, card))
    elif asked.between is not None:
        last = max((device.events for device in story.devices), default=0)  # each device counts its own
        if asked.between[0] >= last:
            raise UsageError(text("--between begins after the last event: {count} were read", count=last))
        grown = _grown(snapshot, story, asked.between)
    if asked.as_document:
        context.document(
            snapshot_document(snapshot, story, context.session.words, grown) | _owner_document(snapshot, story, asked.address)
        )
    else:
        _Report(context).show(snapshot, story, grown)
        if asked.address is not None:
            _show_owner(context, snapshot, story, asked.address)
    return severest([answer_of(one, context.session.words) for one in story.findings], otherwise=Exit.HEALTHY)


class _UnreadError(Exception):
    """A file is no snapshot that can be read."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def _opened(context: Context, path: str, wanted: EventRange) -> MemorySnapshot:
    def tell(read: int, of: int) -> None:
        context.passing(text("reading {path}: {percent} %", path=path, percent=100 * read // max(of, 1)))

    try:
        return open_snapshot(context.session, path, wanted, tell=tell)
    except SnapshotError as error:
        raise _UnreadError(text("{path} could not be read: {reason}", path=path, reason=error.reason)) from error
    finally:
        context.passing()


def _largest_card(context: Context, snapshot: MemorySnapshot) -> int | None:
    """The memory of the largest card of the recorded machine; or of this one, where it has the GPUs that the snapshot numbers."""
    from gpuassist.model.fact import value_or

    machine = context.recorded_machine()
    if machine is None:
        from gpuassist.session.use import look_at_gpus

        machine = look_at_gpus(context.session)
        if max(snapshot.devices, default=0) >= len(value_or(machine.gpus, ())):
            return None
    sizes = [value_or(gpu.memory_total_bytes, 0) for gpu in value_or(machine.gpus, ())]
    return max(sizes, default=0) or None


# What grew


def _grown(snapshot: MemorySnapshot, story: SnapshotStory, between: tuple[int, int]) -> Growth:
    lines = StackLines(snapshot)
    return [
        (device.device, growth(*(shares_at(device.allocations, lines, min(moment, device.events)) for moment in between)))
        for device in story.devices
    ]


def _difference(first: MemorySnapshot, story: SnapshotStory, second: MemorySnapshot, later: SnapshotStory) -> Growth:
    """By device: what each line held at the end of the one, and at the end of the other."""
    lines, later_lines = StackLines(first), StackLines(second)
    before = {one.device: shares_at(one.allocations, lines, one.events) for one in story.devices}
    after = {one.device: shares_at(one.allocations, later_lines, one.events) for one in later.devices}
    return [(device, growth(before.get(device, ()), after.get(device, ()))) for device in sorted(before | after)]


class _Report:
    """Writes a snapshot for people to read."""

    def __init__(self, context: Context) -> None:
        self._context, self._words = context, context.session.words
        self._writer = AnswerWriter(context)

    def show(self, snapshot: MemorySnapshot, story: SnapshotStory, grown: Growth) -> None:
        for device in story.devices:
            self._device(device)
        if not story.devices:
            self._context.say(text("The snapshot holds neither segments nor events."))
        settings = settings_words(snapshot)
        if settings is not None:
            self._writer.say(self._words(settings), style=DIM)
        for noted in noted_words(snapshot):
            self._writer.say(self._words(noted), style=DIM)
        for number, shares in grown:
            self._context.say()
            self._writer.say(self._words(text("What grew on GPU {device}:", device=number)), style=BOLD)
            for share in shares[:_LINES_SHOWN]:
                self._context.say("  ", growth_words(share))
            if not shares:
                self._context.say("  ", text("nothing"))
        for finding in story.findings:
            self._writer.answer(answer_of(finding, self._words))

    def _device(self, device: DeviceStory) -> None:
        first, *rest = device_lines(device)
        self._writer.say(self._words(first), style=BOLD)
        for line in rest:
            self._writer.say(self._words(line), style=DIM)
        for share in device.peak.shares[:_LINES_SHOWN]:
            self._context.say("  ", share_words(share))
        left = len(device.peak.shares) - _LINES_SHOWN
        if left > 0:
            self._writer.say(self._words(text("and {count} more lines (--json has them)", count=left)), indent="  ", style=DIM)


def _owner_document(snapshot: MemorySnapshot, story: SnapshotStory, address: int | None) -> dict[str, Json]:
    if address is None:
        return {}
    from gpuassist.present.memory_snapshot import frames_document

    device, owner = _owner(snapshot, story, address)
    told: dict[str, Json] = {"address": address, "device": None, "bytes": None, "event": None, "frames": []}
    if device is not None and owner is not None:
        told |= {"device": device.device, "frames": frames_document(snapshot, owner.stack)}
        if owner.allocation is not None:
            row = owner.allocation
            told |= {"bytes": int(device.allocations.size[row]), "event": int(device.allocations.start[row])}
    return {"owner": told}


def _show_owner(context: Context, snapshot: MemorySnapshot, story: SnapshotStory, address: int) -> None:
    device, owner = _owner(snapshot, story, address)
    context.say()
    if device is None or owner is None:
        context.say(text("No segment and no allocation at the end has the address {address}.", address=hex(address)))
        return
    named: dict[str, str | int | Text] = {"address": hex(address), "device": device.device}
    if owner.allocation is None:
        context.say(
            text("{address} on GPU {device} lies in a segment of torch's, and nothing is allocated there at the end.", **named)
        )
        return
    size, event = int(device.allocations.size[owner.allocation]), int(device.allocations.start[owner.allocation])
    named |= {"bytes": shown_size(size), "place": place_words(line_of(snapshot.frames_of(owner.stack))[0]), "event": event}
    if event:
        context.say(text("{address} on GPU {device} lies in {bytes} of {place}, allocated by event {event}", **named))
    else:
        context.say(text("{address} on GPU {device} lies in {bytes} of {place}, allocated before the first event", **named))
    for frame in snapshot.frames_of(owner.stack):
        context.say("  ", place_words(frame))


def _owner(snapshot: MemorySnapshot, story: SnapshotStory, address: int) -> tuple[DeviceStory | None, BlockOwner | None]:
    for device in story.devices:
        owner = owner_of(snapshot, device.allocations, address)
        if owner.allocation is not None:
            return device, owner
        if owner.segment is not None and int(snapshot.segments.device[owner.segment]) == device.device:
            return device, owner
    return None, None
