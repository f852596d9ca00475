"""A run of a recording, looked at again: its history as it was drawn, and the sample of any moment in it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from threading import Event as Flag

from gpuassist.context import Session
from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import Text
from gpuassist.monitor.pyramid import SECONDS_AT_MOST
from gpuassist.monitor.sample_file import RecordedRun, SampleFileError, SampleReader
from gpuassist.session.watch import TOLD_KINDS, Watch

AGAIN_SECONDS = 2.0
_SILENT_LOOKS = 5  # after which nobody writes to it any more
_AT_ONCE = 256  # samples between two looks at whether to go on
_MARKS_AT_MOST = 4096
_MARKED = TOLD_KINDS | {EventKind.MARK}
_BLOCKS_AT_MOST = 4


class Replay:
    """`load` is called once, by a thread of its own; all else may be asked meanwhile, and tells of what is there."""

    def __init__(self, session: Session, reader: SampleReader, run: RecordedRun) -> None:
        self._reader, self.run = reader, run
        self.watch = Watch(session)
        self.watch.history.gap_seconds = run.gap_seconds
        self.loaded = False
        self.growing = False
        """Whether more of it comes."""
        self._silent = _SILENT_LOOKS
        self.trouble: Text | None = None
        self._times = array("d")
        self._marks: deque[tuple[float, Event]] = deque(maxlen=_MARKS_AT_MOST)
        self._blocks: dict[float, list[Sample]] = {}  # the newest few, by their first sample's time
        self._ended = Flag()

    @property
    def since(self) -> float | None:
        """The time of the first sample, on the history's axis; none before there is one."""
        return self._times[0] if self._times else None

    @property
    def until(self) -> float:
        """The time of the last one that is there."""
        return self._times[-1] if self._times else 0.0

    def load(self, on_progress: Callable[[], None]) -> None:
        """Reads all of it, and what is still written to it, until `close`; calls whenever there is more to see."""
        try:
            self._take(self._reader.samples(self.run), on_progress)
            self.loaded = True
            on_progress()
            while self._goes_on() and not self._ended.wait(AGAIN_SECONDS):
                self._take_more(on_progress)
            self._take_more(on_progress)  # its last ones
        except SampleFileError as error:  # it has gone meanwhile
            self.trouble = error.reason
        self.loaded, self.growing = True, False
        on_progress()

    def close(self) -> None:
        self._ended.set()

    def sample_at(self, moment: float) -> Sample | None:
        """The newest sample that is not after this moment; none before the first, and where it cannot be read."""
        place = bisect_right(self._times, moment) - 1
        if place < 0:
            return None
        wanted = self._times[place]
        for block in self._blocks.values():
            found = _newest(block, wanted)
            if found is not None and found.monotonic == wanted:
                return found
        block = self._reader.block_before(self.run, wanted)
        if block:
            if len(self._blocks) >= _BLOCKS_AT_MOST:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[block[0].monotonic] = block
        return _newest(block, wanted)

    def step(self, moment: float, count: int) -> float:
        """So many samples further, or back; no further than there are any."""
        place = bisect_right(self._times, moment) - 1 + count
        return self._times[max(0, min(len(self._times) - 1, place))] if self._times else moment

    def next_mark(self, moment: float, step: int) -> float | None:
        """The time of the sample that told of the next failure, error or alert after this moment, or of the one before; none where
        there is none.
        """
        times = sorted({event.monotonic for _, event in tuple(self._marks)})
        seen = [self._times[min(len(self._times) - 1, bisect_left(self._times, time))] for time in times]
        later, earlier = [time for time in seen if time > moment], [time for time in seen if time < moment]
        return (later[0] if later else None) if step > 0 else (earlier[-1] if earlier else None)

    def marks(self, since: float, until: float) -> Iterator[tuple[float, Event]]:
        """What happened between two moments, and when in seconds since the epoch."""
        return ((time, event) for time, event in tuple(self._marks) if since < event.monotonic <= until)

    def _goes_on(self) -> bool:
        """Whether it may be written to still: one that was cut short looks the same."""
        return any(one.identity == self.run.identity and one.ended is None for one in self._reader.runs())

    def _take_more(self, on_progress: Callable[[], None]) -> None:
        before = len(self._times)
        self._take(self._reader.more(self.run), on_progress)
        self._silent = 0 if len(self._times) > before else self._silent + 1
        self.growing = self._silent < _SILENT_LOOKS

    def _take(self, samples: Iterator[Sample], on_progress: Callable[[], None]) -> None:
        while not self._ended.is_set():
            read = list(islice(samples, _AT_ONCE))
            if not read:
                break
            some = list(self._in_order(read))
            self.watch.load(some)
            for sample in some:
                self._marks.extend((sample.time, event) for event in sample.events if event.kind in _MARKED)
            self._times.extend(sample.monotonic for sample in some)
            on_progress()

    def _in_order(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Those of a time that can be; strangers make recordings, too."""
        last = self.until
        for sample in samples:
            if last <= sample.monotonic < SECONDS_AT_MOST:
                last = sample.monotonic
                yield sample


def _newest(block: list[Sample], moment: float) -> Sample | None:
    return next((one for one in reversed(block) if one.monotonic <= moment), None)
