"""GPUs that NVIDIA's driver has and NVML does not list: one that it has lost, and one that it has not started."""

from __future__ import annotations

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.model.fact import value_or
from gpuassist.model.gpu import Recovery


def is_lost(card: KnownGpu) -> bool:
    """Whether the driver no longer reaches a GPU."""
    return value_or(card.gpu.recovery, Recovery.NONE) is Recovery.POWER_CYCLE


def is_silent(case: RuleInput, card: KnownGpu) -> bool:
    """Whether the driver has a GPU and did not start it; a container sees the host's GPUs, and lists what it was given."""
    silent = value_or(card.gpu.recovery, Recovery.NONE) is Recovery.START and not card.gpu.excluded.is_true
    return silent and not case.container and not case.wsl


def all_silent(case: RuleInput) -> bool:
    """Whether it has started none. Where it lists others, a job may have been given those alone."""
    return bool(case.cards) and all(is_silent(case, card) for card in case.cards if not case.held_by(card))
