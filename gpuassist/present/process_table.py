"""The processes of a sample as rows: which are shown, in which order, summed up by whom, and what each cell says.

A face chooses the columns that fit and draws them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum
from typing import TypeVar

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import Text, counted, listed, text, verbatim
from gpuassist.monitor.labels import label_of
from gpuassist.present.samples import clock, gpu_label, process_name, size

T = TypeVar("T")

_GIB = 1 << 30
_A_DAY = 24 * 3600
UNTOLD = verbatim("–")


class ProcessColumn(str, Enum):
    """What a cell of a row tells."""

    NAME = "name"
    GPU = "gpu"
    PID = "pid"
    USER = "user"
    MEMORY = "memory"
    TORCH = "torch"
    GPU_PERCENT = "gpu-percent"
    CPU_PERCENT = "cpu-percent"
    RESIDENT = "resident"
    SINCE = "since"
    CONTAINER = "container"
    COMMAND = "command"


class Grouping(str, Enum):
    """By what processes are summed up."""

    NONE = "none"
    USER = "user"
    SCRIPT = "script"
    CONTAINER = "container"


COLUMN_TITLES = {
    ProcessColumn.NAME: text("process"),
    ProcessColumn.GPU: text("GPU"),
    ProcessColumn.PID: text("PID"),
    ProcessColumn.USER: text("user"),
    ProcessColumn.MEMORY: text("memory"),
    ProcessColumn.TORCH: text("torch"),
    ProcessColumn.GPU_PERCENT: text("GPU %"),
    ProcessColumn.CPU_PERCENT: text("CPU %"),
    ProcessColumn.RESIDENT: text("RAM"),
    ProcessColumn.SINCE: text("since"),
    ProcessColumn.CONTAINER: text("container"),
    ProcessColumn.COMMAND: text("command"),
}
GROUPING_WORDS = {
    Grouping.NONE: text("by process"),
    Grouping.USER: text("by user"),
    Grouping.SCRIPT: text("by script"),
    Grouping.CONTAINER: text("by container"),
}
KIND_WORDS = {
    ProcessKind.COMPUTE: text("compute"),
    ProcessKind.GRAPHICS: text("graphics"),
    ProcessKind.BOTH: text("compute and graphics"),
}
ORDERS = (
    ProcessColumn.MEMORY,
    ProcessColumn.GPU_PERCENT,
    ProcessColumn.CPU_PERCENT,
    ProcessColumn.SINCE,
    ProcessColumn.USER,
    ProcessColumn.NAME,
    ProcessColumn.GPU,
    ProcessColumn.PID,
)
"""What rows may be sorted by, in the order in which it is offered."""


class OnGpu(Struct, frozen=True):
    """One process on one GPU."""

    gpu: int
    process: ProcessSample


class LiveRow(Struct, frozen=True):
    """A process on a GPU, or several that are summed up; `key` makes it the same row in the next sample."""

    key: tuple[str | int, ...]
    title: Text
    parts: tuple[OnGpu, ...]

    @property
    def single(self) -> OnGpu | None:
        """The process, where the row stands for one alone."""
        return self.parts[0] if len(self.parts) == 1 else None


def table_rows(
    gpus: Iterable[GpuSample], *, wanted: str = "", grouping: Grouping = Grouping.NONE, order: ProcessColumn = ProcessColumn.MEMORY
) -> tuple[LiveRow, ...]:
    """The rows of these GPUs' processes in which every word of `wanted` is found; the largest first, names from A on.

    Rows that are equal by that order stand by GPU and number, so that nothing jumps that did not change.
    """
    parts = list(_each_once(tuple(gpus)))
    words = wanted.lower().split()
    if words:
        parts = [part for part in parts if _has_all(part, words)]
    parts.sort(key=lambda part: (part.gpu, part.process.pid))
    rows = _single_rows(parts) if grouping is Grouping.NONE else _groups(parts, grouping)
    return tuple(sorted(rows, key=_ORDER_KEYS[order]))


def cell(row: LiveRow, column: ProcessColumn, now: float) -> Text:
    """What a row says in a column; `now` is in seconds since the epoch."""
    return _CELLS[column](row, now)


def is_told(row: LiveRow, column: ProcessColumn) -> bool:
    """Whether anything is known of a row in a column."""
    return cell(row, column, 0.0) not in {UNTOLD, verbatim("")}


def process_details(part: OnGpu, now: float) -> Iterator[tuple[Text, Text]]:
    """All that is known of a process on a GPU, line by line: what it is, and what it says; where it is not known, why."""
    process = part.process
    yield text("GPU"), verbatim(gpu_label(part.gpu))
    yield text("PID"), verbatim(str(process.pid))
    facts: tuple[tuple[Text, Fact[Text]], ...] = (
        (text("user"), _in_words(process.user, verbatim)),
        (text("command"), _in_words(process.command, verbatim)),
        (text("memory"), _in_words(process.memory_used_bytes, size)),
        (text("kind"), _in_words(process.kind, KIND_WORDS.__getitem__)),
        (text("GPU use"), _in_words(process.gpu_percent, _percent)),
        (text("CPU use"), _in_words(process.cpu_percent, lambda percent: text("{percent} % of one core", percent=round(percent)))),
        (text("RAM"), _in_words(process.resident_bytes, size)),
        (
            text("since"),
            _in_words(process.started, lambda started: verbatim(f"{datetime.fromtimestamp(started):%Y-%m-%d %H:%M:%S}")),
        ),
        (text("container"), _in_words(process.container, verbatim)),
        (text("notebook"), _in_words(process.notebook, verbatim)),
        (text("idle for"), _in_words(idle_time(process), duration)),
    )
    for label, fact in facts:
        if isinstance(fact, Known):
            yield label, fact.value
        elif fact.asked:
            yield label, fact.reason
    if isinstance(process.torch, Known):
        yield from _torch_details(process.torch.value)
    elif process.torch.asked:
        yield text("torch"), process.torch.reason


def duration(seconds: float) -> Text:
    """`12 s`, `5 min`, `3 h 12 min`, `4 d 2 h`."""
    if seconds < 60:
        return text("{seconds} s", seconds=int(seconds))
    minutes = int(seconds // 60)
    if minutes < 60:
        return text("{minutes} min", minutes=minutes)
    if seconds < _A_DAY:
        return text("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)
    return text("{days} d {hours} h", days=int(seconds // _A_DAY), hours=minutes // 60 % 24)


def why_no_processes(sample: Sample, only: int | None = None) -> tuple[Text, ...]:
    """Why processes are missing, once for all GPUs that give the same reason; that a GPU is asleep or lost its own line says."""
    told: dict[Text, list[str]] = {}
    for gpu in sample.gpus:
        if isinstance(gpu.processes, Unknown) and not isinstance(gpu.memory_used_bytes, Unknown) and only in {None, gpu.index}:
            told.setdefault(gpu.processes.reason, []).append(label_of(gpu))
    return tuple(
        text("Processes of GPU {indices} are not listed: {reason}", indices=listed(indices), reason=reason)
        for reason, indices in told.items()
    )


def _each_once(gpus: Sequence[GpuSample]) -> Iterator[OnGpu]:
    """Every process on every GPU; one on a MIG instance is listed with the whole GPU, too, and would be added up twice."""
    on_instances = {(gpu.parent, one.pid) for gpu in gpus if gpu.parent is not None for one in value_or(gpu.processes, ())}
    for gpu in gpus:
        yield from (OnGpu(gpu.index, one) for one in value_or(gpu.processes, ()) if (gpu.index, one.pid) not in on_instances)


def _single_rows(parts: list[OnGpu]) -> list[LiveRow]:
    return [LiveRow((part.gpu, part.process.pid), _name(part.process), (part,)) for part in parts]


def _groups(parts: list[OnGpu], grouping: Grouping) -> list[LiveRow]:
    groups: dict[Text, list[OnGpu]] = {}
    for part in parts:
        groups.setdefault(_belongs_to(part.process, grouping), []).append(part)
    return [
        LiveRow((grouping.value, title.message, *(str(value) for _, value in title.parameters)), title, tuple(within))
        for title, within in groups.items()
    ]


def _belongs_to(process: ProcessSample, grouping: Grouping) -> Text:
    if grouping is Grouping.SCRIPT:
        return _name(process)
    fact = process.user if grouping is Grouping.USER else process.container
    if isinstance(fact, Known) and fact.value:
        return verbatim(fact.value)
    nobody_looked = isinstance(fact, Unknown) and (fact.asked or grouping is Grouping.USER)
    return text("not known") if nobody_looked else text("no container")


def _name(process: ProcessSample) -> Text:
    if isinstance(process.notebook, Known):
        return verbatim(process.notebook.value.rpartition("/")[2])
    return process_name(value_or(process.command, ""), process.pid)


def notebook_names(sample: Sample) -> dict[int, str]:
    """What the notebooks are called that are on a GPU."""
    return {
        process.pid: process.notebook.value.rpartition("/")[2]
        for gpu in sample.gpus
        for process in value_or(gpu.processes, ())
        if isinstance(process.notebook, Known)
    }


def _has_all(part: OnGpu, words: list[str]) -> bool:
    process = part.process
    kind = value_or(process.kind, None)
    told = (
        *(value_or(fact, "") for fact in (process.command, process.user, process.container, process.notebook)),
        str(process.pid),
        "compute graphics" if kind is ProcessKind.BOTH else kind.value if kind else "",
    )
    within = "\n".join(told).lower()
    return all(word in within for word in words)


def _sum(row: LiveRow, of: Callable[[ProcessSample], Fact[int] | Fact[float]]) -> float | None:
    known = [fact.value for fact in (of(part.process) for part in row.parts) if isinstance(fact, Known)]
    return sum(known) if known else None


def _once_each(row: LiveRow) -> LiveRow:
    """The row with each process once: what is a process's own, and not its share of a GPU, is not added up over GPUs."""
    if len(row.parts) < 2:
        return row
    return LiveRow(row.key, row.title, tuple({part.process.pid: part for part in row.parts}.values()))


