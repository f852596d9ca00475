"""Making an installed toolkit the one that new shells use: plan it, apply the plan, prove it, and take it back."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.detect import environments as environment_probe
from gpuassist.detect import pci as pci_probe
from gpuassist.detect import prefixes
from gpuassist.detect import shell as shell_probe
from gpuassist.detect import toolkits as toolkit_probe
from gpuassist.detect.prefixes import Prefix
from gpuassist.detect.runner import Running
from gpuassist.model.fact import NOT_ASKED, Fact
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
from gpuassist.repair.undo import NothingToUndoError, TakeBack, UnknownChangeError
from gpuassist.session.context import Session
from gpuassist.session.cuda_plan import CudaPlan, Expected, UseCuda, plan_use_cuda
from gpuassist.session.proof import Holds, Proof, judge_terminal, prove_toolkit, with_shell
from gpuassist.session.shells import ShellChange, ShellSeen, ask_shells, compare, slow
from gpuassist.system.clock import iso
from gpuassist.system.terminal import SECONDS, Opening

__all__ = [
    "SECONDS",
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
    "left_out",
    "look",
    "make",
    "plan_undo",
    "plan_use_cuda",
    "prove",
    "records",
    "undo",
    "version_of",
]


_Prefixes = Fact[tuple[Prefix, ...]]
_SCAN_SECONDS = 5.0
_RECORDED = text("this is a recorded machine: nothing on it can be changed")


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it: one outcome for each step that gpuassist itself takes, and the proof where something was changed.

    `receipts` are those of all files, `notes` say what became of an earlier change that had been interrupted. `shells` are all ways
    of starting a shell before and after, where something was changed; `slow` is the one that took long, none where none did.
    """

    outcomes: tuple[Outcome, ...]
    receipt: Receipt | None
    before: Fact[Terminal]
    after: Fact[Terminal]
    proof: Proof | None
    receipts: tuple[Receipt, ...] = ()
    notes: tuple[Text, ...] = ()
    shells: tuple[ShellChange, ...] = ()
    slow: ShellSeen | None = None

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
    """As much of the machine as a plan needs: shell, toolkits, environments, GPUs; another user's start-up files are not run."""
    world = session.world
    # HOME is searched while the shell starts, which takes longer.
    scan: Running[_Prefixes] = Running("prefixes", lambda: prefixes.scan(world), seconds=_SCAN_SECONDS, otherwise=lambda why: why)
    shell = shell_probe.probe(world)
    return Machine(
        iso(world.clock.now()),
        gpus=pci_probe.probe(world, session.knowledge),
        shell=shell,
        toolkits=toolkit_probe.probe(world, shell.new_terminal),
        environments=environment_probe.probe(world, shell.new_terminal, scan.result()),
    )


def apply(session: Session, plan: CudaPlan, *, seconds: float = SECONDS) -> Applied:
    """Makes the planned change and proves it: in a new terminal, and in shells that are started in other ways, before and after.

    `seconds` is how long the start-up files may take.
    """
    world = with_shell(session.world, plan.edit.dialect)
    changes = bool(plan.diff) and plan.obstacle is None and not plan.recorded and session.world.files.live
    before = ask_shells(world, seconds=seconds) if changes else ()
    made = _edit(session, plan)
    if made.outcome.result not in {Result.MODIFIED, Result.UNCHANGED}:
        return Applied((made.outcome,), made.receipt, plan.now, NOT_ASKED, None, made.receipts, made.notes)
    after = ask_shells(world, seconds=seconds)
    terminal = next(one.terminal for one in after if one.opening is Opening.TERMINAL)
    return Applied(
        (made.outcome,),
        made.receipt,
        plan.now,
        terminal,
        judge_terminal(world, plan.toolkit.root, terminal),
        made.receipts,
        made.notes,
        compare(before, after),
        slow(after),
    )


def make(session: Session, plan: Plan, goal: str) -> Made:
    """Makes all edits of any plan, or none; `goal` is what the history calls it. A recorded machine is never changed."""
    if not session.world.files.live:
        return Made(Outcome(Result.REFUSED, _RECORDED))
    edits = tuple(step.edit for step in plan.steps if step.edit is not None)
    return applying.apply(session.world, applying.Change(plan.id, goal, edits))


def prove(session: Session, plan: CudaPlan, *, seconds: float = SECONDS) -> Proof:
    """Asks a real new terminal which nvcc it finds."""
    return prove_toolkit(session.world, plan.toolkit.root, shell=plan.edit.dialect, seconds=seconds)


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


def left_out(session: Session) -> tuple[Text, ...]:
    """Records that are none of this user's changes, with the reason."""
    return undoing.left_out(session.world)


def backup_of(session: Session, receipt: Receipt) -> str:
    """Where the file's bytes from before the change are kept."""
    return Journal.of(session.world).backup(receipt.id)


def _edit(session: Session, plan: CudaPlan) -> Made:
    if plan.recorded:
        return Made(Outcome(Result.REFUSED, _RECORDED))
    if plan.obstacle is not None:
        return Made(Outcome(Result.REFUSED, plan.obstacle))
    return make(session, plan.plan, f"use cuda {plan.wish.version}")
