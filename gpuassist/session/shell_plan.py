"""A plan that changes start-up files, whatever it is for, and making it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.changes.apply import Applied
from gpuassist.model.plan import FileEdit, Outcome, Plan, Result
from gpuassist.model.text import Text, text
from gpuassist.session import fix
from gpuassist.session.context import Session
from gpuassist.shellfiles.lines import ShellLine


@dataclass(frozen=True, slots=True)
class ShellPlan:
    """The plan with all that is shown of it: `command` is what the history calls it, `block` what may be written by hand where
    `obstacle` says why gpuassist may not (`by_hand` introduces it where it is for no start-up file), `paste` the lines for a
    terminal that is open, `afterwards` what the user does once it is made.
    """

    plan: Plan
    command: str
    lines: tuple[ShellLine, ...] = ()
    block: str = ""
    paste: tuple[str, ...] = ()
    obstacle: Text | None = None
    by_hand: Text | None = None
    afterwards: Text | None = None

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The edits of all files."""
        return tuple(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def diff(self) -> str:
        """Their unified diffs; empty where nothing is left to do."""
        return "".join(step.diff for step in self.plan.steps)


def make(session: Session, plan: ShellPlan) -> Applied:
    """Makes the planned change, or says why not."""
    if plan.obstacle is not None:
        return Applied(Outcome(Result.REFUSED, plan.obstacle))
    if session.world.files.live and not plan.diff:
        return Applied(Outcome(Result.UNCHANGED, text("nothing is left to do; nothing was changed")))
    return fix.make(session, plan.plan, plan.command)
