"""Thresholds that the user sets, and the moments at which they are crossed: one alert each time, and none for a value that wavers.

A figure that is not known neither crosses a threshold nor comes back from it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.formats.size import read_size, shown_size
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.labels import is_called, label_of

_GAP_SECONDS, _GAP_TICKS = 10.0, 2.5  # with a sample every ten seconds, or fewer, each would be a gap
_TWICE = 2  # looks in a row: a temperature is told to a whole degree, and a figure can be wrong once
_BACK_DEGREES = 5.0
_BACK_SHARE = 0.03  # of the card
_AT_WORK_PERCENT = 1
_FORM = lazy_regex(
    r"(?:gpu\s*(?P<gpu>\d{1,3})\s*:)?\s*(?P<what>memory|temperature|idle)\s*(?:>=|=|:)?\s*(?P<amount>\S.*)", re.IGNORECASE
)


class Measure(str, Enum):
    """What is watched: used memory in bytes or in percent of the card, degrees, or minutes without work."""

    MEMORY_BYTES = "memory-bytes"
    MEMORY_PERCENT = "memory-percent"
    TEMPERATURE = "temperature"
    IDLE_MINUTES = "idle-minutes"


class Threshold(Struct, frozen=True):
    """At `amount` or more there is an alert; of every GPU where `gpu` is None."""

    measure: Measure
    amount: float
    gpu: int | None = None


class ThresholdError(ValueError):
    """Words that are no threshold; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def read_threshold(words: str) -> Threshold:
    """`memory 90%`, `gpu0: memory 20GiB`, `temperature 85`, `gpu1: idle 10`."""
    found = _FORM.fullmatch(words.strip())
    if found is None:
        raise ThresholdError(
            text(
                "{words} is no threshold; write memory 90%, memory 20GiB, temperature 85 or idle 10, with gpu0: before it for"
                " one GPU",
                words=words,
            )
        )
    gpu = int(found["gpu"]) if found["gpu"] else None
    measure, amount = _amount(found["what"].lower(), found["amount"].strip().lower())
    if amount is None or amount <= 0 or (measure is Measure.MEMORY_PERCENT and amount > 100):
        raise ThresholdError(text("{words} has no amount that makes sense: 90%, 20GiB, 85 degrees, 10 minutes", words=words))
    return Threshold(measure, amount, gpu)


def threshold_words(threshold: Threshold) -> str:
    """As `read_threshold` reads it."""
    amount = f"{threshold.amount:g}"
    said = {
        Measure.MEMORY_BYTES: f"memory {shown_size(int(threshold.amount)).replace(' ', '')}",
        Measure.MEMORY_PERCENT: f"memory {amount}%",
        Measure.TEMPERATURE: f"temperature {amount}",
        Measure.IDLE_MINUTES: f"idle {amount}",
    }[threshold.measure]
    return said if threshold.gpu is None else f"gpu{threshold.gpu}: {said}"


def _amount(what: str, words: str) -> tuple[Measure, float | None]:
    number = re.match(r"\d{1,9}(?:\.\d{1,3})?", words)
    bare = float(number[0]) if number else None
    unit = words[number.end() :].strip() if number else ""
    if what == "memory":
        if unit == "%":
            return Measure.MEMORY_PERCENT, bare
        size = read_size(words) if unit else None
        return Measure.MEMORY_BYTES, float(size) if size is not None else None
    if what == "temperature":
        return Measure.TEMPERATURE, bare if unit in {"", "c", "°c", "°", "degrees"} else None
    return Measure.IDLE_MINUTES, bare if unit in {"", "min", "m", "minutes"} else None


class _State(Struct):
    over: bool = False
    looks: int = 0


