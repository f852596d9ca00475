"""Short spellings of samples."""

from __future__ import annotations

from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.sample import GpuSample, ProcessSample, Sample

WALL = 1_800_000_000.0


def known(value: int) -> Known[int]:
    return Known(value, "test")


def process(pid: int, used: int | None = None, command: str = "") -> ProcessSample:
    memory: Fact[int] = NOT_ASKED if used is None else known(used)
    return ProcessSample(pid, NOT_ASKED, Known(command, "test") if command else NOT_ASKED, memory)


def gpu(used: int | None, *processes: ProcessSample, index: int = 0) -> GpuSample:
    memory: Fact[int] = NOT_ASKED if used is None else known(used)
    return GpuSample(index, memory_used_bytes=memory, processes=Known(processes, "test"))


def sample(time: float, *gpus: GpuSample) -> Sample:
    return Sample(WALL + time, time, gpus)