def _memory(row: LiveRow) -> float | None:
    return _sum(row, lambda process: process.memory_used_bytes)


def _gpu_use(row: LiveRow) -> float | None:
    return _sum(row, lambda process: process.gpu_percent)


def _cpu_use(row: LiveRow) -> float | None:
    return _sum(_once_each(row), lambda process: process.cpu_percent)


def _resident(row: LiveRow) -> float | None:
    return _sum(_once_each(row), lambda process: process.resident_bytes)


def _started(row: LiveRow) -> float | None:
    known = [part.process.started.value for part in row.parts if isinstance(part.process.started, Known)]
    return min(known) if known else None


def _torch(row: LiveRow) -> tuple[int, int] | None:
    known = [part.process.torch.value for part in row.parts if isinstance(part.process.torch, Known)]
    return (sum(one.allocated_bytes for one in known), sum(one.reserved_bytes for one in known)) if known else None


def _of_all(row: LiveRow, of: Callable[[ProcessSample], Fact[str]]) -> str:
    return ", ".join(dict.fromkeys(value for part in row.parts if (value := value_or(of(part.process), ""))))


def _largest(of: Callable[[LiveRow], float | None]) -> Callable[[LiveRow], float]:
    return lambda row: -value if (value := of(row)) is not None else 1.0  # what is not known comes last


