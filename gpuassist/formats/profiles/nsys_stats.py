"""What `nsys stats` and `nsys profile --stats=true` print: a table a report, whose titles and columns changed with the years."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.formats.profiles.names import LONG_CALL_SECONDS, call_kind, device_kind, long_call_kind, operator_kind, shortened
from gpuassist.formats.profiles.nsys_layouts import StatisticsTable, tables
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import (
    GPU_KINDS,
    ProfileEntry,
    ProfileForm,
    ProfileGap,
    ProfileReading,
    ShareBasis,
    TimeKind,
    TimeShare,
)

_CALL = lazy_regex(r"^(?:cuda|cu|hip)[A-Z]\w*$")
_FIGURE = lazy_regex(r"^\d[\d,]{0,25}(?:\.\d{1,12})?(?:[eE][+-]?\d{1,2})?$")
_UNIT = lazy_regex(r"\((?P<unit>[a-zμµ]{1,4})\)")
_UNITS = {
    **dict.fromkeys(("ns", "nsec"), 1e-9),
    **dict.fromkeys(("us", "usec", "μs", "µs"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("s", "sec"), 1.0),
}
_COUNTS = ("Num Calls", "Calls", "Instances", "Count", "Operations")
_MOST_ENTRIES = 200


class _Side:
    """The rows of a side, each name once: some tables have a row for each size of a grid."""

    def __init__(self) -> None:
        self._rows = dict[tuple[TimeKind, str], tuple[int, float]]()

    def add(self, kind: TimeKind, name: str, seconds: float, count: int) -> None:
        calls, before = self._rows.get((kind, name), (0, 0.0))
        self._rows[kind, name] = (calls + count, before + seconds)

    def entries(self) -> list[ProfileEntry]:
        return [ProfileEntry(kind, name, calls, seconds) for (kind, name), (calls, seconds) in self._rows.items()]


def read_nsys_stats(lines: Sequence[str]) -> tuple[ProfileReading, ...]:
    """The GPU's side and that of CUDA's calls; nothing where there is no such table."""
    found = list(tables(lines))
    single = [one for one in found if "Category" not in one.titles]
    device, calls = _sides(single)
    if not device or not calls:  # the tables of both sides together say the same once more
        more_device, more_calls = _sides([one for one in found if "Category" in one.titles])
        device, calls = device or more_device, calls or more_calls
    made = [_reading(ShareBasis.DEVICE, device)] if any(one.kind in GPU_KINDS for one in device) else []
    return (*made, _reading(ShareBasis.THREAD, calls)) if calls else tuple(made)


def _sides(found: Sequence[StatisticsTable]) -> tuple[list[ProfileEntry], list[ProfileEntry]]:
    device, calls = _Side(), _Side()
    for table in found:
        _take(table, device, calls)
    return device.entries(), calls.entries()


def _take(table: StatisticsTable, device: _Side, calls: _Side) -> None:
    titles = table.titles
    total = next((place for place, one in enumerate(titles) if one.startswith("Total Time")), -1)
    count = next((place for place, one in enumerate(titles) if one in _COUNTS), -1)
    what = next((place for place, one in enumerate(titles) if one in {"Name", "Operation", "Range"}), -1)
    if min(total, count, what) < 0 or "Source" in titles:
        return
    category = titles.index("Category") if "Category" in titles else -1
    unit = _unit(titles[total])
    for row in table.rows:
        seconds, number = _number(row[total]), _number(row[count])
        name = shortened(row[what]) if not row[what].startswith("[") else f"[{row[what].strip('[]')}]"
        if seconds is None or number is None or not name:
            continue
        seconds, number = seconds * unit, int(number)
        if titles[what] == "Range":
            if operator_kind(name) is TimeKind.DATA:
                calls.add(TimeKind.DATA, name, seconds, number)
        elif category >= 0 and row[category] == "CUDA_API":
            calls.add(_of_call(name, seconds, number), name, seconds, number)
        elif category >= 0 or titles[count] == "Instances":
            device.add(device_kind(name), name, seconds, number)
        elif titles[what] == "Operation":
            device.add(TimeKind.COPIES, name, seconds, number)
        elif _CALL.match(name):
            calls.add(_of_call(name, seconds, number), name, seconds, number)


def _of_call(name: str, seconds: float, count: int) -> TimeKind:
    kind = call_kind(name)
    long = kind is TimeKind.LAUNCHES and count and seconds / count > LONG_CALL_SECONDS
    return long_call_kind(name) if long else kind


def _unit(title: str) -> float:
    found = _UNIT.search(title)
    return _UNITS.get(found["unit"], 1e-9) if found is not None else 1e-9


def _number(words: str) -> float | None:
    return float(words.replace(",", "")) if _FIGURE.match(words) else None


def _reading(basis: ShareBasis, entries: list[ProfileEntry]) -> ProfileReading:
    sums = dict.fromkeys(TimeKind, 0.0)
    for one in entries:
        sums[one.kind] += one.seconds
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    gaps = (ProfileGap.NO_MOMENTS, ProfileGap.NO_PYTHON, ProfileGap.NO_LINES)
    entries.sort(key=lambda one: -one.seconds)
    whole = sum(sums.values()) or None
    return ProfileReading(
        ProfileForm.NSYS_STATS, basis, whole, shares, tuple(entries[:_MOST_ENTRIES]), gaps=gaps, events=len(entries)
    )
