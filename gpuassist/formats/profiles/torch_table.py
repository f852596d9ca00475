"""The tables of torch's profiler (`key_averages().table()`), of every torch since 1.0, whose columns differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.profiles.names import device_kind, is_annotation, operator_kind, pauses, shortened
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

_HEAD = lazy_regex(r"^\s*Name\s{2}.*(?:Self CPU\b|CPU time\b).*$")
_TIME = lazy_regex(r"^(?P<number>\d{1,15}(?:\.\d{1,9})?)(?P<unit>us|μs|ms|s)$")
_SUM = lazy_regex(r"^(?:Self )?(?P<kind>[A-Za-z]\w{0,20}) time total: (?P<time>\d{1,15}(?:\.\d{1,9})?(?:us|ms|s))\b")
_COLUMNS = lazy_regex(r"\s{2,}")
_UNITS = {"us": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0}
_CPU_COLUMNS = ("Self CPU", "Self CPU total", "CPU total", "CPU time")
_GPU_COLUMNS = (
    "Self CUDA",
    "Self CUDA total",
    "Self Device",
    "Self XPU",
    "Self MTIA",
    "Self PrivateUse1",
    "CUDA total",
    "CUDA time",
)
_WHOLE_COLUMNS = ("CPU total",)
_CALLS = ("# of Calls", "Number of Calls", "Calls")
_OVERLOAD = "Overload Name"  # torch 2.7; its cells are empty for most rows
_MOST_ENTRIES = 200
_LONGEST_HEAD = 2000
_MOST_ROWS = 20_000


class _Columns(Struct, frozen=True):
    """Where the figures stand; -1 where the table has no such column. `total` where only times with all that is called are told."""

    count: int
    overload: int
    cpu: int
    whole: int
    gpu: int
    calls: int


class _Row(Struct, frozen=True):
    name: str
    cpu: float
    whole: float
    gpu: float
    calls: int


def read_operators(lines: Sequence[str]) -> tuple[ProfileReading, ...]:
    """Of the last table with rows: the thread's side, and the GPU's where it was measured; nothing where there is no table."""
    heads = [place for place, line in enumerate(lines) if _HEAD.match(line[:_LONGEST_HEAD])]
    for head in reversed(heads):
        columns = _columns(_COLUMNS.split(lines[head].strip()))
        rows = _summed(_rows(lines[head + 1 :], columns)) if columns is not None else []
        if columns is not None and rows:
            sums = _sums(lines[head:])
            thread = _thread(rows, sums.get("CPU"))
            if columns.gpu < 0 or not any(row.gpu for row in rows):
                return (thread,)
            gaps = tuple(gap for gap in thread.gaps if gap is not ProfileGap.NO_GPU)
            return (replace(thread, gaps=gaps), _device(rows, sums))
    return ()


def _columns(names: list[str]) -> _Columns | None:
    def place(wanted: Sequence[str]) -> int:
        return next((names.index(one) for one in wanted if one in names), -1)

    cpu = place(_CPU_COLUMNS)
    told = _Columns(len(names), place((_OVERLOAD,)), cpu, place(_WHOLE_COLUMNS), place(_GPU_COLUMNS), place(_CALLS))
    return told if cpu > 0 else None


def _rows(lines: Sequence[str], columns: _Columns) -> Iterator[_Row]:
    """Up to the line of dashes after them; lines that only go on with a stack are passed over."""
    least = max(columns.cpu, columns.gpu, columns.calls)
    begun = False
    for line in lines[:_MOST_ROWS]:
        plain = line.strip()
        if not plain.strip("- "):
            if begun:
                return
            continue
        cells = _COLUMNS.split(plain)
        if 0 < columns.overload <= len(cells) < columns.count:
            cells.insert(columns.overload, "")
        own = _seconds(cells[columns.cpu]) if len(cells) > least else None
        if own is None:
            if _SUM.match(plain) or _HEAD.match(plain[:_LONGEST_HEAD]):
                return
            continue
        begun = True
        there = _seconds(cells[columns.gpu]) if columns.gpu >= 0 else None
        calls = cells[columns.calls] if columns.calls >= 0 else ""
        whole = _seconds(cells[columns.whole]) if 0 < columns.whole < len(cells) else None
        count = int(calls) if calls.isascii() and calls.isdigit() and len(calls) < 16 else 0
        yield _Row(shortened(cells[0]), own, whole or 0.0, there or 0.0, count)


def _summed(rows: Iterator[_Row]) -> list[_Row]:
    """A name once: tables by shape or by stack have it on several rows. What stands once for each side is a part that the program
    has named, whose kernels have rows of their own.
    """
    summed, sides = dict[str, _Row](), dict[str, set[bool]]()
    for row in rows:
        sides.setdefault(row.name, set()).add(row.gpu > 0 and not row.whole and not row.cpu)
        before = summed.get(row.name)
        if before is not None:
            whole, calls = row.whole + before.whole, row.calls + before.calls
            row = _Row(row.name, row.cpu + before.cpu, whole, row.gpu + before.gpu, calls)
        summed[row.name] = row
    return [replace(row, gpu=0.0) if len(sides[row.name]) == 2 and "::" not in row.name else row for row in summed.values()]


def _sums(lines: Sequence[str]) -> dict[str, float]:
    """The totals below the table, by device."""
    found = dict[str, float]()
    for line in lines[: _MOST_ROWS + 20]:
        told = _SUM.match(line.strip())
        if told is not None:
            found.setdefault(told["kind"], _seconds(told["time"]) or 0.0)
    return found


def _thread(rows: list[_Row], total: float | None) -> ProfileReading:
    entries = [ProfileEntry(_kind(row.name), row.name, row.calls, row.cpu) for row in rows if row.cpu]
    sums = dict.fromkeys(TimeKind, 0.0)
    for one in entries:
        sums[one.kind] += one.seconds
    _give_to_data(sums, rows)
    shown = sum(sums.values())
    whole = total if total and total >= shown else shown
    sums[TimeKind.REST] += whole - shown
    gaps = [ProfileGap.NO_MOMENTS, ProfileGap.NO_LINES]
    if not any(one.kind is TimeKind.PYTHON for one in entries):
        gaps.append(ProfileGap.NO_PYTHON)
    if whole - shown > 0.05 * whole:
        gaps.append(ProfileGap.PART_OF_ROWS)
    return _made(ShareBasis.THREAD, whole, sums=sums, entries=entries, gaps=gaps)


def _kind(name: str) -> TimeKind:
    return TimeKind.REST if is_annotation(name) else operator_kind(name)


def _give_to_data(sums: dict[TimeKind, float], rows: list[_Row]) -> None:
    """What the loader of data calls has rows of its own; a pause in it is a part of it."""
    loading = sum(row.whole for row in rows if operator_kind(row.name) is TimeKind.DATA)
    paused = sum(row.cpu for row in rows if pauses(row.name))
    moved = max(0.0, min(loading - sums[TimeKind.DATA], paused))
    sums[TimeKind.DATA] += moved
    sums[TimeKind.START] -= moved


def _device(rows: list[_Row], sums: dict[str, float]) -> ProfileReading:
    """Operators and the kernels that they started stand beside each other there, so the total is torch's own."""
    entries = [
        ProfileEntry(device_kind(row.name), row.name, row.calls, row.gpu) for row in rows if row.gpu and not is_annotation(row.name)
    ]
    shown = sum(one.seconds for one in entries)
    told = next((seconds for kind, seconds in sums.items() if kind != "CPU"), 0.0)
    whole = told or shown
    of_kind = dict.fromkeys(TimeKind, 0.0)
    for one in entries:
        if one.kind is not TimeKind.KERNELS and not one.name.startswith(("aten::", "c10d::", "record_param", "nccl:")):
            of_kind[one.kind] += one.seconds
    of_kind[TimeKind.KERNELS] = max(0.0, whole - sum(of_kind.values()))
    return _made(ShareBasis.DEVICE, whole, sums=of_kind, entries=entries, gaps=[ProfileGap.NO_MOMENTS, ProfileGap.NO_WAITING])


def _made(
    basis: ShareBasis, whole: float, *, sums: dict[TimeKind, float], entries: list[ProfileEntry], gaps: list[ProfileGap]
) -> ProfileReading:
    entries.sort(key=lambda one: -one.seconds)
    if basis is ShareBasis.THREAD:
        gaps = gaps if any(kind in GPU_KINDS and spent for kind, spent in sums.items()) else [ProfileGap.NO_GPU, *gaps]
    shares = tuple(TimeShare(kind, spent) for kind, spent in sums.items() if spent > 0)
    return ProfileReading(
        ProfileForm.TORCH_TABLE, basis, whole or None, shares, tuple(entries[:_MOST_ENTRIES]), gaps=tuple(gaps), events=len(entries)
    )


def _seconds(words: str) -> float | None:
    found = _TIME.match(words)
    return float(found["number"]) * _UNITS[found["unit"]] if found else None
