"""A memory snapshot in words and as the document of `snapshot --json`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpuassist.diagnose.snapshot.shares import there_at
from gpuassist.formats.size import shown_size
from gpuassist.model.codec import Json
from gpuassist.model.finding import Action, Answer, Evidence, Remedy
from gpuassist.model.memory_snapshot import MemorySnapshot, StackFrame
from gpuassist.model.memory_story import DeviceStory, GrowthShare, MemoryKind, SnapshotFinding, SnapshotStory, StackShare
from gpuassist.model.text import Text, counted, joined, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.answer_document import finding_document

SCHEMA = 1
STACKS_AT_MOST = 50
LINES_AT_MOST = 200
_NOTES_SAID, _NOTE_LETTERS = 8, 60

KINDS = {
    MemoryKind.PARAMETERS: text("parameters"),
    MemoryKind.OPTIMIZER: text("optimizer state"),
    MemoryKind.FORWARD: text("forward pass"),
    MemoryKind.BACKWARD: text("backward pass"),
    MemoryKind.UNKNOWN: text("not told by its stack"),
}


def place_words(line: StackFrame | None) -> Text:
    """Where a line stands; of no stack at all, what that mostly means."""
    if line is None:
        return text("no stack (from before the recording, recorded without, or made by autograd's own threads)")
    return verbatim(f"{line.file}:{line.line} {line.function}" if line.file else line.function)


def answer_of(finding: SnapshotFinding, words: Words) -> Answer:
    """A finding as every other is shown."""
    evidence = (Evidence(text("line"), place_words(finding.frame), ""),) if finding.frame is not None else ()
    remedy = Remedy(words(finding.change), (), needs_root=False, action=Action.NONE, check="")
    return Answer(finding.id, finding.severity, words(finding.title), words(finding.explanation), evidence, (remedy,), ())


def device_lines(story: DeviceStory) -> list[Text]:
    """What there is to say of one device in a few lines."""
    pieces = story.fragmentation
    if not story.has_history:
        first = text(
            "GPU {device}: {allocated} allocated of {reserved} reserved; no history",
            device=story.device,
            allocated=shown_size(story.allocated_bytes),
            reserved=shown_size(story.reserved_bytes),
        )
    else:
        first = text(
            "GPU {device}: peak {peak}, at the end {allocated} allocated of {reserved} reserved; {events} events",
            device=story.device,
            peak=shown_size(story.peak.bytes),
            allocated=shown_size(story.allocated_bytes),
            reserved=shown_size(story.reserved_bytes),
            events=story.events,
        )
    lines = [first]
    if pieces.segments:
        lines.append(
            counted(
                "{count} segment: {inactive} free, {split} of it in gaps; largest free piece {largest}",
                "{count} segments: {inactive} free, {split} of it in gaps; largest free piece {largest}",
                pieces.segments,
                inactive=shown_size(pieces.inactive_bytes),
                split=shown_size(pieces.split_bytes),
                largest=shown_size(pieces.largest_free_bytes),
            )
        )
    return lines


def share_words(share: StackShare) -> Text:
    """A line of the program's, with what it holds."""
    kind = KINDS[share.kind]
    return text("{bytes}  {place}  ({kind})", bytes=f"{shown_size(share.bytes):>11}", place=place_words(share.line), kind=kind)


def growth_words(share: GrowthShare) -> Text:
    sign = "+" if share.grown_bytes >= 0 else "-"
    return text(
        "{grown}  {place}  ({before} before, {after} after)",
        grown=f"{sign + shown_size(abs(share.grown_bytes)):>12}",
        place=place_words(share.line),
        before=shown_size(share.before_bytes),
        after=shown_size(share.after_bytes),
    )


def settings_words(snapshot: MemorySnapshot) -> Text | None:
    """The allocator's settings that somebody chose."""
    told = dict(snapshot.settings)
    chosen = told.get("PYTORCH_ALLOC_CONF") or told.get("PYTORCH_CUDA_ALLOC_CONF")
    return text("Allocator settings: {words}", words=chosen) if chosen else None


