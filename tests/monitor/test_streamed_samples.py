"""Samples that come by themselves: the newest of those that wait, and what is told where none comes."""

from __future__ import annotations

import json
from collections.abc import Callable

from gpuassist.model.sample import EventKind
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.sources import OwnPace
from gpuassist.monitor.streamed_samples import FIRST_PAUSE_SECONDS, LinesEndedError, StreamedSource
from tests.fakes import FixedClock


def line(used: int) -> str:
    gpu = {"index": 0, "memory_used_bytes": used}
    return json.dumps({"schema": 1, "time": "2026-11-24T09:00:00+00:00", "gpus": [gpu]})


XID = json.dumps({"schema": 1, "time": "2026-11-24T09:00:00+00:00", "event": {"kind": "xid", "text": "Xid 79", "code": "79"}})


class MadeLines:
    """Each of `given` is a line, none, or why no more comes; time goes on where there is none."""

    def __init__(self, clock: FixedClock, *given: str | LinesEndedError | None) -> None:
        self.clock, self.given, self.closed = clock, list(given), False

    def line(self, seconds: float) -> str | None:
        told = self.given.pop(0) if self.given else None
        if isinstance(told, LinesEndedError):
            self.given.insert(0, told)
            raise told
        if told is None:
            self.clock.ticks += seconds
        return told

    def close(self) -> None:
        self.closed = True


class Begun:
    """Begins what it is made with, one after the other."""

    def __init__(self, *given: MadeLines | LinesEndedError) -> None:
        self.given, self.hz = list(given), list[float]()

    def __call__(self, hz: float, _ends: Callable[[], bool]) -> MadeLines:
        self.hz.append(hz)
        told = self.given.pop(0)
        if isinstance(told, LinesEndedError):
            raise told
        return told


def test_the_newest_sample_with_what_happened_in_all_of_them() -> None:
    clock = FixedClock()
    source = StreamedSource("box", Begun(MadeLines(clock, line(1), "noise", XID, line(2), line(3))), clock)
    sample = source.read()
    assert sample.gpus[0].memory_used_bytes.value == 3  # type: ignore[union-attr]
    assert [event.kind for event in sample.events] == [EventKind.XID]
    assert sample.monotonic == clock.since_boot()


def test_silence_is_told_and_ends_with_the_next_sample() -> None:
    clock = FixedClock()
    lines = MadeLines(clock)
    source = StreamedSource("box", Begun(lines), clock)
    assert "box has told nothing for 20 seconds" in ENGLISH(source.read().trouble[0]), "it has to be started first"
    lines.given.append(line(4))
    assert source.read().gpus
    assert "box has told nothing for 3 seconds" in ENGLISH(source.read().trouble[0])
    assert "6 seconds" in ENGLISH(source.read().trouble[0])
    lines.given.append(line(5))
    assert not source.read().trouble


def test_what_was_lost_is_sought_again_ever_more_seldom() -> None:
    clock = FixedClock()
    gone = LinesEndedError(verbatim("gone"))
    lines = MadeLines(clock, line(1), gone)
    begin = Begun(lines, gone, MadeLines(clock, line(2)))
    source = StreamedSource("box", begin, clock)
    assert source.read().gpus
    assert ENGLISH(source.read().trouble[0]) == "gone"
    assert lines.closed
    source.read()
    assert len(begin.hz) == 1, "not before its pause is over"
    clock.ticks += FIRST_PAUSE_SECONDS
    assert source.read().trouble
    clock.ticks += FIRST_PAUSE_SECONDS
    source.read()
    assert len(begin.hz) == 2, "the second pause is longer"
    clock.ticks += FIRST_PAUSE_SECONDS
    assert source.read().gpus


def test_what_no_further_try_mends_is_tried_once() -> None:
    clock = FixedClock()
    begin = Begun(LinesEndedError(verbatim("no key"), waits=True))
    source = StreamedSource("box", begin, clock)
    for _ in range(5):
        assert ENGLISH(source.read().trouble[0]) == "no key"
        clock.ticks += 1000.0
    assert len(begin.hz) == 1


def test_another_rate_begins_anew_and_an_interrupted_reading_waits_for_nobody() -> None:
    clock = FixedClock()
    begin = Begun(MadeLines(clock, line(1)), MadeLines(clock, line(2)))
    source = StreamedSource("box", begin, clock, hz=1.0)
    assert isinstance(source, OwnPace)
    source.read()
    source.sample_at(5.0)
    source.read()
    assert begin.hz == [1.0, 5.0]
    source.interrupt()
    before = clock.ticks
    assert not source.read().gpus
    assert clock.ticks == before
