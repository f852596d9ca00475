"""Watching the GPUs' memory: samples as they come, their history, the peaks, and which processes came and went."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from threading import Lock

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.monitor.history import History
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import NvmlSource, SampleSource
from gpuassist.system.world import World

CHANGES_AT_MOST = 512
PEAKS_AT_MOST = 4096
_GAP_SECONDS = 3.0
_GAP_TICKS = 2.5

OnSample = Callable[[Sample], None]
Key = tuple[int, int]
"""A GPU's index and a process on it."""


class Peaks(Struct, frozen=True):
    """The most memory that was seen in use, in bytes: by GPU, and by GPU and process."""

    gpus: Mapping[int, int]
    processes: Mapping[Key, int]


class ProcessEvent(str, Enum):
    """Whether a process appeared on a GPU or left it."""

    STARTED = "started"
    EXITED = "exited"


class ProcessChange(Struct, frozen=True):
    """A process that came or went between two samples; `time` is the later one's, on the history's axis."""

    time: float
    gpu: int
    pid: int
    came: ProcessEvent
    command: str


class Watch:
    """Samples from `start` to `stop`, any number of times; what was seen stays. Its properties may be read from any thread."""

    def __init__(self, session: Session, *, hz: float = 1.0, source: Callable[[World], SampleSource] = NvmlSource) -> None:
        self._world, self._hz, self._make_source = session.world, hz, source
        self.history = History(gap_seconds=max(_GAP_SECONDS, _GAP_TICKS / hz))
        self._lock = Lock()
        self._sampler: Sampler | None = None
        self._on_sample: OnSample = lambda _: None
        self._paused = False
        self._tally = _Tally()

    @property
    def running(self) -> bool:
        """Whether samples are being taken."""
        return self._sampler is not None

    @property
    def paused(self) -> bool:
        """Whether `pause` was called and not undone."""
        return self._paused

    @property
    def peaks(self) -> Peaks:
        """Of everything that was seen."""
        with self._lock:
            return Peaks(dict(self._tally.gpus), dict(self._tally.processes))

    @property
    def changes(self) -> tuple[ProcessChange, ...]:
        """The newest processes that came and went, oldest first."""
        with self._lock:
            return tuple(self._tally.changes)

    def start(self, on_sample: OnSample) -> None:
        """Begins; `on_sample` is called on the sampler's thread."""
        self.stop()
        self._on_sample, self._paused = on_sample, False
        self._begin()

    def stop(self) -> bool:
        """Ends and lets go of the driver. False where the driver hangs and the thread had to be abandoned."""
        sampler, self._sampler = self._sampler, None
        if sampler is None:
            return True
        self.history.interrupt()
        return sampler.stop()

    def pause(self) -> None:
        """Takes no samples, and lets go of the driver, until `go_on`."""
        self._paused = self.running
        self.stop()

    def go_on(self) -> None:
        """After a pause; the history has a gap there."""
        if self._paused:
            self._paused = False
            self._begin()

    def _begin(self) -> None:
        sampler = Sampler(self._make_source(self._world), self._world.clock, self._take, hz=self._hz)
        self._sampler = sampler
        sampler.start()

    def _take(self, sample: Sample) -> None:
        self.history.add(sample)
        with self._lock:
            self._tally.add(sample)
        self._on_sample(sample)


class _Tally:
    def __init__(self) -> None:
        self.gpus: dict[int, int] = {}
        self.processes: dict[Key, int] = {}
        self.changes: deque[ProcessChange] = deque(maxlen=CHANGES_AT_MOST)
        self._present: dict[int, dict[int, str]] = {}

    def add(self, sample: Sample) -> None:
        for gpu in sample.gpus:
            if isinstance(gpu.memory_used_bytes, Known):
                self.gpus[gpu.index] = max(self.gpus.get(gpu.index, 0), gpu.memory_used_bytes.value)
            if isinstance(gpu.processes, Known):
                self._compare(sample.monotonic, gpu, gpu.processes.value)

    def _compare(self, time: float, gpu: GpuSample, processes: tuple[ProcessSample, ...]) -> None:
        now = {process.pid: value_or(process.command, "") for process in processes}
        before = self._present.get(gpu.index)
        self._present[gpu.index] = now
        if before is not None:
            gone = [ProcessChange(time, gpu.index, pid, ProcessEvent.EXITED, before[pid]) for pid in before if pid not in now]
            self.changes.extend(
                (*gone, *(ProcessChange(time, gpu.index, pid, ProcessEvent.STARTED, now[pid]) for pid in now if pid not in before))
            )
        for process in processes:
            if isinstance(process.memory_used_bytes, Known):
                key = (gpu.index, process.pid)
                if key not in self.processes and len(self.processes) >= PEAKS_AT_MOST:
                    del self.processes[next(iter(self.processes))]
                self.processes[key] = max(self.processes.get(key, 0), process.memory_used_bytes.value)
