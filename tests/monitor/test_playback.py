"""Histories made of what was kept."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.sample import Sample
from gpuassist.monitor.history import History, Series
from gpuassist.monitor.playback import aligned, gap_of, history_of, samples_of, whole
from gpuassist.monitor.pyramid import Window
from gpuassist.monitor.sample_file import SampleReader
from gpuassist.monitor.sample_writer import SampleWriter
from tests.monitor.samples import gpu, process, sample

USED = st.lists(st.integers(2, 1 << 40), min_size=1, max_size=60)


def test_a_reopened_recording_draws_what_was_drawn(tmp_path: Path) -> None:
    live, path = History(gap_seconds=2.0), str(tmp_path / "run.db")
    writer, waiting = SampleWriter(path, 0.0, gap_seconds=2.0), list[Sample]()
    for second in (*range(100), *range(130, 200)):
        one = sample(second / 3, gpu(second * 7919 % 1000, process(7, second % 50, "train.py")), gpu(second, index=4))
        live.add(one)
        waiting.append(one)
        if len(waiting) == 30:
            writer.write(waiting)
            waiting = []
    writer.write(waiting)
    writer.close(1.0)
    reader = SampleReader(path)
    (run,) = reader.runs()
    again = history_of(reader.samples(run), gap_seconds=run.gap_seconds)
    for window in (Window(10, 600), Window(60, 100, until=30.0), Window(86400, 1200)):
        for index in live.gpus:
            assert again.curve(index, window) == live.curve(index, window)
            assert again.stack(index, window) == live.stack(index, window)
    assert (again.gpus, again.command(7), again.until) == (live.gpus, "train.py", live.until)
    assert live.curve(0, Window(100, 600)).breaks


def test_two_runs_are_over_each_other_from_their_start(tmp_path: Path) -> None:
    sources = []
    for place, start in enumerate((1000.3, 77.7)):
        path = str(tmp_path / f"{place}.db")
        writer = SampleWriter(path, 0.0)
        writer.write([sample(start + second, gpu(second)) for second in range(50)])
        writer.close(1.0)
        reader = SampleReader(path)
        sources.append((reader, reader.runs()[0]))
    first, second = aligned(sources)
    window = whole(first, second, columns=200)
    assert first.curve(0, window).high == second.curve(0, window).high
    assert first.curve(0, window).times[0] == 0.0
    assert whole(columns=100).seconds > 0


@given(USED, st.sampled_from((10, 30, 200)))
def test_what_is_shown_is_saved_without_losing_a_peak(used: list[int], columns: int) -> None:
    shown, window = History(), Window(60, columns)
    for second, value in enumerate(used):
        shown.add(sample(float(second), gpu(value, process(7, value // 2, "train.py"))))
    again = history_of(samples_of(shown, window), gap_seconds=gap_of(shown, window))
    before, after = shown.stack(0, window), again.stack(0, Window(60, columns, until=shown.until))
    assert (after.curve.high, after.curve.low) == (before.curve.high, before.curve.low)
    assert [(band.pid, band.values) for band in after.bands] == [(band.pid, band.values) for band in before.bands]
    assert again.command(7) == "train.py"


def test_figures_are_saved_with_the_memory() -> None:
    shown, window = History(), Window(60, 100)
    one = replace(
        gpu(1 << 30), power_watts=Known(300.5, "NVML"), utilization_percent=Known(97, "NVML"), name=Known("RTX 4090", "NVML")
    )
    shown.add(sample(5.0, one))
    (saved,) = samples_of(shown, window)
    told = saved.gpus[0]
    assert (told.power_watts, told.utilization_percent, told.name) == (
        Known(300.5, "history"),
        Known(97, "history"),
        Known("RTX 4090", "NVML"),
    )
    assert shown.series(0) == (Series.MEMORY, Series.UTILIZATION, Series.POWER)
    assert abs(saved.time - saved.monotonic - shown.epoch_of_zero) < 1e-3
