"""Lines of `monitor --headless` back to samples and events: what another machine says of its GPUs, and so nothing to be trusted.

What is no sample gives none. Of one, what is not of its kind, or out of all bounds, is unknown with that reason, and what is too
long is cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.model.text import sentence, text, verbatim

T = TypeVar("T")

SCHEMA = 1
GPUS_AT_MOST, PROCESSES_AT_MOST, EVENTS_AT_MOST, WORDS_AT_MOST = 512, 2048, 256, 2048
_NUMBER_AT_MOST = 1 << 53
_FARTHEST = 253_402_300_799.0  # the last second of the year 9999
_WHOLE = (
    *("memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "utilization_percent", "temperature_celsius"),
    *("slowdown_celsius", "memory_celsius", "sm_clock_mhz", "memory_clock_mhz", "pcie_received_bytes_per_second"),
    *("pcie_sent_bytes_per_second", "fan_percent", "thermal_margin_celsius"),
)
_BROKEN = ("power_watts", "power_limit_watts", "sm_activity_percent", "tensor_activity_percent")
_SIGNED = frozenset({"temperature_celsius", "memory_celsius", "thermal_margin_celsius"})


class SampleLine(Struct, frozen=True):
    """What stood in a line, one of the two; `time` is the other machine's, in seconds since the epoch."""

    time: float
    sample: Sample | None = None
    event: Event | None = None


def read_sample_line(line: str, monotonic: float, source: str) -> SampleLine | None:
    """The sample or event of a line that came at this moment of our own axis, with `source` for where its facts were read; none
    for anything else.
    """
    try:
        document = read_json(line)
    except NotJsonError:
        return None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        return None
    time = _moment(document.get("time"))
    if time is None:
        return None
    told = document.get("event")
    if isinstance(told, dict):
        event = _event(told, monotonic)
        return SampleLine(time, event=event) if event is not None else None
    gpus = document.get("gpus")
    if not isinstance(gpus, list):
        return None
    reader = _Reader(source)
    found = {gpu.index: gpu for one in gpus[:GPUS_AT_MOST] if (gpu := reader.gpu(one)) is not None}
    trouble = document.get("trouble")
    why = tuple(sentence(_cut(one)) for one in trouble[:8] if isinstance(one, str)) if isinstance(trouble, list) else ()
    return SampleLine(time, sample=Sample(time, monotonic, tuple(found.values()), why))


def _event(told: Mapping[str, Any], monotonic: float) -> Event | None:
    """Those of our kinds; what a program's growth or a bottleneck is, whoever watches tells himself."""
    kind, words = told.get("kind"), told.get("text")
    if not isinstance(kind, str) or kind not in _KINDS or not isinstance(words, str) or told.get("witness", _TOLD) != _TOLD:
        return None
    code = told.get("code")
    gpu, pid = _index(told.get("gpu")), _index(told.get("pid"))
    return Event(monotonic, EventKind(kind), verbatim(_cut(words)), gpu, pid, _cut(code) if isinstance(code, str) else "")


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source

    def gpu(self, told: Any) -> GpuSample | None:
        index = _index(told.get("index")) if isinstance(told, dict) else None
        if index is None:
            return None
        facts: dict[str, Any] = {name: self._fact(told, name, _words) for name in ("uuid", "name")}
        facts.update((name, self._fact(told, name, _signed if name in _SIGNED else _whole)) for name in _WHOLE)
        facts.update((name, self._fact(told, name, _number)) for name in _BROKEN)
        parent, silent = _index(told.get("parent")), _number(told.get("silent_seconds"))
        return GpuSample(
            index,
            **facts,
            throttle_reasons=self._fact(told, "throttle_reasons", _names),
            processes=self._fact(told, "processes", self._processes),
            parent=parent if parent != index else None,
            asleep=told.get("asleep") is True,
            shares_memory=told.get("shares_memory") is True,
            silent_seconds=silent or 0.0,
        )

    def _processes(self, told: Any) -> tuple[ProcessSample, ...] | None:
        if not isinstance(told, list):
            return None
        found = {one.pid: one for each in told[:PROCESSES_AT_MOST] if (one := self._process(each)) is not None}
        return tuple(found.values())

    def _process(self, told: Any) -> ProcessSample | None:
        pid = _index(told.get("pid")) if isinstance(told, dict) else None
        if pid is None:
            return None
        return ProcessSample(
            pid,
            self._fact(told, "user", _words),
            self._fact(told, "command", _words),
            self._fact(told, "memory_used_bytes", _whole),
            self._fact(told, "kind", _kind),
            self._fact(told, "container", _words),
            self._fact(told, "gpu_percent", _whole),
            self._fact(told, "cpu_percent", _number),
            self._fact(told, "resident_bytes", _whole),
            self._fact(told, "started", _moment),
            self._fact(told, "notebook", _words),
            self._fact(told, "idle_seconds", _number),
            self._fact(told, "torch", _torch),
        )

    def _fact(self, told: Mapping[str, Any], name: str, read: Callable[[Any], T | None]) -> Fact[T]:
        value = told.get(name)
        found = read(value) if value is not None else None
        if found is not None:
            return Known(found, self._source)
        if value is not None:
            return _ODD
        reason = told.get(f"{name}_reason")
        return Unknown(sentence(_cut(reason))) if isinstance(reason, str) and reason else _NOT_TOLD


def _cut(words: str) -> str:
    return words[:WORDS_AT_MOST]


def _words(value: Any) -> str | None:
    return _cut(value) if isinstance(value, str) else None


def _names(value: Any) -> tuple[str, ...] | None:
    return tuple(_cut(one) for one in value[:16] if isinstance(one, str)) if isinstance(value, list) else None


def _signed(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _NUMBER_AT_MOST else None


def _whole(value: Any) -> int | None:
    found = _signed(value)
    return found if found is not None and found >= 0 else None


def _index(value: Any) -> int | None:
    found = _whole(value)
    return found if found is not None and found < 1 << 31 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value <= _NUMBER_AT_MOST else None


def _kind(value: Any) -> ProcessKind | None:
    return ProcessKind(value) if isinstance(value, str) and value in {one.value for one in ProcessKind} else None


def _torch(value: Any) -> TorchMemory | None:
    if not isinstance(value, dict):
        return None
    figures = {name: _whole(value.get(name, 0)) for name in TorchMemory.__struct_fields__}
    return TorchMemory(**{name: one for name, one in figures.items() if one is not None}) if None not in figures.values() else None


def _moment(value: Any) -> float | None:
    """Seconds since the epoch of a time by ISO 8601."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        found = datetime.fromisoformat(value[:-1] + "+00:00" if value.endswith("Z") else value)
        seconds = found.timestamp() if found.tzinfo is not None else None
    except (ValueError, OverflowError, OSError):
        return None
    return seconds if seconds is not None and 0 <= seconds <= _FARTHEST else None


_TOLD = "message"  # of an out-of-memory: its other witnesses are conclusions, which whoever watches draws himself
_KINDS = frozenset(one.value for one in EventKind)
_ODD = Unknown(text("what the other machine says of it cannot be"))
_NOT_TOLD = Unknown(text("the other machine does not say"), asked=False)
