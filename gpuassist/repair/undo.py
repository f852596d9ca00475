"""Takes a change back, all its files: looked at before the first is written, the last one first."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from gpuassist.model.plan import FileEdit, Outcome, Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.repair.block import RepairError
from gpuassist.repair.journal import Entry, Journal, State, undone
from gpuassist.repair.settle import holds, stands, sweep
from gpuassist.repair.taking_back import FileBack, plan_file
from gpuassist.repair.writing import ChangedError, put, remove_directories, take_away
from gpuassist.system.clock import iso
from gpuassist.system.world import World

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TakeBack:
    """What undoing a change would do to each of its files that it still stands in, in the order in which they were changed."""

    files: tuple[FileBack, ...]

    @property
    def receipt(self) -> Receipt:
        """The first file's."""
        return self.files[0].receipt

    @property
    def edit(self) -> FileEdit | None:
        """The first file's; none where it holds nothing of the change any more."""
        return self.files[0].edit

    @property
    def removes_file(self) -> bool:
        """Whether the first file was made by the change and goes again."""
        return self.files[0].removes_file

    @property
    def way(self) -> Text:
        """How, for all files."""
        words = self.files[-1].way
        for file in reversed(self.files[:-1]):
            words = text("{first}; {rest}", first=file.way, rest=words)
        return words


class NothingToUndoError(RepairError):
    """The change was undone already, or none was ever made: what was wanted is so."""


class UnknownChangeError(RepairError):
    """There is no change of that id."""


def history(world: World) -> tuple[Receipt, ...]:
    """Changes that were made, newest first, those that were taken back with the time of that; a change's files in their order."""
    groups: dict[str, list[Receipt]] = {}
    for entry in Journal.of(world).entries():
        if _is_history(world, entry):
            groups.setdefault(entry.receipt.change, []).append(entry.receipt)
    return tuple(receipt for group in reversed(groups.values()) for receipt in group)


def plan(world: World, change: str) -> TakeBack:
    """How a change, or the newest one that stands, would be taken back; raises `RepairError` where it cannot be."""
    journal = Journal.of(world)
    return TakeBack(tuple(plan_file(world, journal, receipt) for receipt in _receipts(world, change)))


def undo(world: World, change: str) -> tuple[Outcome, Receipt]:
    """Takes it back; raises `RepairError` where it cannot be."""
    plan(world, change)  # raises before a lock is made: under sudo it would lie in another's home
    journal = Journal.of(world)
    done: list[Receipt] = []
    try:
        with journal.lock():
            sweep(world, journal)
            taking = plan(world, change)
            for file in reversed(taking.files):
                _carry_out(world, file)
                done.append(_settled(world, journal, file))
    except BlockingIOError as error:
        raise RepairError(text("another gpuassist is changing a file just now; please try again")) from error
    except ChangedError as error:
        raise RepairError(_stopped(done, text("{path} was changed by someone else just now", path=error.path))) from error
    except OSError as error:
        words = text("{error} ({where})", error=error.strerror or str(error), where=error.filename or "")
        raise RepairError(_stopped(done, words)) from error
    changed = any(file.edit is not None for file in taking.files)
    return Outcome(Result.MODIFIED if changed else Result.UNCHANGED, taking.way), done[-1]


def _carry_out(world: World, file: FileBack) -> None:
    if file.edit is None:
        return
    if not file.removes_file:
        put(world, file.edit, f"{file.receipt.change}-undo")
        return
    take_away(world, file.edit)
    remove_directories(world, file.receipt.made_directories)


def _settled(world: World, journal: Journal, file: FileBack) -> Receipt:
    receipt = undone(file.receipt, iso(world.clock.now()))
    try:
        journal.settle(receipt, State.UNDONE)
    except OSError as error:
        # The file is as it was, which the next run sees: only the record lags behind.
        _log.info("record of %s not settled: %s", receipt.id, error)
    return receipt


def _receipts(world: World, change: str) -> tuple[Receipt, ...]:
    receipts = history(world)
    wanted = next((one.change for one in receipts if change in {one.change, one.id} or not (change or one.undone_at)), None)
    if wanted is None and change:
        raise UnknownChangeError(text("there is no change {change}; `gpuassist undo --list` shows all", change=change))
    if wanted is None:
        raise NothingToUndoError(text("there is no change to undo"))
    group = [receipt for receipt in receipts if receipt.change == wanted]
    standing = tuple(receipt for receipt in group if not receipt.undone_at)
    if not standing:
        raise NothingToUndoError(text("the change {change} was undone already ({when})", change=wanted, when=group[0].undone_at))
    return standing


def _stopped(done: Iterable[Receipt], reason: Text) -> Text:
    paths = ", ".join(receipt.path for receipt in done)
    if not paths:
        return text("nothing was changed: {reason}; please try again", reason=reason)
    return text("{paths} was taken back, then: {reason}. Please try again for the rest.", paths=paths, reason=reason)


def _is_history(world: World, entry: Entry) -> bool:
    if entry.state is not State.PREPARED:
        return True
    try:
        return stands(holds(world, entry.receipt))
    except OSError:
        return False
