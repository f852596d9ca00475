"""A plan that changes start-up files, whatever it is for, and making it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.plan import FileEdit, Outcome, Plan, Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.repair import apply as applying
from gpuassist.repair.lines import ShellLine
from gpuassist.session.context import Session


@dataclass(frozen=True, slots=True)
class ShellPlan:
    """The plan with all that is shown of it: `command` is what the history calls it, `block` what may be written by hand where
    `obstacle` says why gpuassist may not, `paste` the lines for a terminal that is open.
    """

    plan: Plan
    command: str
    lines: tuple[ShellLine, ...] = ()
    block: str = ""
    paste: tuple[str, ...] = ()
    obstacle: Text | None = None

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The edits of all files."""
        return tuple(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def diff(self) -> str:
        """Their unified diffs; empty where nothing is left to do."""
        return "".join(step.diff for step in self.plan.steps)


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a plan, and the receipts of the files that were changed."""

    outcome: Outcome
    receipts: tuple[Receipt, ...] = ()
    notes: tuple[Text, ...] = ()


def make(session: Session, plan: ShellPlan) -> Made:
    """Makes the planned change, or says why not."""
    if not session.world.files.live:
        return Made(Outcome(Result.REFUSED, text("this is a recorded machine: nothing on it can be changed")))
    if plan.obstacle is not None:
        return Made(Outcome(Result.REFUSED, plan.obstacle))
    if not plan.diff:
        return Made(Outcome(Result.UNCHANGED, text("nothing is left to do; nothing was changed")))
    applied = applying.apply(session.world, applying.Change(plan.plan.id, plan.command, plan.edits))
    return Made(applied.outcome, applied.receipts, applied.notes)
