"""What the page of a memory snapshot says: of owners, moments and blocks, of the segments, and of what was read."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.size import shown_size
from gpuassist.formats.visible import visible
from gpuassist.model.memory_snapshot import BlockState, StackFrame
from gpuassist.model.memory_story import Fragmentation, MemoryKind
from gpuassist.model.text import Text, counted, joined, labelled, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.memory_snapshot import KINDS, place_words
from gpuassist.session.opened_snapshot import DeviceLook, ReadingOutlook
from gpuassist.session.snapshot_owners import OwnerLine, StackHeld

STACKS_AT_MOST = 30  # of one line, told one by one
_TOLD_IN_SUMMARY = 5

NO_STACK_KEPT = text("no stack kept")  # in a legend and a table, where the reasons have no room
BLOCK_WORDS = {
    BlockState.ACTIVE: text("in use"),
    BlockState.AWAITING_FREE: text("freed, and a stream still uses it"),
    BlockState.INACTIVE: text("free"),
    BlockState.OTHER: text("in a state that this version does not know"),
}


def size_words(count: int) -> Text:
    return verbatim(shown_size(count))


def change_words(count: int) -> str:
    """A difference, with its sign."""
    return f"{'+' if count > 0 else '−' if count < 0 else ''}{shown_size(abs(count))}"


def frame_name(frame: StackFrame) -> str:
    """`train.py:42`; a function of C++ has no file that would say anything."""
    return visible(f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame.file else frame.function)


def line_name(line: OwnerLine) -> Text:
    """`train.py:42 forward`, or that nobody knows."""
    if line.frame is None:
        return NO_STACK_KEPT
    return verbatim(" ".join(dict.fromkeys((frame_name(line.frame), line.frame.function))))


def line_use(line: OwnerLine) -> Text:
    """The function, and what the memory is for where its stacks show that."""
    kind = KINDS[line.kind] if line.kind is not MemoryKind.UNKNOWN else None
    parts = (verbatim(line.frame.function) if line.frame is not None and line.frame.file else None, kind)
    return joined(tuple(part for part in parts if part is not None))


def moment_name(look: DeviceLook, point: int) -> Text:
    """Which event, and when it was where torch kept that; counted in the file, of which the first events may not have been read."""
    trace = next((one for one in look.opened.snapshot.traces if one.device == look.story.device), None)
    first = trace.first if trace is not None else 0
    if point <= 0:
        return text("before the first event") if not first else text("before event {number}", number=f"{first + 1:,}")
    event = text("event {number}", number=f"{first + point:,}")
    return joined((event, text("{seconds} s", seconds=f"{look.timeline.second(point):.3f}"))) if look.has_times else event


def block_life(look: DeviceLook, row: int) -> Iterator[tuple[Text, Text]]:
    """What is said of a block, each with its name: its size and address, and when it was allocated and freed."""
    allocations = look.story.allocations
    yield text("this block"), size_words(int(allocations.size[row]))
    yield text("address"), verbatim(f"0x{int(allocations.address[row]):x}")
    start, end = int(allocations.start[row]), int(allocations.end[row])
    yield text("allocated"), text("before the recording") if start <= 0 else moment_name(look, start)
    yield text("freed"), text("never") if end > look.story.events else moment_name(look, end)
    noted = _note_at(look, start)
    if noted:
        yield text("the program’s note"), verbatim(noted)


def _note_at(look: DeviceLook, moment: int) -> str:
    """What the program noted with the event that ends in this moment (the user's metadata)."""
    snapshot = look.opened.snapshot
    trace = next((one for one in snapshot.traces if one.device == look.story.device), None)
    if trace is None or not 0 < moment <= len(trace.events):
        return ""
    note = int(trace.events.note[moment - 1])
    return snapshot.texts[note] if note >= 0 else ""


def held_words(held: int, blocks: int) -> Text:
    return counted("{size} in {count} block", "{size} in {count} blocks", blocks, size=shown_size(held))


def plot_summary(look: DeviceLook) -> Text:
    """What can be seen in the plot, for who does not see it."""
    story, peak = look.story, look.timeline.total.peak
    shares = look.timeline.shares(peak)
    largest = sorted(range(len(shares)), key=lambda one: -shares[one])[:_TOLD_IN_SUMMARY]
    told = tuple(labelled(line_name(look.line(one)), shown_size(int(shares[one]))) for one in largest if shares[one])
    at_peak = text(
        "peak {size} at {moment}", size=shown_size(int(look.timeline.total.values[peak])), moment=moment_name(look, peak)
    )
    return joined(
        (
            *((at_peak,) if story.has_history else ()),
            *told,
            text("{size} at the end", size=shown_size(story.allocated_bytes)),
        )
    )


def figures(look: DeviceLook) -> Text:
    """The line below the title."""
    story = look.story
    parts = [
        text("peak {size}", size=shown_size(story.peak.bytes)),
        text("{size} at the end", size=shown_size(story.allocated_bytes)),
        text("{size} reserved", size=shown_size(story.reserved_bytes)),
        counted("{number} event", "{number} events", story.events, number=f"{story.events:,}"),
    ]
    if not story.reserved_bytes:
        del parts[2]  # a history without segments
    if not story.has_history:
        del parts[0]  # what was held at the end is no peak
    if story.recorded > story.events:
        parts[-1] = text("{read} of {number} events", read=f"{story.events:,}", number=f"{story.recorded:,}")
    return joined(tuple(parts))


def stacks_text(look: DeviceLook, stacks: tuple[StackHeld, ...], words: Words) -> str:
    """Whole stacks, innermost line first, to be read and copied."""
    parts = []
    for one in stacks[:STACKS_AT_MOST]:
        frames = look.opened.snapshot.frames_of(one.stack)
        lines = [f"  {_short(frame.file)}:{frame.line} {frame.function}" for frame in frames] or [f"  {words(place_words(None))}"]
        parts.append("\n".join((words(held_words(one.held, one.blocks)), *lines)))
    if len(stacks) > STACKS_AT_MOST:
        parts.append(words(counted("and {count} more stack", "and {count} more stacks", len(stacks) - STACKS_AT_MOST)))
    return "\n\n".join(parts)


def _short(file: str) -> str:
    """Where a package lies is the same in every line of it."""
    for directory in ("/site-packages/", "/dist-packages/"):
        _, found, inside = file.rpartition(directory)
        if found:
            return inside
    return file


def fragmentation_words(found: Fragmentation) -> tuple[Text, ...]:
    """The picture of the segments in words."""
    told = [
        counted(
            "{count} segment with {size}: {used} in use, {free} free",
            "{count} segments with {size}: {used} in use, {free} free",
            found.segments,
            size=shown_size(found.reserved_bytes),
            used=shown_size(found.allocated_bytes),
            free=shown_size(found.inactive_bytes),
        )
    ]
    if found.split_bytes:
        told.append(
            text(
                "{split} of the free memory lies beside something in use, so that torch cannot give it back; the largest free piece"
                " is {largest}",
                split=shown_size(found.split_bytes),
                largest=shown_size(found.largest_free_bytes),
            )
        )
    if found.empty_bytes:
        told.append(
            text("{size} of the free memory can be given back: `torch.cuda.empty_cache()` does it",
                 size=shown_size(found.empty_bytes))
        )  # fmt: skip
    if found.awaiting_bytes:
        told.append(text("{size} is freed, and a stream still uses it", size=shown_size(found.awaiting_bytes)))
    if found.expandable_bytes:
        told.append(text("{size} in expandable segments", size=shown_size(found.expandable_bytes)))
    if found.private_bytes:
        told.append(text("{size} in pools of CUDA graphs or `MemPool`", size=shown_size(found.private_bytes)))
    return tuple(told)


def allocation_words(look: DeviceLook, row: int) -> Text:
    """Whose an allocation is, and when it was there."""
    owner = int(look.timeline.lives.owned_by[row])
    return joined((line_name(look.line(owner)), *(labelled(name, value) for name, value in block_life(look, row))))


def segment_words(look: DeviceLook, segment: int, block: int | None) -> Text:
    """A segment, and a block of it with who allocated that."""
    snapshot = look.opened.snapshot
    segments, blocks = snapshot.segments, snapshot.blocks
    slots = {"size": shown_size(int(segments.size[segment])), "address": f"0x{int(segments.address[segment]):x}"}
    whole = text("segment of {size} at {address}", **slots)
    if segments.is_expandable[segment]:
        whole = text("expandable segment of {size} at {address}", **slots)
    if block is None:
        return whole
    state = BlockState(int(blocks.state[block]))
    told = [whole, labelled(size_words(int(blocks.size[block])), BLOCK_WORDS[state])]
    if state is not BlockState.INACTIVE:
        told.append(line_name(look.line(int(look.owners.of_stack[int(blocks.stack[block])]))))
        unused = int(blocks.size[block]) - int(blocks.requested[block])
        if unused > 0 and int(blocks.requested[block]) > 0:
            told.append(text("{size} of it is rounding", size=shown_size(unused)))
    return joined(tuple(told))


def address_meant(words: str) -> int | None:
    """An address as programs print it: hexadecimal, with or without `0x`; None for what is none."""
    digits = words.strip().lower().removeprefix("0x").replace("_", "")
    return int(digits, 16) if digits and len(digits) <= 16 and set(digits) <= set("0123456789abcdef") else None


_TEXTS_AT_MOST = 50


def setting_rows(look: DeviceLook, words: Words) -> Iterator[tuple[str, str]]:
    """The allocator's settings, what the program noted, and what of the file was not understood."""
    snapshot = look.opened.snapshot
    yield words(text("file")), f"{look.opened.path} · {shown_size(snapshot.size)}"
    yield from snapshot.settings
    if not snapshot.settings:
        yield words(text("allocator settings")), words(text("torch kept none in this snapshot"))
    for note in snapshot.texts[:_TEXTS_AT_MOST]:
        yield words(text("the program’s note")), note
    names = dict.fromkeys(note.name for note in snapshot.notes)
    for name in list(names)[:_TEXTS_AT_MOST]:
        yield words(text("the program’s annotation")), name
    for name in snapshot.unread:
        yield words(text("not read")), name


def outlook_words(outlook: ReadingOutlook, *, whole: bool) -> Text:
    """What reading a file takes, all of it or some of its events, and what there is."""
    needed = outlook.memory if whole else outlook.memory_for_part
    size, memory, seconds = shown_size(outlook.size), shown_size(needed), max(1, round(outlook.seconds))
    if outlook.free is None:
        return text(
            "The file has {size}. Reading it takes about {seconds} s and at most {memory} of memory.",
            size=size,
            seconds=seconds,
            memory=memory,
        )
    free = shown_size(outlook.free)
    if needed > outlook.free:
        return text(
            "The file has {size}. Reading it takes at most {memory} of memory, and only {free} are free: close other programs, or"
            " read it on a computer with more.",
            size=size,
            memory=memory,
            free=free,
        )
    return text(
        "The file has {size}. Reading it takes about {seconds} s and at most {memory} of memory; {free} are free.",
        size=size,
        seconds=seconds,
        memory=memory,
        free=free,
    )
