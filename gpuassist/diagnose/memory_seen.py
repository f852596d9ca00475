"""The picture of the memory that a text shows, with what the machine's facts add: the card's size, and the programs' names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuassist.diagnose.case import Case
from gpuassist.diagnose.memory import Cause
from gpuassist.diagnose.memory_doubts import contradiction
from gpuassist.diagnose.memory_parts import picture_of
from gpuassist.diagnose.signature import Setting
from gpuassist.formats.oom import OutOfMemory, Platform, principal, read_messages
from gpuassist.formats.size import shown_size
from gpuassist.model.fact import value_or
from gpuassist.model.finding import Undetermined
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import Text, text


def memory_picture(setting: Setting) -> MemoryPicture | None:
    """The card's memory when a request did not fit; None where the text does not tell enough for a picture."""
    message = principal(setting.paste.words)
    if message is None or message.platform is not Platform.CUDA:
        return None
    if contradiction(message) is not None:
        return None
    # The size of the card by the facts, where it is certain which one is meant; 0 elsewhere.
    size_of = 0 if len(setting.case.cards) != 1 or message.device else value_or(setting.case.cards[0].gpu.memory_total_bytes, 0)
    picture = picture_of(message, total=size_of, named=lambda pid: _program(setting.case, pid))
    return replace(picture, notes=(*picture.notes, *_elsewhere(setting, message))) if picture is not None else None


def memory_doubts(setting: Setting) -> tuple[Undetermined, ...]:
    """What cannot be told of the cause, because the figures of the message contradict each other."""
    message = principal(setting.paste.words)
    reason = contradiction(message) if message is not None and message.platform is Platform.CUDA else None
    if reason is None:
        return ()
    why = text("figures of the message contradict each other: {figures}", figures=reason)
    return (Undetermined(Cause.NEED.value, text("why the memory did not suffice"), why),)


def _elsewhere(setting: Setting, told: OutOfMemory) -> Iterator[Text]:
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


def _program(case: Case, pid: int) -> str:
    """The program of a process that has the GPU open; empty where it is not known."""
    command = next((one.command for one in value_or(case.machine.holders, ()) if one.pid == pid), "")
    return command.split()[0].rsplit("/", 1)[-1] if command.split() else ""
