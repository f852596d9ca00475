"""What a new terminal tells every CUDA program and that hardly anybody wants for good: none of it breaks anything."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.verdicts import Verdict, finding, listed, proof
from gpuassist.model.fact import Known, value_or
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text, verbatim

_ORDER, _BY_SLOT = "CUDA_DEVICE_ORDER", "PCI_BUS_ID"
_BLOCKING, _NO_TF32 = "CUDA_LAUNCH_BLOCKING", "NVIDIA_TF32_OVERRIDE"
_OLD_NAME, _NEW_NAME = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
_AMPERE = 8


def gpus_are_counted_alike(case: RuleInput) -> Iterator[Verdict]:
    """CUDA numbers the fastest GPU first, nvidia-smi numbers by slot (CUDA guide, CUDA_DEVICE_ORDER)."""
    terminal = _whole(case)
    order = terminal.value.variable(_ORDER) if terminal else ""
    if terminal is None or order == _BY_SLOT:
        return
    cards = _by_slot(case)
    fastest = sorted(cards, key=_strength, reverse=True)  # a stable sort: equal cards stay in their order
    sure = _is_ranking(fastest)
    if len({card.name for card in cards}) < 2 or (sure and _names(fastest) == _names(cards)):
        return
    moved = _is_ranking([fastest[0], max(fastest, key=_memory)]) and fastest[0].name != cards[0].name
    yield finding(
        "device-order-differs",
        proof(text("GPUs by slot"), case.machine.gpus, verbatim(listed(_names(cards)))),
        proof(verbatim(_ORDER), terminal, verbatim(order) if order else text("not set")),
        first=fastest[0].name if moved else "",
        slot=cards[0].name if moved else "",
        order=order,
    )


def launches_are_not_waited_for(case: RuleInput) -> Iterator[Verdict]:
    """A setting for looking for a fault slows everything where it is left on."""
    terminal = _whole(case)
    if terminal is not None and terminal.value.variable(_BLOCKING).strip() not in {"", "0"}:
        value = terminal.value.variable(_BLOCKING)
        yield finding("launch-blocking-left-on", proof(verbatim(_BLOCKING), terminal, verbatim(value)), value=value)


def allocator_is_told_one_thing(case: RuleInput) -> Iterator[Verdict]:
    """Releases of torch read different ones of two names."""
    terminal = _whole(case)
    if terminal is None:
        return
    old, new = terminal.value.variable(_OLD_NAME), terminal.value.variable(_NEW_NAME)
    if old and new and old != new:
        yield finding(
            "allocator-variable-renamed",
            proof(verbatim(_OLD_NAME), terminal, verbatim(old)),
            proof(verbatim(_NEW_NAME), terminal, verbatim(new)),
            old=old,
            new=new,
        )


def tensor_cores_may_round(case: RuleInput) -> Iterator[Verdict]:
    """Only GPUs from Ampere on have TF32 to be kept from."""
    terminal = _whole(case)
    able = [card for card in case.usable if isinstance(card.capability, Known) and card.capability.value.major >= _AMPERE]
    if terminal is not None and able and terminal.value.variable(_NO_TF32).strip() == "0":
        yield finding("tf32-off", proof(verbatim(_NO_TF32), terminal, verbatim("0")), override="yes", gpu=able[0].name)


def _whole(case: RuleInput) -> Known[Terminal] | None:
    """A new terminal that was asked; a variable in a pasted text is mostly one that somebody tries, and not left set."""
    terminal = case.terminal
    return terminal if isinstance(terminal, Known) and terminal.value.whole else None


def _by_slot(case: RuleInput) -> list[KnownGpu]:
    """The GPUs as nvidia-smi lists them; none where the strength of one is not known."""
    asked = [fact for card in case.usable for fact in (card.capability, card.gpu.pci_address, card.gpu.memory_total_bytes)]
    known = all(isinstance(fact, Known) for fact in asked)
    return sorted(case.usable, key=lambda card: value_or(card.gpu.pci_address, "")) if known else []


def _strength(card: KnownGpu) -> tuple[int, int, int]:
    """Generation and memory: CUDA's own measure is not published."""
    assert isinstance(card.capability, Known)
    return card.capability.value.major, _memory(card), card.capability.value.minor


def _memory(card: KnownGpu) -> int:
    return value_or(card.gpu.memory_total_bytes, 0)


def _is_ranking(cards: list[KnownGpu]) -> bool:
    """Whether each is at least as large as those behind it: among cards by generation no measure of speed turns that round."""
    memory = [_memory(card) for card in cards]
    return memory == sorted(memory, reverse=True)


def _names(cards: list[KnownGpu]) -> list[str]:
    return [card.name for card in cards]


RULES = (gpus_are_counted_alike, launches_are_not_waited_for, allocator_is_told_one_thing, tensor_cores_may_round)
