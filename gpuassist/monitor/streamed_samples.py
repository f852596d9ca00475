"""Samples that come from another machine by themselves, as lines of `monitor --headless`, for as long as its connection lasts.

Where it is lost, the samples say so, and it is sought again, ever more seldom; the history has a gap there, and nothing else is
lost. What no further try mends is not tried again.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event as Flag
from typing import Protocol

from msgspec.structs import replace

from gpuassist.formats.sample_lines import EVENTS_AT_MOST, read_sample_line
from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import Text, counted
from gpuassist.system.clock import Clock

PATIENCE_PERIODS, PATIENCE_SECONDS = 3.0, 3.0
FIRST_SAMPLE_SECONDS = 20.0  # it is started over there, and opening the driver wakes every card
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 2.0, 60.0
_LINES_AT_ONCE = 1000
# These are told by whoever watches, of what he sees himself.
_OWN_EVENTS = frozenset({EventKind.ALERT})


class LinesEndedError(Exception):
    """No line can come any more; `reason` says why, `waits` that no further try helps before somebody did something about it."""

    def __init__(self, reason: Text, *, waits: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.waits = reason, waits


class SampleLines(Protocol):
    """What prints them over there."""

    def line(self, seconds: float) -> str | None:
        """The next line; none where there is none in time. Raises `LinesEndedError` once no more can come."""

    def close(self) -> None:
        """Ends it."""


BeginLines = Callable[[float, Callable[[], bool]], SampleLines]
"""Begins with so many samples a second; asks now and then whether it is still wanted, and raises `LinesEndedError`."""


class StreamedSource:
    """A `SampleSource`; `begin` may take as long as a connection does."""

    def __init__(self, host: str, begin: BeginLines, clock: Clock, *, hz: float = 1.0) -> None:
        self._host, self._begin, self._clock, self._hz = host, begin, clock, hz
        self._wanted_hz = hz
        self._lines: SampleLines | None = None
        self._trouble: tuple[Text, ...] = ()
        self._again_at, self._pause = 0.0, FIRST_PAUSE_SECONDS
        self._stopping = Flag()
        self._heard = clock.monotonic()
        self._events: list[Event] = []
        self._is_new = True

    def sample_at(self, hz: float) -> None:
        """From any thread: so many samples a second from the next one on."""
        self._wanted_hz = hz

    def read(self) -> Sample:
        try:
            if self._lines is not None and self._wanted_hz != self._hz:
                self._let_go()
            if self._lines is None:
                if self._clock.monotonic() < self._again_at:
                    return self._nothing(self._trouble)
                self._hz = self._wanted_hz
                self._lines = self._begin(self._hz, self._stopping.is_set)
                self._heard, self._is_new = self._clock.monotonic(), True
            sample = self._newest(self._lines)
        except LinesEndedError as error:
            self._let_go()
            self._trouble = (error.reason,)
            self._again_at = float("inf") if error.waits else self._clock.monotonic() + self._pause
            self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause)
            return self._nothing(self._trouble)
        if sample is None:
            waited = self._clock.monotonic() - self._heard
            return self._nothing((silence(self._host, waited),) if not self._stopping.is_set() else ())
        self._heard, self._pause, self._trouble, self._is_new = self._clock.monotonic(), FIRST_PAUSE_SECONDS, (), False
        events, self._events = tuple(self._events), []
        return replace(sample, events=events) if events else sample

    def close(self) -> None:
        self._let_go()

    def interrupt(self) -> None:
        self._stopping.set()

    def _newest(self, lines: SampleLines) -> Sample | None:
        """The last sample of all that has come, with what happened in each; none where none comes in time."""
        found: Sample | None = None
        patience = FIRST_SAMPLE_SECONDS if self._is_new else PATIENCE_SECONDS
        until = self._clock.monotonic() + max(PATIENCE_PERIODS / self._hz, patience)
        for _ in range(_LINES_AT_ONCE):
            if self._stopping.is_set():
                break
            left = until - self._clock.monotonic() if found is None else 0.0
            try:
                line = lines.line(min(max(0.0, left), _LOOK_SECONDS))
            except LinesEndedError:
                if found is not None:
                    break  # it is told the next time
                raise
            if line is None:
                if found is not None or left <= 0:
                    break
                continue
            read = read_sample_line(line, self._clock.since_boot(), self._host)
            if read is not None and read.sample is not None:
                found = read.sample
            elif read is not None and read.event is not None and len(self._events) < EVENTS_AT_MOST:
                self._events.extend(() if read.event.kind in _OWN_EVENTS else (read.event,))
        return found

    def _nothing(self, why: tuple[Text, ...]) -> Sample:
        return Sample(self._clock.epoch(), self._clock.since_boot(), (), why)

    def _let_go(self) -> None:
        lines, self._lines = self._lines, None
        if lines is not None:
            lines.close()


_LOOK_SECONDS = 0.1


def silence(host: str, seconds: float) -> Text:
    return counted(
        "{host} has told nothing for {count} second",
        "{host} has told nothing for {count} seconds",
        max(1, round(seconds)),
        host=host,
    )