class Alerts:
    """Takes samples, one after the other, and says what each crosses."""

    def __init__(self, thresholds: Sequence[Threshold] = ()) -> None:
        self.thresholds = tuple(thresholds)
        self._states: dict[tuple[Threshold, int], _State] = {}
        self._still_since: dict[int, float] = {}
        self._worked: set[int] = set()
        self._last: float | None = None
        self._period = math.inf  # between the two newest samples

    def set(self, thresholds: Sequence[Threshold]) -> None:
        """From now on these; one that stays does not alert anew."""
        self.thresholds = tuple(thresholds)
        self._states = {key: state for key, state in self._states.items() if key[0] in self.thresholds}

    def look(self, sample: Sample) -> tuple[Event, ...]:
        """The thresholds that are crossed with this sample."""
        if self._last is not None:
            passed = sample.monotonic - self._last
            if passed > max(_GAP_SECONDS, _GAP_TICKS * self._period):
                self._still_since.clear()  # nobody knows what was done meanwhile
            self._period = passed
        self._last = sample.monotonic
        return tuple(event for gpu in sample.gpus for event in self._gpu(gpu, sample.monotonic))

    def _gpu(self, gpu: GpuSample, now: float) -> Iterator[Event]:
        self._rest(gpu, now)
        for threshold in self.thresholds:
            if threshold.gpu is not None and not is_called(gpu, threshold.gpu):
                continue
            value = self._value(threshold, gpu, now)
            if value is None:
                continue
            state = self._states.setdefault((threshold, gpu.index), _State())
            if value >= threshold.amount:
                state.looks += 1
                if not state.over and state.looks >= (_TWICE if threshold.measure is Measure.TEMPERATURE else 1):
                    state.over = True
                    yield Event(now, EventKind.ALERT, _said(threshold, gpu, value), gpu.index, code=threshold_words(threshold))
            else:
                state.looks = 0
                state.over = state.over and value > threshold.amount - _way_back(threshold, gpu)

    def _rest(self, gpu: GpuSample, now: float) -> None:
        """Since when it stands still. A GPU that nobody has used since the watch began is not idle but free."""
        used = gpu.utilization_percent
        if gpu.asleep or not isinstance(used, Known):
            if gpu.asleep:
                self._still_since.setdefault(gpu.index, now)
            return
        if used.value > _AT_WORK_PERCENT:
            self._worked.add(gpu.index)
            self._still_since.pop(gpu.index, None)
        else:
            self._still_since.setdefault(gpu.index, now)

    def _value(self, threshold: Threshold, gpu: GpuSample, now: float) -> float | None:
        used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
        if threshold.measure is Measure.MEMORY_BYTES:
            return float(used.value) if isinstance(used, Known) else None
        if threshold.measure is Measure.MEMORY_PERCENT:
            return used.value / total.value * 100 if isinstance(used, Known) and isinstance(total, Known) and total.value else None
        if threshold.measure is Measure.TEMPERATURE:
            return float(gpu.temperature_celsius.value) if isinstance(gpu.temperature_celsius, Known) else None
        held = any(value_or(one.kind, None) is not ProcessKind.GRAPHICS for one in value_or(gpu.processes, ()))
        if not isinstance(gpu.utilization_percent, Known) and not gpu.asleep:
            return None  # one that does not answer may have much to do
        if gpu.index not in self._still_since:
            return 0.0
        return (now - self._still_since[gpu.index]) / 60 if held or gpu.index in self._worked else None


def _way_back(threshold: Threshold, gpu: GpuSample) -> float:
    """How far below a value has to come before it can alert again."""
    return {
        Measure.MEMORY_BYTES: value_or(gpu.memory_total_bytes, int(threshold.amount)) * _BACK_SHARE,
        Measure.MEMORY_PERCENT: 100 * _BACK_SHARE,
        Measure.TEMPERATURE: _BACK_DEGREES,
        Measure.IDLE_MINUTES: 0.0,
    }[threshold.measure]


def _said(threshold: Threshold, gpu: GpuSample, value: float) -> Text:
    index = label_of(gpu)
    if threshold.measure is Measure.TEMPERATURE:
        return text(
            "GPU {index} is at {degrees} °C; you asked to be told from {limit} °C on",
            index=index,
            degrees=round(value),
            limit=f"{threshold.amount:g}",
        )
    if threshold.measure is Measure.IDLE_MINUTES:
        return text("GPU {index} has had nothing to do for {minutes} min", index=index, minutes=f"{threshold.amount:g}")
    used = value_or(gpu.memory_used_bytes, 0)
    percent = text("{percent} %", percent=f"{threshold.amount:g}")
    limit = percent if threshold.measure is Measure.MEMORY_PERCENT else shown_size(int(threshold.amount))
    return text(
        "GPU {index} has {used} of its memory in use; you asked to be told from {limit} on",
        index=index,
        used=shown_size(used),
        limit=limit,
    )
