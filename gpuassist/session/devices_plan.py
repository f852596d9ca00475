"""The plan that makes new shells see some of the GPUs alone, or all of them again; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuassist.changes.devices import Devices, choose_devices
from gpuassist.changes.line_plan import change_id, edit_of, parsed
from gpuassist.changes.notes import notes_on, notes_on_shell, notes_on_syntax
from gpuassist.changes.proof import with_shell
from gpuassist.changes.shell_files import ShellFile, shell_files
from gpuassist.changes.target import strangers_home
from gpuassist.detect import nvml, pci
from gpuassist.detect import shell as shell_probe
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Plan, Step, StepKind
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.session.context import Session
from gpuassist.session.devices_notes import VARIABLES, notes_on_choice, notes_on_lines
from gpuassist.session.shell_plan import ShellPlan
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.edit import write
from gpuassist.shellfiles.sections import Sections, devices_section, read_sections
from gpuassist.system.clock import iso
from gpuassist.system.ownership import strangers_home
from gpuassist.system.terminal import ask_terminal
from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class UseDevices:
    """What the user wishes: indices, UUIDs, or all, and the start-up file (empty: the login shell's own)."""

    devices: str
    rc: str = ""


@dataclass(frozen=True, slots=True)
class DevicesPlan:
    """The plan, and what CUDA_VISIBLE_DEVICES should be in a new terminal; empty where it should not be set by us."""

    shell: ShellPlan
    devices: Devices
    dialect: Dialect

    @property
    def value(self) -> str:
        """What a program would find in CUDA_VISIBLE_DEVICES."""
        return ",".join(self.devices.values)


@dataclass(frozen=True, slots=True)
class DevicesProof:
    """What a real new terminal holds in CUDA_VISIBLE_DEVICES; `holds` is unknown where none could be asked."""

    holds: Fact[bool]
    words: Text


def look_at_gpus(session: Session) -> Machine:
    """As much of the machine as a choice of GPUs needs; no shell is started."""
    world = session.world
    on_pci = pci.probe(world, session.knowledge)
    reading = nvml.probe(world, on_pci)
    stranger = strangers_home(world)
    shell = shell_probe.around(world, Unknown(stranger or text("not looked at"), asked=stranger is not None))
    return Machine(iso(world.clock.now()), gpus=nvml.merge(on_pci, reading, session.knowledge), shell=shell)


def plan_use_devices(session: Session, machine: Machine, wish: UseDevices) -> DevicesPlan:
    """Plans it; raises `RepairError`, and `WishError` for words that name no GPUs."""
    devices = choose_devices(machine.gpus, wish.devices)
    files = shell_files(session.world, wish.rc)
    main = files.main
    section = devices_section(devices.values, main.dialect) if devices.values else ()
    block = replace(_sections(main), devices=section).lines
    change = change_id(session.world, main, (b"devices", *block))
    edit = edit_of(main, write(main.content, block, (), change))
    syntax, obstacle = (None, main.obstacle) if main.obstacle is not None else parsed(session.world, (edit,))
    steps = (
        Step(
            StepKind.EDIT,
            _does(devices, main.path),
            diff=unified(edit.path, edit.before, edit.after),
            check=_check(devices),
            edit=edit,
        ),
        Step(StepKind.NEW_SHELL, _RESTART, commands=_paste(devices, main.dialect)),
    )
    notes = (
        *notes_on_choice(machine, devices),
        *(main.target.notes if edit.after != edit.before else ()),
        *notes_on_lines(files, devices),
        *notes_on(main.content, main.reading, ()),
        *notes_on_shell(value_or(machine.shell.login_shell, ""), main.path, main.dialect.value),
        *(notes_on_syntax(syntax) if syntax is not None else ()),
    )
    written = b"\n".join(section).decode("utf-8", "replace")
    plan = Plan(change, _goal(devices), steps, notes)
    shell = ShellPlan(plan, f"use devices {wish.devices.strip()}", (), written, _paste(devices, main.dialect), obstacle)
    return DevicesPlan(shell, devices, main.dialect)


def prove_devices(world: World, plan: DevicesPlan) -> DevicesProof:
    """Asks a real new terminal what it holds."""
    terminal: Fact[Terminal] = ask_terminal(with_shell(world, plan.dialect.value))
    if isinstance(terminal, Unknown):
        return DevicesProof(terminal, text("no new terminal could be asked: {reason}", reason=terminal.reason))
    found = terminal.value.variable("CUDA_VISIBLE_DEVICES")
    right = found == plan.value and terminal.value.is_set("CUDA_VISIBLE_DEVICES") is bool(plan.value)
    if right and not plan.value:
        return DevicesProof(Known(right, terminal.source), text("a new terminal shows its programs every GPU"))
    words = text("a new terminal holds CUDA_VISIBLE_DEVICES={value}", value=found or "''")
    return DevicesProof(Known(right, terminal.source), words)


def _sections(main: ShellFile) -> Sections:
    return read_sections(main.block.lines) if main.block is not None else Sections()


def _goal(devices: Devices) -> Text:
    if not devices.values:
        return text("Make programs of new shells see every GPU")
    return text("Make programs of new shells see the GPUs {devices} alone", devices=",".join(devices.values))


def _does(devices: Devices, path: str) -> Text:
    if not devices.values:
        return text("Take the lines that choose GPUs out of gpuassist's block in {path}", path=path)
    return text("Write CUDA_VISIBLE_DEVICES={value} in gpuassist's block in {path}", value=",".join(devices.values), path=path)


def _check(devices: Devices) -> Text:
    value = ",".join(devices.values)
    return text('in a new terminal, `echo "$CUDA_VISIBLE_DEVICES"` prints {value}', value=value or text("an empty line"))


_RESTART = text("Open a new terminal: those that are open, and programs that run, keep what they have.")


def _paste(devices: Devices, dialect: Dialect) -> tuple[str, ...]:
    lines = devices_section(devices.values, dialect)[1:]
    if devices.values:
        return tuple(line.decode("utf-8", "replace") for line in lines)
    if dialect is Dialect.FISH:
        return tuple(f"set -e {name}" for name in VARIABLES)
    return (f"unset {' '.join(VARIABLES)}",)
