"""Figures of one message that cannot all be true: edited, of two messages, or read wrongly; no cause follows from them."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.formats.oom import OutOfMemory
from gpuassist.formats.size import shown_size
from gpuassist.model.text import Text, text

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
