"""A process that NVML says is on a GPU."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.fact import NOT_ASKED, Fact


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that NVML says is on the GPU; what NVML does not tell (under WSL2, in a container) is unknown."""

    pid: int
    kind: str
    memory_used_bytes: Fact[int] = NOT_ASKED
