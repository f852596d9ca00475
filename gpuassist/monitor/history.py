"""The memory of every GPU over time, bounded whatever its length: what the live plot draws, without a file, a clock or numpy.

How to use it (one history for a watch; `add` is called by the sampler's thread, the rest by any):

    window = Window(seconds=300, columns=plot_width_in_pixels)
    revision = history.revision(gpu, window)        # microseconds: ask at every tick
    if (window, revision) != drawn:                 # a curve is set only when its buckets changed
        curve = history.curve(gpu, window)          # .times .low .high .breaks
        stack = history.stack(gpu, window, bands=6) # for areas: .curve, .bands (pid, bytes in each bucket), .others

Times are those of `Sample.monotonic`. `history.until` is the time of the newest sample, where a window ends unless it says
otherwise (`Window.until`, for a paused or scrolled plot).
A window has at most as many buckets as columns, plus one that is cut at the left edge.
"""

from __future__ import annotations

import math
from array import array
from threading import Lock

from msgspec import Struct

from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.monitor.pyramid import Curve, Pyramid, Share, Window

SHARES_AT_MOST = 8
COMMANDS_AT_MOST = 1024


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


class History:
    """What was seen since the watch began. More than `gap_seconds` without a reading is a gap, and so is `interrupt`."""

    def __init__(self, *, gap_seconds: float = 3.0) -> None:
        self.gap_seconds = gap_seconds
        self._lock = Lock()
        self._gpus: dict[int, _Gpu] = {}
        self._commands: dict[int, str] = {}
        self._until = 0.0

    @property
    def gpus(self) -> tuple[int, ...]:
        """The indices of the GPUs that a reading was seen of."""
        with self._lock:
            return tuple(sorted(self._gpus))

    @property
    def until(self) -> float:
        """The time of the newest sample; 0 before the first."""
        return self._until

    def add(self, sample: Sample) -> None:
        """Takes in a sample; a GPU whose used memory is unknown in it has a gap there."""
        with self._lock:
            self._until = sample.monotonic
            for gpu in sample.gpus:
                self._add_gpu(gpu, sample.monotonic)

    def interrupt(self) -> None:
        """Says that what follows does not continue what was: the watch was paused."""
        with self._lock:
            for gpu in self._gpus.values():
                gpu.last = -math.inf

    def revision(self, gpu: int, window: Window) -> int:
        """Changes when, and only when, the buckets that this window is drawn from do; 0 for a GPU that was never seen."""
        with self._lock:
            return self._gpus[gpu].pyramid.revision(window) if gpu in self._gpus else 0

    def curve(self, gpu: int, window: Window) -> Curve:
        with self._lock:
            return self._curve(gpu, window)

    def stack(self, gpu: int, window: Window, *, bands: int = 6) -> Stack:
        """Used memory by process: the `bands` processes with the greatest peaks in this window, and the rest."""
        with self._lock:
            curve = self._curve(gpu, window)
            shares = self._gpus[gpu].pyramid.shares(window, self._end(window)) if gpu in self._gpus else []
        held: dict[int, array[float]] = {}
        for place, parts in enumerate(shares):
            for pid, used in parts:
                if pid not in held:
                    held[pid] = array("d", bytes(8 * len(shares)))
                held[pid][place] += used
        greatest = sorted(held, key=lambda pid: max(held[pid]), reverse=True)[:bands]
        chosen = tuple(Band(pid, held[pid]) for pid in greatest)
        rest = curve.high[:]
        for band in chosen:
            rest = array("d", map(float.__sub__, rest, band.values))
        return Stack(curve, chosen, array("d", [max(0.0, value) for value in rest]))

    def command(self, pid: int) -> str:
        """The command line last seen of a process; empty where it is not known."""
        with self._lock:
            return self._commands.get(pid, "")

    def _add_gpu(self, gpu: GpuSample, time: float) -> None:
        if not isinstance(gpu.memory_used_bytes, Known):
            return
        kept = self._gpus.setdefault(gpu.index, _Gpu())
        after_gap = time - kept.last > self.gap_seconds
        kept.last = time
        processes = value_or(gpu.processes, ())
        kept.pyramid.add(time, float(gpu.memory_used_bytes.value), kept.shares(processes), after_gap=after_gap)
        for process in processes:
            if isinstance(process.command, Known):
                if process.pid not in self._commands and len(self._commands) >= COMMANDS_AT_MOST:
                    del self._commands[next(iter(self._commands))]
                self._commands[process.pid] = process.command.value

    def _curve(self, gpu: int, window: Window) -> Curve:
        pyramid = self._gpus[gpu].pyramid if gpu in self._gpus else Pyramid()
        return pyramid.curve(window, self._end(window))

    def _end(self, window: Window) -> float:
        return self._until if window.until is None else window.until


class _Gpu:
    """One GPU's pyramid, and its last shares so that equal ones are one object (a training run's rarely change)."""

    __slots__ = ("_pairs", "_shares", "last", "pyramid")

    def __init__(self) -> None:
        self.pyramid = Pyramid()
        self.last = -math.inf
        self._pairs: dict[int, Share] = {}
        self._shares: tuple[Share, ...] = ()

    def shares(self, processes: tuple[ProcessSample, ...]) -> tuple[Share, ...]:
        known = [(one.pid, one.memory_used_bytes.value) for one in processes if isinstance(one.memory_used_bytes, Known)]
        if len(known) > SHARES_AT_MOST:
            known = sorted(known, key=lambda share: share[1], reverse=True)[:SHARES_AT_MOST]
        if tuple(known) != self._shares:
            known = [self._pairs[share[0]] if self._pairs.get(share[0]) == share else share for share in known]
            self._shares = tuple(known)
            self._pairs = {share[0]: share for share in known}
        return self._shares
