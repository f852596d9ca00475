"""What became of the changes on record: which still stand in their files, and which files were edited since."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.changes.journal import Journal, JournalEntry, JournalState, digest
from gpuassist.changes.settle import holds, stands
from gpuassist.model.plan import Receipt
from gpuassist.shellfiles.block import Block, RepairError, find
from gpuassist.system.world import World


class ChangeStatus(str, Enum):
    """Whether a change is in its file: yes, no, taken back, the file is gone, or it cannot be read."""

    STANDS = "stands"
    NOTHING_LEFT = "nothing left"
    UNDONE = "undone"
    MISSING = "missing"
    UNREADABLE = "unreadable"


class FileRecord(Struct, frozen=True):
    """One file of a change; `edited` where it holds something that gpuassist never left there."""

    receipt: Receipt
    standing: ChangeStatus
    edited: bool


class ChangeRecord(Struct, frozen=True):
    """A change with its files, in the order in which they were changed."""

    files: tuple[FileRecord, ...]

    @property
    def receipt(self) -> Receipt:
        return self.files[0].receipt


def records(world: World) -> tuple[ChangeRecord, ...]:
    """All changes that were made, newest first."""
    journal = Journal.of(world)
    entries = journal.entries()
    known: dict[str, set[str]] = {}
    for entry in entries:
        receipt = entry.receipt
        known.setdefault(receipt.target, set()).update((receipt.hash_before, receipt.hash_after, receipt.hash_undone))
    groups: dict[str, list[FileRecord]] = {}
    for entry in entries:
        file = _look(world, journal, entry, known[entry.receipt.target])
        if entry.state is not JournalState.PREPARED or file.standing is ChangeStatus.STANDS:
            groups.setdefault(entry.receipt.change, []).append(file)
    return tuple(ChangeRecord(tuple(files)) for files in reversed(groups.values()))


def edited_block(world: World, target: str, block: Block) -> bool:
    """Whether somebody edited the block in a file since gpuassist wrote it; not where what it wrote is not on record any more."""
    journal = Journal.of(world)
    for entry in journal.group(block.change):
        if entry.receipt.target == target:
            try:
                written = find(journal.after(entry.receipt))
            except (OSError, RepairError):
                return False
            return written is not None and written.lines != block.lines
    return False


def _look(world: World, journal: Journal, entry: JournalEntry, known: set[str]) -> FileRecord:
    receipt = entry.receipt
    try:
        now = world.disk.read(world.files.place(receipt.target))
        edited = digest(now) not in known
        if entry.state is JournalState.UNDONE:
            return FileRecord(receipt, ChangeStatus.UNDONE, edited)
        standing = ChangeStatus.STANDS if stands(holds(world, journal, receipt)) else ChangeStatus.NOTHING_LEFT
    except FileNotFoundError:
        standing, edited = ChangeStatus.MISSING, False
    except OSError:
        standing, edited = ChangeStatus.UNREADABLE, False
    return FileRecord(receipt, ChangeStatus.UNDONE if entry.state is JournalState.UNDONE else standing, edited)
