"""Taking changes of the user's files back: which there are, what undoing one would do, and doing it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.changes import record as recording
from gpuassist.changes import undo as undoing
from gpuassist.changes.journal import Journal
from gpuassist.changes.record import ChangeRecord, Standing
from gpuassist.changes.undo import TakeBack
from gpuassist.model.plan import Outcome, Receipt
from gpuassist.model.text import Text
from gpuassist.session.context import Session


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of taking a change back."""

    outcome: Outcome
    receipt: Receipt


def plan_undo(session: Session, change: str = "", *, take_out: bool = False) -> TakeBack:
    """How a change, or the newest that stands, would be taken back; raises `RepairError` where it cannot be.

    With `take_out` our block goes also with what was edited in it.
    """
    return undoing.plan(session.world, change, take_out=take_out)


def undo(session: Session, change: str = "", *, take_out: bool = False) -> Undone:
    """Takes a change back, or the newest that stands; raises `RepairError` where it cannot be."""
    return Undone(*undoing.undo(session.world, change, take_out=take_out))


def history(session: Session) -> tuple[Receipt, ...]:
    """All changes, newest first; the ones that were taken back say when."""
    return undoing.history(session.world)


def records(session: Session) -> tuple[ChangeRecord, ...]:
    """All changes with their files, newest first: what still stands, and what was edited since."""
    return recording.records(session.world)


def any_in_effect(session: Session) -> bool:
    """Whether a change that was made still stands in a file."""
    return any(file.standing is Standing.STANDS for record in records(session) for file in record.files)


def left_out(session: Session) -> tuple[Text, ...]:
    """Records that are none of this user's changes, with the reason."""
    return undoing.left_out(session.world)


def backup_of(session: Session, receipt: Receipt) -> str:
    """Where the file's bytes from before the change are kept."""
    return Journal.of(session.world).backup(receipt.id)
