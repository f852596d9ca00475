"""Profiles by samples: py-spy's speedscope files, its Chrome traces and its raw stacks, and scalene's JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gpuassist.formats.profiles.names import function_kind, shortened
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare

_LONGEST_COUNT = 12
_UNITS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_MOST_ENTRIES = 200
_MOST_STACK = 2000
_LATEST = 1e18  # microseconds
_GAPS = (ProfileGap.NO_GPU, ProfileGap.NO_MOMENTS, ProfileGap.SAMPLED)


def read_stacks(lines: Iterable[str]) -> ProfileReading | None:
    """`py-spy record --format raw`: frames with semicolons between them, and how often they were seen; None for anything else."""
    counts = dict[str, int]()
    for line in lines:
        plain = line.strip()
        if not plain or plain.isdigit():  # a sample without a stack
            continue
        frames, _, count = plain.rpartition(" ")
        if not (count.isascii() and count.isdigit() and len(count) <= _LONGEST_COUNT and (";" in frames or frames.endswith(")"))):
            return None
        last = frames.rpartition(";")[2]
        counts[last] = counts.get(last, 0) + int(count)
    if not counts:
        return None
    return _reading(ProfileForm.STACKS, [(name, float(count), count) for name, count in counts.items()], None)


def read_speedscope(document: Any) -> ProfileReading | None:
    """The threads of a file together; None where it is none."""
    if not isinstance(document, dict) or not isinstance(document.get("profiles"), list):
        return None
    shared = document.get("shared")
    frames = shared.get("frames") if isinstance(shared, dict) else None
    if not isinstance(frames, list):
        return None
    spent, counts, unit = dict[int, float](), dict[int, int](), 1.0
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
                spent[last] = spent.get(last, 0.0) + weight * unit
                counts[last] = counts.get(last, 0) + 1
    rows = [(_frame(frames[place]), seconds, counts[place]) for place, seconds in spent.items()]
    return _reading(ProfileForm.SPEEDSCOPE, rows, sum(spent.values())) if rows else None


def read_begins_and_ends(document: Any) -> ProfileReading | None:
    """`py-spy record --format chrometrace`: where each function begins (`B`) and ends (`E`), thread by thread."""
    stacks = dict[tuple[str, str], list[str]]()
    spent, counts, since = dict[str, float](), dict[str, int](), dict[tuple[str, str], float]()
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
            counts[name] = counts.get(name, 0) + 1
            stack.append(name)
        elif stack:
            stack.pop()
    rows = [(name, seconds, counts[name]) for name, seconds in spent.items() if seconds]
    return _reading(ProfileForm.STACKS, rows, sum(spent.values())) if rows else None


def read_scalene(document: Any) -> ProfileReading | None:
    """Lines with the share of Python, of native code and of the rest; None where it is none of scalene's."""
    if not isinstance(document, dict) or not isinstance(document.get("files"), dict) or "elapsed_time_sec" not in document:
        return None
    elapsed = _share(document["elapsed_time_sec"], most=1e9)
    entries = list[ProfileEntry]()
    sums = dict.fromkeys(TimeKind, 0.0)
    for file, told in document["files"].items():
        for line in _dicts(told.get("lines") if isinstance(told, dict) else None):
            python, native, system = (
                _share(line.get(name)) for name in ("n_cpu_percent_python", "n_cpu_percent_c", "n_sys_percent")
            )
            sums[TimeKind.PYTHON] += python * elapsed / 100
            sums[TimeKind.OPERATORS] += native * elapsed / 100
            sums[TimeKind.REST] += system * elapsed / 100
            together = (python + native + system) * elapsed / 100
            if together > 0:
                code = str(line.get("line", "")).strip()
                kind = TimeKind.PYTHON if python >= native else TimeKind.OPERATORS
                number = line.get("lineno")
                entries.append(
                    ProfileEntry(kind, shortened(f"{file}:{number if isinstance(number, int) else 0}: {code}"), 0, together)
                )
    if not entries:
        return None
    sums[TimeKind.REST] += max(0.0, elapsed - sum(sums.values()))
    entries.sort(key=lambda one: -one.seconds)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    return ProfileReading(ProfileForm.SCALENE, ShareBasis.THREAD, elapsed, shares, tuple(entries[:_MOST_ENTRIES]), gaps=_GAPS)


def _reading(form: ProfileForm, rows: list[tuple[str, float, int]], seconds: float | None) -> ProfileReading:
    entries, sums = list[ProfileEntry](), dict.fromkeys(TimeKind, 0.0)
    for name, spent, count in rows:
        plain = shortened(_place(name[-_MOST_STACK:]))
        kind = function_kind(plain)
        sums[kind] += spent
        entries.append(ProfileEntry(kind, plain, count, spent))
    entries.sort(key=lambda one: -one.seconds)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    return ProfileReading(form, ShareBasis.THREAD, seconds, shares, tuple(entries[:_MOST_ENTRIES]), gaps=_GAPS, events=len(rows))


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


def _share(value: object, *, most: float = 100.0) -> float:
    return float(value) if isinstance(value, (int, float)) and 0 <= value <= most else 0.0


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else iter(())