FIGURES: dict[ProcessColumn, Callable[[LiveRow], float | None]] = {
    ProcessColumn.MEMORY: _memory,
    ProcessColumn.GPU_PERCENT: _gpu_use,
    ProcessColumn.CPU_PERCENT: _cpu_use,
    ProcessColumn.RESIDENT: _resident,
    ProcessColumn.SINCE: _started,
}
"""The columns that are sums (the beginning: the first), and what they come to; none where nothing is known."""

_ORDER_KEYS: dict[ProcessColumn, Callable[[LiveRow], float | str | int]] = {
    ProcessColumn.MEMORY: _largest(_memory),
    ProcessColumn.GPU_PERCENT: _largest(_gpu_use),
    ProcessColumn.CPU_PERCENT: _largest(_cpu_use),
    ProcessColumn.SINCE: _largest(_started),
    ProcessColumn.USER: lambda row: _of_all(row, lambda process: process.user).lower() or "\uffff",
    ProcessColumn.NAME: lambda row: str(dict(row.title.parameters).get("words", "\uffff")).lower(),
    ProcessColumn.GPU: lambda row: min(part.gpu for part in row.parts),
    ProcessColumn.PID: lambda row: min(part.process.pid for part in row.parts),
}


def _percent(percent: float) -> Text:
    return text("{percent} %", percent=round(percent))


