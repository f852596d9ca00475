"""GPUs on which nothing runs: one that the driver has lost, one that it has not started, and what else keeps a GPU from use."""

from __future__ import annotations

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.model.fact import value_or
from gpuassist.model.gpu import Recovery
from gpuassist.model.text import Text, text

_WANTED = {
    Recovery.RESET: text("it has to be reset before it works again"),
    Recovery.REBOOT: text("the machine has to be restarted before it works again"),
    Recovery.DRAIN: text("its programs have to end before it works again"),
}


def is_lost(card: KnownGpu) -> bool:
    """Whether the driver no longer reaches a GPU."""
    return value_or(card.gpu.recovery, Recovery.NONE) is Recovery.POWER_CYCLE


def is_silent(case: RuleInput, card: KnownGpu) -> bool:
    """Whether the driver has a GPU and did not start it; a container sees the host's GPUs, and lists what it was given."""
    silent = value_or(card.gpu.recovery, Recovery.NONE) is Recovery.START and not card.gpu.excluded.is_true
    return silent and not case.container and not case.wsl


def why_unusable(case: RuleInput, card: KnownGpu) -> Text | None:
    """Why nothing can run on a GPU before something is done about it; None of one that sleeps, or has no driver yet."""
    wanted = value_or(card.gpu.recovery, Recovery.NONE)
    if card in case.set_aside:
        return text("it is kept for a virtual machine")
    if card.gpu.excluded.is_true:
        return text("the driver leaves it out, as an option says")
    if is_lost(card):
        return text("the driver no longer reaches this GPU")
    if is_silent(case, card):
        return text("the driver does not list this GPU")
    if wanted in {Recovery.NONE, Recovery.START}:
        return None
    return _WANTED.get(wanted) or text("NVML asks for action {number} before it works again", number=wanted.value)


def all_silent(case: RuleInput) -> bool:
    """Whether it has started none. Where it lists others, a job may have been given those alone."""
    return bool(case.cards) and all(is_silent(case, card) for card in case.cards if not case.held_by(card))
