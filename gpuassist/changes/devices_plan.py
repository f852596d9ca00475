"""The plan that makes new shells see some of the GPUs alone, or all of them again; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.changes.choice import Devices, choose_devices, names_of
from gpuassist.changes.device_lines import VARIABLES, device_lines, is_read_after_block
from gpuassist.changes.line_plan import change_id, parsed, step_of
from gpuassist.changes.lines_after import place_of
from gpuassist.changes.notes import notes_on, notes_on_shell, notes_on_syntax
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.shell_files import ShellFiles, shell_files
from gpuassist.changes.wishes import UseDevices
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Plan, Step, StepKind
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.block import devices_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import change_lines, write
from gpuassist.shellfiles.lines import ShellLine, changes_in, choose_exactly
from gpuassist.system.world import World


def plan_use_devices(world: World, machine: Machine, wish: UseDevices) -> ChangePlan:
    """Plans it; raises `RepairError`, `WishError` for words that name no GPUs, `ChoiceError` for a choice that no line offers."""
    devices = choose_devices(machine.gpus, wish.devices)
    files = shell_files(world, wish.rc)
    main = files.main
    section = devices_section(devices.values, main.dialect) if devices.values else ()
    block = replace(main.sections, devices=section).lines
    lines = device_lines(files, chosen=bool(devices.values))
    if wish.lines is not None:
        lines = choose_exactly(lines, wish.lines)
    change = change_id(world, main, (b"devices", *block, *(b"%d" % line.line for line in lines if line.ticked)))
    edit = main.edit(write(main.content, block, changes_in(lines, main.path), change, place=place_of(main)))
    changed = ((file, change_lines(file.content, changes_in(lines, file.path), change)) for file in files.others)
    beside = tuple(file.edit(after) for file, after in changed if after != file.content)
    syntax, obstacle = (None, main.obstacle) if main.obstacle is not None else parsed(world, (edit, *beside))
    paste = _paste(devices, main.dialect)
    goal = text("Let programs in new terminals see every GPU")
    does = text("Comment out your lines that choose GPUs in {path}", path=main.path)
    if main.sections.devices or edit.after == edit.before:
        does = text("Take the lines that choose GPUs out of gpuassist's block in {path}", path=main.path)
    if devices.values:
        goal = counted(
            "Let programs in new terminals see only GPU {devices}",
            "Let programs in new terminals see only GPUs {devices}",
            len(devices.values),
            devices=devices.value,
        )
        does = text("Write CUDA_VISIBLE_DEVICES={value} in gpuassist's block in {path}", value=devices.value, path=main.path)
    restart = text("Open a new terminal: terminals that are already open, and running programs, keep their settings.")
    value = devices.value or text("an empty line")
    check = text('in a new terminal, `echo "$CUDA_VISIBLE_DEVICES"` prints {value}', value=value)
    own = (step_of(one, text("Comment out your lines that choose GPUs in {path}", path=one.path), check) for one in beside)
    steps = (step_of(edit, does, check), *own, Step(StepKind.NEW_SHELL, restart, commands=paste))
    notes = (
        *notes_on_choice(machine, devices),
        *(main.target.notes if edit.after != edit.before else ()),
        *notes_on_lines(files, devices, lines),
        *notes_on(main.content, main.reading, (), block=True),
        *notes_on_shell(value_or(machine.shell.login_shell, ""), main.path, main.dialect.value),
        *(notes_on_syntax(syntax) if syntax is not None else ()),
    )
    return ChangePlan(
        wish,
        Plan(change, goal, steps, notes),
        f"use devices {wish.devices.strip()}",
        lines,
        block=b"\n".join(section).decode("utf-8", "replace"),
        paste=paste,
        obstacle=obstacle,
        now=machine.shell.new_terminal,
        devices=devices,
    )


def _paste(devices: Devices, dialect: Dialect) -> tuple[str, ...]:
    lines = devices_section(devices.values, dialect)[1:]
    if devices.values:
        return tuple(line.decode("utf-8", "replace") for line in lines)
    if dialect is Dialect.FISH:
        return tuple(f"set -e {name}" for name in VARIABLES)
    return (f"unset {' '.join(VARIABLES)}",)


# What the user should know before programs see some of the GPUs alone: what is hidden, and which lines of theirs say otherwise.


def notes_on_choice(machine: Machine, devices: Devices) -> Iterator[Text]:
    """What the choice hides, from whom, and what of it could not be checked."""
    if not devices.values:
        return
    if devices.hidden:
        yield text(
            "programs in new terminals find no other GPU: {hidden} is hidden from all of them",
            hidden="; ".join(devices.hidden),
        )
    elif isinstance(machine.gpus, Known) and not devices.notes:
        yield text("these are all GPUs of this machine ({gpus}): none is hidden", gpus=names_of(machine.gpus.value))
    else:
        yield text("programs in new terminals find no other GPU: the others are hidden from all of them")
    yield text("programs that no shell starts (services, containers, what the desktop starts) do not see this choice")
    yield from devices.notes


def notes_on_lines(files: ShellFiles, devices: Devices, lines: tuple[ShellLine, ...]) -> Iterator[Text]:
    """The user's own lines that choose GPUs: whether each is taken out, and whether one that stays wins over the block."""
    for line in lines:
        value, where, number = line.text.strip(), line.file, line.line
        if line.ticked:
            yield text(
                "line {line} of {file} is your own and chooses GPUs ({value}), so it is commented out:"
                " `gpuassist use devices` with --keep {file}:{line} leaves it, undo brings it back",
                line=number,
                file=where,
                value=value,
            )
        elif not devices.values:
            yield text("line {line} of {file} chooses GPUs all the same ({value})", line=number, file=where, value=value)
        elif is_read_after_block(line, files):
            yield text(
                "line {line} of {file} is read after the block and wins over it ({value})", line=number, file=where, value=value
            )
        else:
            yield text("line {line} of {file} loses to the block ({value})", line=number, file=where, value=value)
