"""A watch: what it keeps of the samples, and how it starts, stops and pauses."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.sample import Event, EventKind, GpuSample, Sample
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.pyramid import Window
from gpuassist.monitor.sample_file import SampleFileError, SampleReader
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import Detail, NvmlSource
from gpuassist.session import watch as watching
from gpuassist.session.watch import EVENTS_AT_MOST, PEAKS_AT_MOST, Silence, Watch
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock
from tests.monitor.made_answers import Answers
from tests.monitor.made_sources import Collector, MadeSource, StuckSource
from tests.monitor.samples import gpu, process, sample
from tests.nvml_fixture import FakeNvml

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


def test_a_recorded_watch_is_reopened_as_it_was(session: Session, tmp_path: Path) -> None:
    path = str(tmp_path / "run.db")
    watch, heard = Watch(session, hz=200, source=MadeSource((gpu(5, process(7, 4)),), (gpu(90, process(8, 80)),))), Collector(2)
    watch.record(path)
    watch.start(heard)
    heard.wait()
    watch.stop()
    state = watch.end_recording()
    assert state is not None
    assert state.trouble is None
    again, reader = Watch(session, hz=200), SampleReader(path)
    again.load(reader.samples(reader.runs()[0]))
    assert (again.peaks, again.events) == (watch.peaks, watch.events)
    assert again.history.stack(0, MINUTE) == watch.history.stack(0, MINUTE)
    assert watch.recording is None


def test_what_is_shown_is_saved(session: Session, tmp_path: Path) -> None:
    watch, path = watched(session, (gpu(5),), (gpu(9),)), str(tmp_path / "run.db")
    assert watch.save_shown(path, MINUTE) == len(list(SampleReader(path).samples()))
    with pytest.raises(SampleFileError):
        watch.save_shown(str(tmp_path / "none" / "run.db"), MINUTE)


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


def test_what_happened_is_kept_newest_last_and_bounded() -> None:
    tally = watching._Tally()
    for second in range(PEAKS_AT_MOST + 10):
        happened = Event(float(second), EventKind.STARTED, text("it starts"), 0, second)
        tally.add(replace(sample(float(second), gpu(5, process(second, second))), events=(happened,)))
    assert [event.pid for event in tally.events] == list(range(PEAKS_AT_MOST + 10 - EVENTS_AT_MOST, PEAKS_AT_MOST + 10))
    assert len(tally.processes) == PEAKS_AT_MOST
    assert (0, 5) not in tally.processes


def test_figures_that_stop_coming_are_told_after_three_periods() -> None:
    clock, heard = FixedClock(), Collector(2)
    session = Session(World(Surroundings("/home/you", "you", 1000), clock=clock), Knowledge(Resources().read), ENGLISH)
    source = MadeSource((gpu(5), gpu(6, index=1)), (gpu(5), replace(gpu(None, index=1), silent_seconds=2.0)))
    watch = Watch(session, hz=1.0, source=source)
    watch._on_sample = heard
    watch._sampler = Sampler(source, clock, heard, hz=1.0)  # one that is never started: time passes as the test says
    watch._take(source.read())
    clock.ticks += 2.9
    assert watch.silence is None
    clock.ticks += 9.1
    watch._take(source.read())
    assert (watch.silence, watch.silence_of(0)) == (None, None)
    assert watch.silence_of(1) == Silence(12.0, heard.samples[0].time)
    clock.ticks += 3.0
    assert watch.silence == Silence(3.0, heard.samples[1].time)


def test_a_driver_that_hangs_is_not_waited_for_at_the_end(fake_nvml: FakeNvml) -> None:
    variables = {**os.environ, **fake_nvml("fault = nvmlDevice* 0 delay=15000\n[gpu]\n[gpu]\n")}
    session = Session(World(Surroundings("/home/you", "you", 1000, variables)), Knowledge(Resources().read), ENGLISH)
    watch = Watch(session)
    watch.start(Collector())
    while not any(call.function == "nvmlDeviceGetCount_v2" for call in fake_nvml.calls()):
        os.sched_yield()
    began = time.monotonic()
    assert watch.stop()
    assert time.monotonic() - began < 5.0  # 0.1 s on a machine that is not busy
    assert os.getpid() not in {call.thread for call in fake_nvml.calls()}


def test_only_what_is_wanted_is_asked(session: Session) -> None:
    made: list[NvmlSource] = []

    def source(world: World) -> NvmlSource:
        made.append(NvmlSource(world, Answers([])))
        return made[-1]

    watch, heard = Watch(session, hz=200, source=source), Collector()
    watch.want(Detail.CURVES)
    watch.start(heard)
    heard.wait()
    assert made[0].wanted == {Detail.CURVES}
    watch.want()
    assert made[0].wanted == watch.wanted == frozenset()
    watch.stop()


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
