"""Carries out a planned change of the user's files, whichever it is: makes it, asks real shells, and rolls back what made things
worse.

The window and the command line call this one function.
"""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.changes import apply as applying
from gpuassist.changes.apply import Applied
from gpuassist.changes.plan import RECORDED, Aim, ChangeOutcome, ChangePlan, Proof
from gpuassist.changes.proof import judge_shells, provable, prove_scope, with_shell
from gpuassist.changes.shells import ShellSeen, ask_shells, compare, slow
from gpuassist.changes.undo import undo
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.toolkits import LISTS
from gpuassist.system.terminal import SECONDS, ask_terminal
from gpuassist.system.world import World

_NAMELESS = "''"


def carry_out(world: World, plan: ChangePlan, *, seconds: float = SECONDS) -> ChangeOutcome:
    """Makes all edits of the plan, or none, and proves it; `seconds` is how long start-up files may take."""
    if plan.recorded or not world.files.live:
        return ChangeOutcome(Outcome(Result.REFUSED, RECORDED))
    if plan.obstacle is not None:
        return ChangeOutcome(Outcome(Result.REFUSED, plan.obstacle))
    if plan.cuda is not None:
        return _toolkit(world, plan, seconds)
    made = _made(world, plan)
    outcome = ChangeOutcome(made.outcome, made.receipts, made.notes)
    return replace(outcome, proof=_proof(world, plan)) if outcome.wrote else outcome


def _made(world: World, plan: ChangePlan) -> Applied:
    if not plan.diff:
        if plan.cuda is not None and plan.edits:
            unchanged = text("{path} already says so; nothing was changed", path=plan.edit.path)
        else:
            unchanged = text("nothing is left to do; nothing was changed")
        return Applied(Outcome(Result.UNCHANGED, unchanged))
    return applying.apply(world, applying.FileChange(plan.plan.id, plan.command, plan.edits))


def _toolkit(world: World, plan: ChangePlan, seconds: float) -> ChangeOutcome:
    """Every way of starting a shell is asked before and after: what one of them lost is given back at once."""
    if plan.cuda is None:
        raise ValueError(plan.aim)
    asked = _asked_as(world, plan)
    before = ask_shells(asked, seconds=seconds)
    made = _made(world, plan)
    outcome = ChangeOutcome(made.outcome, made.receipts, made.notes, left_behind=_left_behind(before))
    if not outcome.wrote:
        return outcome
    after = ask_shells(asked, seconds=seconds) if plan.diff else before
    spoke = {one.opening for one in before if isinstance(one.terminal, Known)}
    if any(
        one.opening in spoke and isinstance(one.terminal, Unknown) for one in after
    ):  # on a busy machine one of many shells may: it is asked again before anything is taken back
        after = ask_shells(asked, seconds=seconds)
    judged = judge_shells(world, plan.cuda, before, after)
    changes = compare(before, after, world.files.real(plan.cuda.expected.nvcc))
    outcome = replace(outcome, proof=judged.proof, shells=changes, slow=slow(after), left_behind=_left_behind((*before, *after)))
    if judged.worse is None or not made.receipts:
        return outcome
    change = outcome.receipts[0].change
    try:
        undo(world, change)
    except RepairError as error:
        words = text("{worse}. Taking the change back failed: {reason}", worse=judged.worse, reason=error.reason)
        return replace(outcome, notes=(*outcome.notes, words))
    said = text("the change was taken back again, and every file is as it was: {worse}", worse=judged.worse)
    return replace(outcome, outcome=Outcome(Result.FAILED, said), rolled_back=judged.worse, receipts=())


def _asked_as(world: World, plan: ChangePlan) -> World:
    """A start-up file that was named is asked with the shell that reads it; else the user's own shell is."""
    return with_shell(world, plan.cuda.dialect.value) if plan.cuda is not None and plan.cuda.wish.rc else world


def _left_behind(shells: tuple[ShellSeen, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.name} ({one.pid})" for shell in shells for one in shell.left_behind))


def _proof(world: World, plan: ChangePlan) -> Proof | None:
    if plan.devices is not None:
        return _devices_proof(with_shell(world, plan.devices.dialect.value), plan.devices.value)
    if plan.scope is not None:
        if not provable(plan.scope.scope):
            return None
        found = prove_scope(world, plan.scope.scope, plan.scope.held)
        return Proof(found.holds, found.words)
    return _clean_proof(world, plan.now) if plan.aim is Aim.CLEAN else None


def _devices_proof(world: World, value: str) -> Proof:
    """Asks a real new terminal what it holds in CUDA_VISIBLE_DEVICES."""
    terminal = ask_terminal(world)
    if isinstance(terminal, Unknown):
        return Proof(terminal, text("no new terminal could be asked: {reason}", reason=terminal.reason), terminal)
    found = terminal.value.variable("CUDA_VISIBLE_DEVICES")
    right = found == value and terminal.value.is_set("CUDA_VISIBLE_DEVICES") is bool(value)
    words = text("a new terminal holds CUDA_VISIBLE_DEVICES={value}", value=found or _NAMELESS)
    if right and not value:
        words = text("a new terminal shows its programs every GPU")
    return Proof(Known(right, terminal.source), words, terminal)


def _clean_proof(world: World, before: Fact[Terminal]) -> Proof:
    """Asks a real new terminal what it searches now."""
    after = ask_terminal(world)
    if isinstance(after, Unknown):
        return Proof(after, text("no new terminal could be asked: {reason}", reason=after.reason), after)
    holds = Known(value=True, source=after.source)
    if isinstance(before, Unknown):
        return Proof(holds, text("a new terminal starts as before"), after)
    gone = [f"{name}: {element or _NAMELESS}" for name in sorted(LISTS) for element in _gone(name, before.value, after.value)]
    words = text("a new terminal no longer searches {places}", places="; ".join(gone))
    return Proof(holds, words if gone else text("a new terminal searches the same places as before"), after)


def _gone(name: str, before: Terminal, after: Terminal) -> list[str]:
    left = after.variable(name).split(":")
    elements = before.variable(name).split(":") if before.variable(name) else []
    return [element for element in dict.fromkeys(elements) if elements.count(element) > left.count(element)]
