"""`gpuassist snapshot`: what a memory snapshot of torch says: the peak and whose it is, what grew, what to change first."""

from __future__ import annotations

import argparse
import os

from gpuassist.cli.answers import AnswerWriter, severest
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.diagnose.snapshot.lines import StackLines, line_of
from gpuassist.diagnose.snapshot.segments import BlockOwner, owner_of
from gpuassist.diagnose.snapshot.shares import growth, shares_at
from gpuassist.diagnose.snapshot.story import story_of
from gpuassist.formats.size import shown_size
from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.model.codec import Json
from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.memory_story import DeviceStory, GrowthShare, SnapshotStory
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
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

NAME = "snapshot"
HELP = text("say what a memory snapshot of torch shows: the peak, whose it is, what grew, what to change first")

_LINES_SHOWN = 12
Growth = list[tuple[int, tuple[GrowthShare, ...]]]


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help=words(text("what `torch.cuda.memory._dump_snapshot` wrote; nothing in it is run"))
    )
    parser.add_argument("other", metavar="OTHER", nargs="?", help=words(text("a later one: what grew between the two")))
    parser.add_argument(
        "--events", metavar="FIRST:END", help=words(text("read this range of events alone, which takes less memory"))
    )
    parser.add_argument("--last", type=int, metavar="N", help=words(text("read the last N events alone")))
    parser.add_argument("--between", metavar="FIRST:LAST", help=words(text("what grew between these two events")))
    parser.add_argument("--address", metavar="ADDRESS", help=words(text("whose block this address lies in, by its stack")))
    parser.add_argument("--of", type=int, metavar="PID", help=words(text("take one of a program that `gpuassist run` started")))
    parser.add_argument(
        "--seconds", type=float, metavar="N", default=0.0, help=words(text("with --of: record allocations for so long before"))
    )
    parser.add_argument(
        "--out", metavar="FILE", help=words(text("with --of: where it goes (default: here, by the program's number)"))
    )
    parser.add_argument("--window", action="store_true", help=words(text("open it in the window: the plot, and all there is")))
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    wanted, between, address = _range(options), _pair(options.between, "--between"), _address(options.address)
    path = options.file
    if options.of is not None:
        path = _taken(options, context)
        if path is None:
            return Exit.UNDETERMINED
    elif path is None:
        raise UsageError(text("which file? `gpuassist snapshot FILE`, or --of PID for a program that runs"))
    for file in filter(None, (path, options.other)):
        context.require_file(file)
    if options.window:
        return _window(options, path, context)
    try:
        snapshot = _opened(context, path, wanted)
        other = _opened(context, options.other, wanted) if options.other else None
    except _UnreadError as error:
        context.note(error.reason)
        if options.json:
            nothing: dict[str, Json] = {"devices": [], "events": None, "findings": []}
            context.document({"schema": SCHEMA, "file": path, **nothing, "reason": context.session.words(error.reason)})
        return Exit.UNDETERMINED
    card = _largest_card(context, snapshot)
    story = story_of(snapshot, card)
    grown: Growth = []
    if other is not None:
        grown = _difference(snapshot, story, other, story_of(other, card))
    elif between is not None:
        last = max((device.events for device in story.devices), default=0)  # each device counts its own
        if between[0] >= last:
            raise UsageError(text("--between begins after the last event: {count} were read", count=last))
        grown = _grown(snapshot, story, between)
    if options.json:
        context.document(
            snapshot_document(snapshot, story, context.session.words, grown) | _owner_document(snapshot, story, address)
        )
    else:
        _Report(context).show(snapshot, story, grown)
        if address is not None:
            _show_owner(context, snapshot, story, address)
    return severest([answer_of(one, context.session.words) for one in story.findings], otherwise=Exit.HEALTHY)


def _window(options: argparse.Namespace, path: str, context: Context) -> Exit:
    if options.json or options.other or options.between or options.address:
        raise UsageError(text("--window takes one FILE: the rest is chosen there"))
    from gpuassist.session.navigation import ToSnapshot

    return context.open_window(ToSnapshot(os.path.abspath(path)))


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


# What was asked for


def _range(options: argparse.Namespace) -> EventRange:
    pair = _pair(options.events, "--events")
    if options.last is not None:
        if pair is not None or options.last < 1:
            raise UsageError(text("--last takes a number of events, and goes without --events"))
        return EventRange(-options.last)
    return EVERYTHING if pair is None else EventRange(*pair)


def _pair(words: str | None, option: str) -> tuple[int, int] | None:
    if words is None:
        return None
    first, _, end = words.partition(":")
    if not (first.isdecimal() and end.isdecimal() and len(words) < 40 and int(first) < int(end)):
        raise UsageError(text("{option} takes two numbers of events, the smaller first: 1000:5000", option=option))
    return int(first), int(end)


def _address(words: str | None) -> int | None:
    if words is None:
        return None
    try:
        return int(words, 0)
    except ValueError as error:
        raise UsageError(text("--address takes an address such as 0x7f3000000000")) from error


def _taken(options: argparse.Namespace, context: Context) -> str | None:
    from gpuassist.session.torch_snapshot.recording import RecordWish, SnapshotRefusedError, take_snapshot

    if not 0 <= options.seconds <= 3600:
        raise UsageError(text("--seconds takes a number of seconds up to {most:.0f}", most=3600))
    if options.file is not None:
        raise UsageError(text("--of goes without FILE"))
    try:
        path = take_snapshot(context.session, RecordWish(options.of, options.seconds, options.out or ""), tell=context.note)
    except SnapshotRefusedError as error:
        context.note(error.reason)
        return None
    context.note(text("kept in {path}", path=path))
    return path


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
