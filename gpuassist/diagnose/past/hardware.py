"""What became of the computer itself: another one, its GPUs, Secure Boot, and how its GPUs are set up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gpuassist.diagnose.past.looks import Looks, apart
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.past import Direction, MachineChange, Subject

COMPUTER, SECURE_BOOT, MIG, COMPUTE_MODE = "computer", "secure-boot", "MIG", "compute mode"
ON, OFF = "on", "off"
_OURS = frozenset({"", "nvidia", "nouveau"})


def computer_changes(looks: Looks) -> Iterator[MachineChange]:
    """By what the firmware, the cloud and the kernel call it; of another computer of the same model the GPUs tell."""
    product = looks.differs(lambda machine: machine.host.product)
    board = looks.differs(lambda machine: machine.host.board)
    provider = looks.differs(lambda machine: machine.host.provider)
    inside = looks.differs(lambda machine: machine.host.container)
    wsl = looks.differs(lambda machine: machine.host.wsl)
    told: tuple[tuple[tuple[str, str] | None, Callable[[Machine], Fact[Any]]], ...] = (
        (product, lambda machine: machine.host.product),
        (board, lambda machine: machine.host.board),
        (provider, lambda machine: machine.host.provider),
        (inside, lambda machine: machine.host.container),
        ((f"WSL {wsl[0]}", f"WSL {wsl[1]}") if wsl else None, lambda machine: machine.host.wsl),
    )
    found, fact = next((one for one in told if one[0] is not None), (None, told[0][1]))
    if found is not None:
        sources = looks.source(fact)
        yield looks.seen(Subject.COMPUTER, Direction.CHANGED, COMPUTER, before=found[0], after=found[1], sources=sources)


def secure_boot_changes(looks: Looks) -> Iterator[MachineChange]:
    found = looks.differs(lambda machine: machine.host.secure_boot)
    if found is not None:
        before, after = (ON if one else OFF for one in found)
        sources = looks.source(lambda machine: machine.host.secure_boot)
        yield looks.seen(Subject.SECURE_BOOT, Direction.CHANGED, SECURE_BOOT, before=before, after=after, sources=sources)


def gpu_changes(looks: Looks) -> Iterator[MachineChange]:
    """Cards that came, went, were exchanged, or stand in another slot; what was done with those that stayed."""
    found = looks.both(lambda machine: machine.gpus)
    if found is None:
        return
    before, after = list(found[0]), list(found[1])
    stayed = _paired(before, after)
    gone, came = _without(before, [old for old, _ in stayed]), _without(after, [new for _, new in stayed])
    sources = looks.source(lambda machine: machine.gpus)
    for old in gone:
        place = _address(old)
        new = next((one for one in came if place and _address(one) == place), None)
        if new is None:
            yield looks.seen(Subject.GPU, Direction.REMOVED, _name(old), before=place, sources=sources)
        else:
            came.remove(new)
            was, is_now = _name(old), _name(new)
            if was == is_now:
                was, is_now = (f"{_name(one)} {value_or(one.uuid, '')}".strip() for one in (old, new))
            yield looks.seen(Subject.GPU, Direction.CHANGED, place, before=was, after=is_now, sources=sources)
    for new in came:
        yield looks.seen(Subject.GPU, Direction.ADDED, _name(new), after=_address(new), sources=sources)
    for old, new in stayed:
        yield from _of_one(looks, old, new, renumbered=bool(gone or came))


def _of_one(looks: Looks, old: Gpu, new: Gpu, *, renumbered: bool) -> Iterator[MachineChange]:
    sources = looks.source(lambda machine: machine.gpus)
    name, place = _name(new), _address(new)
    # A card that comes or goes gives the others new addresses; that is no change of theirs.
    if _address(old) and place and _address(old) != place and not renumbered:
        yield looks.seen(Subject.GPU, Direction.CHANGED, name, before=_address(old), after=place, sources=sources)
    was, is_now = value_or(old.kernel_driver, ""), value_or(new.kernel_driver, "")
    if was != is_now and {was, is_now} - _OURS and isinstance(new.kernel_driver, Known) and isinstance(old.kernel_driver, Known):
        yield looks.seen(Subject.GPU, Direction.CHANGED, "kernel driver", before=was, after=is_now, place=place)
    if isinstance(old.mig_enabled, Known) and isinstance(new.mig_enabled, Known) and old.mig_enabled != new.mig_enabled:
        before, after = (ON if one.value else OFF for one in (old.mig_enabled, new.mig_enabled))
        if before != after:
            yield looks.seen(Subject.SETTING, Direction.CHANGED, MIG, before=before, after=after, place=place or name)
    modes = value_or(old.compute_mode, ""), value_or(new.compute_mode, "")
    if all(modes) and modes[0] != modes[1]:
        yield looks.seen(Subject.SETTING, Direction.CHANGED, COMPUTE_MODE, before=modes[0], after=modes[1], place=place or name)


def _paired(before: Sequence[Gpu], after: Sequence[Gpu]) -> list[tuple[Gpu, Gpu]]:
    """The same card in both looks: by its UUID; where no driver tells one, by what it is and where, then by what it is."""
    pairs: list[tuple[Gpu, Gpu]] = []
    left, right = list(before), list(after)
    for alike in (_same_uuid, _same_place, _same_kind):
        for old in tuple(left):
            new = next((one for one in right if alike(old, one)), None)
            if new is not None:
                left = _without(left, [old])
                right = _without(right, [new])
                pairs.append((old, new))
    return pairs


def _without(gpus: Sequence[Gpu], others: Sequence[Gpu]) -> list[Gpu]:
    """By identity: two cards of which nothing is known are equal values."""
    return [one for one in gpus if not any(one is other for other in others)]


def _same_uuid(old: Gpu, new: Gpu) -> bool:
    return bool(value_or(old.uuid, "")) and value_or(old.uuid, "") == value_or(new.uuid, "")


def _same_place(old: Gpu, new: Gpu) -> bool:
    return bool(_address(old)) and _address(old) == _address(new) and _same_kind(old, new)


def _same_kind(old: Gpu, new: Gpu) -> bool:
    told = value_or(old.uuid, ""), value_or(new.uuid, "")
    if all(told) and told[0] != told[1]:
        return False
    ids = value_or(old.pci_id, ""), value_or(new.pci_id, "")
    return ids[0] == ids[1] if all(ids) else _name(old) == _name(new)


def _address(gpu: Gpu) -> str:
    return value_or(gpu.pci_address, "")


def _name(gpu: Gpu) -> str:
    return value_or(gpu.name, "") or value_or(gpu.pci_id, "") or "GPU"


def option_changes(looks: Looks) -> Iterator[MachineChange]:
    """Settings of kernel modules: what forbids one, and the options that the driver runs with."""
    bars = looks.both(lambda machine: machine.driver.bars)
    if bars is not None:
        before, after = ({(one.words, one.place.partition(":")[0]): one for one in part} for part in bars)
        for (words, _), (old, new) in apart(
            {key: one.words for key, one in before.items()}, {key: one.words for key, one in after.items()}
        ).items():
            way, place = (Direction.ADDED, after[words, _].place) if old is None else (Direction.REMOVED, before[words, _].place)
            yield looks.seen(Subject.SETTING, way, words, before=old or "", after=new or "", place=place, sources=(place,))
    options = looks.both(lambda machine: machine.driver.options)
    if options is not None:
        sources = looks.source(lambda machine: machine.driver.options)
        was, is_now = ({one.name: one.value for one in part} for part in options)
        for name, (old, new) in apart(was, is_now).items():
            yield looks.seen(Subject.SETTING, Direction.CHANGED, name, before=old or "", after=new or "", sources=sources)
