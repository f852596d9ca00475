"""The picture of the memory that a text shows, with what the machine's facts add: the card's size, and the programs' names."""

from __future__ import annotations

from gpuassist.diagnose.case import Case
from gpuassist.diagnose.memory_parts import picture_of
from gpuassist.diagnose.signature import Setting
from gpuassist.formats.oom import Platform, principal
from gpuassist.model.fact import value_or
from gpuassist.model.memory_picture import MemoryPicture


def memory_picture(setting: Setting) -> MemoryPicture | None:
    """The card's memory when a request did not fit; None where the text does not tell enough for a picture."""
    message = principal(setting.paste.words)
    if message is None or message.platform is not Platform.CUDA:
        return None
    return picture_of(message, total=_size_of(setting.case, message.device), named=lambda pid: _program(setting.case, pid))


def _size_of(case: Case, device: int | None) -> int:
    """The size of the card by the facts, where it is certain which one is meant; 0 elsewhere."""
    if len(case.cards) != 1 or device:
        return 0
    return value_or(case.cards[0].gpu.memory_total_bytes, 0)


def _program(case: Case, pid: int) -> str:
    """The program of a process that has the GPU open; empty where it is not known."""
    command = next((one.command for one in value_or(case.machine.holders, ()) if one.pid == pid), "")
    return command.split()[0].rsplit("/", 1)[-1] if command.split() else ""
