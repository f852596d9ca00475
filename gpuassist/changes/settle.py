"""Settles what a crash interrupted: what each file holds says how far a change came, and one that came half way is put back.

Only records whose name says that they are unsettled are read, so that it costs nothing where nothing was interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from gpuassist.changes.journal import Journal, JournalState, digest, undone
from gpuassist.changes.replace_file import ChangedError, put, remove_directories, sibling, take_away
from gpuassist.model.plan import FileEdit, Receipt
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.edit import mentions
from gpuassist.system.clock import iso
from gpuassist.system.world import World


class FileHolds(str, Enum):
    """What a file holds of a change: all of it and nothing else, what was there before, some of it, or nothing of it."""

    NEW = "new"
    OLD = "old"
    EDITED = "edited"
    NOTHING = "nothing"


def sweep(world: World, journal: Journal) -> tuple[Text, ...]:
    """Settles every interrupted change and undo; says what was put back and what could not be."""
    journal.clear()
    groups: dict[str, list[Receipt]] = {}
    for entry in journal.unsettled():
        groups.setdefault(entry.receipt.change, []).append(entry.receipt)
    said = [words for change, receipts in groups.items() for words in _settled(world, journal, change, receipts)]
    for change, wanted in journal.unfinished_undos():
        said += _undo_settled(world, journal, change, wanted)
    return tuple(said)


def holds(world: World, journal: Journal, receipt: Receipt) -> FileHolds:
    """What the file holds of its change; raises `OSError` where it cannot be read."""
    try:
        now = world.disk.read(world.files.place(receipt.target))
    except FileNotFoundError:
        return FileHolds.NOTHING if receipt.existed else FileHolds.OLD
    if digest(now) == receipt.hash_after:
        return FileHolds.NEW
    if receipt.existed and digest(now) == receipt.hash_before:
        return FileHolds.OLD
    return FileHolds.EDITED if _is_in(now, journal, receipt) else FileHolds.NOTHING


def stands(found: FileHolds) -> bool:
    """Whether something of the change is in the file."""
    return found in {FileHolds.NEW, FileHolds.EDITED}


def _settled(world: World, journal: Journal, change: str, receipts: list[Receipt]) -> list[Text]:
    try:
        return _settle(world, journal, change, receipts)
    except (OSError, ChangedError) as error:
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("change %s not settled: %s", change, error)
        return [
            text(
                "the change {change} was interrupted half way and could not be put back now: `gpuassist undo {change}` tries again",
                change=change,
            )
        ]


def _settle(world: World, journal: Journal, change: str, receipts: list[Receipt]) -> list[Text]:
    for receipt in receipts:
        world.disk.remove(sibling(world, receipt.target, change))
    first = journal.settled(change)
    if first is not None and first.state is JournalState.MADE:
        journal.commit(receipts)
        return []
    found = [(receipt, holds(world, journal, receipt)) for receipt in receipts]
    if all(stands(held) for _, held in found):
        journal.commit(receipts)
        return []
    if all(held is FileHolds.OLD for _, held in found) and first is None:
        for receipt in receipts:
            remove_directories(world, receipt.made_directories)
        journal.forget(receipts)
        return []
    return _put_back(world, journal, change, found)


def _put_back(world: World, journal: Journal, change: str, found: list[tuple[Receipt, FileHolds]]) -> list[Text]:
    back = [receipt for receipt, held in found if held is FileHolds.NEW]
    for receipt in reversed(back):
        restore(world, journal, receipt)
    left = [receipt for receipt, held in found if held is FileHolds.EDITED]
    for receipt in left:
        journal.settle(receipt, JournalState.MADE)
    now = iso(world.clock.now())
    for receipt, held in found:
        if held is not FileHolds.EDITED:
            remove_directories(world, receipt.made_directories)
            journal.settle(undone(receipt, now), JournalState.UNDONE)
    if left:
        return [
            text(
                "the change {change} was interrupted halfway, and {files} was edited since: `gpuassist undo {change}` undoes it",
                change=change,
                files=listed(receipt.path for receipt in left),
            )
        ]
    if not back:
        return []
    files = listed(receipt.path for receipt in back)
    return [text("the change {change} had been interrupted half way; {files} was put back as it was", change=change, files=files)]


def undo_of(change: str) -> str:
    """What stands in the names of siblings that are written to take a change back."""
    return f"{change}-undo"


def restore(world: World, journal: Journal, receipt: Receipt) -> None:
    """Puts a file that holds exactly what the change wrote back to what it was; raises `ChangedError` or `OSError`."""
    after = journal.after(receipt)
    if world.files.real(receipt.target) != receipt.target:
        raise ChangedError(receipt.path)
    edit = FileEdit(receipt.path, receipt.target, after, b"", existed=True)
    if not receipt.existed:
        take_away(world, edit)
        remove_directories(world, receipt.made_directories)
        return
    before = journal.before(receipt)
    if digest(before) != receipt.hash_before:
        raise ChangedError(receipt.path)
    put(world, FileEdit(receipt.path, receipt.target, after, before, existed=True), receipt.change)


def _is_in(now: bytes, journal: Journal, receipt: Receipt) -> bool:
    try:
        if mentions(now, receipt.change):
            return True
    except RepairError:  # its markers do not pair up: something of it is there all the same
        return receipt.change.encode() in now
    before, after, rows = (set(content.split(b"\n")) for content in (journal.before(receipt), journal.after(receipt), now))
    added, taken = after - before, before - after
    return bool(added & rows) if added else not taken & rows


def _undo_settled(world: World, journal: Journal, change: str, wanted: Mapping[str, str]) -> list[Text]:
    try:
        for entry in journal.group(change):
            world.disk.remove(sibling(world, entry.receipt.target, undo_of(change)))
            if entry.state is JournalState.MADE and _is_back(world, entry.receipt, wanted):
                remove_directories(world, entry.receipt.made_directories)
                journal.settle(undone(entry.receipt, iso(world.clock.now()), wanted.get(entry.receipt.id, "")), JournalState.UNDONE)
        journal.end_undo(change)
        states = {entry.state for entry in journal.group(change)}
        return [_half_undone(change)] if states == {JournalState.MADE, JournalState.UNDONE} else []
    except OSError as error:
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("undo of %s not settled: %s", change, error)
        return [_half_undone(change)]


def _is_back(world: World, receipt: Receipt, wanted: Mapping[str, str]) -> bool:
    try:
        now = digest(world.disk.read(world.files.place(receipt.target)))
    except FileNotFoundError:
        return not receipt.existed
    return now == wanted.get(receipt.id, receipt.hash_before if receipt.existed else "")


def _half_undone(change: str) -> Text:
    return text("undoing the change {change} was interrupted: `gpuassist undo {change}` does the rest", change=change)
