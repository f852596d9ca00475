"""cProfile: the table that it prints, and the file that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from gpuassist.formats.profiles.marshal_values import read_marshal
from gpuassist.formats.profiles.names import function_kind, shortened
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileEntry, ProfileForm, ProfileGap, ProfileReading, ShareBasis, TimeKind, TimeShare

_TOTAL = lazy_regex(
    r"^\s*\d{1,15} function calls(?: \(\d{1,15} primitive calls\))? in (?P<seconds>\d{1,9}\.\d{1,9}) (?:CPU )?seconds"
)
_ROW = lazy_regex(
    r"^\s*(?P<calls>\d{1,15})(?:/\d{1,15})?\s+(?P<own>\d{1,9}\.\d{1,9})\s+\d{1,9}\.\d{1,9}\s+\d{1,9}\.\d{1,9}\s+\d{1,9}\.\d{1,9}"
    r"\s+(?P<function>\S.*)$"
)
_LONGEST_LINE = 400
_MOST_ENTRIES = 200


def read_table(lines: Iterable[str]) -> ProfileReading | None:
    """The first table of a text; None where there is none."""
    seconds: float | None = None
    rows = list[ProfileEntry]()
    for line in lines:
        part = line[:_LONGEST_LINE]
        if seconds is None:
            found = _TOTAL.match(part)
            seconds = float(found["seconds"]) if found is not None else None
        elif (row := _ROW.match(part)) is not None:
            name = shortened(row["function"].strip())
            rows.append(ProfileEntry(function_kind(name), name, int(row["calls"]), float(row["own"])))
        elif _TOTAL.match(part):
            break
    return _reading(rows, seconds) if rows and seconds else None


def read_statistics(data: bytes) -> ProfileReading:
    """What `cProfile -o` and `Profile.dump_stats` write; raises `ValueError` for anything else."""
    rows = list(_statistics(read_marshal(data)))
    if not rows:
        raise ValueError("no functions in it")
    return _reading(rows, sum(one.seconds for one in rows))


def _statistics(content: Any) -> Iterator[ProfileEntry]:
    """Functions by (file, line, name), each with its calls, its own time and what called it."""
    if not isinstance(content, dict):
        raise ValueError("no table of functions")
    for key, value in content.items():
        if not (isinstance(key, tuple) and len(key) == 3 and isinstance(value, tuple) and len(value) >= 4):
            raise ValueError("no table of functions")
        calls, own = value[1], value[2]
        if not (isinstance(calls, int) and isinstance(own, (int, float)) and 0 <= own < 1e9):
            raise ValueError("no table of functions")
        file, line, function = (part if isinstance(part, (str, int)) else "" for part in key)
        name = shortened(f"{file}:{line}({function})" if file != "~" else str(function).replace("<", "{", 1).replace(">", "}"))
        yield ProfileEntry(function_kind(name), name, calls, float(own))


def _reading(rows: list[ProfileEntry], seconds: float) -> ProfileReading:
    sums = dict.fromkeys(TimeKind, 0.0)
    for one in rows:
        sums[one.kind] += one.seconds
    rest = seconds - sum(sums.values())
    sums[TimeKind.REST] = max(0.0, rest)
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    gaps = (ProfileGap.NO_GPU, ProfileGap.NO_MOMENTS, *((ProfileGap.PART_OF_ROWS,) if rest > 0.05 * seconds else ()))
    rows.sort(key=lambda one: -one.seconds)
    return ProfileReading(
        ProfileForm.CPROFILE, ShareBasis.THREAD, seconds, shares, tuple(rows[:_MOST_ENTRIES]), gaps=gaps, events=len(rows)
    )
