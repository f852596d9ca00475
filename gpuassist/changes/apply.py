"""Makes a planned change of one file or of several: each whole or not at all, on record before it is made, all of them or none.

The order is what keeps every byte: look at every file, ask the shell whether it could parse the results, lock, look again, put the
old and the new bytes on record, then for each file write a sibling, flush it, look once more and put it in the file's place; settle
the record. Where a later file fails the earlier ones are put back.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Sequence

from msgspec import Struct

from gpuassist.changes.journal import Journal, JournalError, Kept, digest
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.replace_file import ChangedError, make_directories, put, remove_directories, sibling
from gpuassist.changes.settle import FileHolds, holds, restore, sweep
from gpuassist.changes.syntax import check
from gpuassist.changes.target import FileTarget, examine
from gpuassist.model.plan import FileEdit, Outcome, Receipt, Result
from gpuassist.model.text import Text, enumerated, listed, text
from gpuassist.system.clock import iso
from gpuassist.system.world import World

_log = logging.getLogger(__name__)


class FileChange(Struct, frozen=True):
    """Edits to make together: the id is in what they write, `goal` is what the history calls them."""

    id: str
    goal: str
    edits: tuple[FileEdit, ...]


def apply(world: World, change: FileChange) -> ChangeOutcome:
    """Makes the change, or says why not; each file holds its old bytes or its new ones, whatever happens."""
    edits = tuple(edit for edit in change.edits if not (edit.existed and edit.after == edit.before))
    if not edits:
        words = text("{path} already says so; nothing was changed", path=_names(change.edits))
        return ChangeOutcome(Outcome(Result.UNCHANGED, words))
    refusal = _refusal(world, edits)
    if refusal is not None:
        return ChangeOutcome(refusal)  # before a journal is made: under sudo it would lie in another's home
    journal = Journal.of(world)
    try:
        with journal.lock():
            notes = sweep(world, journal)
            return _apply_locked(world, journal, FileChange(change.id, change.goal, edits), notes)
    except JournalError as error:
        return ChangeOutcome(Outcome(Result.REFUSED, error.reason))
    except BlockingIOError:
        return ChangeOutcome(Outcome(Result.REFUSED, text("another gpuassist is changing a file just now; please try again")))
    except OSError as error:
        return ChangeOutcome(Outcome(Result.FAILED, _failed(_names(edits), error)))


def _refusal(world: World, edits: Sequence[FileEdit]) -> Outcome | None:
    for edit in edits:
        obstacle = examine(world, edit.path).obstacle
        if obstacle is not None:
            return Outcome(Result.REFUSED, obstacle)
    targets = [edit.target for edit in edits]
    for edit in edits:
        # Two names of one file (a link) would each be written with the other's change missing.
        if targets.count(edit.target) > 1:
            return Outcome(Result.REFUSED, text("{paths} are one and the same file", paths=_names(edits)))
        after = check(world, edit.after, edit.dialect)
        if after.broken and not (edit.existed and check(world, edit.before, edit.dialect).broken):
            words = text(
                "{shell} could not parse the result ({words}), so {path} was not changed",
                shell=edit.dialect,
                words=after.words,
                path=edit.path,
            )
            return Outcome(Result.FAILED, words)
    return None


def _apply_locked(world: World, journal: Journal, change: FileChange, notes: tuple[Text, ...]) -> ChangeOutcome:
    # Again, behind the lock: asking the shells takes its time, in which an editor may have saved.
    targets = [examine(world, edit.path) for edit in change.edits]
    for edit, target in zip(change.edits, targets, strict=True):
        same = (target.path_written, target.content, target.exists) == (edit.target, edit.before, edit.existed)
        refusal = target.obstacle or (None if same else _changed(edit.path))
        if refusal is not None:
            return ChangeOutcome(Outcome(Result.REFUSED, refusal), notes=notes)
    receipts = _receipts(world, change, targets)
    making = _Making(world, journal, change.id, receipts)
    try:
        journal.prepare([Kept(receipt, edit.before, edit.after) for receipt, edit in zip(receipts, change.edits, strict=True)])
        making.make(change.edits)
    except ChangedError as error:
        return ChangeOutcome(Outcome(Result.REFUSED, making.left or _changed(error.path)), making.standing, notes)
    except OSError as error:
        words = _failed(_names(change.edits), error)
        return ChangeOutcome(Outcome(Result.FAILED, making.left or words), making.standing, notes)
    files = enumerated(edit.path for edit in change.edits)
    words = text("{path} was changed", path=files) if len(change.edits) == 1 else text("{paths} were changed", paths=files)
    return ChangeOutcome(Outcome(Result.MODIFIED, words), receipts, notes)


class _Making:
    """The files of one change being made, one after the other, and put back where that fails."""

    def __init__(self, world: World, journal: Journal, change: str, receipts: tuple[Receipt, ...]) -> None:
        self._world = world
        self._journal = journal
        self._change = change
        self._receipts = receipts
        self.standing: tuple[Receipt, ...] = ()

    @property
    def left(self) -> Text | None:
        """What has to be said where not every file could be put back."""
        if not self.standing:
            return None
        return text(
            "not every file could be changed, and {files} could not be put back: it holds its new lines. "
            "`gpuassist undo {change}` takes them out.",
            files=listed(receipt.path for receipt in self.standing),
            change=self._change,
        )

    def make(self, edits: Sequence[FileEdit]) -> None:
        """Raises `ChangedError` or `OSError`, after everything was put back that could be."""
        done = False
        try:
            for edit, receipt in zip(edits, self._receipts, strict=True):
                make_directories(self._world, receipt.made_directories)
                put(self._world, edit, self._change)
            done = True
        finally:
            if not done:  # whatever it was: Ctrl-C too must not leave one file new and the next one old
                left = [receipt for receipt in reversed(self._receipts) if not self._is_back(receipt)]
                self.standing = tuple(reversed(left))
                self._settle(self.standing)
                for receipt in self._receipts:
                    if receipt not in left:
                        remove_directories(self._world, receipt.made_directories)
                self._journal.forget(
                    receipt
                    for receipt in self._receipts
                    if receipt not in left and not self._world.disk.exists(sibling(self._world, receipt.target, self._change))
                )
        self._settle(self._receipts)

    def _settle(self, receipts: Sequence[Receipt]) -> None:
        try:
            self._journal.commit(receipts)
        except OSError as error:
            # The change stands and its record is there as prepared: the next run reads from the files that it was made.
            _log.info("record of %s not settled: %s", self._change, error)

    def _is_back(self, receipt: Receipt) -> bool:
        try:
            found = holds(self._world, self._journal, receipt)
            if found is FileHolds.NEW:
                restore(self._world, self._journal, receipt)
            return found is not FileHolds.EDITED
        except (OSError, ChangedError) as error:
            _log.info("%s not put back: %s", receipt.path, error)
            return False


def _changed(path: str) -> Text:
    return text(
        "{path} was changed by someone else since the preview; nothing was written. Please look at the new preview and apply that.",
        path=path,
    )


def _receipts(world: World, change: FileChange, targets: Sequence[FileTarget]) -> tuple[Receipt, ...]:
    now = iso(world.clock.now())
    planned: list[str] = []
    receipts: list[Receipt] = []
    for number, (edit, target) in enumerate(zip(change.edits, targets, strict=True), 1):
        directories = tuple(path for path in target.missing_directories if path not in planned)
        planned += directories
        receipts.append(
            Receipt(
                change.id if number == 1 else f"{change.id}-{number}",
                now,
                change.goal,
                edit.path,
                edit.target,
                edit.existed,
                digest(edit.before),
                digest(edit.after),
                group=change.id if len(change.edits) > 1 else "",
                dialect=edit.dialect,
                made_directories=directories,
            )
        )
    return tuple(receipts)


def _names(edits: Sequence[FileEdit]) -> str:
    return ", ".join(edit.path for edit in edits)


def _failed(path: str, error: OSError) -> Text:
    where = error.filename or path
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return text("the disk is full ({where}); {path} was not changed", where=where, path=path)
    return text("{path} was not changed: {error} ({where})", path=path, error=error.strerror or str(error), where=where)
