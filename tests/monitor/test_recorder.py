"""Recording on a thread of its own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text
from gpuassist.monitor import recorder as module
from gpuassist.monitor.recorder import Recorder
from gpuassist.monitor.sample_file import SampleReader
from gpuassist.monitor.sample_writer import BLOCK_SAMPLES, SampleWriter
from tests.fakes import FixedClock
from tests.monitor.samples import gpu, sample


def made(count: int) -> list[Sample]:
    return [sample(float(second), gpu(second)) for second in range(count)]


def wide(count: int) -> list[Sample]:
    """Samples that no packing makes small."""
    chance = random.Random(1)
    return [sample(float(second), *(gpu(chance.getrandbits(40), index=index) for index in range(40))) for second in range(count)]


def test_what_is_left_is_written_in_the_end(tmp_path: Path) -> None:
    path = str(tmp_path / "run.db")
    recorder = Recorder(path, FixedClock())
    for one in made(10):
        recorder.add(one)
    state = recorder.stop()
    assert (state.written, state.waiting, state.lost, state.trouble) == (10, 0, 0, None)
    assert list(SampleReader(path).samples()) == made(10)


def test_a_run_that_is_sampled_more_seldom_has_no_gaps_of_that(tmp_path: Path) -> None:
    path = str(tmp_path / "run.db")
    recorder = Recorder(path, FixedClock(), gap_seconds=3.0)
    recorder.add(made(1)[0])
    recorder.widen_gap(30.0)
    recorder.widen_gap(3.0)
    recorder.add(made(2)[1])
    recorder.stop()
    (run,) = SampleReader(path).runs()
    assert run.gap_seconds == 30.0


def test_the_widest_gap_of_all_parts_holds(tmp_path: Path) -> None:
    path = str(tmp_path / "run.db")
    writer = SampleWriter(path, 0.0, gap_seconds=3.0, rotate_bytes=1)
    writer.write(made(BLOCK_SAMPLES))
    writer.widen_gap(30.0)
    writer.write(made(BLOCK_SAMPLES))
    writer.close(600.0)
    reader = SampleReader(path)
    assert len(reader.parts) > 1
    assert [run.gap_seconds for run in reader.runs()] == [30.0]


def test_a_full_disk_is_told_once_and_what_waited_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", 0.005)
    told: list[Text] = []
    heard = Event()

    def hear(words: Text) -> None:
        told.append(words)
        heard.set()

    path = str(tmp_path / "run.db")
    recorder = Recorder(path, FixedClock(), on_trouble=hear)
    recorder._writer._connection.execute("PRAGMA max_page_count = 1")
    for one in wide(200):
        recorder.add(one)
    assert heard.wait(30)
    recorder._writer._connection.execute("PRAGMA max_page_count = 1000000")
    state = recorder.stop()
    assert len(told) == 2  # that it is full, and that it goes on
    assert (state.waiting, state.lost) == (0, 0)
    assert list(SampleReader(path).samples()) == wide(200)


def test_what_could_not_be_written_in_the_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", 60)
    told: list[Text] = []
    recorder = Recorder(str(tmp_path / "run.db"), FixedClock(), on_trouble=told.append)
    recorder._writer._connection.execute("PRAGMA max_page_count = 1")
    for one in wide(200):
        recorder.add(one)
    state = recorder.stop()
    assert state.waiting == 200
    assert dict(told[-1].parameters)["count"] == 200


def test_what_comes_while_a_slow_disk_is_written_to_is_written_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMIT_SECONDS", 0.001)
    writing, end = Event(), Event()
    quick = SampleWriter.write

    def slow(writer: SampleWriter, samples: Sequence[Sample]) -> None:
        if samples:
            writing.set()
            assert end.wait(100)
        quick(writer, samples)

    monkeypatch.setattr(SampleWriter, "write", slow)
    path = str(tmp_path / "run.db")
    recorder = Recorder(path, FixedClock())
    first, *others = made(5)
    recorder.add(first)
    assert writing.wait(100)
    for one in others:
        recorder.add(one)
    recorder._stopping = True  # as `stop` says it, while that first one is on its way
    end.set()
    assert recorder.stop().written == 5
    assert list(SampleReader(path).samples()) == made(5)
