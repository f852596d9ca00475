"""Takes everything back, newest first: looked at as a whole before anything is written, then one change after the other.

Each change is looked at as its files will be once the newer ones are taken back, and what was seen then is all that is done to it.
Each is an undo of its own, on record as any other: where it stops, whatever the reason, the rest stands and is gone on with later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.journal import Journal, JournalEntry, JournalState, digest, undone
from gpuassist.changes.restore import ConflictError, Foreseen, GoneError, ThreeWay
from gpuassist.changes.settle import sweep
from gpuassist.changes.undo import BUSY, UndoPlan, left_out_of, made_of, os_words, plan_files, take
from gpuassist.model.plan import Outcome, Receipt, Result
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.clock import iso
from gpuassist.system.world import World

Cancelled = Callable[[], bool]


class UndoRefusal(Struct, frozen=True):
    """Why a change is not taken back: `three_way` where somebody changed the same lines since, `in_block` where our block alone can
    be taken out, `gone` where none of its files is there any more.
    """

    reason: Text
    three_way: ThreeWay | None = None
    in_block: bool = False
    gone: bool = False


class PlannedUndo(Struct, frozen=True):
    """What becomes of one change: `receipts` are its files that it stands in; one of `plan` and `refusal` is there."""

    receipts: tuple[Receipt, ...]
    plan: UndoPlan | None = None
    refusal: UndoRefusal | None = None

    @property
    def change(self) -> str:
        return self.receipts[0].change

    @property
    def whole(self) -> bool:
        """Whether nothing of the change is left once this is done."""
        return self.plan is not None and not any(file.passed_over for file in self.plan.files)


class UndoAllPlan(Struct, frozen=True):
    """Every change that stands, in the order in which they are taken back; `left_out` are the records that are not used, and
    `damaged` the files that should hold records.
    """

    changes: tuple[PlannedUndo, ...] = ()
    left_out: tuple[Text, ...] = ()
    damaged: tuple[str, ...] = ()

    @property
    def any_possible(self) -> bool:
        return any(one.plan is not None for one in self.changes)


class UndoneChange(Struct, frozen=True):
    """What came of one change, `planned` as it was done; `over` where nothing of it is left to take back, `wrote` what was done."""

    planned: PlannedUndo
    outcome: Outcome
    refusal: UndoRefusal | None = None
    over: bool = False
    wrote: UndoPlan | None = None


class UndoAllOutcome(Struct, frozen=True):
    """What came of all of them, in their order; those that an interruption left are not in it. `notes` say what an earlier
    interruption had left, `stopped` why nothing was begun.
    """

    changes: tuple[UndoneChange, ...] = ()
    notes: tuple[Text, ...] = ()
    interrupted: bool = False
    stopped: Text | None = None


def plan_undo_all(world: World, *, take_out: bool = False) -> UndoAllPlan:
    """How everything would be taken back; raises `RepairError` where the journal cannot be used. With `take_out` our blocks go
    also with what was edited in them.
    """
    journal = Journal.of(world)
    entries = journal.entries()
    waiting = _standing(world, journal, entries)
    foreseen = Foreseen({}, entries)
    planned: list[PlannedUndo] = []
    while waiting:
        receipts = _uppermost(world, foreseen, waiting)
        waiting.remove(receipts)
        one = _planned(world, journal, receipts, foreseen, take_out=take_out)
        planned.append(one)
        if one.plan is not None:
            foreseen = _after(foreseen, one.plan, iso(world.clock.now()))
    return UndoAllPlan(tuple(planned), left_out_of(journal), journal.damaged())


def undo_all(
    world: World,
    plan: UndoAllPlan,
    *,
    cancelled: Cancelled = lambda: False,
    on_done: Callable[[UndoneChange], None] = lambda _: None,
) -> UndoAllOutcome:
    """Does what was planned and nothing else: a file that is another than was foreseen is left with its change, as is what cannot
    be taken back. Between two changes it asks whether to stop.
    """
    journal = Journal.of(world)
    if not plan.changes:
        return UndoAllOutcome()
    try:
        with journal.lock():
            notes = sweep(world, journal)
            known = Foreseen({}, journal.entries())
            done: list[UndoneChange] = []
            for one in plan.changes:
                if cancelled():
                    return UndoAllOutcome(tuple(done), notes, interrupted=True)
                done.append(_taken_back(world, journal, one, known))
                on_done(done[-1])
                if done[-1].wrote is not None:  # nobody else writes in the journal: it need not be read again for each of them
                    known = Foreseen({}, _after(known, done[-1].wrote, "").entries)
            return UndoAllOutcome(tuple(done), notes)
    except BlockingIOError:
        return UndoAllOutcome(stopped=BUSY)
    except RepairError as error:
        return UndoAllOutcome(stopped=error.reason)
    except OSError as error:
        return UndoAllOutcome(stopped=os_words(error))


def _standing(world: World, journal: Journal, entries: Iterable[JournalEntry]) -> list[tuple[Receipt, ...]]:
    """The changes that stand, newest first."""
    groups: dict[str, list[Receipt]] = {}
    for receipt in made_of(world, journal, entries):
        if not receipt.undone_at:
            groups.setdefault(receipt.change, []).append(receipt)
    return [tuple(group) for group in groups.values()]


def _uppermost(world: World, foreseen: Foreseen, waiting: list[tuple[Receipt, ...]]) -> tuple[Receipt, ...]:
    """The newest, unless the bytes of one of its files say that another change was made on top of it: a clock that was put back
    makes the last change look like an old one.
    """
    chosen, seen = waiting[0], [waiting[0]]
    while True:
        above = next((one for one in waiting if one not in seen and _is_on_top(world, foreseen, one, chosen)), None)
        if above is None:
            return chosen
        chosen = above
        seen.append(above)


def _is_on_top(world: World, foreseen: Foreseen, one: tuple[Receipt, ...], other: tuple[Receipt, ...]) -> bool:
    """Whether a file of both holds what `one` left there, and not what the other did."""
    below = {receipt.target: receipt.hash_after for receipt in other}
    for receipt in one:
        if receipt.target in below and receipt.hash_after != below[receipt.target]:
            now = _digest_now(world, foreseen, receipt.target)
            if now == receipt.hash_after:
                return True
    return False


def _digest_now(world: World, foreseen: Foreseen, target: str) -> str:
    place = world.files.real(target)
    try:
        content = foreseen.contents[place] if place in foreseen.contents else world.disk.read(world.files.place(place))
    except OSError:
        return ""
    return "" if content is None else digest(content)


def _planned(world: World, journal: Journal, receipts: tuple[Receipt, ...], foreseen: Foreseen, *, take_out: bool) -> PlannedUndo:
    try:
        return PlannedUndo(receipts, plan_files(world, journal, receipts, take_out=take_out, foreseen=foreseen))
    except (RepairError, OSError) as error:
        return PlannedUndo(receipts, refusal=_refusal(error))


def _after(foreseen: Foreseen, plan: UndoPlan, when: str) -> Foreseen:
    """What is foreseen once this was done as well."""
    contents = dict(foreseen.contents)
    back: dict[str, JournalEntry] = {}
    for file in plan.files:
        if file.passed_over:
            continue
        back[file.receipt.id] = JournalEntry(undone(file.receipt, when), JournalState.UNDONE)
        if file.edit is not None:
            contents[file.edit.target] = None if file.removes_file else file.edit.after
    return Foreseen(contents, tuple(back.get(entry.receipt.id, entry) for entry in foreseen.entries))


def _taken_back(world: World, journal: Journal, planned: PlannedUndo, known: Foreseen) -> UndoneChange:
    if planned.plan is None:
        refusal = planned.refusal or UndoRefusal(text("it was not looked at"))
        return UndoneChange(planned, Outcome(Result.REFUSED, refusal.reason), refusal)
    try:
        made = made_of(world, journal, journal.group(planned.change))
        standing = [one for one in made if not one.undone_at]
        if not made:
            words = text("the record of {change} cannot be used any more; nothing was done", change=planned.change)
            return UndoneChange(planned, Outcome(Result.REFUSED, words), UndoRefusal(words))
        if not standing:  # since the settling of what was interrupted, or since somebody else took it back
            words = text("the change {change} was undone already", change=planned.change)
            return UndoneChange(planned, Outcome(Result.UNCHANGED, words), over=True)
        now = plan_files(world, journal, standing, take_out=planned.plan.take_out, foreseen=known)
        if not _is_foreseen(planned.plan, now):
            words = text(
                "the change {change} was not undone: {paths} is not as it was when you looked. Please look again.",
                change=planned.change,
                paths=listed(file.receipt.path for file in now.files),
            )
            return UndoneChange(planned, Outcome(Result.REFUSED, words), UndoRefusal(words))
        outcome = take(world, journal, now)
    except (RepairError, OSError) as error:
        refusal = _refusal(error)
        return UndoneChange(planned, Outcome(Result.REFUSED, refusal.reason), refusal)
    planned = replace(planned, plan=now)
    return UndoneChange(planned, outcome.outcome, over=planned.whole, wrote=now)


def _is_foreseen(planned: UndoPlan, now: UndoPlan) -> bool:
    """Whether nothing else would be written than was looked at; to write less is no harm."""
    shown = {file.receipt.id: file for file in planned.files}
    for file in now.files:
        if file.edit is None:
            continue
        was = shown.get(file.receipt.id)
        if was is None or (was.edit, was.removes_file) != (file.edit, file.removes_file):
            return False
    return True


def _refusal(error: RepairError | OSError) -> UndoRefusal:
    if isinstance(error, OSError):
        return UndoRefusal(os_words(error))
    if isinstance(error, ConflictError):
        return UndoRefusal(error.reason, error.three_way, error.in_block)
    return UndoRefusal(error.reason, gone=isinstance(error, GoneError))
