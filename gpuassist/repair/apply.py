"""Makes a planned change of one file: whole or not at all, on record before it is made, checked after, rolled back where it broke.

The order is what keeps every byte: look again, lock, put the old and the new bytes on record, write a sibling, flush it, look once
more, put it in the file's place, flush the directory, let bash parse the result, settle the record.
"""

from __future__ import annotations

import errno
import logging
from dataclasses import dataclass
from pathlib import PurePosixPath

from gpuassist.model.plan import FileEdit, Outcome, Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.repair import syntax
from gpuassist.repair.journal import Entry, Journal, State, digest, made, undone
from gpuassist.repair.target import Target, examine
from gpuassist.system.clock import iso
from gpuassist.system.world import World

_NEW_FILE_MODE = 0o644

_log = logging.getLogger(__name__)


class ChangedError(Exception):
    """Somebody else changed the file after it was read."""


@dataclass(frozen=True, slots=True)
class Change:
    """An edit to make: its id is in the block's marker, `goal` is what the history calls it."""

    id: str
    goal: str
    edit: FileEdit


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of it; the receipt of a change that was made."""

    outcome: Outcome
    receipt: Receipt | None = None


def apply(world: World, change: Change) -> Applied:
    """Makes the change, or says why not; the file holds its old bytes or its new ones, whatever happens."""
    if change.edit.existed and change.edit.after == change.edit.before:
        return Applied(Outcome(Result.UNCHANGED, text("{path} already says so; nothing was changed", path=change.edit.path)))
    obstacle = examine(world, change.edit.path).obstacle
    if obstacle is not None:
        return Applied(Outcome(Result.REFUSED, obstacle))  # before a journal is made: under sudo it would lie in another's home
    journal = Journal.of(world)
    try:
        with journal.lock():
            sweep(world, journal)
            return _apply_locked(world, journal, change)
    except BlockingIOError:
        return Applied(Outcome(Result.REFUSED, text("another gpuassist is changing a file just now; please try again")))
    except OSError as error:
        return Applied(Outcome(Result.FAILED, _failed(change.edit.path, error)))


def put(world: World, edit: FileEdit, change: str) -> None:
    """Replaces the file's bytes in one step; raises `ChangedError` or `OSError`, and has then changed nothing."""
    place = world.files.place(edit.target)
    beside = _beside(world, edit.target, change)
    world.disk.remove(beside)  # a crash may have left it; the id in its name makes it ours
    world.disk.create(beside)
    try:
        world.disk.write(beside, edit.after)
        if edit.existed:
            world.disk.copy_attributes(place, beside)
        else:
            world.disk.set_mode(beside, _NEW_FILE_MODE)
        world.disk.flush(beside)
        _swap(world, edit, beside)
    except (OSError, ChangedError):
        world.disk.remove(beside)
        raise
    flush_directory(world, edit.target)


def flush_directory(world: World, path: str) -> None:
    """Makes a change of a directory durable; where that fails the change stands all the same."""
    try:
        world.disk.flush(world.files.place(str(PurePosixPath(path).parent)))
    except OSError as error:
        _log.info("directory of %s not flushed: %s", path, error)


def sweep(world: World, journal: Journal) -> None:
    """Settles changes that a crash interrupted: a sibling left over is removed, and the record says what the file says."""
    for entry in journal.entries():
        if entry.state is State.PREPARED:
            world.disk.remove(_beside(world, entry.receipt.target, entry.receipt.id))
            _settle_by_content(world, journal, entry)


def _settle_by_content(world: World, journal: Journal, entry: Entry) -> None:
    now = examine(world, entry.receipt.target)
    if made(entry, now.content):
        journal.settle(entry.receipt, State.MADE)
    elif digest(now.content) == entry.receipt.hash_before:
        journal.forget(entry.receipt)
    else:
        journal.settle(undone(entry.receipt, iso(world.clock.now())), State.UNDONE)


def _apply_locked(world: World, journal: Journal, change: Change) -> Applied:
    edit = change.edit
    target = examine(world, edit.path)
    refusal = target.obstacle or _changed_since(edit, target)
    if refusal is not None:
        return Applied(Outcome(Result.REFUSED, refusal))
    receipt = _receipt(world, change)
    journal.prepare(receipt, edit.before, edit.after)
    try:
        put(world, edit, change.id)
    except ChangedError:
        journal.forget(receipt)
        return Applied(Outcome(Result.REFUSED, _changed(edit.path)))
    except OSError:
        journal.forget(receipt)
        raise
    return _check(world, journal, change, receipt)


def _check(world: World, journal: Journal, change: Change, receipt: Receipt) -> Applied:
    edit = change.edit
    after = syntax.check(world, examine(world, edit.target).content)
    if after.broken and syntax.breaks(syntax.check(world, edit.before), after):
        _roll_back(world, edit, change.id)
        journal.settle(undone(receipt, iso(world.clock.now())), State.UNDONE)
        words = text(
            "bash could not parse the result ({words}), so {path} was put back as it was", words=after.words, path=edit.path
        )
        return Applied(Outcome(Result.FAILED, words))
    try:
        journal.settle(receipt, State.MADE)
    except OSError as error:
        # The change stands and its record is there as prepared: the next run reads from the file that it was made.
        _log.info("record of %s not settled: %s", receipt.id, error)
    return Applied(Outcome(Result.MODIFIED, text("{path} was changed", path=edit.path)), receipt)


def _roll_back(world: World, edit: FileEdit, change: str) -> None:
    if edit.existed:
        put(world, FileEdit(edit.path, edit.target, edit.after, edit.before, existed=True), change)
    else:
        world.disk.remove(world.files.place(edit.target))
        flush_directory(world, edit.target)


def _swap(world: World, edit: FileEdit, beside: str) -> None:
    place = world.files.place(edit.target)
    if not edit.existed:
        try:
            world.disk.place_new(beside, place)
        except FileExistsError as error:
            raise ChangedError from error
        return
    if world.disk.read(place) != edit.before:
        raise ChangedError
    world.disk.replace(beside, place)


def _beside(world: World, target: str, change: str) -> str:
    path = PurePosixPath(world.files.place(target))
    return f"{path.parent}/.{path.name.lstrip('.')}.gpuassist-{change}"


def _changed_since(edit: FileEdit, target: Target) -> Text | None:
    same = (target.path_written, target.content, target.exists) == (edit.target, edit.before, edit.existed)
    return None if same else _changed(edit.path)


def _changed(path: str) -> Text:
    return text(
        "{path} was changed by someone else since the preview; nothing was written. Please look at the new preview and apply that.",
        path=path,
    )


def _receipt(world: World, change: Change) -> Receipt:
    edit = change.edit
    return Receipt(
        change.id,
        iso(world.clock.now()),
        change.goal,
        edit.path,
        edit.target,
        edit.existed,
        digest(edit.before),
        digest(edit.after),
    )


def _failed(path: str, error: OSError) -> Text:
    where = error.filename or path
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return text("the disk is full ({where}); {path} was not changed", where=where, path=path)
    return text("{path} was not changed: {error} ({where})", path=path, error=error.strerror or str(error), where=where)
