"""The Chrome trace of torch.profiler, of any torch since 1.8: piece by piece, with the memory of what is different in it."""

from __future__ import annotations

from gpuassist.formats.profiles.event_table import EventTable
from gpuassist.formats.profiles.names import (
    call_kind,
    device_kind,
    function_kind,
    is_annotation,
    operator_kind,
    shortened,
)
from gpuassist.formats.profiles.trace_pieces import NoTraceError, TraceEvent, TracePieces
from gpuassist.model.profile import GPU_KINDS, ProfileForm, ProfileGap, ProfileReading, TimeKind

_MICROSECOND = 1e-6
_MOST_PROCESSES = 64

# Kineto's names of what an event is (libkineto, ActivityType.cpp), and those of torch before 1.12.
_OF_GPU = {"kernel": None, "gpu_memcpy": TimeKind.COPIES, "memcpy": TimeKind.COPIES, "gpu_memset": TimeKind.COPIES}
_OF_GPU["memset"] = TimeKind.COPIES
_CALLS = frozenset({"cuda_runtime", "cuda_driver", "runtime", "privateuse1_runtime", "xpu_runtime", "hip_runtime"})
_OPERATORS = frozenset({"cpu_op", "operator", "user_annotation", "cpu_instant_event"})
_FUNCTIONS = frozenset({"python_function", "python"})


class TraceReader:
    """Takes the pieces of one file; `reading` raises `NoTraceError` where they were no trace of torch.profiler."""

    def __init__(self) -> None:
        self._pieces = TracePieces()
        self._table = EventTable(_MICROSECOND)
        self._known: dict[tuple[str, str], int] = {}
        self._processes: set[object] = set()

    def feed(self, piece: bytes) -> None:
        """The next bytes; raises `NoTraceError`."""
        self._take(self._pieces.feed(piece))

    def reading(self) -> ProfileReading:
        """What the whole file tells."""
        self._take(self._pieces.close())
        if not self._known or all(code < 0 for code in self._known.values()):
            raise NoTraceError("a trace without an event of torch.profiler")
        return self._table.reading(ProfileForm.TORCH_TRACE, self._gaps())

    def _gaps(self) -> tuple[ProfileGap, ...]:
        table = self._table
        told = {
            ProfileGap.NO_GPU: not table.has(*GPU_KINDS),
            ProfileGap.NO_OPERATORS: not table.has(TimeKind.OPERATORS),
            ProfileGap.NO_LINES: not table.has_own_lines,
            ProfileGap.CUT_SHORT: not self._pieces.ended,
            ProfileGap.UNREADABLE_EVENTS: bool(self._pieces.unreadable),
            ProfileGap.SEVERAL_PROCESSES: len(self._processes) > 1,
        }
        return tuple(gap for gap, so in told.items() if so)

    def _take(self, events: list[TraceEvent]) -> None:
        known, threads = self._known, dict[object, int]()
        codes, begins, lengths, owners = list[int](), list[float](), list[float](), list[int]()
        for event in events:
            if event.ph != "X":
                continue
            key = (event.cat, event.name)
            code = known.get(key)
            if code is None:
                code = known[key] = self._code(event)
            if code < 0:
                continue
            tid = event.tid
            owner = threads.get(tid)
            if owner is None:
                owner = threads[tid] = self._table.thread((event.pid, tid))
                if event.cat in _OPERATORS and len(self._processes) < _MOST_PROCESSES:
                    self._processes.add(event.pid)
            codes.append(code)
            begins.append(event.ts)
            lengths.append(event.dur)
            owners.append(owner)
        self._table.add_many(codes, begins, lengths, owners)

    def _code(self, event: TraceEvent) -> int:
        """-1 for what takes no time of anybody: an arrow between two events, a span of the whole trace."""
        category, name = event.cat.lower(), shortened(event.name)
        if len(self._known) > 200_000:  # names that are never the same twice
            self._known.clear()
        if category in _OF_GPU:
            return self._table.code(_OF_GPU[category] or device_kind(name), name)
        if category in _CALLS:
            return self._table.code(call_kind(name), name)
        if category == "overhead":
            return self._table.code(TimeKind.START, name)
        if category in _FUNCTIONS:
            kind = function_kind(name)
            return self._table.code(kind if kind is TimeKind.START else TimeKind.PYTHON, name)
        if category in _OPERATORS or (not category and str(event.pid) == "CPU functions"):
            kind = operator_kind(name)
            hollow = is_annotation(name) or (category == "user_annotation" and kind is not TimeKind.DATA)
            return self._table.code(kind, name, hollow=hollow)
        if not category and str(event.pid) == "CUDA functions":
            return self._table.code(device_kind(name), name)
        return -1
