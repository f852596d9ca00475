"""What new shells use now, and which lines of start-up files say so: what `use` shows where nothing is chosen."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from gpuassist.changes.choice import names_of, version_of
from gpuassist.changes.shell_files import shell_files
from gpuassist.context import Session
from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, enumerated, text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.present.changes import shortened
from gpuassist.present.toolkit_change import offers
from gpuassist.session.use import look, look_at_gpus
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.statements import Assignment
from gpuassist.shellfiles.toolkits import InstalledToolkits, Lead

_DEVICES = "CUDA_VISIBLE_DEVICES"


class ChoiceRows(Struct, frozen=True):
    """`title` says what there is to choose from, `rows` each of it, `now` what holds in new shells and by which lines, `how` the
    command that chooses.
    """

    title: Text
    rows: tuple[Text, ...]
    now: Text
    how: Text


def toolkit_choices(session: Session) -> ChoiceRows:
    """The toolkits of this machine."""
    machine = look(session)
    rows = tuple(one.words for one in offers(machine))
    first = next((one.version for one in offers(machine)), "")
    release = ".".join(first.split(".")[:2])
    how = text("to choose one: {command}", command=f"gpuassist use cuda {release}" if rows else "gpuassist plan cuda")
    title = (
        text("CUDA toolkits that new terminals can use:")
        if rows
        else text("no CUDA toolkit is installed that new terminals could use")
    )
    return ChoiceRows(title, rows, _toolkit_now(session, machine), how)


def device_choices(session: Session) -> ChoiceRows:
    """The GPUs of this machine."""
    gpus = look_at_gpus(session).gpus
    rows: tuple[Text, ...] = ()
    if isinstance(gpus, Unknown):
        title = text("this machine's GPUs are not known ({reason})", reason=gpus.reason)
    else:
        title = text("GPUs of this machine:") if gpus.value else text("this machine has no NVIDIA GPU, so there is none to choose")
        rows = tuple(verbatim(one) for one in names_of(gpus.value).split("; ") if one)
    one, every = _devices("0"), _devices("all")
    how = text("to choose: {one} for a single one, {all} for every GPU", one=one, all=every)
    if len(rows) > 1:
        several = _devices("0,1")
        how = text(
            "to choose: {one} for a single one, {several} for several, {all} for every GPU", one=one, several=several, all=every
        )
    return ChoiceRows(title, rows, _devices_now(session), how)


def _devices(words: str) -> str:
    return f"gpuassist use devices {words}"


def _toolkit_now(session: Session, machine: Machine) -> Text:
    terminal = machine.shell.new_terminal
    if isinstance(terminal, Unknown):
        return text("what a new terminal finds is not known: {reason}", reason=terminal.reason)
    nvcc = terminal.value.command("nvcc")
    if nvcc is None:
        return text("a new terminal finds no nvcc")
    winner = next((one for one in value_or(machine.toolkits, ()) if one.runs_as(nvcc.real_path)), None)
    words = {"path": nvcc.path, "version": version_of(winner) if winner is not None else "?"}
    places = _lines_of(session, machine, winner) if winner is not None else ()
    if not places:
        return text("a new terminal finds {path} (nvcc {version}); no line of your start-up files names it", **words)
    return text("a new terminal finds {path} (nvcc {version}), set by {places}", places=enumerated(places), **words)


def _lines_of(session: Session, machine: Machine, winner: Toolkit) -> tuple[str, ...]:
    """The lines that lead to the toolkit, gpuassist's own among them."""
    world = session.world
    others = tuple(one for one in value_or(machine.toolkits, ()) if one != winner)
    installed = InstalledToolkits(winner, others, world.files.real, world.surroundings.home, world.files.exists)

    def leads(assignment: Assignment) -> bool:
        return any(installed.lead(one.directory) is Lead.CHOSEN for one in assignment.elements)

    return _lines(session, leads)


def _devices_now(session: Session) -> Text:
    from gpuassist.detect import shell as shell_probe  # a shell is asked here alone: a choice of GPUs is made without one

    terminal = shell_probe.probe(session.world).new_terminal
    if isinstance(terminal, Unknown):
        return text("what a new terminal finds is not known: {reason}", reason=terminal.reason)
    if not any(one.name == _DEVICES for one in terminal.value.variables):
        return text("programs in new terminals see every GPU: {variable} is not set", variable=_DEVICES)
    value = terminal.value.variable(_DEVICES)
    places = _lines(session, lambda assignment: assignment.variable == _DEVICES)
    if not places:
        return text("new terminals have {variable}={value}; no line of your start-up files sets it", variable=_DEVICES, value=value)
    return text("new terminals have {variable}={value}, set by {places}", variable=_DEVICES, value=value, places=enumerated(places))


def _lines(session: Session, wanted: Callable[[Assignment], bool]) -> tuple[str, ...]:
    """The lines of this user's start-up files with such an assignment."""
    home = session.world.surroundings.home
    try:
        files = shell_files(session.world)
    except RepairError:
        return ()
    return tuple(
        f"{shortened(file.path, home)}:{statement.line}"
        for file in (files.main, *files.others)
        for statement in file.reading.statements
        if any(map(wanted, statement.assignments))
    )
