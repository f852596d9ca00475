"""Why the memory did not suffice, by the figures of the message: own need, gaps, others, a limit, a request beyond reason."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.memory_parts import other_processes, own_bytes, picture_of, picture_of_figures
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.formats.allocator import read_allocator
from gpuassist.formats.oom import OutOfMemory, Platform, principal, read_messages
from gpuassist.formats.size import shown_size
from gpuassist.model.fact import value_or
from gpuassist.model.finding import Undetermined
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import Text, text

_CONTEXT = 512 << 20  # what CUDA itself takes, where the message does not tell it
_MANY_OTHERS = 0.25  # of the card
_MOST_OWN = 0.75  # of the card: a process with more than that needs it itself
_LARGE_GAPS = 0.05  # of the card
_WORTH_CLOSING = 0.125  # of the card: of less, which every program has in gaps, no setting gains enough
_WORTH_ENDING = 1 << 30
_WORTH_TELLING = 100 << 20
_LENT = 4  # cards: a computer has so much memory, and not much more
_CLEARLY = 1.2  # times: what is free at the moment of the message is not exact


class MemoryCause(str, Enum):
    """The causes that figures can tell apart, by their ids."""

    NEED = "oom-true"
    FRAGMENTS = "oom-fragmentation"
    OTHERS = "oom-other-process"
    ABSURD = "oom-absurd-request"
    LIMIT = "oom-own-limit"


TOLD: dict[MemoryCause, frozenset[str]] = {
    cause: frozenset(names.split())
    for cause, names in {
        MemoryCause.NEED: "gpu total requested free allocated others shared program context display",
        MemoryCause.FRAGMENTS: "unused requested free total others pid variable options old expandable split windows",
        MemoryCause.OTHERS: "others requested free total own pid index program display",
        MemoryCause.ABSURD: "requested total",
        MemoryCause.LIMIT: "allowed requested own free total",
    }.items()
}
"""The parameters that each one's sentences take."""


class Ruling(Struct, frozen=True):
    """The causes, likeliest first; where `proved` the figures themselves show the first."""

    causes: tuple[MemoryCause, ...]
    proved: bool = True


def rule(message: OutOfMemory) -> Ruling:
    """What the figures say; a message without any says no more than that it was out of memory."""
    total, requested = message.total or 0, message.requested or 0
    if contradiction(message) is not None:
        return Ruling((MemoryCause.NEED, MemoryCause.OTHERS, MemoryCause.FRAGMENTS), proved=False)
    # Where the computer lends its memory, the card's size is no bound by itself.
    if message.boundless or (total and requested > total * (_LENT if _is_shared(message) else 1)):
        return Ruling((MemoryCause.ABSURD, MemoryCause.NEED))
    if _over_own_limit(message):
        return Ruling((MemoryCause.LIMIT, MemoryCause.NEED))
    if not total or message.allocated is None or message.free is None:
        return _by_little(message)
    return _by_figures(message, total, requested)


def parameters(message: OutOfMemory, cause: MemoryCause) -> dict[str, str]:
    """What the sentences of the catalogue can say of it; sizes as torch prints them, none of which contradicts another."""
    if contradiction(message) is not None:
        message = OutOfMemory(message.platform, message.device, message.requested, message.total, old=message.old)
    others = others_bytes(message)
    named = other_processes(message)
    sizes = {
        "requested": message.requested,
        "total": message.total,
        "free": message.free,
        "allocated": message.allocated,
        "unused": message.unallocated,
        "own": own_bytes(message) if own_bytes(message) is not None else message.reserved,
        "allowed": message.allowed,
        "context": context_bytes(message),
        "others": others
        if cause is MemoryCause.OTHERS or others - _CONTEXT >= max(message.requested or 0, _WORTH_ENDING)
        else None,
    }
    found = {name: shown_size(size) for name, size in sizes.items() if size is not None}
    if len(named) == 1:
        found["pid"] = str(named[0].pid)
    if _is_shared(message):
        found["shared"] = "yes"
    return {name: value for name, value in found.items() if name in TOLD[cause]}


def context_bytes(message: OutOfMemory) -> int | None:
    """What CUDA itself takes of this process, kernels and libraries, which torch does not count; None where that is not told."""
    own = own_bytes(message)
    if own is None or message.reserved is None or _is_shared(message):
        return None
    return own - message.reserved if own - message.reserved >= _WORTH_TELLING else None


def others_bytes(message: OutOfMemory) -> int:
    """What processes other than the failing one have: named ones, or what its own part and what is free leave of the card."""
    named = sum(one.used_bytes for one in other_processes(message))
    if message.total is None or message.free is None or _is_shared(message):
        return named
    own = own_bytes(message)
    rest = message.total - message.free - ((message.reserved or 0) if own is None else own)
    return max(named, rest, 0)


def _by_figures(message: OutOfMemory, total: int, requested: int) -> Ruling:
    others, unused = others_bytes(message), message.unallocated or 0
    free, allocated = message.free or 0, message.allocated or 0
    certain = others - (_CONTEXT if own_bytes(message) is None else 0)
    foreign = certain >= _MANY_OTHERS * total and free + others >= requested and allocated < _MOST_OWN * total
    # torch gave back every whole block before it failed: what is left unused lies between others.
    gaps = free + unused >= requested and unused >= max(requested / 2, _LARGE_GAPS * total)
    worth = unused >= _WORTH_CLOSING * total
    if foreign:
        return Ruling((MemoryCause.OTHERS, MemoryCause.FRAGMENTS) if gaps else (MemoryCause.OTHERS, MemoryCause.NEED))
    if gaps:
        return Ruling((MemoryCause.FRAGMENTS, MemoryCause.NEED) if worth else (MemoryCause.NEED, MemoryCause.FRAGMENTS))
    if requested and free >= max(_CLEARLY * requested, _LARGE_GAPS * total):
        # More was free than asked for: no piece of it was whole, or another process was quicker.
        return Ruling((MemoryCause.FRAGMENTS, MemoryCause.OTHERS, MemoryCause.NEED), proved=False)
    return Ruling((MemoryCause.NEED,))


