"""The state that cards are in while the driver serves them: who may use them, what slows them, what waits for a reset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.silent_gpus import is_lost
from gpuassist.diagnose.verdicts import Verdict, finding, listed, named, proof
from gpuassist.formats.size import shown_size
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, Recovery
from gpuassist.model.text import text, verbatim

_EXCLUSIVE, _PROHIBITED = ("exclusive process", "exclusive thread"), "prohibited"
_CONTEXT = (80 << 20, 800 << 20)  # what a CUDA context alone takes, old and small cards to new and large ones
_WORK = 1 << 30
_FEWEST_STRAYS = 2
_STOPPED = "T"


def programs_may_compute(case: RuleInput) -> Iterator[Verdict]:
    """A compute mode is set by an administrator and lasts until the driver is loaded anew."""
    for card in case.usable:
        mode = card.gpu.compute_mode
        if isinstance(mode, Known) and mode.value in {*_EXCLUSIVE, _PROHIBITED}:
            yield finding(
                "compute-mode-exclusive",
                proof(text("compute mode of {gpu}", gpu=_named(case, card)), mode),
                gpu=_named(case, card),
                index=_index(card.gpu),
                prohibited="yes" if mode.value == _PROHIBITED else "",
            )


def programs_find_an_instance(case: RuleInput) -> Iterator[Verdict]:
    """A GPU in MIG mode computes through its instances alone: without one nothing runs on it, and a process uses one of them."""
    divided = [card for card in case.usable if card.gpu.mig_enabled.is_true]
    empty = [card for card in divided if isinstance(card.gpu.mig_uuids, Known) and not card.gpu.mig_uuids.value]
    if empty:
        yield finding(
            "mig-without-instance",
            *(proof(text("MIG of {gpu}", gpu=_named(case, card)), card.gpu.mig_enabled, text("on")) for card in empty[:1]),
            proof(text("MIG instances"), empty[0].gpu.mig_uuids, text("none")),
            gpu=named(empty),
            index=",".join(_index(card.gpu) for card in empty if _index(card.gpu)),
        )
    cut = [card for card in divided if value_or(card.gpu.mig_uuids, ())]
    if cut and not case.variable("CUDA_VISIBLE_DEVICES").startswith("MIG-"):
        uuids = [uuid for card in cut for uuid in value_or(card.gpu.mig_uuids, ())]
        yield finding(
            "mig-one-instance-a-process",
            proof(text("MIG instances"), cut[0].gpu.mig_uuids, verbatim(listed(uuids))),
            gpu=named(cut),
            uuid=uuids[0],
            count=str(len(uuids)),
        )


def nothing_waits_for_a_reset(case: RuleInput) -> Iterator[Verdict]:
    """The driver keeps a card out of use after some faults until somebody resets it; one that it has lost no reset brings back."""
    for card in case.cards:
        wanted = card.gpu.recovery
        if is_lost(card):
            lost = proof(text("NVML"), wanted, verbatim("NVML_ERROR_GPU_IS_LOST"))
            yield finding("xid-79-gpu-fell-off-bus", lost, gpu=_named(case, card), handle="yes")
        elif isinstance(wanted, Known) and wanted.value not in {Recovery.NONE, Recovery.START}:
            yield finding(
                "gpu-reset-required",
                proof(text("what {gpu} needs before it works again", gpu=_named(case, card)), wanted),
                gpu=_named(case, card),
                index=_index(card.gpu),
                reboot="yes" if wanted.value is Recovery.REBOOT else "",
            )


def hardware_slows_nothing(case: RuleInput) -> Iterator[Verdict]:
    """Only what the hardware itself slows down for: a power limit and idleness are no fault."""
    for card in case.usable:
        reasons = card.gpu.slowdowns
        words = text("what slows {gpu}", gpu=_named(case, card))
        if "power brake" in value_or(reasons, ()):
            yield finding("gpu-power-brake", proof(words, reasons, verbatim("HW Power Brake Slowdown")), gpu=_named(case, card))
        if "heat" in value_or(reasons, ()):
            yield finding(
                "gpu-overheating", proof(words, reasons, verbatim("HW Thermal Slowdown")), gpu=_named(case, card), slowed="yes"
            )


def lanes_are_all_used(case: RuleInput) -> Iterator[Verdict]:
    """The speed of a link falls at idle, its width does not; what the slot itself lacks is no fault of it."""
    for card in case.usable:
        link = card.gpu.pcie_link
        if isinstance(link, Known) and 0 < link.value.width < link.value.max_width:
            lanes = text("{width} of {most} lanes", width=link.value.width, most=link.value.max_width)
            yield finding(
                "pcie-link-degraded",
                proof(text("PCIe link of {gpu}", gpu=_named(case, card)), link, lanes),
                gpu=_named(case, card),
                width=str(link.value.width),
                most=str(link.value.max_width),
            )


def workers_keep_to_their_gpu(case: RuleInput) -> Iterator[Verdict]:
    """Each process of a distributed run that forgets `set_device` opens a context on the first GPU beside its own."""
    first = next((card for card in case.cards if value_or(card.gpu.index, -1) == 0), None)
    if first is None or isinstance(first.gpu.processes, Unknown):
        return
    working = Counter(pid for card in case.cards if card is not first for pid, used in _memory(card.gpu) if used >= _WORK)
    strays = {pid: used for pid, used in _memory(first.gpu) if pid in working and _CONTEXT[0] <= used <= _CONTEXT[1]}
    if len(strays) >= _FEWEST_STRAYS:
        yield finding(
            "stray-contexts",
            proof(
                text("processes on {gpu}", gpu=_named(case, first)),
                first.gpu.processes,
                verbatim(listed([str(pid) for pid in strays])),
            ),
            gpu=_named(case, first),
            count=str(len(strays)),
            held=shown_size(sum(strays.values())),
        )


def stopped_programs_hold_nothing(case: RuleInput) -> Iterator[Verdict]:
    """What Ctrl+Z stopped keeps its memory and answers nobody; `T` is proc(5)'s letter for it."""
    holders = case.machine.holders
    for holder in value_or(holders, ()):
        on_a_gpu = any(device.removeprefix("/dev/nvidia").isdecimal() for device in holder.devices)
        if on_a_gpu and value_or(holder.state, "") == _STOPPED:
            yield finding(
                "gpu-memory-held-by-dead-process",
                proof(text("process {pid}", pid=holder.pid), holder.state, text("stopped")),
                pid=str(holder.pid),
                stopped=holder.command,
            )


