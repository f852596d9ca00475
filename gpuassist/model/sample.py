"""One reading of all GPUs at one moment."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.text import Text


class ProcessSample(Struct, frozen=True):
    """A process on a GPU and how much of its memory it has."""

    pid: int
    user: Fact[str] = NOT_ASKED
    command: Fact[str] = NOT_ASKED
    memory_used_bytes: Fact[int] = NOT_ASKED


class GpuSample(Struct, frozen=True):
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


class Sample(Struct, frozen=True):
    """All GPUs at one moment: `time` is seconds since the epoch, `monotonic` seconds of a clock that never jumps.

    `trouble` says why nothing could be read; it is empty where something was.
    """

    time: float
    monotonic: float
    gpus: tuple[GpuSample, ...]
    trouble: tuple[Text, ...] = ()
