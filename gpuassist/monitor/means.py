"""What processes used on average over any stretch of the history: sums over time, of which fewer are kept the more there are.

A process's memory over a stretch is the difference of two sums divided by the time between them, so nothing has to be kept of what
lies between.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.sample import ProcessSample, Sample

POINTS_AT_MOST = 512
PROCESSES_AT_MOST = 512
_FINEST_SECONDS = 1.0
_LONGEST_SECONDS = 30.0  # between two samples: what lies further apart was not watched

Key = tuple[int, int]
"""A GPU's index and a process on it."""


class ProcessMean(Struct, frozen=True):
    """Over the part of a stretch in which the process was there; none of what was not known then."""

    memory_bytes: float | None
    gpu_percent: float | None


class ProcessMeans:
    """Of every process on every GPU; `add` is called by the sampler's thread, `mean` by any."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[Key, _Sums] = {}

    def add(self, sample: Sample) -> None:
        there = [((gpu.index, process.pid), process) for gpu in sample.gpus for process in value_or(gpu.processes, ())]
        with self._lock:
            new = []
            for key, process in there:
                sums = self._kept.pop(key, None)
                if sums is None:
                    new.append((key, process))
                    continue
                self._kept[key] = sums  # at the end: those that have gone come to the front
                sums.add(sample.monotonic, process)
            for key, process in new:
                # Those that are there stay: were there more of them than places, each would take another one's, and none be known.
                if len(self._kept) >= PROCESSES_AT_MOST:
                    oldest = next(iter(self._kept))
                    if self._kept[oldest].last == sample.monotonic:
                        break
                    del self._kept[oldest]
                sums = self._kept[key] = _Sums()
                sums.add(sample.monotonic, process)

    def mean(self, key: Key, since: float, until: float) -> ProcessMean | None:
        """None where it was not there then."""
        with self._lock:
            sums = self._kept.get(key)
            return None if sums is None else sums.mean(since, until)


_FIGURES: tuple[Callable[[ProcessSample], Fact[int]], ...] = (lambda one: one.memory_used_bytes, lambda one: one.gpu_percent)


class _Sums:
    """Times, and up to each of them by figure: the sum of value and seconds, and of the seconds in which it was known."""

    __slots__ = ("_spacing", "_sums", "_times", "_totals", "last")

    def __init__(self) -> None:
        self._times = array("d")
        self._sums = tuple(array("d") for _ in range(2 * len(_FIGURES)))
        self._totals = [0.0] * len(self._sums)
        self.last: float | None = None
        self._spacing = _FINEST_SECONDS

    def add(self, time: float, process: ProcessSample) -> None:
        passed = 0.0 if self.last is None else time - self.last
        self.last = time
        for place, figure in enumerate(_FIGURES):
            fact = figure(process)
            if isinstance(fact, Known) and 0 < passed <= _LONGEST_SECONDS:
                self._totals[2 * place] += fact.value * passed
                self._totals[2 * place + 1] += passed
        # The newest stands for now and is moved on until it is far enough from the one before.
        if len(self._times) >= 2 and time - self._times[-2] < self._spacing:
            self._times[-1] = time
            for sums, total in zip(self._sums, self._totals, strict=True):
                sums[-1] = total
            return
        if len(self._times) >= POINTS_AT_MOST:
            self._times = self._times[::2]
            self._sums = tuple(sums[::2] for sums in self._sums)
            self._spacing *= 2
        self._times.append(time)
        for sums, total in zip(self._sums, self._totals, strict=True):
            sums.append(total)

    def mean(self, since: float, until: float) -> ProcessMean | None:
        if not self._times or until < self._times[0] or since > self._times[-1]:
            return None
        memory, memory_known, gpu, gpu_known = (self._at(sums, until) - self._at(sums, since) for sums in self._sums)
        return ProcessMean(memory / memory_known if memory_known > 0 else None, gpu / gpu_known if gpu_known > 0 else None)

    def _at(self, sums: array[float], time: float) -> float:
        """Between two points as if the value had been the same from one to the other."""
        after = bisect_right(self._times, time)
        if after == 0:
            return 0.0
        if after == len(self._times):
            return sums[-1]
        share = (time - self._times[after - 1]) / (self._times[after] - self._times[after - 1])
        return sums[after - 1] + share * (sums[after] - sums[after - 1])
