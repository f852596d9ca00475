"""cProfile: the table that it prints, and the file that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from gpuassist.formats.profiles.call_graph import Called, Parts, parts_by_caller
from gpuassist.formats.profiles.marshal_values import read_marshal
from gpuassist.formats.profiles.names import function_kind, is_own_function, loads_data, of_start, pauses, sets_up, shortened
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare

_TOTAL = lazy_regex(
    r"^\s*\d{1,15} function calls(?: \(\d{1,15} primitive calls\))? in (?P<seconds>\d{1,9}\.\d{1,9}) (?:CPU )?seconds"
)
_ROW = lazy_regex(
    r"^\s*(?P<calls>\d{1,15})(?:/\d{1,15})?\s+(?P<own>\d{1,9}\.\d{1,9})\s+\d{1,9}\.\d{1,9}\s+(?P<whole>\d{1,9}\.\d{1,9})\s+\d{1,9}\.\d{1,9}"
    r"\s+(?P<function>\S.*)$"
)
_LONGEST_LINE = 400
_MOST_ENTRIES = 200
_RUN = "{built-in method builtins.exec}"
_PROGRAM = 0.9  # of the longest


def read_table(lines: Iterable[str]) -> ProfileReading | None:
    """The first table of a text; None where there is none."""
    seconds: float | None = None
    rows, importing, loading = list[ProfileEntry](), 0.0, 0.0
    for line in lines:
        part = line[:_LONGEST_LINE]
        if seconds is None:
            found = _TOTAL.match(part)
            seconds = float(found["seconds"]) if found is not None else None
        elif (row := _ROW.match(part)) is not None:
            name = shortened(row["function"].strip())
            whole = float(row["whole"])
            importing = max(importing, whole if sets_up(name) else 0.0)
            loading = max(loading, whole if loads_data(name) else 0.0)
            rows.append(ProfileEntry(function_kind(name), name, int(row["calls"]), float(row["own"])))
        elif _TOTAL.match(part):
            break
    return _reading(_shifted(rows, importing, loading), seconds) if rows and seconds else None


def _shifted(rows: list[ProfileEntry], importing: float, loading: float) -> list[ProfileEntry]:
    """With what an import and the loading of data take as a whole, where it is on rows of others: who called them is not told."""
    rows = _moved(rows, TimeKind.DATA, loading, lambda one: one.kind is TimeKind.START and pauses(one.name))
    return _moved(rows, TimeKind.START, importing, lambda one: one.kind is TimeKind.PYTHON and not is_own_function(one.name))


def _moved(rows: list[ProfileEntry], kind: TimeKind, whole: float, giving: Callable[[ProfileEntry], bool]) -> list[ProfileEntry]:
    there = sum(one.seconds for one in rows if one.kind is kind and not pauses(one.name))
    able = sum(one.seconds for one in rows if giving(one))
    part = min(1.0, max(0.0, whole - there) / able) if able else 0.0
    if not part:
        return rows
    taken = [replace(one, kind=kind, seconds=one.seconds * part) for one in rows if giving(one)]
    return [replace(one, seconds=one.seconds * (1 - part)) if giving(one) else one for one in rows] + taken


def read_statistics(data: bytes) -> ProfileReading:
    """What `cProfile -o` and `Profile.dump_stats` write; raises `ValueError` for anything else."""
    functions = _functions(read_marshal(data))
    if not functions:
        raise ValueError("no functions in it")
    numbers = {key: number for number, key in enumerate(functions)}
    names = [one.name for one in functions.values()]
    callers = {numbers[key]: _callers(one.callers, numbers) for key, one in functions.items()}
    rows = list[ProfileEntry]()
    split = parts_by_caller(names, callers, _programs(list(functions.values())))
    for number, (one, parts) in enumerate(zip(functions.values(), split, strict=True)):
        rows += _split(one, parts, _caller(names, callers[number]) if one.name.startswith("{") else "")
    return _reading(rows, sum(one.own for one in functions.values()))


class _Function(NamedTuple):
    name: str
    calls: int
    own: float
    whole: float
    callers: dict[Any, Any]


def _programs(functions: list[_Function]) -> frozenset[int]:
    """The program itself, which Python runs as it does what is imported; nothing where a part of a program was profiled."""
    if not any(one.name == _RUN and one.calls > _calls_told(one.callers) for one in functions):
        return frozenset()
    modules = {
        number: one.whole for number, one in enumerate(functions) if one.name.endswith("(<module>)") and not of_start(one.name)
    }
    longest = max(modules.values(), default=0.0)
    return frozenset(number for number, whole in modules.items() if whole >= _PROGRAM * longest)


def _calls_told(callers: dict[Any, Any]) -> int:
    counts = (one[1] if isinstance(one, tuple) and len(one) > 1 else one for one in callers.values())
    return sum(one for one in counts if isinstance(one, int))


def _functions(content: Any) -> dict[Any, _Function]:
    """Functions by (file, line, name), each with its calls, its own time and what called it."""
    if not isinstance(content, dict):
        raise ValueError("no table of functions")
    found = dict[Any, _Function]()
    for key, value in content.items():
        if not (isinstance(key, tuple) and len(key) == 3 and isinstance(value, tuple) and len(value) >= 4):
            raise ValueError("no table of functions")
        calls, own, whole = value[1:4]
        if not (isinstance(calls, int) and all(isinstance(one, (int, float)) and 0 <= one < 1e9 for one in (own, whole))):
            raise ValueError("no table of functions")
        file, line, function = (part if isinstance(part, (str, int)) else "" for part in key)
        name = shortened(f"{file}:{line}({function})" if file != "~" else str(function).replace("<", "{", 1).replace(">", "}"))
        callers = value[4] if len(value) > 4 and isinstance(value[4], dict) else {}
        found[key] = _Function(name, calls, float(own), float(whole), callers)
    return found


def _callers(told: dict[Any, Any], numbers: dict[Any, int]) -> list[Called]:
    """Those that are in the table; the profiler in Python itself tells how often, and no times."""
    found = list[Called]()
    for key, value in told.items():
        number = numbers.get(key)
        times = value[2:4] if isinstance(value, tuple) and len(value) >= 4 else ()
        if number is not None and len(times) == 2 and all(isinstance(one, (int, float)) and 0 <= one < 1e9 for one in times):
            found.append(Called(number, float(times[0]), float(times[1])))
    return found


def _caller(names: list[str], callers: list[Called]) -> str:
    """Whoever has most of a function of C, which has no place of its own."""
    most = max(callers, key=lambda one: one.own, default=None)
    return names[most.caller] if most is not None else ""


def _split(one: _Function, parts: Parts, place: str) -> Iterator[ProfileEntry]:
    kind = function_kind(one.name)
    if kind is TimeKind.START and not pauses(one.name):
        parts = Parts(1.0, 0.0)
    start, data = one.own * parts.start, one.own * parts.data
    spent = {TimeKind.START: start, TimeKind.DATA: data}
    spent[kind] = spent.get(kind, 0.0) + one.own - start - data
    for of_kind, seconds in spent.items():
        if seconds > 0 or of_kind is kind:
            yield ProfileEntry(of_kind, one.name, one.calls, max(0.0, seconds), place)


def _reading(rows: list[ProfileEntry], seconds: float) -> ProfileReading:
    sums = dict.fromkeys(TimeKind, 0.0)
    for one in rows:
        sums[one.kind] += one.seconds
    rest = seconds - sum(sums.values())
    sums[TimeKind.REST] = max(0.0, rest)
    rows = [one for one in rows if one.seconds > 0]
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    gaps = (ProfileGap.NO_GPU, ProfileGap.NO_MOMENTS, *((ProfileGap.PART_OF_ROWS,) if rest > 0.05 * seconds else ()))
    rows.sort(key=lambda one: -one.seconds)
    return ProfileReading(
        ProfileForm.CPROFILE, ShareBasis.THREAD, seconds, shares, tuple(rows[:_MOST_ENTRIES]), gaps=gaps, events=len(rows)
    )
