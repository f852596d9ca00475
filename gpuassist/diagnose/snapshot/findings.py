"""What to change first in a program, by its memory snapshot: sentences that the figures carry, and what cannot be known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpuassist.diagnose.snapshot.floor_growth import kept_by_lines
from gpuassist.diagnose.snapshot.lines import StackLines, line_of
from gpuassist.diagnose.snapshot.shares import shares_at
from gpuassist.formats.size import shown_size
from gpuassist.formats.visible import visible
from gpuassist.model.finding import Severity
from gpuassist.model.memory_snapshot import NO_STACK, MemorySnapshot, StackFrame
from gpuassist.model.memory_story import DeviceStory, MemoryKind, SnapshotFinding, StackShare
from gpuassist.model.text import Text, counted, text, verbatim

_MIB = 1 << 20
_WORTH = 64 * _MIB  # below that nothing is worth a change
_MUCH = 0.3  # of the peak, by one line
_MOSTLY = 0.5  # of the peak, by lines that are for the same
_SPLIT = 0.15  # of what is reserved, in gaps
_EMPTY = 0.3  # of what is reserved, in segments that hold nothing
_ORDER = {Severity.PROBLEM: 0, Severity.WARNING: 1, Severity.INFO: 2}


def findings_of(
    snapshot: MemorySnapshot, devices: tuple[DeviceStory, ...], lines: StackLines, card_bytes: int | None = None
) -> tuple[SnapshotFinding, ...]:
    """All findings, the first thing to change first. `card_bytes` is the memory of the largest card that is known of."""
    found = [one for story in devices for one in _of_device(snapshot, story, lines, card_bytes)]
    return tuple(sorted(found, key=lambda one: _ORDER[one.severity]))


def _of_device(
    snapshot: MemorySnapshot, story: DeviceStory, lines: StackLines, card_bytes: int | None
) -> Iterator[SnapshotFinding]:
    yield from _out_of_memory(snapshot, story, lines)
    if not story.has_history:
        yield _no_history(story)
    ghosts = story.ghost_bytes > max(_WORTH, story.peak.bytes // 20)
    if ghosts:
        yield _frees_missing(story)
    kept = () if ghosts else tuple(_kept(story, lines))
    yield from kept
    yield from _fragmented(snapshot, story)
    yield from _dominated(story, {one.frame for one in kept})
    yield from _cached(story)
    yield from _above_card(story, card_bytes)
    yield from _private(story)
    yield from _unknown(snapshot, story)


# What stopped it, or will


def _out_of_memory(snapshot: MemorySnapshot, story: DeviceStory, lines: StackLines) -> Iterator[SnapshotFinding]:
    if not story.out_of_memory:
        return
    last = story.out_of_memory[-1]
    reserved = last.reserved_bytes or 0
    cached = max(reserved - last.allocated_bytes, 0)
    frame = _line_of(snapshot, last.stack)
    free = text("an unknown amount") if last.free_bytes is None else verbatim(shown_size(last.free_bytes))
    explanation = text(
        "{asked} were asked for by {place}. torch had {allocated} allocated and {cached} cached in pieces; the driver had {free}"
        " left.",
        asked=shown_size(last.asked_bytes),
        place=text("an unknown line") if frame is None else verbatim(_place(frame)),
        allocated=shown_size(last.allocated_bytes),
        cached=shown_size(cached),
        free=free,
    )
    room = cached + (last.free_bytes or 0)
    if last.free_bytes is not None and last.asked_bytes > room + last.allocated_bytes:
        change = text(
            "Even with nothing else allocated it would not have fitted: the request itself is too large. Look at the shapes in"
            " that line."
        )
    elif cached > last.asked_bytes and cached > (last.free_bytes or 0):
        change = _against_gaps(snapshot)
    else:
        held = shares_at(story.allocations, lines, last.moment)
        most = next((share for share in held if share.is_users), next((share for share in held if share.line), None))
        change = text("Less must be allocated at that moment.")
        if most is not None:
            change = text(
                "Less must be allocated at that moment: begin with {place}, which held {bytes} then.",
                place=_place(most.line),
                bytes=shown_size(most.bytes),
            )
    times = counted(
        "Out of memory on GPU {device}, {count} time",
        "Out of memory on GPU {device}, {count} times",
        len(story.out_of_memory),
        device=story.device,
    )
    yield SnapshotFinding(
        "snapshot-out-of-memory", Severity.PROBLEM, story.device, times, explanation, change, last.asked_bytes, frame
    )


def _kept(story: DeviceStory, lines: StackLines) -> Iterator[SnapshotFinding]:
    for kept in kept_by_lines(story.allocations, story.active, lines)[:3]:
        if kept.bytes < max(_MIB, story.peak.bytes // (1000 if kept.again else 20)):
            continue
        frame = lines.groups[kept.group][0]
        yield SnapshotFinding(
            "snapshot-grows",
            Severity.WARNING,
            story.device,
            text("Memory is kept from step to step: {place}", place=_place(frame))
            if kept.again
            else text("Memory made between two steps is kept to the end: {place}", place=_place(frame)),
            counted(
                "{count} allocation of this line stayed, {bytes} together, while memory rose and fell between.",
                "{count} allocations of this line stayed, {bytes} together, while memory rose and fell between them.",
                kept.allocations,
                bytes=shown_size(kept.bytes),
            )
            if kept.again
            else counted(
                "{count} allocation of this line stayed, {bytes}; steps came and went before it and after it.",
                "{count} allocations of this line stayed, {bytes} together; steps came and went before them and after them.",
                kept.allocations,
                bytes=shown_size(kept.bytes),
            ),
            text(
                "Look for what holds on to its result: a list of losses or outputs (`loss.item()` and `.detach()` keep"
                " the number without"
                " its graph), a cache, `retain_graph=True`, an evaluation without `torch.no_grad()`."
            ),
            kept.bytes,
            frame,
        )


# Where the memory is


def _dominated(story: DeviceStory, kept: set[StackFrame | None]) -> Iterator[SnapshotFinding]:
    """By a line, unless what grows has named it already; or by what many lines made for one end."""
    largest = next((share for share in story.peak.shares if share.line is not None), None)
    if largest is None or story.peak.bytes < _WORTH or largest.line in kept:
        return
    if largest.bytes < _MUCH * story.peak.bytes:
        yield from _of_one_kind(story)
        return
    percent = round(100 * largest.bytes / story.peak.bytes)
    yield SnapshotFinding(
        "snapshot-peak-line",
        Severity.INFO,
        story.device,
        text(
            "{percent} % of the peak on GPU {device} comes from one line: {place}",
            percent=percent,
            device=story.device,
            place=_place(largest.line),
        ),
        _what_for(largest),
        _ADVICE[largest.kind],
        largest.bytes,
        largest.line,
    )


def _of_one_kind(story: DeviceStory) -> Iterator[SnapshotFinding]:
    by_kind: dict[MemoryKind, list[StackShare]] = {}
    for share in story.peak.shares:
        if share.kind is not MemoryKind.UNKNOWN and share.line is not None:
            by_kind.setdefault(share.kind, []).append(share)
    sums = {kind: sum(share.bytes for share in shares) for kind, shares in by_kind.items()}
    kind = max(sums, key=lambda one: sums[one], default=None)
    if kind is None or sums[kind] < _MOSTLY * story.peak.bytes:
        return
    shares, percent = by_kind[kind], round(100 * sums[kind] / story.peak.bytes)
    largest = max(shares, key=lambda one: one.bytes)
    yield SnapshotFinding(
        "snapshot-peak-kind",
        Severity.INFO,
        story.device,
        _mostly(kind, percent, story.device),
        counted(
            "{bytes}, by {count} line of the program; most by {place}.",
            "{bytes}, by {count} lines of the program; most by {place}.",
            len(shares),
            bytes=shown_size(sums[kind]),
            place=_place(largest.line),
        ),
        _ADVICE[kind],
        sums[kind],
        largest.line,
    )


def _mostly(kind: MemoryKind, percent: int, device: int) -> Text:
    if kind is MemoryKind.PARAMETERS:
        return text("{percent} % of the peak on GPU {device} are parameters", percent=percent, device=device)
    if kind is MemoryKind.OPTIMIZER:
        return text("{percent} % of the peak on GPU {device} are the optimizer's state", percent=percent, device=device)
    if kind is MemoryKind.FORWARD:
        return text("{percent} % of the peak on GPU {device} come from the forward pass", percent=percent, device=device)
    return text("{percent} % of the peak on GPU {device} come from the backward pass", percent=percent, device=device)


def _what_for(share: StackShare) -> Text:
    held = {"bytes": shown_size(share.bytes)}
    return {
        MemoryKind.PARAMETERS: text("{bytes} of parameters: its stacks run through the making or moving of modules.", **held),
        MemoryKind.OPTIMIZER: text("{bytes} of the optimizer's state: its stacks run through torch.optim.", **held),
        MemoryKind.FORWARD: text(
            "{bytes} of what modules made in the forward pass, and what is kept of it for the backward pass.", **held
        ),
        MemoryKind.BACKWARD: text("{bytes} of gradients and of what the backward pass needs.", **held),
        MemoryKind.UNKNOWN: text("{bytes}. The stack does not show what they are for.", **held),
    }[share.kind]


_ADVICE = {
    MemoryKind.PARAMETERS: text("Load it in bfloat16, quantised, or sharded over several GPUs."),
    MemoryKind.OPTIMIZER: text("An optimizer with less state (8-bit, Adafactor, SGD), or its state sharded over several GPUs."),
    MemoryKind.FORWARD: text(
        "A smaller batch or a shorter sequence, checkpointing of this module (`torch.utils.checkpoint`), bfloat16 under"
        " autocast; where no"
        " gradient is wanted, `torch.no_grad()`."
    ),
    MemoryKind.BACKWARD: text(
        "`zero_grad(set_to_none=True)` before the next forward pass, a smaller batch with accumulated gradients, or a"
        " step within the backward pass."
    ),
    MemoryKind.UNKNOWN: text("Look at the shapes in that line: whether all of it is needed at once, and in this precision."),
}


def _fragmented(snapshot: MemorySnapshot, story: DeviceStory) -> Iterator[SnapshotFinding]:
    pieces = story.fragmentation
    if pieces.split_bytes < max(_WORTH, _SPLIT * pieces.reserved_bytes):
        return
    yield SnapshotFinding(
        "snapshot-fragmented",
        Severity.WARNING,
        story.device,
        text(
            "{bytes} on GPU {device} lie in gaps between what is in use", bytes=shown_size(pieces.split_bytes), device=story.device
        ),
        text(
            "That is {percent} % of what torch reserved; it cannot be given back, and the largest free piece is {largest}.",
            percent=round(100 * pieces.split_bytes / max(pieces.reserved_bytes, 1)),
            largest=shown_size(pieces.largest_free_bytes),
        ),
        _against_gaps(snapshot),
        pieces.split_bytes,
    )


def _against_gaps(snapshot: MemorySnapshot) -> Text:
    if dict(snapshot.settings).get("expandable_segments") == "True" or bool(snapshot.segments.is_expandable.any()):
        return text("Expandable segments are on already: pad inputs to a few sizes, or make large tensors once and use them again.")
    return text("Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, or pad inputs to a few sizes.")


def _cached(story: DeviceStory) -> Iterator[SnapshotFinding]:
    pieces = story.fragmentation
    if pieces.empty_bytes < max(4 * _WORTH, _EMPTY * pieces.reserved_bytes):
        return
    yield SnapshotFinding(
        "snapshot-cached-unused",
        Severity.INFO,
        story.device,
        text(
            "{bytes} on GPU {device} are cached, and nothing is in them", bytes=shown_size(pieces.empty_bytes), device=story.device
        ),
        text(
            "They are no leak: torch keeps them for the next peak, which was {peak}. Other programs see them as used.",
            peak=shown_size(story.peak.bytes),
        )
        if story.has_history
        else text("They are no leak: torch keeps them for the next peak. Other programs see them as used."),
        text("Only where another program needs them: `torch.cuda.empty_cache()` after the peak."),
        pieces.empty_bytes,
    )


def _above_card(story: DeviceStory, card_bytes: int | None) -> Iterator[SnapshotFinding]:
    most = int(max(story.peak.bytes, story.reserved.max(initial=0)))
    if card_bytes is None or most <= card_bytes:
        return
    yield SnapshotFinding(
        "snapshot-above-card",
        Severity.INFO,
        story.device,
        text("The total on GPU {device} is above this machine's card", device=story.device),
        text("It reaches {bytes}; the largest card here has {card}.", bytes=shown_size(most), card=shown_size(card_bytes)),
        text("The snapshot is of another machine, or of memory that only looks allocated; it would not fit here as it is."),
        most,
    )


def _private(story: DeviceStory) -> Iterator[SnapshotFinding]:
    pieces = story.fragmentation
    if pieces.private_bytes < max(_WORTH, _MUCH * pieces.reserved_bytes):
        return
    yield SnapshotFinding(
        "snapshot-private-pools",
        Severity.INFO,
        story.device,
        text("{bytes} on GPU {device} belong to private pools", bytes=shown_size(pieces.private_bytes), device=story.device),
        text("Pools of CUDA graphs and of `torch.cuda.MemPool` are never shared with the rest, also where they are empty."),
        text("Fewer captured shapes, or one pool for several graphs (`pool=` of `torch.cuda.graph`)."),
        pieces.private_bytes,
    )


# What cannot be known


def _unknown(snapshot: MemorySnapshot, story: DeviceStory) -> Iterator[SnapshotFinding]:
    if story.has_history and story.earlier_bytes > story.peak.bytes // 100:
        yield _began_late(snapshot, story)
    with_stack = np.count_nonzero(story.allocations.stack != NO_STACK)
    if story.has_history and len(story.allocations) and not with_stack:
        title = text("No allocation on GPU {device} has a stack", device=story.device)
        explanation = text("Which line allocated what cannot be told: it was recorded without stacks.")
        yield SnapshotFinding("snapshot-no-stacks", Severity.INFO, story.device, title, explanation, _RECORD, story.peak.bytes)


_RECORD = text(
    "Record again: `gpuassist run --snapshots DIRECTORY -- COMMAND`, or `torch.cuda.memory._record_memory_history()` first of all."
)


def _no_history(story: DeviceStory) -> SnapshotFinding:
    title = text("GPU {device} has no history", device=story.device)
    explanation = text("Only what was allocated at the end is known: no peak, no growth, nothing of what came before.")
    return SnapshotFinding("snapshot-no-history", Severity.INFO, story.device, title, explanation, _RECORD, story.allocated_bytes)


def _frees_missing(story: DeviceStory) -> SnapshotFinding:
    """Recorded in parts, or with `skip_actions`."""
    return SnapshotFinding(
        "snapshot-frees-missing",
        Severity.INFO,
        story.device,
        text("The figures of GPU {device} are too high: frees are missing from its history", device=story.device),
        text(
            "{bytes} that were allocated are in no block at the end, and nothing says when they went; torch never had more than"
            " {reserved}.",
            bytes=shown_size(story.ghost_bytes),
            reserved=shown_size(int(story.reserved.max(initial=0))),
        ),
        text("Record without a break, and with completed frees (no `skip_actions`)."),
        story.ghost_bytes,
    )


def _began_late(snapshot: MemorySnapshot, story: DeviceStory) -> SnapshotFinding:
    trace = next(trace for trace in snapshot.traces if trace.device == story.device)
    held = shown_size(story.earlier_bytes)
    if trace.first:
        explanation = text(
            "{bytes} were allocated before event {first}, with which the chosen range begins.", bytes=held, first=trace.first
        )
        change = text("Read the whole file to see where they come from.")
    elif _is_round(story.recorded):
        explanation = text(
            "{bytes} were allocated before the first of {count} events. Such a round number is most likely the most that"
            " torch was asked to keep"
            " (`max_entries`): older events were overwritten.",
            bytes=held,
            count=story.recorded,
        )
        change = text("Record with a larger `max_entries`, or a shorter part of the program.")
    else:
        explanation = text(
            "{bytes} were allocated before recording began; of what was freed since, nobody knows who made it.", bytes=held
        )
        change = text("Call `torch.cuda.memory._record_memory_history()` before the model is made.")
    title = text("The history of GPU {device} begins in the middle", device=story.device)
    return SnapshotFinding(
        "snapshot-history-begins-late", Severity.INFO, story.device, title, explanation, change, story.earlier_bytes
    )


def _is_round(count: int) -> bool:
    return count >= 1000 and (len(str(count).rstrip("0")) <= 2 or count & (count - 1) == 0)


def _line_of(snapshot: MemorySnapshot, stack: int) -> StackFrame | None:
    return line_of(snapshot.frames_of(stack))[0]


def _place(frame: StackFrame | None) -> str:
    if frame is None:
        return ""
    return visible(f"{frame.file.rsplit('/', 1)[-1]}:{frame.line} {frame.function}" if frame.file else frame.function)
