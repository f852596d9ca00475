"""Profiles by samples of stacks: py-spy's speedscope files, its Chrome traces and its raw stacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gpuassist.formats.profiles.names import function_kind, loads_data, sets_up, shortened
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare

_LONGEST_COUNT = 12
_UNITS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_MOST_ENTRIES = 200
_MOST_STACK = 2000
_LATEST = 1e18  # microseconds
_OF_STACKS = (TimeKind.START, TimeKind.DATA)
SAMPLED_GAPS = (ProfileGap.NO_GPU, ProfileGap.NO_MOMENTS, ProfileGap.SAMPLED)


def read_stacks(lines: Iterable[str]) -> ProfileReading | None:
    """`py-spy record --format raw`: frames with semicolons between them, and how often they were seen; None for anything else."""
    counts = dict[tuple[TimeKind | None, str], int]()
    kinds = FrameKinds()
    for line in lines:
        plain = line.strip()
        if not plain or plain.isdigit():  # a sample without a stack
            continue
        frames, _, count = plain.rpartition(" ")
        if not (count.isascii() and count.isdigit() and len(count) <= _LONGEST_COUNT and (";" in frames or frames.endswith(")"))):
            return None
        stack = frames.split(";")
        key = (kinds.of_stack(stack), stack[-1])
        counts[key] = counts.get(key, 0) + int(count)
    if not counts:
        return None
    return sampled_reading(ProfileForm.STACKS, [(kind, name, float(count), count) for (kind, name), count in counts.items()], None)


class FrameKinds:
    """What a stack is a part of, by all its frames: an import, loading of data, or None where the last of them tells."""

    def __init__(self) -> None:
        self._known = dict[str, TimeKind | None]()

    def of_frame(self, frame: str) -> TimeKind | None:
        """The same of one of them."""
        if frame not in self._known:
            name = _place(frame[-_MOST_STACK:])
            self._known[frame] = TimeKind.START if sets_up(name) else TimeKind.DATA if loads_data(name) else None
        return self._known[frame]

    def of_stack(self, frames: Iterable[str]) -> TimeKind | None:
        """What is made ready while data is loaded is a cost of starting."""
        return _first({self.of_frame(one) for one in frames})

    def further(self, above: TimeKind | None, frame: str) -> TimeKind | None:
        """The same of a stack with one frame more."""
        return _first({above, self.of_frame(frame)})


def read_speedscope(document: Any) -> ProfileReading | None:
    """The threads of a file together; None where it is none."""
    if not isinstance(document, dict) or not isinstance(document.get("profiles"), list):
        return None
    shared = document.get("shared")
    frames = shared.get("frames") if isinstance(shared, dict) else None
    if not isinstance(frames, list):
        return None
    spent, counts = dict[tuple[TimeKind | None, int], float](), dict[tuple[TimeKind | None, int], int]()
    kinds = FrameKinds()
    names = [_frame(one) for one in frames]
    of_frame = [kinds.of_frame(one) for one in names]
    for profile in document["profiles"]:
        if not isinstance(profile, dict) or profile.get("type") != "sampled":
            continue
        unit = _UNITS.get(str(profile.get("unit")), 1.0)
        samples, weights = profile.get("samples"), profile.get("weights")
        if not isinstance(samples, list) or not isinstance(weights, list):
            continue
        for stack, weight in zip(samples, weights, strict=False):
            last = stack[-1] if isinstance(stack, list) and stack else None
            if isinstance(last, int) and 0 <= last < len(frames) and isinstance(weight, (int, float)) and 0 <= weight < 1e15:
                found = {of_frame[one] for one in stack if isinstance(one, int) and 0 <= one < len(frames)}
                key = (_first(found), last)
                spent[key] = spent.get(key, 0.0) + weight * unit
                counts[key] = counts.get(key, 0) + 1
    rows = [(kind, names[place], seconds, counts[kind, place]) for (kind, place), seconds in spent.items()]
    return sampled_reading(ProfileForm.SPEEDSCOPE, rows, sum(spent.values())) if rows else None


def read_begins_and_ends(document: Any) -> ProfileReading | None:
    """`py-spy record --format chrometrace`: where each function begins (`B`) and ends (`E`), thread by thread."""
    stacks = dict[tuple[str, str], list[tuple[TimeKind | None, str]]]()
    spent, since = dict[tuple[TimeKind | None, str], float](), dict[tuple[str, str], float]()
    counts, kinds = dict[tuple[TimeKind | None, str], int](), FrameKinds()
    for event in _dicts(document):
        phase, at = event.get("ph"), event.get("ts")
        if phase not in {"B", "E"} or not isinstance(at, (int, float)) or not 0 <= at < _LATEST:
            continue
        thread = (str(event.get("pid")), str(event.get("tid")))
        stack = stacks.setdefault(thread, [])
        if stack:
            spent[stack[-1]] = spent.get(stack[-1], 0.0) + max(0.0, at - since[thread]) * _UNITS["microseconds"]
        since[thread] = float(at)
        if phase == "B":
            told = event.get("args")
            place = told if isinstance(told, dict) else {}
            name = _frame({"name": event.get("name"), "file": place.get("filename"), "line": place.get("line")})
            key = (kinds.further(stack[-1][0] if stack else None, name), name)
            counts[key] = counts.get(key, 0) + 1
            stack.append(key)
        elif stack:
            stack.pop()
    rows = [(*key, seconds, counts[key]) for key, seconds in spent.items() if seconds]
    return sampled_reading(ProfileForm.STACKS, rows, sum(spent.values())) if rows else None


def sampled_reading(
    form: ProfileForm, rows: list[tuple[TimeKind | None, str, float, int]], seconds: float | None
) -> ProfileReading:
    """Of rows with what the stack told of the kind, the frame, its time or count, and how often it was seen; a frame without a name
    is a share and no entry.
    """
    entries, sums = list[ProfileEntry](), dict.fromkeys(TimeKind, 0.0)
    for told, name, spent, count in rows:
        plain = shortened(_place(name[-_MOST_STACK:]))
        kind = told or function_kind(plain)
        sums[kind] += spent
        if plain:
            entries.append(ProfileEntry(kind, plain, count, spent))
    entries.sort(key=lambda one: -one.seconds)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    return ProfileReading(
        form, ShareBasis.THREAD, seconds, shares, tuple(entries[:_MOST_ENTRIES]), gaps=SAMPLED_GAPS, events=len(rows)
    )


def _first(kinds: set[TimeKind | None]) -> TimeKind | None:
    return next((kind for kind in _OF_STACKS if kind in kinds), None)


def _place(frame: str) -> str:
    """As cProfile writes it, so that what a name means is asked in one way."""
    if not frame.endswith(")") or " (" not in frame:
        return frame
    function, _, place = frame[:-1].rpartition(" (")
    file, colon, line = place.rpartition(":")
    return f"{file}:{line}({function})" if colon and line.isdigit() else f"{place}:0({function})"


def _frame(frame: Any) -> str:
    if not isinstance(frame, dict):
        return ""
    return f"{frame.get('name', '')} ({frame.get('file', '')}:{frame.get('line') or 0})"[:_MOST_STACK]


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
