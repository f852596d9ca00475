"""Watching the GPUs' memory: samples as they come, their history, the peaks, what happened, and since when nothing comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import Event, EventKind, ProcessSample, Sample
from gpuassist.monitor.history import History, gap_at
from gpuassist.monitor.means import Key, ProcessMeans
from gpuassist.monitor.ring_source import RingSource, live_source
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import EVERYTHING, Detail, NvmlSource, OwnPace, PastSample, SampleSource
from gpuassist.session.insight import Insight
from gpuassist.system.files import NOWHERE, Files
from gpuassist.system.world import World

if TYPE_CHECKING:  # SQLite costs a start 5 ms, and most watches record nothing
    from gpuassist.monitor.pyramid import Window
    from gpuassist.monitor.recorder import Recorder, RecorderState

TOLD_KINDS = frozenset(
    {
        *(EventKind.OUT_OF_MEMORY, EventKind.XID, EventKind.LOST, EventKind.BACK, EventKind.RESET, EventKind.DRIVER_RELOADED),
        *(EventKind.SUSPENDED, EventKind.CLOCK_SET, EventKind.ALERT),
    }
)
"""What somebody who looks away for a minute would want to be told; that processes come and go is seen by itself."""

EVENTS_AT_MOST = 1024
PEAKS_AT_MOST = 4096
_SEEN = "recording"
_SILENT_PERIODS = 3.0
_SILENT_SECONDS = 1.0  # less is a hiccup, however often is sampled

OnSample = Callable[[Sample], None]


class Peaks(Struct, frozen=True):
    """The most memory that was seen in use, in bytes: by GPU, and by GPU and process."""

    gpus: Mapping[int, int]
    processes: Mapping[Key, int]


class Silence(Struct, frozen=True):
    """For how long no figure has come, and when the last did, in seconds since the epoch (0 where none ever did); `server` is who
    is silent, empty for the driver.
    """

    seconds: float
    last: float
    server: str = ""


class Watch:
    """Samples from `start` to `stop`, any number of times; what was seen stays. Its properties may be read from any thread.

    `server` is where the samples come from, empty for this machine.
    """

    def __init__(
        self, session: Session, *, hz: float = 1.0, source: Callable[[World], SampleSource] = live_source, server: str = ""
    ) -> None:
        self._world, self._hz, self._make_source, self.server = session.world, hz, source, server
        self.history = History(gap_seconds=gap_at(hz))
        self._lock = Lock()
        self._sampler: Sampler | None = None
        self._recorder: Recorder | None = None
        self._on_sample: OnSample = lambda _: None
        self._paused = False
        self._tally = _Tally()
        self.means = ProcessMeans()
        # What this machine's /proc says of a number has nothing to do with the process of that number elsewhere.
        self.insight = Insight(Files(NOWHERE) if server else session.world.files)
        self._wanted = EVERYTHING
        self._source: SampleSource | None = None
        self._answered: tuple[float, float] | None = None  # monotonic and epoch of the last figure
        self._answers: dict[int, tuple[float, float]] = {}
        self._replayed: dict[Key, ProcessSample] = {}
        self._told_until = 0.0  # on the history's axis

    @property
    def now(self) -> float:
        """The moment on the history's axis."""
        return self._world.clock.since_boot()

    @property
    def hz(self) -> float:
        """How many samples a second are taken."""
        return self._hz

    def sample_at(self, hz: float) -> None:
        """So many samples a second from now on; what was seen stays."""
        self._hz, self.history.gap_seconds = hz, gap_at(hz)
        recorder = self._recorder
        if recorder is not None:
            recorder.widen_gap(self.history.gap_seconds)
        source: object = self._source
        if isinstance(source, OwnPace):
            source.sample_at(hz)
        if self._sampler is not None:
            self._sampler.pace(hz)

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
    def events(self) -> tuple[Event, ...]:
        """The newest of what happened, oldest first."""
        with self._lock:
            return tuple(self._tally.events)

    @property
    def silence(self) -> Silence | None:
        """Where no GPU has told its memory for three periods; a GPU that is known to sleep or to be lost has told that."""
        return self._silence_since(self._answered)

    def silence_of(self, gpu: int) -> Silence | None:
        """The same of one GPU."""
        return self._silence_since(self._answers.get(gpu, self._answered))

    @property
    def wanted(self) -> frozenset[Detail]:
        """What is asked beside the figures that always come."""
        return self._wanted

    def want(self, *details: Detail) -> None:
        """Asks these and no other from now on: whoever shows or records a curve says so, because each costs calls."""
        self._wanted = frozenset(details)
        self._tell_wanted()

    @property
    def recording(self) -> RecorderState | None:
        """How the recording does that `record` began; none where there is none."""
        recorder = self._recorder
        return None if recorder is None else recorder.state

    def record(self, path: str) -> None:
        """From now on what is sampled goes to a file, too; raises `SampleFileError` where that cannot be."""
        from gpuassist.monitor.recorder import Recorder

        self.end_recording()
        self._recorder = Recorder(path, self._world.clock, gap_seconds=self.history.gap_seconds)

    def end_recording(self) -> RecorderState | None:
        """Writes what is left, which may take a second, and says how it went."""
        recorder, self._recorder = self._recorder, None
        return None if recorder is None else recorder.stop()

    def save_shown(self, path: str, window: Window) -> int:
        """Records what a window of the history shows, and returns of how many samples; raises `SampleFileError`."""
        from gpuassist.monitor.playback import gap_of, samples_of
        from gpuassist.monitor.sample_writer import SampleWriter

        since = (self.history.until if window.until is None else window.until) - window.seconds
        samples = list(self._with_events(samples_of(self.history, window), since=since))
        writer = SampleWriter(
            path, samples[0].time if samples else self._world.clock.epoch(), gap_seconds=gap_of(self.history, window)
        )
        try:
            writer.write(samples)
        finally:
            writer.close(self._world.clock.epoch())
        return len(samples)

    def _with_events(self, samples: Iterable[Sample], *, since: float) -> Iterator[Sample]:
        """What happened from then on, told by the first of them that comes after it."""
        events, before = self.events, since
        for sample in samples:
            told = tuple(one for one in events if before < one.monotonic <= sample.monotonic)
            before = sample.monotonic
            yield replace(sample, events=told) if told else sample

    def load(self, samples: Iterable[Sample]) -> None:
        """Takes in what was recorded: its history, peaks and events are then those of the watch that recorded it."""
        for sample in samples:
            self.insight.replay(sample)
            self.history.add(sample)
            self.means.add(sample)
            with self._lock:
                self._tally.add(sample)
            for gpu in sample.gpus:
                for process in value_or(gpu.processes, ()):
                    if len(self._replayed) < PEAKS_AT_MOST:
                        self._replayed[gpu.index, process.pid] = process

    def seen_between(self, sample: Sample, since: float, until: float) -> Sample:
        """A sample of what `load` took in, with all processes that were there in a stretch of time: who they were, without the
        figures of a single moment.
        """
        gpus = []
        for gpu in sample.gpus:
            seen = (one for (index, _), one in self._replayed.items() if index == gpu.index)
            there = tuple(_lasting(one) for one in seen if self.means.mean((gpu.index, one.pid), since, until) is not None)
            gpus.append(replace(gpu, processes=Known(there, _SEEN)) if there or isinstance(gpu.processes, Known) else gpu)
        return replace(sample, gpus=tuple(gpus))

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
        self._source = self._make_source(self._world)
        self._tell_wanted()
        self._answered = (self._world.clock.monotonic(), self._answered[1] if self._answered else 0.0)
        self._answers.clear()
        sampler = Sampler(self._source, self._world.clock, self._take, hz=self._hz, on_past=self._take_past)
        self._sampler = sampler
        sampler.start()

    def _tell_wanted(self) -> None:
        if isinstance(self._source, NvmlSource | RingSource):
            self._source.wanted = self._wanted

    def _take_past(self, past: PastSample) -> None:
        """What is drawn as if it had been seen; a recording holds what came while it went on."""
        if past.sample.monotonic <= self._told_until:
            return
        self._told_until = past.sample.monotonic
        gap_seconds, self.history.gap_seconds = self.history.gap_seconds, past.gap_seconds
        self.history.add(past.sample)
        self.history.gap_seconds = gap_seconds
        with self._lock:
            self._tally.add(past.sample)

    def _take(self, taken: Sample) -> None:
        sample = self.insight.take(taken)
        now = (self._world.clock.monotonic(), sample.time)
        for gpu in sample.gpus:
            if not gpu.silent_seconds:
                self._answers[gpu.index] = now
        if any(not gpu.silent_seconds for gpu in sample.gpus):
            self._answered, self._told_until = now, sample.monotonic
        self.history.add(sample)
        self.means.add(sample)
        with self._lock:
            self._tally.add(sample)
        recorder = self._recorder
        if recorder is not None:
            recorder.add(sample)
        self._on_sample(sample)

    def _silence_since(self, answered: tuple[float, float] | None) -> Silence | None:
        if answered is None or not self.running:
            return None
        seconds = self._world.clock.monotonic() - answered[0]
        patience = max(_SILENT_PERIODS / self._hz, _SILENT_SECONDS)
        return Silence(seconds, answered[1], self.server) if seconds >= patience else None


def _lasting(process: ProcessSample) -> ProcessSample:
    """What of a process is true for as long as it runs."""
    return ProcessSample(
        process.pid,
        process.user,
        process.command,
        kind=process.kind,
        container=process.container,
        started=process.started,
        notebook=process.notebook,
    )


class _Tally:
    def __init__(self) -> None:
        self.gpus: dict[int, int] = {}
        self.processes: dict[Key, int] = {}
        self.events: deque[Event] = deque(maxlen=EVENTS_AT_MOST)

    def add(self, sample: Sample) -> None:
        self.events.extend(sample.events)
        for gpu in sample.gpus:
            if isinstance(gpu.memory_used_bytes, Known):
                self.gpus[gpu.index] = max(self.gpus.get(gpu.index, 0), gpu.memory_used_bytes.value)
            for process in gpu.processes.value if isinstance(gpu.processes, Known) else ():
                if isinstance(process.memory_used_bytes, Known):
                    self._rise((gpu.index, process.pid), process.memory_used_bytes.value)

    def _rise(self, key: Key, used: int) -> None:
        if key not in self.processes and len(self.processes) >= PEAKS_AT_MOST:
            del self.processes[next(iter(self.processes))]
        self.processes[key] = max(self.processes.get(key, 0), used)
