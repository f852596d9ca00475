"""The sampler's thread: even, late, failing, stuck."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.words import ENGLISH
from gpuassist.monitor import sampler
from gpuassist.monitor.sampler import Sampler
from gpuassist.system.clock import Clock
from tests.monitor.made_sources import Collector, FailingSource, MadeSource, StuckSource


@pytest.fixture
def stuck() -> Iterator[StuckSource]:
    source = StuckSource()
    yield source
    source.released.set()
    assert source.closed.wait(100)


def test_the_first_sample_comes_at_once() -> None:
    heard = Collector()
    running = Sampler(MadeSource(), Clock(), heard, hz=0.001)
    running.start()
    heard.wait()
    assert running.stop()


def test_samples_come_again_and_again() -> None:
    heard = Collector(5)
    running = Sampler(MadeSource(), Clock(), heard, hz=100)
    running.start()
    assert [one.monotonic for one in heard.wait()[:5]] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert running.stop()


def test_only_its_thread_touches_the_source() -> None:
    source, heard = MadeSource(), Collector(2)
    running = Sampler(source, Clock(), heard, hz=100)
    running.start()
    heard.wait()
    running.stop()
    assert source.closed.is_set()
    assert threading.get_ident() not in source.threads
    assert len(source.threads) == 1


def test_stopping_lets_go_of_the_source_quickly() -> None:
    source, heard = MadeSource(), Collector()
    running = Sampler(source, Clock(), heard, hz=0.001)
    running.start()
    heard.wait()
    assert running.stop()
    assert source.closed.is_set()


def test_nothing_is_heard_after_stopping() -> None:
    heard = Collector(3)
    running = Sampler(MadeSource(), Clock(), heard, hz=100)
    running.start()
    heard.wait()
    running.stop()
    count = len(heard.samples)
    threading.Event().wait(0.05)
    assert len(heard.samples) == count


def test_a_failing_reading_is_a_sample_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    heard = Collector(3)
    running = Sampler(FailingSource(ValueError("no sense")), Clock(), heard, hz=100)
    running.start()
    samples = heard.wait()
    running.stop()
    assert ENGLISH(samples[0].trouble[0]) == "reading the GPUs failed: ValueError: no sense"
    caplog.clear()


def test_a_failure_is_logged_once_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    heard = Collector(3)
    running = Sampler(FailingSource(ValueError("no sense")), Clock(), heard, hz=100)
    running.start()
    heard.wait()
    running.stop()
    (record,) = caplog.records
    assert record.exc_info is not None
    caplog.clear()


def test_a_stuck_driver_is_abandoned_by_name(stuck: StuckSource, caplog: pytest.LogCaptureFixture) -> None:
    running = Sampler(stuck, Clock(), Collector(), hz=1)
    running.start()
    assert stuck.reading.wait(100)
    assert not running.stop()
    assert "gpuassist sampler" in caplog.text
    caplog.clear()


def test_an_abandoned_thread_says_nothing_any_more(stuck: StuckSource, caplog: pytest.LogCaptureFixture) -> None:
    heard = Collector()
    running = Sampler(stuck, Clock(), heard, hz=1)
    running.start()
    assert stuck.reading.wait(100)
    running.stop()
    stuck.released.set()
    assert stuck.closed.wait(100)
    assert heard.samples == []
    caplog.clear()


def test_its_thread_does_not_keep_the_program_alive(stuck: StuckSource, caplog: pytest.LogCaptureFixture) -> None:
    running = Sampler(stuck, Clock(), Collector(), hz=1)
    running.start()
    assert stuck.reading.wait(100)
    assert [thread.daemon for thread in threading.enumerate() if thread.name == "gpuassist sampler"] == [True]
    running.stop()
    caplog.clear()


@given(st.floats(0, 1e6), st.floats(0.01, 10), st.floats(0, 1000))
def test_late_ticks_are_skipped_and_the_grid_is_kept(due: float, period: float, late: float) -> None:
    after = sampler._next(due, period, due + late)
    assert after > due + late - 1e-6
    assert after <= due + late + period * (1 + 1e-6) + 1e-6
    ticks = (after - due) / period
    assert abs(ticks - round(ticks)) < 1e-3
