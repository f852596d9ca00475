"""The figures of a message become parts of the card that add up: what it leaves out is reckoned, what cannot be is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.allocator import AllocatorFigures
from gpuassist.formats.desktop_programs import is_desktop, program_of
from gpuassist.formats.oom import OutOfMemory, ProcessUse
from gpuassist.formats.size import shown_size
from gpuassist.model.memory_picture import MemoryPart, MemoryPicture, PartKind, PictureOf
from gpuassist.model.text import Text, text

_ROUNDING = 0.005  # of the card: torch prints two decimals, of up to six figures
_LARGEST_CONTEXT = 3 << 30  # CUDA's own part of a process with NCCL, cuBLAS and compiled kernels
_SMALL_REST = 0.03  # of the card: the driver keeps so much, and no process has it

Named = Callable[[int], str]


class _Shares(Struct, frozen=True):
    """What the message says of the failing process and of others, its own process found among those it lists."""

    message: OutOfMemory
    own: int | None
    others: tuple[ProcessUse, ...]
    itself: int  # the number that the process has outside of its container; 0 where that is not the case


def picture_of(message: OutOfMemory, *, total: int = 0, named: Named = lambda _pid: "", workspace: int = 0) -> MemoryPicture | None:
    """The picture; None where the message tells neither the card's size nor what is on it.

    `total` is the card's size by other facts, for a message without one; `named` gives the program of a process, `workspace` is
    what is known to be cuBLAS's of that which is allocated.
    """
    size = message.total or total
    if not size or (message.allocated is None and message.free is None and not message.processes):
        return None
    shares = _shares(message)
    wanted = [part for part in _wanted(shares, named, workspace) if part.size_bytes > 0]
    parts, over = _fitted(list(_with_desktop(wanted)), size)
    beyond = over if over > size * _ROUNDING else 0
    order = list(PartKind)
    return MemoryPicture(
        total_bytes=size,
        parts=tuple(sorted((*parts, *_rest(shares, parts, size)), key=lambda part: order.index(part.kind))),
        requested_bytes=message.requested,
        device=message.device,
        beyond_bytes=beyond,
        notes=tuple(_notes(shares, size, beyond)),
    )


def own_bytes(message: OutOfMemory) -> int | None:
    """All that the failing process has, where the message tells it, in whatever way."""
    return _shares(message).own


def other_processes(message: OutOfMemory) -> tuple[ProcessUse, ...]:
    """The processes that the message names, but the failing one."""
    return _shares(message).others


def _shares(message: OutOfMemory) -> _Shares:
    if message.own is not None:
        return _Shares(message, message.own, message.processes, 0)
    itself = _itself(message)
    if itself is None:
        return _Shares(message, None, message.processes, 0)
    others = tuple(one for one in message.processes if one is not itself)
    return _Shares(message, itself.used_bytes, others, itself.pid)


def _itself(message: OutOfMemory) -> ProcessUse | None:
    """The listed process that is the failing one: inside a container it does not know its own number."""
    reserved = message.reserved
    if reserved is None:
        return None
    slack = (message.total or reserved) * _ROUNDING
    fitting = [one for one in message.processes if -slack <= one.used_bytes - reserved <= _LARGEST_CONTEXT]
    return min(fitting, key=lambda one: one.used_bytes, default=None)


def _wanted(shares: _Shares, named: Named, workspace: int) -> Iterator[MemoryPart]:
    message = shares.message
    private = message.private or 0
    if message.allocated is not None:
        workspace = min(workspace, max(0, message.allocated - private))
        yield MemoryPart(PartKind.ALLOCATED, max(0, message.allocated - private) - workspace, derived=private + workspace > 0)
        yield MemoryPart(PartKind.WORKSPACE, workspace)
        yield MemoryPart(PartKind.PRIVATE_POOLS, min(private, message.allocated))
        yield MemoryPart(PartKind.UNUSED, message.unallocated or 0)
    if shares.own is not None:
        yield MemoryPart(PartKind.CONTEXT, shares.own - (message.reserved or 0), derived=True)
    for process in shares.others:
        yield MemoryPart(PartKind.PROCESS, process.used_bytes, pid=process.pid, name=named(process.pid))
    yield MemoryPart(PartKind.FREE, message.free or 0)


def _with_desktop(wanted: Sequence[MemoryPart]) -> Iterator[MemoryPart]:
    """The programs of the desktop as one part: each by itself is small, and they come and go together."""
    desktop = [part for part in wanted if part.kind is PartKind.PROCESS and is_desktop(part.name)]
    yield from (part for part in wanted if part not in desktop)
    if desktop:
        names = ", ".join(dict.fromkeys(program_of(part.name) for part in desktop))
        yield MemoryPart(PartKind.DESKTOP, sum(part.size_bytes for part in desktop), name=names)


def _fitted(wanted: Sequence[MemoryPart], size: int) -> tuple[tuple[MemoryPart, ...], int]:
    """The parts cut to what the card has, and the bytes that do not fit on it.

    What is free is on the card for certain, then others; the failing process is the one that can have memory elsewhere.
    """
    room, kept, over = size, [], 0
    certain = [part for part in wanted if part.kind in {PartKind.FREE, PartKind.PROCESS, PartKind.DESKTOP}]
    for part in (*certain, *(one for one in wanted if one not in certain)):
        fits = min(part.size_bytes, room)
        room -= fits
        over += part.size_bytes - fits
        if fits:
            kept.append(replace(part, size_bytes=fits))
    return tuple(kept), over


def _rest(shares: _Shares, parts: Sequence[MemoryPart], size: int) -> Iterator[MemoryPart]:
    """What no figure explains."""
    left = size - sum(part.size_bytes for part in parts)
    if left <= 0:
        return
    if shares.own is None or shares.message.free is None:
        kind = PartKind.REST
    else:
        kind = PartKind.OTHERS if left > size * _SMALL_REST else PartKind.UNACCOUNTED
    yield MemoryPart(kind, left, derived=True)


def _notes(shares: _Shares, size: int, beyond: int) -> Iterator[Text]:
    if beyond:
        yield text(
            "The process has {beyond} more than fits on the card: Windows and WSL lend the computer's own memory, which is slow.",
            beyond=shown_size(beyond),
        )
    if shares.itself:
        yield text("Process {pid} is this process itself: a container numbers its processes anew.", pid=str(shares.itself))
    if shares.own is None and shares.message.free is not None and not beyond:
        left = size - (shares.message.reserved or 0) - shares.message.free
        if left > size * _SMALL_REST and not shares.others:
            yield text("The message does not tell CUDA's own part from that of other processes; CUDA itself takes 0.2 to 0.6 GiB.")


# The picture of what torch says of its memory when nothing failed.
def picture_of_figures(told: AllocatorFigures) -> MemoryPicture | None:
    """The card where its size and what is free are told, else what torch reserved; None where neither is."""
    allocated, reserved = told.allocated or 0, max(told.reserved or 0, told.allocated or 0)
    workspace = min(told.workspace, allocated)
    own = [
        MemoryPart(PartKind.ALLOCATED, allocated - workspace),
        MemoryPart(PartKind.WORKSPACE, workspace),
        MemoryPart(PartKind.CACHED, reserved - allocated),
    ]
    if told.total and told.free is not None and told.free + reserved <= told.total:
        rest = MemoryPart(PartKind.REST if reserved else PartKind.USED, told.total - told.free - reserved, derived=True)
        parts, size, of = [*own, rest, MemoryPart(PartKind.FREE, told.free)], told.total, PictureOf.CARD
    elif reserved and told.allocated is not None:
        parts, size, of = own, reserved, PictureOf.RESERVED
    else:
        return None
    shown = tuple(part for part in parts if part.size_bytes > 0)
    return MemoryPicture(size, shown, device=told.device, of=of) if shown else None
