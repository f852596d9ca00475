"""Thresholds: how they are written, when they alert, and when again."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.sample import EventKind, GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.alerts import Alerts, Measure, Threshold, ThresholdError, read_threshold, threshold_words
from tests.rows import for_each
from tests.translations import shipped

GIB = 1 << 30


def seen(alerts: Alerts, *figures: tuple[float, GpuSample]) -> list[float]:
    """The times of the alerts."""
    found = []
    for time, gpu in figures:
        events = alerts.look(Sample(1e9 + time, time, (gpu,)))
        assert all(event.kind is EventKind.ALERT and event.gpu == gpu.index for event in events)
        found += [time] * len(events)
    return found


def card(used: float | None = None, *, degrees: int | None = None, util: int | None = None, program: bool = True) -> GpuSample:
    def fact(value: int | None) -> Fact[int]:
        return NOT_ASKED if value is None else Known(value, "made")

    kind = ProcessKind.COMPUTE if program else ProcessKind.GRAPHICS
    return GpuSample(
        0,
        memory_total_bytes=Known(24 * GIB, "made"),
        memory_used_bytes=fact(None if used is None else int(used * GIB)),
        temperature_celsius=fact(degrees),
        utilization_percent=fact(util),
        processes=Known((ProcessSample(1, kind=Known(kind, "made")),), "made"),
    )


@for_each(
    ("words", "threshold"),
    [
        ("memory 90%", Threshold(Measure.MEMORY_PERCENT, 90)),
        ("memory >= 20 GiB", Threshold(Measure.MEMORY_BYTES, 20 * GIB)),
        ("gpu1: memory 512MiB", Threshold(Measure.MEMORY_BYTES, 512 << 20, 1)),
        ("temperature 85", Threshold(Measure.TEMPERATURE, 85)),
        ("GPU 0: temperature=83°C", Threshold(Measure.TEMPERATURE, 83, 0)),
        ("idle 10", Threshold(Measure.IDLE_MINUTES, 10)),
        ("gpu12: idle 2.5 min", Threshold(Measure.IDLE_MINUTES, 2.5, 12)),
    ],
)
def test_a_threshold_is_read_and_written(words: str, threshold: Threshold) -> None:
    assert read_threshold(words) == threshold
    assert read_threshold(threshold_words(threshold)) == threshold


@for_each(
    "words",
    [
        "",
        "memory",
        "memory 0",
        "memory 20",
        "memory 120%",
        "memory -5%",
        "temperature hot",
        "idle 0",
        "power 300",
        "gpu: idle 5",
        "memory 9" + "9" * 40 + "%",
        "idle 5 h",
    ],
)
def test_words_that_are_none_are_refused(words: str) -> None:
    with pytest.raises(ThresholdError):
        read_threshold(words)


def test_memory_alerts_once_a_crossing_and_not_while_it_wavers() -> None:
    alerts = Alerts((Threshold(Measure.MEMORY_PERCENT, 90),))
    used = [10, 21.7, 21.5, 21.7, 23, 21.55, 21.65, 15, 22, 22]
    assert seen(alerts, *((float(time), card(value)) for time, value in enumerate(used))) == [1, 8]


def test_a_percentage_is_told_by_locale() -> None:
    (event,) = Alerts((Threshold(Measure.MEMORY_PERCENT, 90),)).look(Sample(1e9, 0.0, (card(23),)))
    assert ("90 %" in ENGLISH(event.text), "90%" in shipped("zh_CN")(event.text)) == (True, True)


def test_a_temperature_counts_from_the_second_look_on() -> None:
    alerts = Alerts((Threshold(Measure.TEMPERATURE, 85),))
    degrees = [80, 86, 84, 86, 86, 84, 86, 79, 85, 85]
    assert seen(alerts, *((float(time), card(degrees=value)) for time, value in enumerate(degrees))) == [4, 9]


def test_what_is_not_known_neither_alerts_nor_comes_back() -> None:
    alerts = Alerts((Threshold(Measure.MEMORY_BYTES, 20 * GIB),))
    used = [21, None, None, 21, None, 10, None, 21]
    assert seen(alerts, *((float(time), card(value)) for time, value in enumerate(used))) == [0, 7]


def test_idle_counts_the_minutes_without_work_and_a_gap_begins_anew() -> None:
    alerts = Alerts((Threshold(Measure.IDLE_MINUTES, 1),))
    rest = [(float(time), card(util=0)) for time in range(0, 200, 5)]
    assert seen(alerts, *rest) == [60]
    assert seen(alerts, (200.0, card(util=80)), *((205.0 + time, card(util=0)) for time in range(0, 100, 5))) == [265]
    alerts = Alerts((Threshold(Measure.IDLE_MINUTES, 1),))
    slept = [
        *((float(time), card(util=0)) for time in range(0, 50, 5)),
        *((3600.0 + time, card(util=0)) for time in range(0, 80, 5)),
    ]
    assert seen(alerts, *slept) == [3660]


def test_a_gpu_that_nobody_uses_is_free_and_not_idle() -> None:
    alerts = Alerts((Threshold(Measure.IDLE_MINUTES, 1),))
    assert seen(alerts, *((float(time), card(util=0, program=False)) for time in range(0, 400, 5))) == []


def test_thresholds_of_another_gpu_and_new_ones() -> None:
    alerts = Alerts((Threshold(Measure.MEMORY_PERCENT, 50, 3), Threshold(Measure.MEMORY_PERCENT, 50)))
    assert seen(alerts, (0.0, card(20))) == [0]
    alerts.set((Threshold(Measure.MEMORY_PERCENT, 50), Threshold(Measure.MEMORY_PERCENT, 60)))
    assert seen(alerts, (1.0, card(20)), (2.0, card(20))) == [1]


def test_idle_is_told_with_a_sample_a_minute_and_not_of_a_gpu_that_does_not_answer() -> None:
    idle = Threshold(Measure.IDLE_MINUTES, 10)
    assert seen(Alerts([idle]), *((60.0 * minute, card(util=0)) for minute in range(20))) == [600.0]
    silent = [(60.0 * minute, card(util=0 if minute < 5 else None)) for minute in range(20)]
    assert seen(Alerts([idle]), *silent) == []


def test_a_gpu_of_several_machines_is_meant_by_its_own_number() -> None:
    alerts = Alerts((Threshold(Measure.MEMORY_BYTES, GIB, 1),))
    named = [replace(card(2.0), index=index, number=number) for index, number in ((1, "0"), (3, "1"), (5, "1:3"))]
    events = alerts.look(Sample(1e9, 0.0, tuple(named)))
    assert [event.gpu for event in events] == [3, 5]
