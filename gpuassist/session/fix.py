"""Making an installed toolkit the one that new shells use: plan it, apply the plan, prove it, and take it back."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.detect import shell as shell_probe
from gpuassist.detect import toolkits as toolkit_probe
from gpuassist.model.fact import NOT_ASKED, Fact, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Plan, Receipt, Result
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.repair import apply as applying
from gpuassist.repair import record as recording
from gpuassist.repair import undo as undoing
from gpuassist.repair.apply import Applied as Made
from gpuassist.repair.block import RepairError
from gpuassist.repair.choice import LdLibraryPath, LoaderChoice, WishError, version_of
from gpuassist.repair.journal import Journal
from gpuassist.repair.line_choice import Choice, ChoiceError, LineChoice
from gpuassist.repair.lines import ShellLine
from gpuassist.repair.record import ChangeRecord, FileRecord, Standing
from gpuassist.repair.taking_back import ConflictError, FileBack, ThreeWay
from gpuassist.repair.target import strangers_home
from gpuassist.repair.undo import NothingToUndoError, TakeBack, UnknownChangeError
from gpuassist.session.context import Session
from gpuassist.session.cuda_plan import CudaPlan, Expected, UseCuda, plan_use_cuda
from gpuassist.session.proof import Holds, Proof, prove_toolkit
from gpuassist.system.clock import iso

__all__ = [
    "Applied",
    "ChangeRecord",
    "Choice",
    "ChoiceError",
    "ConflictError",
    "CudaPlan",
    "Expected",
    "FileBack",
    "FileRecord",
    "Holds",
    "LdLibraryPath",
    "LineChoice",
    "LoaderChoice",
    "Made",
    "NothingToUndoError",
    "Proof",
    "RepairError",
    "ShellLine",
    "Standing",
    "TakeBack",
    "ThreeWay",
    "Undone",
    "UnknownChangeError",
    "UseCuda",
    "WishError",
    "apply",
    "backup_of",
    "history",
    "look",
    "make",
    "plan_undo",
    "plan_use_cuda",
    "prove",
    "records",
    "undo",
    "version_of",
]


_RECORDED = text("this is a recorded machine: nothing on it can be changed")


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it: one outcome for each step that gpuassist itself takes, and the proof where something was changed.

    `receipts` are those of all files, `notes` say what became of an earlier change that had been interrupted.
    """

    outcomes: tuple[Outcome, ...]
    receipt: Receipt | None
    before: Fact[Terminal]
    after: Fact[Terminal]
    proof: Proof | None
    receipts: tuple[Receipt, ...] = ()
    notes: tuple[Text, ...] = ()

    @property
    def result(self) -> Result:
        """What came of the edit."""
        return self.outcomes[0].result


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of taking a change back."""

    outcome: Outcome
    receipt: Receipt


def look(session: Session) -> Machine:
    """As much of the machine as a plan needs: its shell and its toolkits; another user's start-up files are not run."""
    stranger = strangers_home(session.world)
    shell = shell_probe.probe(session.world) if stranger is None else shell_probe.around(session.world, Unknown(stranger))
    toolkits = toolkit_probe.probe(session.world, shell.new_terminal)
    return Machine(iso(session.world.clock.now()), shell=shell, toolkits=toolkits)


def apply(session: Session, plan: CudaPlan) -> Applied:
    """Makes the planned change and proves it in a new terminal."""
    made = _edit(session, plan)
    before, receipts = plan.now, made.receipts
    if made.outcome.result not in {Result.MODIFIED, Result.UNCHANGED}:
        return Applied((made.outcome,), made.receipt, before, NOT_ASKED, None, receipts, made.notes)
    proof = prove(session, plan)
    return Applied((made.outcome,), made.receipt, before, proof.terminal, proof, receipts, made.notes)


def make(session: Session, plan: Plan, goal: str) -> Made:
    """Makes all edits of any plan, or none; `goal` is what the history calls it. A recorded machine is never changed."""
    if not session.world.files.live:
        return Made(Outcome(Result.REFUSED, _RECORDED))
    edits = tuple(step.edit for step in plan.steps if step.edit is not None)
    return applying.apply(session.world, applying.Change(plan.id, goal, edits))


def prove(session: Session, plan: CudaPlan) -> Proof:
    """Asks a real new terminal which nvcc it finds."""
    return prove_toolkit(session.world, plan.toolkit.root, shell=plan.edit.dialect)


def plan_undo(session: Session, change: str = "") -> TakeBack:
    """How a change, or the newest that stands, would be taken back; raises `RepairError` where it cannot be."""
    return undoing.plan(session.world, change)


def undo(session: Session, change: str = "") -> Undone:
    """Takes a change back, or the newest that stands; raises `RepairError` where it cannot be."""
    return Undone(*undoing.undo(session.world, change))


def history(session: Session) -> tuple[Receipt, ...]:
    """All changes, newest first; the ones that were taken back say when."""
    return undoing.history(session.world)


def records(session: Session) -> tuple[ChangeRecord, ...]:
    """All changes with their files, newest first: what still stands, and what was edited since."""
    return recording.records(session.world)


def backup_of(session: Session, receipt: Receipt) -> str:
    """Where the file's bytes from before the change are kept."""
    return Journal.of(session.world).backup(receipt.id)


def _edit(session: Session, plan: CudaPlan) -> Made:
    if plan.recorded:
        return Made(Outcome(Result.REFUSED, _RECORDED))
    if plan.obstacle is not None:
        return Made(Outcome(Result.REFUSED, plan.obstacle))
    return make(session, plan.plan, f"use cuda {plan.wish.version}")
