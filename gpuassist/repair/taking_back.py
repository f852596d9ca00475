"""How one file of a change would be taken back: its old bytes where nobody touched it since, else only what gpuassist wrote."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.plan import FileEdit, Receipt
from gpuassist.model.text import Text, text
from gpuassist.repair import syntax
from gpuassist.repair.block import Block, RepairError, find
from gpuassist.repair.edit import mentions, take_back
from gpuassist.repair.journal import Journal, State, digest
from gpuassist.repair.target import Target, examine
from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class FileBack:
    """What undoing would do to one file: `edit` is none where it holds nothing of the change any more; `way` says how."""

    receipt: Receipt
    edit: FileEdit | None
    removes_file: bool
    way: Text


def plan_file(world: World, journal: Journal, receipt: Receipt) -> FileBack:
    """How the file would be taken back; raises `RepairError` where it cannot be."""
    target = examine(world, receipt.target)
    if not target.exists and not receipt.existed and target.obstacle is None:
        return FileBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
    if target.obstacle is not None or not target.exists:
        reason = target.obstacle or text("{path} is not there any more", path=receipt.target)
        raise RepairError(_cannot(receipt, journal, reason))
    if digest(target.content) == receipt.hash_after and not _would_bring_back(journal, receipt):
        return _exactly(journal, receipt, target)
    return _only_ours(world, journal, receipt, target)


def _exactly(journal: Journal, receipt: Receipt, target: Target) -> FileBack:
    if not receipt.existed:
        edit = _edit(receipt, target, b"")
        way = text("{path} was removed again, because it had not been there before", path=receipt.target)
        return FileBack(receipt, edit, removes_file=True, way=way)
    edit = _edit(receipt, target, _backup(journal, receipt))
    return FileBack(receipt, edit, removes_file=False, way=text("{path} is byte for byte what it was before", path=receipt.target))


def _only_ours(world: World, journal: Journal, receipt: Receipt, target: Target) -> FileBack:
    if receipt.existed and digest(target.content) == receipt.hash_before:
        return FileBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
    try:
        if not mentions(target.content, receipt.change):
            return FileBack(receipt, None, removes_file=False, way=_nothing_left(receipt))
        after = take_back(target.content, receipt.change, _earlier(journal, receipt))
    except RepairError as error:
        raise RepairError(_cannot(receipt, journal, error.reason)) from error
    now = syntax.check(world, target.content, receipt.dialect)
    if syntax.breaks(now, syntax.check(world, after, receipt.dialect)):
        raise RepairError(_cannot(receipt, journal, text("the result would not be valid shell")))
    way = text(
        "{path} was edited since: only gpuassist's own lines were taken out and the retired ones restored, the rest stays as it is",
        path=receipt.target,
    )
    return FileBack(receipt, _edit(receipt, target, after), removes_file=False, way=way)


def _would_bring_back(journal: Journal, receipt: Receipt) -> bool:
    """Whether the bytes before this change hold the block of one that was undone in the meantime."""
    return receipt.existed and find(_backup(journal, receipt)) is not None and _earlier(journal, receipt) is None


def _earlier(journal: Journal, receipt: Receipt) -> Block | None:
    """The block that this change had put its own in the place of, if the change that wrote that one still stands."""
    block = find(_backup(journal, receipt)) if receipt.existed else None
    if block is None:
        return None
    states = {entry.receipt.change: entry.state for entry in journal.entries() if entry.receipt.target == receipt.target}
    return None if states.get(block.change) is State.UNDONE else block


def _backup(journal: Journal, receipt: Receipt) -> bytes:
    try:
        before = journal.before(receipt)
    except OSError as error:
        raise RepairError(text("the backup {backup} cannot be read", backup=journal.backup(receipt.id))) from error
    if digest(before) != receipt.hash_before:
        raise RepairError(text("the backup {backup} is not what was stored there", backup=journal.backup(receipt.id)))
    return before


def _edit(receipt: Receipt, target: Target, after: bytes) -> FileEdit:
    return FileEdit(receipt.path, target.path_written, target.content, after, existed=True, dialect=receipt.dialect)


def _nothing_left(receipt: Receipt) -> Text:
    return text("{path} holds nothing of this change any more; nothing was changed", path=receipt.target)


def _cannot(receipt: Receipt, journal: Journal, reason: Text) -> Text:
    return text(
        "the change {change} was not undone: {reason}. What {path} held before it is kept in {backup}.",
        change=receipt.change,
        reason=reason,
        path=receipt.target,
        backup=journal.backup(receipt.id),
    )