def noted_words(snapshot: MemorySnapshot) -> list[Text]:
    """What the program noted beside its allocations, and what of the file was passed over."""
    names = tuple(dict.fromkeys((*snapshot.texts, *(note.name for note in snapshot.notes))))
    said = []
    if names:
        left = len(names) - _NOTES_SAID
        shown = joined(tuple(verbatim(name[:_NOTE_LETTERS]) for name in names[:_NOTES_SAID]))
        said.append(text("Notes of the program: {notes}", notes=shown))
        if left > 0:
            said[-1] = text("Notes of the program: {notes}, and {count} more", notes=shown, count=left)
    if snapshot.unread:
        said.append(text("Not read of the file: {names}", names=", ".join(snapshot.unread)))
    return said


# The document


def snapshot_document(
    snapshot: MemorySnapshot, story: SnapshotStory, words: Words, growth: Sequence[tuple[int, Sequence[GrowthShare]]] = ()
) -> dict[str, Json]:
    document: dict[str, Json] = {
        "schema": SCHEMA,
        "file": snapshot.source,
        "devices": [_device(snapshot, one) for one in story.devices],
        "events": snapshot.events,
        "events_recorded": sum(trace.recorded for trace in snapshot.traces),
        "allocator_settings": dict(snapshot.settings),
        "user_metadata": list(snapshot.texts[:LINES_AT_MOST]),
        "annotations": len(snapshot.notes),
        "not_read": list(snapshot.unread),
        "findings": [_finding(one, words) for one in story.findings],
    }
    if growth:
        document["growth"] = [
            {"device": device, "lines": [_growth(share) for share in shares[:LINES_AT_MOST]]} for device, shares in growth
        ]
    return document


def _finding(finding: SnapshotFinding, words: Words) -> Json:
    document = finding_document(answer_of(finding, words), words)
    assert isinstance(document, dict)
    return {**document, "device": finding.device, "bytes": finding.bytes}


def _device(snapshot: MemorySnapshot, story: DeviceStory) -> Json:
    pieces = story.fragmentation
    stacks = _stacks_at_peak(snapshot, story)
    return {
        "device": story.device,
        "peak_bytes": story.peak.bytes,
        "peak_event": story.peak.moment,
        "allocated_bytes": story.allocated_bytes,
        "reserved_bytes": story.reserved_bytes,
        "events": story.events,
        "before_history_bytes": story.earlier_bytes,
        "stacks": stacks[:STACKS_AT_MOST],
        "stacks_left_out": max(len(stacks) - STACKS_AT_MOST, 0),
        "lines": [_share(share) for share in story.peak.shares[:LINES_AT_MOST]],
        "segments": {name: getattr(pieces, name) for name in pieces.__struct_fields__},
        "out_of_memory": [
            {
                "event": one.moment,
                "asked_bytes": one.asked_bytes,
                "device_free_bytes": one.free_bytes,
                "allocated_bytes": one.allocated_bytes,
                "reserved_bytes": one.reserved_bytes,
                "frames": frames_document(snapshot, one.stack),
            }
            for one in story.out_of_memory
        ],
    }


def _stacks_at_peak(snapshot: MemorySnapshot, story: DeviceStory) -> list[Json]:
    rows = there_at(story.allocations, story.peak.moment)
    different, of_row = np.unique(story.allocations.stack[rows], return_inverse=True)
    totals = np.zeros(len(different), np.int64)
    np.add.at(totals, of_row.ravel(), story.allocations.size[rows])
    order = np.argsort(-totals, kind="stable").tolist()
    shown: list[Json] = [
        {"bytes": int(totals[place]), "frames": frames_document(snapshot, int(different[place]))}
        for place in order[:STACKS_AT_MOST]
    ]
    shown.extend({"bytes": int(totals[place])} for place in order[STACKS_AT_MOST:])
    return shown


def frames_document(snapshot: MemorySnapshot, stack: int) -> list[Json]:
    return [{"file": frame.file, "line": frame.line, "function": frame.function} for frame in snapshot.frames_of(stack)]


def _share(share: StackShare) -> Json:
    return {
        "bytes": share.bytes,
        "allocations": share.allocations,
        "kind": share.kind.value,
        "is_users": share.is_users,
        **_line(share.line),
    }


def _growth(share: GrowthShare) -> Json:
    return {"before_bytes": share.before_bytes, "after_bytes": share.after_bytes, "is_users": share.is_users, **_line(share.line)}


def _line(line: StackFrame | None) -> dict[str, Json]:
    return (
        {"file": None, "line": None, "function": None}
        if line is None
        else {"file": line.file or None, "line": line.line or None, "function": line.function}
    )
