"""Which of the user's programs still run with the environment of before a change, and how each is restarted; ends none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.changes.undo import UndoPlan
from gpuassist.changes.wishes import CleanShell, FitProject
from gpuassist.context import Session
from gpuassist.detect.old_environments import running_programs
from gpuassist.diagnose.old_environments import Yardstick, who_is_old
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.resident_programs import ResidentProgram
from gpuassist.model.fact import Fact, Known
from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily, RunningPrograms
from gpuassist.model.plan import Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import sentence, text
from gpuassist.session.old_values import DEVICES, IsOld, another_toolkit, in_scope, other_devices, taken_out
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.toolkits import LISTS
from gpuassist.system.clock import iso
from gpuassist.system.terminal import Opening
from gpuassist.system.world import World

_UNASKED = text("the variables of new terminals are not known, so nothing can be compared with them")
_LONGEST_SECONDS = 3600.0  # from writing a change until it is looked at: what is longer is a clock that was set meanwhile


def after_change(session: Session, plan: ChangePlan, outcome: ChangeOutcome) -> OldEnvironments | None:
    """After a change was carried out, by what its proof was told; None where nothing of it stands, or no program would show it."""
    if not outcome.wrote or plan.recorded or isinstance(plan.wish, FitProject):
        return None
    if plan.scope is not None:
        names = frozenset(name for name, chosen in (("CUDA_HOME", plan.scope.toolkit), (DEVICES, plan.scope.devices)) if chosen)
        scoped = in_scope(plan.scope.scope, dict(plan.scope.held.variables), names)
        return None if scoped is None else _looked(session, Yardstick(scoped))
    terminal = outcome.proof.terminal if outcome.proof is not None else None
    if not isinstance(terminal, Known):
        return OldEnvironments((), (_UNASKED,))
    is_old = _measure(session.world, plan, outcome, terminal.value)
    if is_old is None:
        return OldEnvironments(())
    made = (receipt.made_at for receipt in outcome.receipts) if outcome.outcome.result is Result.MODIFIED else ()
    return _looked(session, Yardstick(is_old, 0.0, _since_boot(session.world, made)))


def after_undo(session: Session, taken: Sequence[UndoPlan], undone_at: str = "") -> OldEnvironments:
    """After changes were taken back one after the other, by what stood in their files: no shell is started for it. `undone_at` is
    when, ISO 8601; now where it is empty.
    """
    world = session.world
    dialects = {one.value: one for one in Dialect}
    edits = [file.edit for one in taken for file in reversed(one.files) if file.edit is not None and file.edit.dialect in dialects]
    last = {edit.target: edit for edit in edits}
    before = {given for edit in edits for given in _given(world, edit.before, dialects[edit.dialect])}
    after = {given for edit in last.values() for given in _given(world, edit.after, dialects[edit.dialect])}
    if not before - after:
        return OldEnvironments(())
    made_at = (file.receipt.made_at for one in taken for file in one.files)
    since = _since_boot(world, made_at, longest=float("inf"))
    until = _since_boot(world, (undone_at or iso(world.clock.now()),))
    return _looked(session, Yardstick(taken_out(before - after), since, until))


def beside_terminal(session: Session, terminal: Fact[Terminal]) -> OldEnvironments:
    """At any time: who was started with another toolkit than a new terminal finds."""
    if not isinstance(terminal, Known):
        return OldEnvironments((), (_UNASKED,))
    return _looked(session, Yardstick(another_toolkit(session.world, terminal.value)))


def _measure(world: World, plan: ChangePlan, outcome: ChangeOutcome, terminal: Terminal) -> IsOld | None:
    """What is old after it; None where it took nothing away that a program could still hold."""
    if plan.cuda is not None:
        of_desktop = next((one.after.terminal for one in outcome.shells if one.after.opening is Opening.DESKTOP), None)
        return another_toolkit(world, terminal, of_desktop.value if isinstance(of_desktop, Known) else None)
    if plan.devices is not None:
        given = (one for edit in plan.edits for one in _given(world, edit.before, _dialect(edit.dialect)))
        before = frozenset(value for name, value in given if name == DEVICES)
        own = frozenset((world.surroundings.variables[DEVICES],)) if DEVICES in world.surroundings.variables else frozenset()
        return other_devices(before | own, terminal.variable(DEVICES))
    if not isinstance(plan.wish, CleanShell) or not isinstance(plan.now, Known):
        return None
    gone = {(name, one) for name in LISTS for one in _elements(plan.now.value, name) - _elements(terminal, name)}
    return taken_out(gone) if gone else None


def _elements(terminal: Terminal, name: str) -> set[str]:
    return set(terminal.variable(name).split(":")) if terminal.variable(name) else set()


def _dialect(name: str) -> Dialect:
    return next((one for one in Dialect if one.value == name), Dialect.BASH)


def _given(world: World, content: bytes, dialect: Dialect) -> Iterable[tuple[str, str]]:
    """What a start-up file gives to variables, as far as it can be read: an element of a list, or a whole value."""
    for statement in read_startup(content, dialect, {"HOME": world.surroundings.home}).statements:
        for assignment in statement.assignments:
            if assignment.variable in LISTS:
                given = (one.directory for one in assignment.elements if not one.previous and one.directory)
                yield from ((assignment.variable, directory) for directory in given)
            else:
                yield assignment.variable, ":".join(one.directory for one in assignment.elements)


def _since_boot(world: World, moments: Iterable[str], *, longest: float = _LONGEST_SECONDS) -> float:
    """The first of these moments as seconds since boot; 0 where there is none, or the clock was set since."""
    first = min(moments, default="")
    try:
        ago = world.clock.epoch() - datetime.fromisoformat(first).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, world.clock.since_boot() - ago) if 0 <= ago <= longest else 0.0


def _looked(session: Session, yardstick: Yardstick) -> OldEnvironments:
    # Before its command line is read nobody knows what a process is: as what would show the most.
    running = running_programs(session.world, lambda one: bool(yardstick.is_old(one, ProgramFamily.KERNEL)))
    found = who_is_old(running, session.knowledge.resident_programs(), yardstick)
    remedies = _Remedies(session, running, yardstick)
    return replace(found, programs=tuple(map(remedies.added, found.programs)))


class _Remedies:
    """What is known of how each program is restarted, and of lines that change what it hands on."""

    def __init__(self, session: Session, running: RunningPrograms, yardstick: Yardstick) -> None:
        self._commands = session.knowledge.commands
        self._records = {one.key: one for one in session.knowledge.resident_programs()}
        self._programs = {one.pid: one for one in running.programs}
        self._yardstick = yardstick
        # Where a tmux server listens, it tells what runs in it, with its number and the session (tmux(1), TMUX).
        told = (one.variable("TMUX").rsplit(",", 2) for one in running.programs)
        self._sockets = {words[1]: words[0] for words in told if words[1:]}

    def added(self, row: OldProgram) -> OldProgram:
        record = self._records.get(row.key)
        if record is None:
            return row
        how = record.how if row.itself else record.inside
        return replace(row, how=sentence(how) if how else None, commands=tuple(self._lines(row, record)) if row.itself else ())

    def _lines(self, row: OldProgram, record: ResidentProgram) -> Iterator[str]:
        """One for each variable that it holds the old in: without that, or not set any more."""
        leader = self._programs[row.pids[0]]
        given = {"pid": leader.pid, "path": self._sockets.get(str(leader.pid), "")}
        if record.key == "tmux" and not given["path"]:
            return
        old = self._yardstick.is_old(leader, row.family)
        for name in dict.fromkeys(one.name for one in old):
            gone = {one.value for one in old if one.name == name}
            left = ":".join(one for one in leader.variable(name).split(":") if one not in gone) if name in LISTS else ""
            for key in record.sets if left else record.unsets:
                yield from self._commands.render(key, Family.ANY, {**given, "variable": name, "value": left})