def _percent_cell(percent: float | None) -> Text:
    return UNTOLD if percent is None else _percent(percent)


def _size_cell(count: float | None) -> Text:
    return UNTOLD if count is None else size(int(count))


def _pid_cell(row: LiveRow) -> Text:
    pids = {part.process.pid for part in row.parts}
    return verbatim(str(next(iter(pids)))) if len(pids) == 1 else counted("{count} process", "{count} processes", len(pids))


def _torch_cell(row: LiveRow) -> Text:
    figures = _torch(row)
    if figures is None:
        return UNTOLD
    allocated, reserved = (f"{count / _GIB:.1f}" for count in figures)
    return text("{allocated} of {reserved} GiB", allocated=allocated, reserved=reserved)


def _since_cell(row: LiveRow, now: float) -> Text:
    started = _started(row)
    if started is None:
        return UNTOLD
    return verbatim(clock(started) if now - started < _A_DAY else f"{datetime.fromtimestamp(started):%m-%d}")


_CELLS: dict[ProcessColumn, Callable[[LiveRow, float], Text]] = {
    ProcessColumn.NAME: lambda row, _: row.title,
    ProcessColumn.GPU: lambda row, _: verbatim(",".join(map(gpu_label, sorted({part.gpu for part in row.parts})))),
    ProcessColumn.PID: lambda row, _: _pid_cell(row),
    ProcessColumn.USER: lambda row, _: verbatim(_of_all(row, lambda process: process.user)) if _has_user(row) else UNTOLD,
    ProcessColumn.MEMORY: lambda row, _: _size_cell(_memory(row)),
    ProcessColumn.TORCH: lambda row, _: _torch_cell(row),
    ProcessColumn.GPU_PERCENT: lambda row, _: _percent_cell(_gpu_use(row)),
    ProcessColumn.CPU_PERCENT: lambda row, _: _percent_cell(_cpu_use(row)),
    ProcessColumn.RESIDENT: lambda row, _: _size_cell(_resident(row)),
    ProcessColumn.SINCE: _since_cell,
    ProcessColumn.CONTAINER: lambda row, _: verbatim(_of_all(row, lambda process: process.container)),
    ProcessColumn.COMMAND: lambda row, _: verbatim(_of_all(row, lambda process: process.command)),
}


def _has_user(row: LiveRow) -> bool:
    return any(isinstance(part.process.user, Known) for part in row.parts)


def idle_time(process: ProcessSample) -> Fact[float]:
    """For how long it has done nothing: whoever only waits for what it has given to the GPU is not idle."""
    share = process.gpu_percent
    return Known(0.0, share.source) if isinstance(share, Known) and share.value else process.idle_seconds


def _in_words(fact: Fact[T], words: Callable[[T], Text]) -> Fact[Text]:
    return Known(words(fact.value), fact.source) if isinstance(fact, Known) else fact


def _torch_details(torch: TorchMemory) -> Iterator[tuple[Text, Text]]:
    yield (
        text("torch, allocated"),
        text("{now}, peak {peak}", now=size(torch.allocated_bytes), peak=size(torch.allocated_peak_bytes)),
    )
    yield text("torch, reserved"), text("{now}, peak {peak}", now=size(torch.reserved_bytes), peak=size(torch.reserved_peak_bytes))
    yield text("torch, active"), size(torch.active_bytes)
    yield text("torch, inactive split"), size(torch.inactive_split_bytes)
    yield (
        text("torch, out of memory"),
        text(
            "{ooms}, {retries}",
            ooms=counted("{count} time", "{count} times", torch.ooms),
            retries=counted("{count} retry", "{count} retries", torch.retries),
        ),
    )
