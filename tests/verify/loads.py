"""GPUs and loads as NVML would tell of them, for tests of what is said of a rate."""

from __future__ import annotations

from typing import Any

from gpuassist.verify.load import DeviceLoad, Look, NvmlDevice, device, load_of

GIB = 2**30
SELF = 4242  # a process of ours


def nvml_device(**told: Any) -> NvmlDevice:
    """An RTX 4090, but for what is told."""
    usual: dict[str, Any] = {
        "index": 0,
        "uuid": "GPU-4090aaaa-0000-4000-8000-000000000000",
        "name": "NVIDIA GeForce RTX 4090",
        "address": "00000000:01:00.0",
        "pci_id": "10de:2684",
        "memory": 24564 << 20,
        "power_default": 450_000,
        "generation_most": 4,
        "width_most": 16,
        "gpu_generation_most": 4,
        "clock_most": 3120,
        "ecc": False,
        "mig": False,
    }
    return device({**usual, **told})


def look(at: float = 1.0, index: int = 0, **told: Any) -> Look:
    """What NVML told of it at a moment: hard at work, and held back by nothing."""
    usual: dict[str, Any] = {
        "power": 400_000,
        "power_limit": 450_000,
        "reasons": 0,
        "generation": 4,
        "width": 16,
        "celsius": 60,
        "clock": 2600,
        "memory_clock": 10501,
        "percent": 99,
        "processes": [[SELF, GIB]],
    }
    return Look(at, {index: {**usual, **told}})


def load(*looks: Look, **told: Any) -> DeviceLoad:
    """What these looks come to for the GPU that is told."""
    return load_of(nvml_device(**told), looks or (look(),), (SELF,))
