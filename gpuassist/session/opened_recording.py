"""A run of a recording as a watch that has seen it: the same history, peaks and events as those of the watch that recorded it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.history import History
from gpuassist.monitor.playback import history_of
from gpuassist.monitor.sample_file import RecordedRun, SampleFileError, SampleReader
from gpuassist.session.watch import Watch

_LOOK_EVERY = 256  # samples
Tell = Callable[[float], None]
"""Is told the time, in seconds since the epoch, up to which a recording was read."""


class NotWantedError(Exception):
    """Whoever asked wants no answer any more."""


class OpenedRecording(Struct, frozen=True):
    """`last` is the newest sample of the run that tells of any GPU; `damage` says what could not be read."""

    path: str
    run: RecordedRun
    runs: tuple[RecordedRun, ...]
    watch: Watch
    last: Sample
    damage: tuple[Text, ...]

    def samples(self, since: float, until: float) -> Iterator[Sample]:
        """Those of a stretch of the history's axis, read anew."""
        return (one for one in SampleReader(self.path).samples(self.run) if since <= one.monotonic <= until)


def open_recording(
    session: Session, path: str, *, number: int | None = None, tell: Tell = lambda _: None, ends: Callable[[], bool] = lambda: False
) -> OpenedRecording:
    """Reads a run, the newest unless another is asked for; raises `SampleFileError`, and `NotWantedError` once `ends` says so."""
    reader = SampleReader(path)
    runs, run = _chosen(reader, number)
    watch = Watch(session)
    watch.history.gap_seconds = run.gap_seconds
    last: list[Sample] = []

    def told() -> Iterator[Sample]:
        for sample in _watched(reader.samples(run), tell, ends):
            if sample.gpus:
                last[:] = [sample]
            yield sample

    watch.load(told())
    if not last:
        raise SampleFileError(text("{path} holds no figures of any GPU", path=path))
    return OpenedRecording(reader.path, run, runs, watch, last[0], reader.damage)


def history_beside(path: str, begins: float, *, tell: Tell = lambda _: None, ends: Callable[[], bool] = lambda: False) -> History:
    """The newest run of a recording, moved so that it begins there; raises as `open_recording` does."""
    reader = SampleReader(path)
    _, run = _chosen(reader, None)
    history = history_of(_watched(reader.samples(run), tell, ends), gap_seconds=run.gap_seconds, begins=begins)
    if not history.gpus:
        raise SampleFileError(text("{path} holds no figures of any GPU", path=path))
    return history


def _chosen(reader: SampleReader, number: int | None) -> tuple[tuple[RecordedRun, ...], RecordedRun]:
    runs = reader.runs()
    chosen = next((one for one in reversed(runs) if number in {None, one.number}), None)
    if chosen is None:
        raise SampleFileError(text("{path} is empty: nothing was recorded to it", path=reader.path))
    return runs, chosen


def _watched(samples: Iterator[Sample], tell: Tell, ends: Callable[[], bool]) -> Iterator[Sample]:
    for count, sample in enumerate(samples):
        if count % _LOOK_EVERY == 0:
            if ends():
                raise NotWantedError
            tell(sample.time)
        yield sample
