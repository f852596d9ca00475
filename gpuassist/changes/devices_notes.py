"""What the user should know before programs see some of the GPUs alone: what is hidden, and which lines of theirs say otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.changes.devices import Devices, names_of
from gpuassist.changes.shell_files import ShellFile, ShellFiles
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.reading import Statement

VARIABLES = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")


def notes_on_choice(machine: Machine, devices: Devices) -> Iterator[Text]:
    """What the choice hides, from whom, and what of it could not be checked."""
    if not devices.values:
        return
    if devices.hidden:
        yield text(
            "every program that a new shell starts finds no other GPU: {hidden} is hidden from all of them",
            hidden="; ".join(devices.hidden),
        )
    elif isinstance(machine.gpus, Known) and not devices.notes:
        yield text("these are all GPUs of this machine ({gpus}): none is hidden", gpus=names_of(machine.gpus.value))
    else:
        yield text("every program that a new shell starts finds no other GPU: the others are hidden from all of them")
    yield text("programs that no shell starts (services, containers, what the desktop starts) do not see this choice")
    yield from devices.notes


def notes_on_lines(files: ShellFiles, devices: Devices) -> Iterator[Text]:
    """The user's own lines that choose GPUs, and whether the block wins over each."""
    for file, statement in _choosing(files):
        value, where, line = statement.text.strip(), file.path, statement.line
        if not devices.values:
            yield text("line {line} of {file} chooses GPUs all the same ({value})", line=line, file=where, value=value)
        elif file.later:
            yield text(
                "line {line} of {file} is read after the block and wins over it ({value})", line=line, file=where, value=value
            )
        else:
            yield text("line {line} of {file} loses to the block ({value})", line=line, file=where, value=value)


def _choosing(files: ShellFiles) -> Iterator[tuple[ShellFile, Statement]]:
    for file in (files.main, *files.others):
        for statement in file.reading.statements:
            ours = file.block is not None and file.block.first_byte <= statement.first_byte < file.block.end_byte
            if not ours and any(assignment.variable in VARIABLES for assignment in statement.assignments):
                yield file, statement