def driver_stays_ready(case: RuleInput) -> Iterator[Verdict]:
    """Without a display and without persistence the driver sets the card up anew for every program; laptops sleep on purpose."""
    gpus = [card.gpu for card in case.usable]
    if not gpus or case.wsl or case.container or case.jetson or not all(map(_is_let_go, gpus)):
        return
    yield finding(
        "persistence-mode-off",
        proof(text("driver stays ready while idle"), gpus[0].persistence, text("no")),
        proof(text("drives a display"), gpus[0].display_active, text("no")),
    )


def _is_let_go(gpu: Gpu) -> bool:
    """No display, no persistence, no sleep to save power: each of them known."""
    return not any(value_or(fact, True) for fact in (gpu.display_active, gpu.persistence, gpu.sleeps))  # noqa: FBT003 -- default


def _memory(gpu: Gpu) -> Iterator[tuple[int, int]]:
    for process in value_or(gpu.processes, ()):
        if isinstance(process.memory_used_bytes, Known):
            yield process.pid, process.memory_used_bytes.value


def _named(case: RuleInput, card: KnownGpu) -> str:
    """Its name, with its number where another card has the same one."""
    alone = case.namesakes[card.name] < 2
    return card.name if alone or isinstance(card.gpu.index, Unknown) else f"{card.name} (GPU {card.gpu.index.value})"


def _index(gpu: Gpu) -> str:
    return str(gpu.index.value) if isinstance(gpu.index, Known) else ""


RULES = (
    programs_find_an_instance,
    programs_may_compute,
    nothing_waits_for_a_reset,
    hardware_slows_nothing,
    lanes_are_all_used,
    workers_keep_to_their_gpu,
    stopped_programs_hold_nothing,
    driver_stays_ready,
)
