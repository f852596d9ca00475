"""What `nsys stats` and `nsys profile --stats=true` print: a table a report, whose titles and columns changed with the years."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from gpuassist.formats.profiles.names import call_kind, device_kind, operator_kind, shortened
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

_HEAD = lazy_regex(r"^\s*Time ?\(%\)\s+Total Time(?: ?\(ns\))?\s.*\b(?P<what>Name|Operation|Range|Style)\s*$")
_ROW = lazy_regex(r"^\s*(?P<share>\d{1,3}\.\d)\s{1,40}(?P<total>\d[\d,]{0,25})\s{1,40}(?P<calls>\d[\d,]{0,20})\s(?P<rest>.*)$")
_FIGURE = lazy_regex(r"\s*(?:[\d,]+(?:\.\d+)?|N/A|nan|inf)(?=\s)")
_CALL = lazy_regex(r"^(?:cuda|cu|hip)[A-Z]\w*$")
_DEVICE_WORDS = ("CUDA Kernel Statistics", "GPU Kernel Summary", "cuda_gpu_kern_sum", "gpukernsum", "CUDA GPU Kernel")
_NANOSECOND = 1e-9
_TITLES_ABOVE = 6
_SET_UP_SECONDS = 5e-3  # of a call on average: it sets something up, and is no start of a kernel
_MOST_ROWS = 5000
_MOST_ENTRIES = 200


class _Table(Struct, frozen=True):
    title: str
    what: str
    rows: tuple[tuple[str, float, int], ...]


def read_nsys_stats(lines: Sequence[str]) -> tuple[ProfileReading, ...]:
    """The GPU's side and that of CUDA's calls; nothing where there is no such table."""
    device, calls = list[ProfileEntry](), list[ProfileEntry]()
    for table in _tables(lines):
        for name, seconds, count in table.rows:
            if table.what == "Operation":
                device.append(ProfileEntry(TimeKind.COPIES, name, count, seconds))
            elif _CALL.match(name):
                once = count and seconds / count > _SET_UP_SECONDS and call_kind(name) is TimeKind.LAUNCHES
                calls.append(ProfileEntry(TimeKind.START if once else call_kind(name), name, count, seconds))
            elif table.what == "Name" and any(word in table.title for word in _DEVICE_WORDS):
                device.append(ProfileEntry(device_kind(name), name, count, seconds))
            elif operator_kind(name) is TimeKind.DATA:
                calls.append(ProfileEntry(TimeKind.DATA, name, count, seconds))
    made = [_reading(ShareBasis.DEVICE, device)] if any(one.kind in GPU_KINDS for one in device) else []
    return (*made, _reading(ShareBasis.THREAD, calls)) if calls else tuple(made)


def _tables(lines: Sequence[str]) -> Iterator[_Table]:
    """Copies by size are no time, and have another head."""
    for place, line in enumerate(lines):
        found = _HEAD.match(line[:400])
        if found is None:
            continue
        title = " ".join(
            one.strip() for one in lines[max(0, place - _TITLES_ABOVE) : place] if "*" in one or "Stat" in one or "Summary" in one
        )
        yield _Table(title, found["what"], tuple(_rows(lines[place + 1 : place + 1 + _MOST_ROWS])))


def _rows(lines: Sequence[str]) -> Iterator[tuple[str, float, int]]:
    for line in lines:
        plain = line.strip()
        if not plain.strip("- "):
            if not plain:
                return
            continue
        found = _ROW.match(line[:4000])
        if found is None:
            return
        name = _after_figures(found["rest"])
        if name.startswith("["):
            name = f"[{name.strip('[]')}]"
        yield shortened(name), _number(found["total"]) * _NANOSECOND, int(_number(found["calls"]))


def _after_figures(words: str) -> str:
    """The name, behind averages and deviations of which each release has others."""
    place = 0
    while (figure := _FIGURE.match(words, place)) is not None:
        place = figure.end()
    return words[place:].strip()


def _number(words: str) -> float:
    return float(words.replace(",", ""))


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
