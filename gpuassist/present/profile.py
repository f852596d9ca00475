"""What is said of a profile: the share of each kind of work, the names behind it, what the file cannot tell; sentences and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuassist.model.codec import Json
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare
from gpuassist.model.text import Text, joined, text, verbatim
from gpuassist.model.words import Words
from gpuassist.present.answer_document import SCHEMA, finding_document
from gpuassist.session.profiling.profile_file import ProfileAnswer

FORM_TITLES: dict[ProfileForm, Text] = {
    ProfileForm.TORCH_TRACE: text("trace of torch.profiler"),
    ProfileForm.TORCH_TABLE: text("table of torch's operators"),
    ProfileForm.CPROFILE: text("profile of cProfile"),
    ProfileForm.NSYS_EXPORT: text("export of Nsight Systems"),
    ProfileForm.NSYS_STATS: text("tables of Nsight Systems"),
    ProfileForm.SPEEDSCOPE: text("samples of py-spy (speedscope)"),
    ProfileForm.STACKS: text("samples of py-spy (stacks)"),
    ProfileForm.SCALENE: text("profile of scalene"),
    ProfileForm.FLAME_GRAPH: text("flame graph (SVG), as py-spy draws it"),
    ProfileForm.LINES: text("tables of line_profiler"),
}
BASIS_WORDS: dict[ShareBasis, Text] = {
    ShareBasis.MOMENTS: text("what each moment went to: the GPU's work first, and while it had none, what the program did"),
    ShareBasis.THREAD: text("time of the processor by function; while it waits for the GPU, that is counted as waiting"),
    ShareBasis.DEVICE: text("time of the GPU alone; how long it stood still is not in it"),
}
KIND_TITLES: dict[TimeKind, Text] = {
    TimeKind.KERNELS: text("kernels"),
    TimeKind.COMMUNICATION: text("communication between GPUs"),
    TimeKind.COPIES: text("copies"),
    TimeKind.DATA: text("loading data"),
    TimeKind.START: text("starting, pauses"),
    TimeKind.WAITS: text("waiting for the GPU"),
    TimeKind.LAUNCHES: text("starting kernels (calls of CUDA)"),
    TimeKind.OPERATORS: text("operators on the processor"),
    TimeKind.PYTHON: text("Python"),
    TimeKind.REST: text("not told by the file"),
}
GAP_WORDS: dict[ProfileGap, Text] = {
    ProfileGap.NO_GPU: text("nothing of a GPU is in it: what a GPU did meanwhile is not known"),
    ProfileGap.NO_WAITING: text("how long the GPU stood still, and why, is not in it"),
    ProfileGap.NO_PYTHON: text("which share is Python's is not in it"),
    ProfileGap.NO_LINES: text("lines of your own code are not in it: `with_stack=True` of torch.profiler records them"),
    ProfileGap.NO_OPERATORS: text("torch's operators are not in it: their time counts as not told"),
    ProfileGap.NO_MOMENTS: text("only sums are in it: what ran at the same time is not known"),
    ProfileGap.PART_OF_ROWS: text("the table was cut: more than a twentieth of the time is in rows that it does not have"),
    ProfileGap.SAMPLED: text("it was sampled: what is short and seldom is missing"),
    ProfileGap.CUT_SHORT: text("the file ends before its events do: the last of them are missing"),
    ProfileGap.UNREADABLE_EVENTS: text("some events could not be read and are left out"),
    ProfileGap.TOO_MANY_EVENTS: text("it has more events than are told apart: times of operators are with what they call"),
    ProfileGap.SEVERAL_PROCESSES: text("several processes are in it: their time is counted together"),
    ProfileGap.COARSE: text("very short pauses between two events count as a part of them"),
    ProfileGap.CALLS_BY_CODE: text(
        "the time of a line holds what it calls: which function that was is told by its code alone, and some may count twice"
    ),
}
_LEAST_SHARE = 0.0005
_MOST_ROWS = 40


class ShareRow(NamedTuple):
    """A kind's part of the whole, 0 to 1; `seconds` are None where samples were counted and no time."""

    kind: TimeKind
    title: Text
    part: float
    seconds: float | None


class EntryRow(NamedTuple):
    """A row of the table."""

    entry: ProfileEntry
    kind: Text
    part: float
    seconds: float | None


def share_rows(reading: ProfileReading) -> tuple[ShareRow, ...]:
    """The kinds, in the order in which a moment is given to them."""
    whole = sum(one.seconds for one in reading.shares)
    timed = reading.seconds is not None
    return tuple(
        ShareRow(one.kind, kind_title(reading, one.kind), one.seconds / whole, one.seconds if timed else None)
        for one in _in_order(reading.shares)
        if whole and one.seconds / whole >= _LEAST_SHARE
    )


def kind_title(reading: ProfileReading, kind: TimeKind) -> Text:
    """What the file does not tell lies between operators where it has them: mostly Python."""
    if kind is TimeKind.REST and reading.form is ProfileForm.TORCH_TRACE:
        return text("between operators: Python, and what was not recorded")
    if kind is TimeKind.REST and reading.form is ProfileForm.NSYS_EXPORT:
        return text("the processor, outside of CUDA's calls")
    return KIND_TITLES[kind]


