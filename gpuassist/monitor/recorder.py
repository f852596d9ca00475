"""Records samples on a thread of its own, so that a disk that is slow or full holds up nobody who takes or draws them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread

from msgspec import Struct

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, counted, text
from gpuassist.monitor.sample_file import SampleFileError
from gpuassist.monitor.sample_writer import ROTATE_BYTES, SampleWriter
from gpuassist.system.clock import Clock
from gpuassist.system.interrupts import leave_signals_to_others

COMMIT_SECONDS = 1.0
CLOSE_SECONDS = 5.0
_SAMPLES_AT_MOST = 1024  # that wait for the thread while its disk does not answer at all


class RecorderState(Struct, frozen=True):
    """How a recording does: the file that it goes to now, the samples that are in it, those that wait for room, and those that were
    given up; `trouble` is what keeps them waiting, or went wrong.
    """

    path: str
    written: int
    waiting: int
    lost: int
    trouble: Text | None

    @property
    def loss(self) -> Text | None:
        """That so many samples found no room; none where all did."""
        if not self.lost:
            return None
        return counted("{count} sample could not be kept", "{count} samples could not be kept", self.lost)


class Recorder:
    """Made, it records: raises `SampleFileError` where it cannot. `on_trouble` is called on its thread, once for each trouble and
    once when it is over.
    """

    def __init__(
        self,
        path: str,
        clock: Clock,
        *,
        gap_seconds: float = 3.0,
        rotate_bytes: int = ROTATE_BYTES,
        on_trouble: Callable[[Text], None] = lambda _: None,
    ) -> None:
        self._writer = SampleWriter(path, clock.epoch(), gap_seconds=gap_seconds, rotate_bytes=rotate_bytes)
        self._clock, self._on_trouble = clock, on_trouble
        self._changed = Condition()
        self._samples: list[Sample] = []
        self._stopping = False
        self._gap_seconds = gap_seconds
        self._state = RecorderState(path, 0, 0, 0, None)
        self._told: Text | None = None
        self._taken = self._dropped = 0
        self._thread = Thread(target=self._run, name="gpuassist recorder", daemon=True)
        self._thread.start()

    @property
    def state(self) -> RecorderState:
        return self._state

    def add(self, sample: Sample) -> None:
        """From any thread; returns at once."""
        with self._changed:
            self._samples.append(sample)
            if len(self._samples) > _SAMPLES_AT_MOST:
                del self._samples[0]
                self._dropped += 1

    def widen_gap(self, seconds: float) -> None:
        """Samples come more seldom from now on; from any thread."""
        self._gap_seconds = max(self._gap_seconds, seconds)

    def stop(self) -> RecorderState:
        """Writes what is left and closes the file. Where the disk does not answer for long, the thread is left alone with it."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join(CLOSE_SECONDS)
        return self._state

    def _run(self) -> None:
        leave_signals_to_others()
        stopping = False
        while not stopping:
            with self._changed:
                # Asked before what is there is taken: while a slow disk is written to, more may come, and then the end.
                stopping = self._changed.wait_for(lambda: self._stopping, COMMIT_SECONDS)
            self._write()
        trouble: Text | None = None
        try:
            self._writer.close(self._clock.epoch())
        except SampleFileError as error:
            lost = self._writer.waiting
            trouble = error.reason
            if lost:
                trouble = counted(
                    "{reason}; {count} sample could not be written",
                    "{reason}; {count} samples could not be written",
                    lost,
                    reason=error.reason,
                )
        self._tell(trouble)

    def _write(self) -> None:
        with self._changed:
            samples, self._samples = self._samples, []
        self._taken += len(samples)
        trouble = None
        self._writer.widen_gap(self._gap_seconds)
        try:
            self._writer.write(samples)
        except SampleFileError as error:
            trouble = error.reason
        else:
            trouble, self._writer.damage = self._writer.damage, None
        self._tell(trouble)

    def _tell(self, trouble: Text | None) -> None:
        lost = self._writer.lost + self._dropped
        written = self._taken - self._writer.waiting - self._writer.lost
        self._state = RecorderState(self._writer.path, written, self._writer.waiting, lost, trouble)
        if trouble is not None and trouble != self._told:
            self._on_trouble(trouble)
        elif trouble is None and self._told is not None and not self._state.waiting:
            self._on_trouble(text("{path} is written to again, with all that waited", path=self._writer.path))
        self._told = trouble
