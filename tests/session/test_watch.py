"""A watch: what it keeps of the samples, and how it starts, stops and pauses."""

from __future__ import annotations

import pytest

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Unknown
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.pyramid import Window
from gpuassist.session import watch as watching
from gpuassist.session.watch import CHANGES_AT_MOST, PEAKS_AT_MOST, ProcessEvent, Watch
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.monitor.made_sources import Collector, MadeSource, StuckSource
from tests.monitor.samples import gpu, process, sample

MINUTE = Window(60, 600)


@pytest.fixture
def session() -> Session:
    return Session(World(Surroundings("/home/you", "you", 1000)), Knowledge(Resources().read), ENGLISH)


def watched(session: Session, *gpus: tuple[GpuSample, ...]) -> Watch:
    """A watch that has seen these, and is stopped."""
    watch, heard = Watch(session, hz=200, source=MadeSource(*gpus)), Collector(len(gpus))
    watch.start(heard)
    heard.wait()
    watch.stop()
    return watch


def test_samples_are_heard_and_kept(session: Session) -> None:
    watch = watched(session, (gpu(5),), (gpu(9),))
    assert list(watch.history.curve(0, MINUTE).high)[:2] == [5.0, 9.0]


def test_the_sample_is_in_the_history_when_it_is_heard(session: Session) -> None:
    watch = Watch(session, hz=200, source=MadeSource((gpu(5),)))
    seen: list[float] = []
    heard = Collector()

    def hear(one: Sample) -> None:
        seen.append(watch.history.until)
        heard(one)

    watch.start(hear)
    heard.wait()
    watch.stop()
    assert seen[0] == 1.0


def test_peaks_are_of_everything_seen(session: Session) -> None:
    watch = watched(session, (gpu(5, process(7, 4)),), (gpu(90, process(7, 80)),), (gpu(10, process(8, 3)),))
    assert watch.peaks.gpus == {0: 90}
    assert watch.peaks.processes == {(0, 7): 80, (0, 8): 3}


def test_unknown_memory_has_no_peak(session: Session) -> None:
    watch = watched(session, (gpu(None, process(7)),))
    assert (watch.peaks.gpus, watch.peaks.processes) == ({}, {})


def test_a_process_of_two_gpus_has_two_peaks(session: Session) -> None:
    watch = watched(session, (gpu(5, process(7, 1)), gpu(6, process(7, 2), index=1)))
    assert watch.peaks.processes == {(0, 7): 1, (1, 7): 2}


def test_who_was_there_at_first_did_not_come(session: Session) -> None:
    assert watched(session, (gpu(5, process(7, 1, "train.py")),), (gpu(5, process(7, 1, "train.py")),)).changes == ()


def test_who_comes_and_goes_is_told(session: Session) -> None:
    watch = watched(session, (gpu(5),), (gpu(5, process(7, 1, "train.py")),), (gpu(5),))
    started, exited = watch.changes
    assert (started.time, started.gpu, started.pid, started.came, started.command) == (2.0, 0, 7, ProcessEvent.STARTED, "train.py")
    assert (exited.time, exited.came, exited.command) == (3.0, ProcessEvent.EXITED, "train.py")


def test_a_list_that_could_not_be_read_changes_nothing(session: Session) -> None:
    unread = GpuSample(0, processes=Unknown(text("refused")))
    there = (gpu(5, process(7, 1)),)
    assert watched(session, there, (unread,), there).changes == ()


def test_changes_and_peaks_are_bounded() -> None:
    tally = watching._Tally()
    for second in range(PEAKS_AT_MOST + 10):
        tally.add(sample(float(second), gpu(5, process(second, second))))
    assert len(tally.changes) == CHANGES_AT_MOST
    assert len(tally.processes) == PEAKS_AT_MOST
    assert (0, 5) not in tally.processes


def test_it_may_start_again(session: Session) -> None:
    watch = watched(session, (gpu(5),))
    heard = Collector()
    watch.start(heard)
    heard.wait()
    assert watch.stop()
    assert not watch.running


def test_a_stop_is_a_gap(session: Session) -> None:
    source = MadeSource((gpu(5),))
    watch = Watch(session, hz=200, source=source)
    for _ in range(2):
        heard = Collector()
        watch.start(heard)
        heard.wait()
        watch.stop()
    assert len(watch.history.curve(0, MINUTE).breaks) == 1


def test_a_second_start_ends_the_first(session: Session) -> None:
    source = MadeSource((gpu(5),))
    watch = Watch(session, hz=200, source=source)
    watch.start(Collector())
    heard = Collector()
    watch.start(heard)
    heard.wait()
    assert source.closed.is_set()
    watch.stop()


def test_stopping_twice_is_once(session: Session) -> None:
    watch = watched(session, (gpu(5),))
    assert watch.stop()


def test_a_pause_lets_go_of_the_driver_and_goes_on(session: Session) -> None:
    source, heard = MadeSource((gpu(5),)), Collector(3)
    watch = Watch(session, hz=200, source=source)
    watch.start(heard)
    watch.pause()
    assert (watch.paused, watch.running, source.closed.is_set()) == (True, False, True)
    watch.go_on()
    heard.wait()
    assert (watch.paused, watch.running) == (False, True)
    watch.stop()


def test_what_does_not_run_cannot_pause(session: Session) -> None:
    watch = Watch(session, source=MadeSource())
    watch.pause()
    assert not watch.paused
    watch.go_on()
    assert not watch.running


def test_a_stuck_driver_is_said(session: Session, caplog: pytest.LogCaptureFixture) -> None:
    source = StuckSource()
    watch = Watch(session, source=source)
    watch.start(Collector())
    assert source.reading.wait(100)
    assert not watch.stop()
    source.released.set()
    assert source.closed.wait(100)
    caplog.clear()


@pytest.mark.parametrize(("hz", "seconds"), [(1.0, 3.0), (50.0, 3.0), (0.1, 25.0)])
def test_a_gap_is_more_than_a_late_tick(session: Session, hz: float, seconds: float) -> None:
    assert Watch(session, hz=hz).history.gap_seconds == seconds
