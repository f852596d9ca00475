"""Takes a change back, all its files: looked at before the first is written, the last one first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from gpuassist.changes.journal import Journal, JournalEntry, JournalState, digest, is_plain, undone
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.replace_file import ChangedError, put, remove_directories, take_away
from gpuassist.changes.restore import FileUndo, Foreseen, GoneError, plan_file
from gpuassist.changes.settle import holds, stands, sweep, undo_of
from gpuassist.model.plan import Outcome, Receipt, Result
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.clock import iso
from gpuassist.system.world import World


class UndoPlan(Struct, frozen=True):
    """What undoing a change would do to each of its files that it still stands in, in the order in which they were changed.

    `take_out` where our block goes also with what was edited in it.
    """

    files: tuple[FileUndo, ...]
    take_out: bool = False

    @property
    def receipt(self) -> Receipt:
        return self.files[0].receipt

    @property
    def way(self) -> Text:
        """How, for all files."""
        words = self.files[-1].way
        for file in reversed(self.files[:-1]):
            words = text("{first}; {rest}", first=file.way, rest=words)
        return words


BUSY = text("another gpuassist is changing a file just now; please try again")


class NothingToUndoError(RepairError):
    """The change was undone already, or none was ever made: what was wanted is so."""


class UnknownChangeError(RepairError):
    """There is no change of that id."""


def history(world: World) -> tuple[Receipt, ...]:
    """Changes that were made, newest first, those that were taken back with the time of that; a change's files in their order."""
    journal = Journal.of(world)
    return made_of(world, journal, journal.entries())


def left_out(world: World) -> tuple[Text, ...]:
    """The records in the journal that are none of a change of this user's, with the reason: nothing is done with them."""
    journal = Journal.of(world)
    journal.entries()
    return left_out_of(journal)


def left_out_of(journal: Journal) -> tuple[Text, ...]:
    """The same of those that were come to."""
    return tuple(
        text("the record {path} is not used: {reason}", path=f"{journal.directory}/{name}", reason=reason)
        for name, reason in sorted(journal.left_out.items())
    )


def plan_undo(world: World, change: str = "", *, take_out: bool = False) -> UndoPlan:
    """How a change, or the newest one that stands, would be taken back; raises `RepairError` where it cannot be.

    With `take_out` our block goes also with what was edited in it.
    """
    journal = Journal.of(world)
    receipts = made_of(world, journal, journal.group(change) if change else journal.entries())
    wanted = next((one.change for one in receipts if change in {one.change, one.id} or not (change or one.undone_at)), None)
    if wanted is None and change in journal.left_out:
        raise RepairError(text("the record of {change} is not used: {reason}", change=change, reason=journal.left_out[change]))
    if wanted is None and change:
        shown = change if is_plain(change) else ascii(change)
        raise UnknownChangeError(text("there is no change {change}; `gpuassist undo --list` shows all", change=shown))
    if wanted is None:
        raise NothingToUndoError(text("there is no change to undo"))
    group = [receipt for receipt in receipts if receipt.change == wanted]
    standing = tuple(receipt for receipt in group if not receipt.undone_at)
    if not standing:
        raise NothingToUndoError(text("the change {change} was undone already ({when})", change=wanted, when=group[0].undone_at))
    return plan_files(world, journal, standing, take_out=take_out)


def plan_files(
    world: World, journal: Journal, standing: Sequence[Receipt], *, take_out: bool = False, foreseen: Foreseen | None = None
) -> UndoPlan:
    """How the files of one change that it stands in would be taken back; raises `RepairError` where they cannot be."""
    files = tuple(_planned(world, journal, receipt, take_out=take_out, foreseen=foreseen) for receipt in standing)
    if all(file.passed_over for file in files):
        raise GoneError(files[0].way)
    return UndoPlan(files, take_out)


def undo(world: World, change: str = "", *, take_out: bool = False) -> ChangeOutcome:
    """Takes it back; raises `RepairError` where it cannot be."""
    # Raises before a lock is made: under sudo it would lie in another's home.
    change = plan_undo(world, change, take_out=take_out).receipt.change
    journal = Journal.of(world)
    try:
        with journal.lock():
            settled = sweep(world, journal)
            if settled and not any(not receipt.undone_at for receipt in made_of(world, journal, journal.group(change))):
                # What to say of a change that had been interrupted and that looking at the journal alone took back.
                entry = journal.settled(change)
                if entry is None:
                    raise UnknownChangeError(settled[0])
                return ChangeOutcome(Outcome(Result.MODIFIED, settled[0]), (entry.receipt,))
            return take(world, journal, plan_undo(world, change, take_out=take_out))
    except BlockingIOError as error:
        raise RepairError(BUSY) from error
    except OSError as error:
        raise RepairError(_Taking(world, journal).stopped(os_words(error))) from error


