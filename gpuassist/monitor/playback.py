"""Histories made of what was kept: a run of a recording, two over each other; and what a live history shows as samples again.

history = history_of(reader.samples(run), gap_seconds=run.gap_seconds)      # draws what the live one drew
first, second = aligned([(reader, run), (other_reader, other_run)])         # both begin at 0: one window shows both
window = whole(first, second, columns=1200)
curves = [one.curve(gpu, window) for one in (first, second)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, ProcessSample, Sample, TorchMemory
from gpuassist.monitor.history import SHARES_AT_MOST, History, Series
from gpuassist.monitor.pyramid import FINEST_SECONDS, Window
from gpuassist.monitor.sample_file import RecordedRun, SampleReader

_SOURCE = "history"
_WHOLE = {Series.POWER, Series.SM_ACTIVITY, Series.TENSOR_ACTIVITY}  # all others are whole numbers
_GAP_BUCKETS = 2.5


def history_of(samples: Iterable[Sample], *, gap_seconds: float, begins: float | None = None) -> History:
    """The samples' history; `begins` moves its axis so that the first one is there."""
    history, moved = History(gap_seconds=gap_seconds), None
    for sample in samples:
        if moved is None:
            moved = 0.0 if begins is None else begins - sample.monotonic
        history.add(replace(sample, monotonic=sample.monotonic + moved) if moved else sample)
    return history


def aligned(runs: Sequence[tuple[SampleReader, RecordedRun]]) -> tuple[History, ...]:
    """Each run as a history that begins at 0, so that equal times are equally long after each one's start."""
    return tuple(history_of(reader.samples(run), gap_seconds=run.gap_seconds, begins=0.0) for reader, run in runs)


def whole(*histories: History, columns: int) -> Window:
    """What shows all of these from their beginning, for histories whose axis begins at 0."""
    until = max((history.until for history in histories), default=0.0)
    return Window(max(until, FINEST_SECONDS), columns, until)


def samples_of(history: History, window: Window) -> list[Sample]:
    """What a window of a history shows, as samples: of each bucket the greatest and, where it differs, the smallest values.

    Read into a history again they make the same buckets of that width and of every greater one. Times within a bucket are not known
    any more, and stand in its middle.
    """
    width = max(FINEST_SECONDS, history.curve(-1, window).width)
    rows: dict[float, dict[int, dict[Series, tuple[float, float]]]] = {}
    shares: dict[tuple[float, int], tuple[ProcessSample, ...]] = {}
    for gpu in history.gpus:
        for series in history.series(gpu):
            curve = history.curve(gpu, window, series)
            for time, low, high in zip(curve.times, curve.low, curve.high, strict=True):
                rows.setdefault(time, {}).setdefault(gpu, {})[series] = (low, high)
        stack = history.stack(gpu, window, bands=SHARES_AT_MOST)
        for place, time in enumerate(stack.curve.times):
            held = ((band.pid, int(band.values[place])) for band in stack.bands if band.values[place])
            shares[time, gpu] = tuple(_process(history, pid, used) for pid, used in held)
    samples = []
    for time, gpus in sorted(rows.items()):
        for greatest, part in ((True, 0.5), (False, 0.75)):
            if greatest or any(low != high for values in gpus.values() for low, high in values.values()):
                told = tuple(_gpu(history, gpu, gpus[gpu], shares.get((time, gpu), ()), greatest=greatest) for gpu in sorted(gpus))
                moment = time + width * part
                samples.append(Sample(history.epoch_of_zero + moment, moment, told))
    return samples


def gap_of(history: History, window: Window) -> float:
    """How long a silence in `samples_of` is a gap."""
    return max(history.gap_seconds, _GAP_BUCKETS * history.curve(-1, window).width)


def _process(history: History, pid: int, used: int) -> ProcessSample:
    command = history.command(pid)
    process = ProcessSample(pid, memory_used_bytes=Known(used, _SOURCE))
    return replace(process, command=Known(command, _SOURCE)) if command else process


def _gpu(
    history: History, index: int, values: dict[Series, tuple[float, float]], held: tuple[ProcessSample, ...], *, greatest: bool
) -> GpuSample:
    figures: dict[str, Any] = {}
    for series, (low, high) in values.items():
        figure = high if greatest else low
        figures[series.value] = Known(figure if series in _WHOLE else round(figure), _SOURCE)
    allocated, reserved = figures.pop(Series.TORCH_ALLOCATED.value, None), figures.pop(Series.TORCH_RESERVED.value, None)
    if allocated is not None and reserved is not None and held:
        torch = TorchMemory(allocated.value, allocated.value, reserved.value, reserved.value, allocated.value, 0)
        held = (replace(held[0], torch=Known(torch, _SOURCE)), *held[1:])
    newest = history.newest(index)
    assert newest is not None
    fixed = {name: getattr(newest, name) for name in ("uuid", "name", "memory_total_bytes", "power_limit_watts", "parent")}
    return GpuSample(index, **fixed, **figures, processes=Known(held, _SOURCE))