def entry_rows(readings: tuple[ProfileReading, ...], most: int = _MOST_ROWS) -> tuple[EntryRow, ...]:
    """Whatever took longest, of all that was read; its part is that of its own reading."""
    rows = list[EntryRow]()
    for reading in readings:
        whole = sum(one.seconds for one in reading.shares)
        timed = reading.seconds is not None
        rows += [
            EntryRow(one, KIND_TITLES[one.kind], one.seconds / whole if whole else 0.0, one.seconds if timed else None)
            for one in reading.entries
            if one.seconds > 0
        ]
    rows.sort(key=lambda row: -row.entry.seconds)
    return tuple(rows[:most])


def heading(answer: ProfileAnswer) -> Text:
    """What the file is, and how much time it is of."""
    reading = answer.main
    parts = [FORM_TITLES[reading.form]]
    if reading.seconds is not None:
        parts.append(shown_time(reading.seconds))
    if reading.events and reading.basis is ShareBasis.MOMENTS:
        parts.append(text("{count} events", count=f"{reading.events:,}"))
    return joined(tuple(parts))


def shown_time(seconds: float) -> Text:
    """In the unit that is read best; units are the same in every language."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return verbatim(f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:,.0f} {unit}")
    return verbatim("0 s" if seconds <= 0 else f"{seconds * 1e6:.2g} µs")


def shown_part(part: float) -> Text:
    """In percent; what is little is not shown as nothing."""
    return text("{percent} %", percent=f"{100 * part:.0f}" if part >= 0.0995 or not part else f"{100 * part:.1f}")


def summary_of(reading: ProfileReading) -> Text:
    """The picture in words."""
    return joined(tuple(text("{kind} {percent}", kind=row.title, percent=shown_part(row.part)) for row in share_rows(reading)))


def gap_words(answer: ProfileAnswer) -> tuple[Text, ...]:
    """What the file cannot tell, each once."""
    return tuple(GAP_WORDS[gap] for gap in dict.fromkeys(gap for one in answer.readings for gap in one.gaps))


def in_plain_text(answer: ProfileAnswer, words: Words) -> str:
    """The whole answer, to be pasted somewhere."""
    return "\n".join(_lines(answer, words))


def _lines(answer: ProfileAnswer, words: Words) -> Iterator[str]:
    yield f"{answer.path}: {words(heading(answer))}"
    if answer.answer is not None:
        yield answer.answer.title
        yield answer.answer.explanation
        yield from (one.text for one in answer.answer.remedies)
    for reading in answer.readings:
        yield words(summary_of(reading))
    for row in entry_rows(answer.readings, 15):
        time = words(shown_time(row.seconds)) if row.seconds is not None else ""
        yield f"{words(shown_part(row.part)):>7}  {time:>9}  {row.entry.calls:>9}  {words(row.kind)}: {row.entry.name}"
    for one in gap_words(answer):
        yield words(text("Not known: {what}.", what=one))


def profile_document(answer: ProfileAnswer, words: Words) -> dict[str, Json]:
    """As its contract has it."""
    change = answer.change
    first: Json = None
    if change is not None:
        first = {
            "kind": change.kind.value,
            "share": round(change.share, 4),
            "name": change.entry.name if change.entry is not None else None,
            "place": (change.entry.place or None) if change.entry is not None else None,
            "hint": change.hint.value or None,
            "start_seconds": change.start,
        }
    return {
        "schema": SCHEMA,
        "first_change": first,
        "profiles": [_reading(one, words) for one in answer.readings],
        "findings": [finding_document(answer.answer, words)] if answer.answer is not None else [],
    }


def _reading(reading: ProfileReading, words: Words) -> Json:
    kinds = [one.kind.value for one in reading.shares]
    return {
        "form": reading.form.value,
        "basis": reading.basis.value,
        "seconds": reading.seconds,
        "seconds_reason": None if reading.seconds is not None else words(text("samples were counted, and no time")),
        "events": reading.events,
        "shares": [{"kind": row.kind.value, "share": round(row.part, 6), "seconds": row.seconds} for row in share_rows(reading)],
        "entries": [
            {
                "kind": one.kind.value,
                "name": one.name,
                "place": one.place or None,
                "calls": one.calls,
                "seconds": one.seconds if reading.seconds is not None else None,
            }
            for one in reading.entries
        ],
        "timeline": {"kinds": list[Json](kinds), "parts": [list[Json](row) for row in reading.timeline]}
        if reading.timeline
        else None,
        "not_known": [{"id": gap.value, "text": words(GAP_WORDS[gap])} for gap in reading.gaps],
    }


def _in_order(shares: tuple[TimeShare, ...]) -> list[TimeShare]:
    order = list(TimeKind)
    return sorted(shares, key=lambda one: order.index(one.kind))
