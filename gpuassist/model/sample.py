"""One reading of all GPUs at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """A process on a GPU and how much of its memory it has."""

    pid: int
    user: Fact[str] = NOT_ASKED
    command: Fact[str] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU now."""

    index: int
    uuid: Fact[str] = NOT_ASKED
    name: Fact[str] = NOT_ASKED
    memory_total_bytes: Fact[int] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED
    memory_free_bytes: Fact[int] = NOT_ASKED
    utilization_percent: Fact[int] = NOT_ASKED
    temperature_celsius: Fact[int] = NOT_ASKED
    power_watts: Fact[float] = NOT_ASKED
    processes: Fact[tuple[ProcessSample, ...]] = NOT_ASKED


@dataclass(frozen=True, slots=True)
class Sample:
    """All GPUs at one moment: `time` is seconds since the epoch, `monotonic` seconds of a clock that never jumps.

    `trouble` says why nothing could be read; it is empty where something was.
    """

    time: float
    monotonic: float
    gpus: tuple[GpuSample, ...]
    trouble: tuple[Text, ...] = ()
