"""Taking changes of the user's files back: which there are, what undoing one would do, and doing it."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from msgspec import Struct

from gpuassist.changes import record as recording
from gpuassist.changes import undo as undoing
from gpuassist.changes.journal import Journal
from gpuassist.changes.record import ChangeRecord, ChangeStatus
from gpuassist.changes.undo import TakeBack
from gpuassist.context import Session
from gpuassist.model.plan import Outcome, Receipt
from gpuassist.model.text import Text, text
from gpuassist.system.world import World


class Undone(Struct, frozen=True):
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


def what_stays(session: Session, taking: TakeBack) -> tuple[Text, ...]:
    """What taking a change of start-up files back does not reach: terminals that are open, and what fish remembers by itself."""
    dialects = {file.receipt.dialect for file in taking.files if file.edit is not None}
    if not dialects & {"bash", "zsh", "fish"}:
        return ()
    open_ones = text("Terminals that are open keep what they have, also after `source`, which takes nothing out.")
    return (open_ones, *(_remembered(session.world, taking) if "fish" in dialects else ()))


def _remembered(world: World, taking: TakeBack) -> Iterator[Text]:
    """`fish_add_path` puts directories into a universal variable, which outlives the line that did it."""
    # With the parsers that come along it would be half of what `undo --list` loads.
    from gpuassist.detect.startup.fish_universal import universal_variables

    taken = b"".join(file.edit.before for file in taking.files if file.edit is not None)
    left = b"".join(file.edit.after for file in taking.files if file.edit is not None)
    for variable in universal_variables(world):
        for element in variable.elements:
            if element.encode() in taken and element.encode() not in left:
                yield text(
                    "fish itself goes on remembering {directory} in {variable}: `{command}` takes it out",
                    directory=element,
                    variable=variable.name,
                    command=f"set -U {variable.name} (string match -v -- {quote(element)} ${variable.name})",
                )


def history(session: Session) -> tuple[Receipt, ...]:
    """All changes, newest first; the ones that were taken back say when."""
    return undoing.history(session.world)


def records(session: Session) -> tuple[ChangeRecord, ...]:
    """All changes with their files, newest first: what still stands, and what was edited since."""
    return recording.records(session.world)


def any_in_effect(session: Session) -> bool:
    """Whether a change that was made still stands in a file."""
    return any(file.standing is ChangeStatus.STANDS for record in records(session) for file in record.files)


def left_out(session: Session) -> tuple[Text, ...]:
    """Records that are none of this user's changes, with the reason."""
    return undoing.left_out(session.world)


def backup_of(session: Session, receipt: Receipt) -> str:
    """Where the file's bytes from before the change are kept."""
    return Journal.of(session.world).backup(receipt.id)
