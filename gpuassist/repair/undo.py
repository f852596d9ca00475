"""Takes a change back: the file's old bytes where nobody touched it since, else only what gpuassist itself had written."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from gpuassist.model.plan import FileEdit, Outcome, Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.repair import syntax
from gpuassist.repair.apply import ChangedError, flush_directory, put, sweep
from gpuassist.repair.block import Block, RepairError, find
from gpuassist.repair.edit import mentions, take_back
from gpuassist.repair.journal import Entry, Journal, State, digest, made, undone
from gpuassist.repair.target import Target, examine
from gpuassist.system.clock import iso
from gpuassist.system.world import World

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TakeBack:
    """What undoing a change would do: `edit` is none where the file holds nothing of the change any more; `way` says how."""

    receipt: Receipt
    edit: FileEdit | None
    removes_file: bool
    way: Text


class NothingToUndoError(RepairError):
    """The change was undone already, or none was ever made: what was wanted is so."""


class UnknownChangeError(RepairError):
    """There is no change of that id."""


def history(world: World) -> tuple[Receipt, ...]:
    """Changes that were made, newest first, those that were taken back with the time of that."""
    entries = Journal.of(world).entries()
    return tuple(entry.receipt for entry in reversed(entries) if entry.state is State.UNDONE or _stands(world, entry))


def plan(world: World, change: str) -> TakeBack:
    """How a change, or the newest one that stands, would be taken back; raises `RepairError` where it cannot be."""
    journal = Journal.of(world)
    receipt = _receipt(world, change)
    target = examine(world, receipt.target)
    if not target.exists and not receipt.existed and target.obstacle is None:
        return TakeBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
    if target.obstacle is not None or not target.exists:
        reason = target.obstacle or text("{path} is not there any more", path=receipt.target)
        raise RepairError(_cannot(receipt, journal, reason))
    if digest(target.content) == receipt.hash_after and not _would_bring_back(journal, receipt):
        return _exactly(journal, receipt, target)
    return _only_ours(world, journal, receipt, target)


def undo(world: World, change: str) -> tuple[Outcome, Receipt]:
    """Takes it back; raises `RepairError` where it cannot be."""
    plan(world, change)  # raises before a lock is made: under sudo it would lie in another's home
    journal = Journal.of(world)
    try:
        with journal.lock():
            sweep(world, journal)
            taking = plan(world, change)
            _carry_out(world, taking)
            receipt = _settled(world, journal, taking)
    except BlockingIOError as error:
        raise RepairError(text("another gpuassist is changing a file just now; please try again")) from error
    except ChangedError as error:
        raise RepairError(text("the file was changed by someone else just now; please try again")) from error
    except OSError as error:
        words = text("nothing was changed: {error} ({where})", error=error.strerror or str(error), where=error.filename or "")
        raise RepairError(words) from error
    return Outcome(Result.UNCHANGED if taking.edit is None else Result.MODIFIED, taking.way), receipt


def _carry_out(world: World, taking: TakeBack) -> None:
    edit = taking.edit
    if edit is None:
        return
    if taking.removes_file:
        place = world.files.place(edit.target)
        if world.disk.read(place) != edit.before:
            raise ChangedError
        world.disk.remove(place)
        flush_directory(world, edit.target)
    else:
        put(world, edit, f"{taking.receipt.id}-undo")


def _settled(world: World, journal: Journal, taking: TakeBack) -> Receipt:
    receipt = undone(taking.receipt, iso(world.clock.now()))
    try:
        journal.settle(receipt, State.UNDONE)
    except OSError as error:
        # The file is as it was, which the next run sees: only the record lags behind.
        _log.info("record of %s not settled: %s", receipt.id, error)
    return receipt


def _receipt(world: World, change: str) -> Receipt:
    receipts = history(world)
    if change:
        found = next((receipt for receipt in receipts if receipt.id == change), None)
        if found is None:
            raise UnknownChangeError(text("there is no change {change}; `gpuassist undo --list` shows all", change=change))
    else:
        found = next((receipt for receipt in receipts if not receipt.undone_at), None)
        if found is None:
            raise NothingToUndoError(text("there is no change to undo"))
    if found.undone_at:
        raise NothingToUndoError(text("the change {change} was undone already ({when})", change=found.id, when=found.undone_at))
    return found


def _exactly(journal: Journal, receipt: Receipt, target: Target) -> TakeBack:
    if not receipt.existed:
        edit = FileEdit(receipt.path, target.path_written, target.content, b"", existed=True)
        way = text("{path} was removed again, because it had not been there before", path=receipt.target)
        return TakeBack(receipt, edit, removes_file=True, way=way)
    before = _backup(journal, receipt)
    edit = FileEdit(receipt.path, target.path_written, target.content, before, existed=True)
    return TakeBack(receipt, edit, removes_file=False, way=text("{path} is byte for byte what it was before", path=receipt.target))


def _only_ours(world: World, journal: Journal, receipt: Receipt, target: Target) -> TakeBack:
    if receipt.existed and digest(target.content) == receipt.hash_before:
        return TakeBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
    try:
        if not mentions(target.content, receipt.id):
            return TakeBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
        after = take_back(target.content, receipt.id, _earlier(journal, receipt))
    except RepairError as error:
        raise RepairError(_cannot(receipt, journal, error.reason)) from error
    if syntax.breaks(syntax.check(world, target.content), syntax.check(world, after)):
        raise RepairError(_cannot(receipt, journal, text("the result would not be valid shell")))
    edit = FileEdit(receipt.path, target.path_written, target.content, after, existed=True)
    way = text(
        "{path} was edited since: only gpuassist's own lines were taken out and the retired ones restored, the rest stays as it is",
        path=receipt.target,
    )
    return TakeBack(receipt, edit, removes_file=False, way=way)


def _would_bring_back(journal: Journal, receipt: Receipt) -> bool:
    """Whether the bytes before this change hold the block of one that was undone in the meantime."""
    return receipt.existed and find(_backup(journal, receipt)) is not None and _earlier(journal, receipt) is None


def _earlier(journal: Journal, receipt: Receipt) -> Block | None:
    """The block that this change had put its own in the place of, if the change that wrote that one still stands."""
    block = find(_backup(journal, receipt)) if receipt.existed else None
    if block is None:
        return None
    state = {entry.receipt.id: entry.state for entry in journal.entries()}.get(block.change)
    return None if state is State.UNDONE else block


def _backup(journal: Journal, receipt: Receipt) -> bytes:
    try:
        before = journal.before(receipt)
    except OSError as error:
        raise RepairError(text("the backup {backup} cannot be read", backup=journal.backup(receipt.id))) from error
    if digest(before) != receipt.hash_before:
        raise RepairError(text("the backup {backup} is not what was stored there", backup=journal.backup(receipt.id)))
    return before


def _stands(world: World, entry: Entry) -> bool:
    return entry.state is State.MADE or made(entry, examine(world, entry.receipt.target).content)


def _nothing_left(receipt: Receipt) -> Text:
    return text("{path} holds nothing of this change any more; nothing was changed", path=receipt.target)


def _cannot(receipt: Receipt, journal: Journal, reason: Text) -> Text:
    return text(
        "the change {change} was not undone: {reason}. What {path} held before it is kept in {backup}.",
        change=receipt.id,
        reason=reason,
        path=receipt.target,
        backup=journal.backup(receipt.id),
    )
