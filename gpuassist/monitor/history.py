"""The memory of every GPU over time, bounded whatever its length: what the live plot draws, without a file, a clock or numpy.

How to use it (one history for a watch; `add` is called by the sampler's thread, the rest by any):

    window = Window(seconds=300, columns=plot_width_in_pixels)
    revision = history.revision(gpu, window)        # microseconds: ask at every tick
    if (window, revision) != drawn:                 # a curve is set only when its buckets changed
        curve = history.curve(gpu, window)          # .times .low .high .breaks
        stack = history.stack(gpu, window, bands=6) # for areas: .curve, .bands (pid, bytes in each bucket), .others
    history.series(gpu)                         # what else can be drawn of it, by what was ever known
    power = history.curve(gpu, window, Series.POWER)    # with .revision(gpu, window, Series.POWER)

Times are those of `Sample.monotonic`. `history.until` is the time of the newest sample, where a window ends unless it says
otherwise (`Window.until`, for a paused or scrolled plot).
A window has at most as many buckets as columns, plus one that is cut at the left edge.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from enum import Enum
from threading import Lock

from msgspec import Struct

from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.monitor.pyramid import SECONDS_AT_MOST, Curve, Pyramid, Window

SHARES_AT_MOST = 8
COMMANDS_AT_MOST = 1024
FIGURE_COLUMNS = 1024  # buckets of what is drawn thinly below the memory
KEPT_SECONDS = 24 * 3600.0
_SHARE = struct.Struct("<IQ")  # a process's number and the bytes that it holds: a tenth of what tuples take


_GAP_SECONDS, _GAP_TICKS = 3.0, 2.5


def gap_at(hz: float) -> float:
    """How many seconds without a reading are a gap where so many samples a second are taken."""
    return max(_GAP_SECONDS, _GAP_TICKS / hz)


class Series(str, Enum):
    """What is kept of a GPU; but for the memory and torch's own figures, the value is the name of `GpuSample`'s field."""

    MEMORY = "memory_used_bytes"
    UTILIZATION = "utilization_percent"
    POWER = "power_watts"
    TEMPERATURE = "temperature_celsius"
    MEMORY_TEMPERATURE = "memory_celsius"
    SM_CLOCK = "sm_clock_mhz"
    MEMORY_CLOCK = "memory_clock_mhz"
    PCIE_RECEIVED = "pcie_received_bytes_per_second"
    PCIE_SENT = "pcie_sent_bytes_per_second"
    FAN = "fan_percent"
    SM_ACTIVITY = "sm_activity_percent"
    TENSOR_ACTIVITY = "tensor_activity_percent"
    TORCH_ALLOCATED = "torch_allocated_bytes"
    TORCH_RESERVED = "torch_reserved_bytes"


class Band(Struct, frozen=True):
    """What one process held, in each bucket of the stack's curve, when the GPU's memory was fullest in it."""

    pid: int
    values: array[float]


class Stack(Struct, frozen=True):
    """Bands that, with `others` on top, add up to `curve.high` in every bucket; the greatest band is first.

    `others` is memory of further processes, of processes that NVML gives no figure for, and of no process at all.
    """

    curve: Curve
    bands: tuple[Band, ...]
    others: array[float]
    pids: frozenset[int] = frozenset()  # of all processes that held any


class History:
    """What was seen since the watch began. More than `gap_seconds` without a reading is a gap, and so is `interrupt`."""

    def __init__(self, *, gap_seconds: float = _GAP_SECONDS) -> None:
        self.gap_seconds = gap_seconds
        self._lock = Lock()
        self._gpus: dict[int, _Gpu] = {}
        self._commands: dict[int, str] = {}
        self._since: float | None = None
        self._until = self._epoch_of_zero = 0.0

    @property
    def gpus(self) -> tuple[int, ...]:
        """The indices of the GPUs of which anything was known."""
        with self._lock:
            return tuple(sorted(self._gpus))

    @property
    def until(self) -> float:
        """The time of the newest sample; 0 before the first."""
        return self._until

    @property
    def since(self) -> float:
        """The time of the first sample, as far as any is kept of it; 0 before there is one."""
        return 0.0 if self._since is None else max(self._since, self._until - KEPT_SECONDS)

    @property
    def began(self) -> float:
        """When the first sample was taken, in seconds since the epoch, as far as any is kept."""
        return self.since + self.epoch_of_zero

    @property
    def epoch_of_zero(self) -> float:
        """What the clock on the wall showed where the axis is zero, by the newest sample."""
        return self._epoch_of_zero

    def newest(self, gpu: int) -> GpuSample | None:
        """The newest sample of a GPU in which anything of it was known."""
        with self._lock:
            return self._gpus[gpu].newest if gpu in self._gpus else None

    def add(self, sample: Sample) -> None:
        """Takes in a sample; what is unknown of a GPU in it has a gap there. One of a time that cannot be is left out."""
        if not 0.0 <= sample.monotonic < SECONDS_AT_MOST:
            return
        with self._lock:
            self._since = sample.monotonic if self._since is None else self._since
            self._until, self._epoch_of_zero = sample.monotonic, sample.time - sample.monotonic
            for gpu in sample.gpus:
                self._add_gpu(gpu, sample.monotonic)

    def interrupt(self) -> None:
        """Says that what follows does not continue what was: the watch was paused."""
        with self._lock:
            for gpu in self._gpus.values():
                gpu.last.clear()

    def series(self, gpu: int) -> tuple[Series, ...]:
        """What was ever known of a GPU, in the order of `Series`."""
        with self._lock:
            known = self._gpus[gpu].pyramids if gpu in self._gpus else {}
            return tuple(one for one in Series if one in known)

    def revision(self, gpu: int, window: Window, series: Series = Series.MEMORY) -> int:
        """Changes when, and only when, the buckets that this window is drawn from do; 0 where there never were any."""
        with self._lock:
            return self._pyramid(gpu, series).revision(window)

    def width(self, gpu: int, window: Window, series: Series = Series.MEMORY) -> float:
        """That of the buckets which this window is drawn from."""
        with self._lock:
            return self._pyramid(gpu, series).width(window)

    def curve(self, gpu: int, window: Window, series: Series = Series.MEMORY) -> Curve:
        with self._lock:
            return self._pyramid(gpu, series).curve(window, self._end(window))

    def greatest(self, gpu: int, window: Window, series: Series = Series.MEMORY) -> float:
        """The greatest value in this window; 0 where there is none."""
        with self._lock:
            return self._pyramid(gpu, series).greatest(window, self._end(window))

    def stack(self, gpu: int, window: Window, *, bands: int = 6, pids: Sequence[int] | None = None) -> Stack:
        """Used memory by process: the `bands` processes with the greatest peaks in this window, or just these, and the rest."""
        with self._lock:
            pyramid = self._pyramid(gpu, Series.MEMORY)
            curve, shares = pyramid.curve(window, self._end(window)), pyramid.parts(window, self._end(window))
        held: dict[int, array[float]] = {}
        for place, parts in enumerate(shares):
            for pid, used in _SHARE.iter_unpack(parts):
                if pid not in held:
                    held[pid] = array("d", bytes(8 * len(curve.times)))
                held[pid][place] += used
        if pids is None:
            pids = sorted(held, key=lambda pid: max(held[pid]), reverse=True)[:bands]
        chosen = tuple(Band(pid, held.get(pid) or array("d", bytes(8 * len(curve.times)))) for pid in pids)
        rest = curve.high[:]
        for band in chosen:
            rest = array("d", map(float.__sub__, rest, band.values))
        return Stack(curve, chosen, array("d", [max(0.0, value) for value in rest]), frozenset(held))

    def command(self, pid: int) -> str:
        """The command line last seen of a process; empty where it is not known."""
        with self._lock:
            return self._commands.get(pid, "")

    def _add_gpu(self, gpu: GpuSample, time: float) -> None:
        processes = value_or(gpu.processes, ())
        kept = self._gpus.get(gpu.index)
        for series, value in _values(gpu, processes):
            if kept is None:
                kept = self._gpus[gpu.index] = _Gpu()
            kept.newest = gpu
            kept.add(series, time, value, processes, gap_seconds=self.gap_seconds)
        for process in processes:
            if isinstance(process.command, Known):
                if process.pid not in self._commands and len(self._commands) >= COMMANDS_AT_MOST:
                    del self._commands[next(iter(self._commands))]
                self._commands[process.pid] = process.command.value

    def _pyramid(self, gpu: int, series: Series) -> Pyramid:
        kept = self._gpus.get(gpu)
        return _EMPTY if kept is None else kept.pyramids.get(series, _EMPTY)

    def _end(self, window: Window) -> float:
        return self._until if window.until is None else window.until


class _Gpu:
    """One GPU's pyramids, when each was last added to, and its last shares so that equal ones are one object."""

    __slots__ = ("_listed", "_shares", "last", "newest", "pyramids")

    def __init__(self) -> None:
        self.pyramids: dict[Series, Pyramid] = {}
        self.newest: GpuSample | None = None
        self.last: dict[Series, float] = {}
        self._listed: tuple[ProcessSample, ...] = ()
        self._shares = b""

    def add(self, series: Series, time: float, value: float, processes: tuple[ProcessSample, ...], *, gap_seconds: float) -> None:
        pyramid = self.pyramids.get(series)
        if pyramid is None:
            made = Pyramid() if series is Series.MEMORY else Pyramid(FIGURE_COLUMNS, figures=True)
            pyramid = self.pyramids[series] = made
        parts = self._parts(processes) if series is Series.MEMORY else b""
        pyramid.add(time, value, parts, after_gap=time - self.last.get(series, -math.inf) > gap_seconds)
        self.last[series] = time

    def _parts(self, processes: tuple[ProcessSample, ...]) -> bytes:
        if processes is self._listed:
            return self._shares
        known = [(one.pid, one.memory_used_bytes.value) for one in processes if isinstance(one.memory_used_bytes, Known)]
        known = [(pid, used) for pid, used in known if 0 <= pid < 1 << 32 and 0 <= used < 1 << 64]
        if len(known) > SHARES_AT_MOST:
            known = sorted(known, key=lambda share: share[1], reverse=True)[:SHARES_AT_MOST]
        shares = b"".join(_SHARE.pack(*share) for share in known)
        self._listed = processes
        if shares != self._shares:
            self._shares = shares
        return self._shares


_EMPTY = Pyramid()  # never added to
_MOST = 1e30
_FIELDS = tuple((series, series.value) for series in Series if series not in {Series.TORCH_ALLOCATED, Series.TORCH_RESERVED})


def _values(gpu: GpuSample, processes: tuple[ProcessSample, ...]) -> Iterator[tuple[Series, float]]:
    """What is known of a GPU now; of torch the sum over the processes that tell it."""
    for series, field in _FIELDS:
        fact = getattr(gpu, field)
        if isinstance(fact, Known) and -_MOST < fact.value < _MOST:  # strangers make recordings, too
            yield series, float(fact.value)
    torch = [process.torch.value for process in processes if isinstance(process.torch, Known)]
    if torch:
        yield Series.TORCH_ALLOCATED, float(sum(one.allocated_bytes for one in torch))
        yield Series.TORCH_RESERVED, float(sum(one.reserved_bytes for one in torch))