def _by_little(message: OutOfMemory) -> Ruling:
    """A message of which half is missing, or of a program that tells less."""
    total, others = message.total or 0, others_bytes(message)
    told = bool(other_processes(message)) or message.own is not None  # else what is not free may all be the program's own
    if told and total and others >= _MANY_OTHERS * total and message.free is not None:
        return Ruling((MemoryCause.OTHERS, MemoryCause.NEED))
    return Ruling((MemoryCause.NEED, MemoryCause.OTHERS), proved=False)


def _over_own_limit(message: OutOfMemory) -> bool:
    limit, requested = message.allowed, message.requested or 0
    if limit is None or limit >= 0.98 * (message.total or limit + limit):
        return False
    return (message.reserved or 0) + requested > limit and (message.free is None or message.free >= requested)


def _is_shared(message: OutOfMemory) -> bool:
    """Whether the process has more than the card: Windows and WSL lend the computer's own memory."""
    return bool(message.total and message.allocated and message.allocated > 1.02 * message.total)


# The picture of the memory that a text shows, with what the machine's facts add: the card's size, and the programs' names.
def memory_picture(setting: SignatureInput) -> MemoryPicture | None:
    """The card's memory when a request did not fit, else what torch's own figures tell of it; None where that
    is not enough for a picture.
    """
    message = principal(setting.paste.words)
    if message is None:
        figures = read_allocator(setting.paste.words)
        return picture_of_figures(figures) if figures is not None else None
    if message.platform is not Platform.CUDA:
        return None
    if contradiction(message) is not None:
        return None
    # The size of the card by the facts, where it is certain which one is meant; 0 elsewhere.
    size = 0 if len(setting.case.cards) != 1 or message.device else value_or(setting.case.cards[0].gpu.memory_total_bytes, 0)
    picture = picture_of(message, total=size, named=lambda pid: _program(setting.case, pid))
    return replace(picture, notes=(*picture.notes, *_elsewhere(setting, message))) if picture is not None else None


def memory_doubts(setting: SignatureInput) -> tuple[Undetermined, ...]:
    """What cannot be told of the cause, because the figures of the message contradict each other."""
    message = principal(setting.paste.words)
    reason = contradiction(message) if message is not None and message.platform is Platform.CUDA else None
    if reason is None:
        return ()
    why = text("figures of the message contradict each other: {figures}", figures=reason)
    return (Undetermined(MemoryCause.NEED.value, text("why the memory did not suffice"), why),)


def _elsewhere(setting: SignatureInput, told: OutOfMemory) -> Iterator[Text]:
    """The other GPUs of which the text says that they were full as well."""
    fullest: dict[int, OutOfMemory] = {}
    for one in read_messages(setting.paste.words):
        if one.device is not None and one.device not in fullest and told.device not in {None, one.device}:
            fullest[one.device] = one
    for device, one in sorted(fullest.items()):
        if one.requested is None or one.free is None or one.total is None:
            yield text("GPU {device} ran out of memory as well.", device=device)
        else:
            yield text(
                "GPU {device} ran out of memory as well: {requested} were wanted, {free} of {total} were free.",
                device=device,
                requested=shown_size(one.requested),
                free=shown_size(one.free),
                total=shown_size(one.total),
            )


def _program(case: RuleInput, pid: int) -> str:
    """The program of a process that has the GPU open; empty where it is not known."""
    command = next((one.command for one in value_or(case.machine.holders, ()) if one.pid == pid), "")
    return command.split()[0].rsplit("/", 1)[-1] if command.split() else ""


# Figures of one message that cannot all be true: edited, of two messages, or read wrongly; no cause follows from them.
_ROUNDING = 1.01  # times: torch prints two decimals, of up to six figures
_LENDS = 0.05  # of the card: where the computer lends its own memory, the card is full


def contradiction(message: OutOfMemory) -> Text | None:
    """Which figures contradict each other; None where all can be true."""
    return next(_contradictions(message), None)


def _contradictions(message: OutOfMemory) -> Iterator[Text]:
    yield from _of_the_card(message)
    allocated = message.allocated or 0
    if message.own is not None and message.own * _ROUNDING < allocated:
        yield text(
            "{allocated} are allocated by a process that has {own} in use",
            allocated=shown_size(allocated),
            own=shown_size(message.own),
        )
    if message.private is not None and message.allocated is not None and message.private > allocated * _ROUNDING:
        yield text(
            "{private} in private pools are a part of {allocated} allocated",
            private=shown_size(message.private),
            allocated=shown_size(allocated),
        )


def _of_the_card(message: OutOfMemory) -> Iterator[Text]:
    if not message.total:
        return
    free, total, most = message.free or 0, shown_size(message.total), message.total * _ROUNDING
    if free > most:
        yield text("{free} are free of {total}", free=shown_size(free), total=total)
    listed = sum(one.used_bytes for one in message.processes)
    if free + listed > most and listed:
        yield text(
            "processes with {used} and {free} of free memory are more than the card's {total}",
            used=shown_size(listed),
            free=shown_size(free),
            total=total,
        )
    held = message.reserved or 0
    if free > message.total * _LENDS and free + held > most:
        yield text(
            "{held} in use by the process and {free} of free memory are more than the card's {total}",
            held=shown_size(held),
            free=shown_size(free),
            total=total,
        )
