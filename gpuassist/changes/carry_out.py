"""Carries out a planned change of the user's files, whichever it is: makes it, asks real shells, and rolls back what made things
worse.

The window and the command line call this one function.
"""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.plan import RECORDED, ChangeOutcome, ChangePlan, ToolkitChoice
from gpuassist.changes.proof import PROVABLE, judge_shells, prove_clean, prove_devices, prove_scope, with_shell
from gpuassist.changes.shells import ShellSeen, ask_shells, compare, slow
from gpuassist.changes.undo import undo
from gpuassist.changes.wishes import FitProject
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.terminal import SECONDS
from gpuassist.system.world import World


def carry_out(world: World, plan: ChangePlan, *, seconds: float = SECONDS) -> ChangeOutcome:
    """Makes all edits of the plan, or none, and proves it; `seconds` is how long start-up files may take."""
    if plan.recorded or not world.files.live:
        return ChangeOutcome(Outcome(Result.REFUSED, RECORDED))
    if plan.obstacle is not None:
        return ChangeOutcome(Outcome(Result.REFUSED, plan.obstacle))
    if plan.cuda is not None:
        return _toolkit(world, plan, plan.cuda, seconds)
    outcome = _made(world, plan)
    if not outcome.wrote or isinstance(plan.wish, FitProject):  # no shell reads a project's files
        return outcome
    if plan.devices is not None:
        return replace(outcome, proof=prove_devices(with_shell(world, plan.edit.dialect), plan.devices.value))
    if plan.scope is None:
        return replace(outcome, proof=prove_clean(world, plan.now))
    provable = plan.scope.scope.kind in PROVABLE
    return replace(outcome, proof=prove_scope(world, plan.scope.scope, plan.scope.held) if provable else None)


def _made(world: World, plan: ChangePlan) -> ChangeOutcome:
    if plan.diff:
        return apply(world, FileChange(plan.plan.id, plan.command, plan.edits))
    unchanged = text("nothing is left to do; nothing was changed")
    if plan.cuda is not None and plan.edits:
        unchanged = text("{path} already says so; nothing was changed", path=plan.edit.path)
    return ChangeOutcome(Outcome(Result.UNCHANGED, unchanged))


def _toolkit(world: World, plan: ChangePlan, chosen: ToolkitChoice, seconds: float) -> ChangeOutcome:
    """Every way of starting a shell is asked before and after: what one of them lost is given back at once."""
    # A start-up file that was named is asked with the shell that reads it; else the user's own shell is.
    asked = with_shell(world, chosen.dialect.value) if chosen.wish.rc else world
    before = ask_shells(asked, seconds=seconds)
    outcome = replace(_made(world, plan), left_behind=_left_behind(before))
    if not outcome.wrote:
        return outcome
    after = ask_shells(asked, seconds=seconds) if plan.diff else before
    spoke = {one.opening for one in before if isinstance(one.terminal, Known)}
    if any(one.opening in spoke and isinstance(one.terminal, Unknown) for one in after):
        # On a busy machine one of many shells may not answer: they are asked again before anything is taken back.
        after = ask_shells(asked, seconds=seconds)
    proof = judge_shells(world, chosen, before, after)
    changes = compare(before, after, world.files.real(chosen.expected.nvcc))
    outcome = replace(outcome, proof=proof, shells=changes, slow=slow(after), left_behind=_left_behind((*before, *after)))
    if proof.worse is None or not outcome.receipts:
        return outcome
    try:
        undo(world, outcome.receipts[0].change)
    except RepairError as error:
        words = text("{worse}. Undoing the change failed: {reason}", worse=proof.worse, reason=error.reason)
        return replace(outcome, notes=(*outcome.notes, words))
    said = text("the change was undone again, and every file is as it was: {worse}", worse=proof.worse)
    return replace(outcome, outcome=Outcome(Result.FAILED, said), rolled_back=proof.worse, receipts=())


def _left_behind(shells: tuple[ShellSeen, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{one.name} ({one.pid})" for shell in shells for one in shell.left_behind))
