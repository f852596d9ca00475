"""How a GPU of a sample is named behind the word GPU: by its own machine's number, whichever index it has here."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample
from gpuassist.monitor.device import gpu_label


def label_of(gpu: GpuSample) -> str:
    """`0`; where there are several machines `1 (node3)`."""
    if not gpu.number:
        return gpu_label(gpu.index)
    return f"{gpu.number} ({gpu.host.value})" if isinstance(gpu.host, Known) else gpu.number


def is_called(gpu: GpuSample, number: int) -> bool:
    """Whether a GPU is called so where it is shown; of several machines each has one, and an instance goes with its card."""
    return gpu.number.partition(":")[0] == str(number) if gpu.number else gpu.index == number


def label_among(gpus: Iterable[GpuSample], index: int) -> str:
    """The same by its index among the GPUs that are there."""
    return next((label_of(gpu) for gpu in gpus if gpu.index == index), gpu_label(index))