def take(world: World, journal: Journal, planned: UndoPlan) -> ChangeOutcome:
    """Takes it back while the journal's lock is held; raises `RepairError`, which says how far it came."""
    taking = _Taking(world, journal)
    try:
        return taking.take(planned)
    except ChangedError as error:
        raise RepairError(taking.stopped(text("{path} was changed by someone else just now", path=error.path))) from error
    except OSError as error:
        raise RepairError(taking.stopped(os_words(error))) from error


def os_words(error: OSError) -> Text:
    """What the system said, and of which file."""
    return text("{error} ({where})", error=error.strerror or str(error), where=error.filename or "")


class _Taking:
    """The files of one change being taken back, the last one first."""

    def __init__(self, world: World, journal: Journal) -> None:
        self._world = world
        self._journal = journal
        self._done: list[Receipt] = []

    def take(self, planned: UndoPlan) -> ChangeOutcome:
        """Raises `ChangedError` or `OSError`; each file is then as it was or taken back, and its record says which."""
        files = [file for file in reversed(planned.files) if not file.passed_over]
        self._journal.begin_undo(planned.receipt.change, {file.receipt.id: _wanted(file) for file in files})
        try:
            for file in files:
                self._write(file)
                self._done.append(undone(file.receipt, iso(self._world.clock.now()), _wanted(file)))
        finally:
            finished = len(self._done) == len(files)
            try:
                for receipt in self._done:
                    self._journal.settle(receipt, JournalState.UNDONE)
                if finished:
                    self._journal.end_undo(planned.receipt.change)
            except OSError as error:
                # The files are as they were: only the records lag behind, and what `begin_undo` noted tells the next run.
                import logging  # 2 ms of every start, where nothing else needs it

                logging.getLogger(__name__).info("undo of %s not settled: %s", planned.receipt.change, error)
        changed = any(file.edit is not None for file in files)
        return ChangeOutcome(Outcome(Result.MODIFIED if changed else Result.UNCHANGED, planned.way), tuple(reversed(self._done)))

    def stopped(self, reason: Text) -> Text:
        """What to say where it could not go on."""
        paths = listed(receipt.path for receipt in self._done)
        if not self._done:
            return text("nothing was changed: {reason}; please try again", reason=reason)
        return text("{paths} was restored, then: {reason}. Please try again for the rest.", paths=paths, reason=reason)

    def _write(self, file: FileUndo) -> None:
        if file.edit is None:
            return
        if file.edited:
            self._journal.keep_edited(file.receipt, file.edit.before)
        if not file.removes_file:
            put(self._world, file.edit, undo_of(file.receipt.change))
            return
        take_away(self._world, file.edit)
        remove_directories(self._world, file.directories)


def made_of(world: World, journal: Journal, entries: Iterable[JournalEntry]) -> tuple[Receipt, ...]:
    """The changes that were made of these, as `history` has them."""
    groups: dict[str, list[Receipt]] = {}
    for entry in entries:
        if _was_made(world, journal, entry):
            groups.setdefault(entry.receipt.change, []).append(entry.receipt)
    return tuple(receipt for group in reversed(groups.values()) for receipt in group)


def _planned(world: World, journal: Journal, receipt: Receipt, *, take_out: bool, foreseen: Foreseen | None) -> FileUndo:
    try:
        return plan_file(world, journal, receipt, take_out=take_out, foreseen=foreseen)
    except GoneError as error:
        return FileUndo(receipt, None, removes_file=False, way=error.reason, passed_over=True)


def _wanted(file: FileUndo) -> str:
    return "" if file.edit is None or file.removes_file else digest(file.edit.after)


def _was_made(world: World, journal: Journal, entry: JournalEntry) -> bool:
    if entry.state is not JournalState.PREPARED:
        return True
    try:
        return stands(holds(world, journal, entry.receipt))
    except OSError:
        return False
