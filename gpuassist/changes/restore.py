"""How one file of a change would be taken back: its old bytes where nobody touched it since, else only what gpuassist wrote.

In a start-up file our block and marks say what was written, wherever it stands by now. Where there are none, or where taking them
out would take somebody's own words with them, what was written and what stands there now are merged line by line; where both
changed the same lines nothing is done, and both are shown. Where they meet in our own block alone, it can be taken out whole, as
its first line promises, once the user was shown what goes with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.journal import Journal, JournalEntry, JournalState, digest
from gpuassist.changes.syntax import breaks, check
from gpuassist.changes.target import FileTarget, examine
from gpuassist.model.plan import FileEdit, Receipt
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import Block, RepairError, find
from gpuassist.shellfiles.edit import bare, mentions, take_back
from gpuassist.shellfiles.merge import Meeting, merge
from gpuassist.system.world import World


class FileUndo(Struct, frozen=True):
    """What undoing would do to one file: `edit` is none where it holds nothing of the change any more; `way` says how.

    `edited` where somebody wrote in it since; `passed_over` where it is not there any more, and the change is not taken back in it;
    `directories` were made for it and go with it as far as they are empty.
    """

    receipt: Receipt
    edit: FileEdit | None
    removes_file: bool
    way: Text
    edited: bool = False
    passed_over: bool = False
    directories: tuple[str, ...] = ()


class ThreeWay(Struct, frozen=True):
    """What cannot be merged: the file as the change wrote it, as it is now, as undo would have it, and where these meet."""

    path: str
    written: bytes
    now: bytes
    wanted: bytes
    meetings: tuple[Meeting, ...]


class ConflictError(RepairError):
    """Somebody changed the same lines of this `change` since; `in_block` where our block can be taken out with what was edited in
    it.
    """

    def __init__(self, reason: Text, three_way: ThreeWay, change: str = "", *, in_block: bool = False) -> None:
        super().__init__(reason)
        self.three_way = three_way
        self.change = change
        self.in_block = in_block


class GoneError(RepairError):
    """The file is not there any more."""


class Foreseen(Struct, frozen=True):
    """What undos that come before will have done: what files then hold by their places after symlinks (none for one that is gone by
    then), and all of the journal's entries as they then are.
    """

    contents: Mapping[str, bytes | None]
    entries: tuple[JournalEntry, ...]

    def seen(self, target: FileTarget) -> FileTarget:
        """The file as it is then."""
        if target.path_written not in self.contents:
            return target
        content = self.contents[target.path_written]
        return replace(target, content=content or b"", exists=content is not None)


class _Looked(Struct, frozen=True):
    """A file that was looked at, and what the journal holds of it."""

    world: World
    journal: Journal
    receipt: Receipt
    target: FileTarget
    take_out: bool
    foreseen: Foreseen | None = None

    @property
    def now(self) -> bytes:
        return self.target.content


def plan_file(
    world: World, journal: Journal, receipt: Receipt, *, take_out: bool = False, foreseen: Foreseen | None = None
) -> FileUndo:
    """How the file would be taken back, with `take_out` our block also with what was edited in it; raises `RepairError`. With
    `foreseen` as it would be once other undos were done.
    """
    target = examine(world, receipt.target)
    if foreseen is not None:
        target = foreseen.seen(target)
    looked = _Looked(world, journal, receipt, target, take_out, foreseen)
    if target.obstacle is not None:
        raise RepairError(_cannot(looked, target.obstacle))
    if not target.exists:
        if not receipt.existed:
            return _nothing_left(receipt)
        raise GoneError(_cannot(looked, text("{path} is not there any more", path=receipt.target)))
    # Whether the bytes before this change hold the block of one that was undone in the meantime.
    if digest(target.content) == receipt.hash_after and not (
        receipt.existed and _block_of(_backup(looked)) is not None and _earlier(looked) is None
    ):
        if not receipt.existed:
            return _removed(looked, edited=False)
        way = text("{path} is restored exactly as it was", path=receipt.target)
        return FileUndo(receipt, _edit(looked, _backup(looked)), removes_file=False, way=way)
    if receipt.existed and digest(target.content) == receipt.hash_before:
        return _nothing_left(receipt)
    return _by_marks(looked)


def _by_marks(looked: _Looked) -> FileUndo:
    """By our block and marks; by merging where they do not say everything."""
    receipt = looked.receipt
    try:
        wanted, whole = _wanted(looked)
        if whole and not mentions(looked.now, receipt.change):
            return _nothing_left(receipt)
        after = take_back(looked.now, receipt.change, _earlier(looked)) if whole else None
    except RepairError as error:
        return _merged(looked, _backup(looked), error.reason)
    if after is None or _loses(_written(looked), looked.now, after):
        return _merged(looked, wanted, None)
    if _breaks(looked, after):
        return _merged(looked, wanted, text("the result would not be valid shell"))
    way = text("{path}: only what this change wrote was removed", path=receipt.target)
    if digest(looked.now) != receipt.hash_after:
        way = text(
            "{path} was edited since: only gpuassist's own lines were removed and the lines that it commented "
            "out restored; the rest is unchanged",
            path=receipt.target,
        )
    return _changed(looked, after, way)


def _changed(looked: _Looked, after: bytes, way: Text) -> FileUndo:
    edited = digest(looked.now) != looked.receipt.hash_after
    if after or not _is_ours(looked):
        return FileUndo(looked.receipt, _edit(looked, after), removes_file=False, way=way, edited=edited)
    return _removed(looked, edited=edited)


def _removed(looked: _Looked, *, edited: bool) -> FileUndo:
    way = text("{path} was removed again, because it had not been there before", path=looked.receipt.target)
    made = [path for entry in _of_this_file(looked) for path in entry.receipt.made_directories]
    edit, directories = _edit(looked, b""), tuple(sorted(set(made), key=len))
    return FileUndo(looked.receipt, edit, removes_file=True, way=way, edited=edited, directories=directories)


def _wanted(looked: _Looked) -> tuple[bytes, bool]:
    """What undo would have made of the file as it was written, and whether our marks alone tell that."""
    before, written, receipt = _backup(looked), _written(looked), looked.receipt
    if take_back(written, receipt.change, find(before)) != before:  # words were replaced, which leaves no mark (decision 9)
        return before, False
    return take_back(written, receipt.change, _earlier(looked)), True


def _merged(looked: _Looked, wanted: bytes, reason: Text | None) -> FileUndo:
    written, receipt = _written(looked), looked.receipt
    merged = merge(written, wanted, looked.now)
    if (not merged.meetings and merged.content == looked.now) or _all_gone(written, wanted, looked.now):
        return _nothing_left(receipt)
    if merged.meetings or _breaks(looked, merged.content):
        without = _without_block(looked, wanted)
        if without is not None and looked.take_out:
            way = text(
                "{path} was edited since in gpuassist's own lines: they were removed together with what was edited "
                "there; the rest is unchanged",
                path=receipt.target,
            )
            return _changed(looked, without, way)
        words = reason or text("{path} was changed since in the same lines", path=receipt.target)
        three = ThreeWay(receipt.path, written, looked.now, wanted, merged.meetings)
        raise ConflictError(_cannot(looked, words), three, receipt.change, in_block=without is not None)
    way = text("{path} was edited since: what gpuassist changed was undone, and what was edited stays", path=receipt.target)
    return _changed(looked, merged.content, way)


def _without_block(looked: _Looked, wanted: bytes) -> bytes | None:
    """The file without our block, whatever somebody wrote in it; none where there is no such block, or where they meet elsewhere
    too.
    """
    change, block = looked.receipt.change, _block_of(looked.now)
    if block is None or block.change != change:
        return None
    earlier = _earlier(looked)
    merged = merge(take_back(_written(looked), change, earlier), wanted, take_back(looked.now, change, earlier))
    return None if merged.meetings or _breaks(looked, merged.content) else merged.content


def _all_gone(written: bytes, wanted: bytes, now: bytes) -> bool:
    """Whether the change only added lines, and none of them is there any more."""
    added = Counter(written.split(b"\n")) - Counter(wanted.split(b"\n"))
    taken = Counter(wanted.split(b"\n")) - Counter(written.split(b"\n"))
    return bool(added) and not taken and not added.keys() & set(now.split(b"\n"))


def _loses(written: bytes, now: bytes, after: bytes) -> bool:
    """Whether taking our lines out would take words with them that are not ours, such as a line added inside the block."""
    block = _block_of(now)
    mark = now[block.first_byte :].split(b"\n", 1)[0] if block else b""  # one that came back counts other line ends than it wrote
    ours = {bare(mark), *(bare(line) for line in written.split(b"\n"))}
    kept = {bare(line) for line in after.split(b"\n")}
    gone = Counter(now.split(b"\n")) - Counter(after.split(b"\n"))
    return any(line and bare(line) not in ours | kept for line in gone)


def _is_ours(looked: _Looked) -> bool:
    """Whether the file itself was made by this change, or by the one, undone by now, whose block this one's had replaced."""
    if not looked.receipt.existed:
        return True
    before = _backup(looked)
    block = _block_of(before)
    return (
        block is not None
        and not take_back(before, block.change)
        and any(
            entry.receipt.change == block.change and not entry.receipt.existed and entry.state is JournalState.UNDONE
            for entry in _of_this_file(looked)
        )
    )


def _of_this_file(looked: _Looked) -> list[JournalEntry]:
    entries = looked.journal.entries() if looked.foreseen is None else looked.foreseen.entries
    return [entry for entry in entries if entry.receipt.target == looked.receipt.target]


def _breaks(looked: _Looked, after: bytes) -> bool:
    dialect = looked.receipt.dialect
    found = check(looked.world, after, dialect)
    return found.broken and breaks(check(looked.world, looked.now, dialect), found)


def _earlier(looked: _Looked) -> Block | None:
    """The block that this change had put its own in the place of, if the change that wrote that one still stands."""
    block = _block_of(_backup(looked)) if looked.receipt.existed else None
    if block is None:
        return None
    states = {entry.receipt.change: entry.state for entry in _of_this_file(looked)}
    return None if states.get(block.change) is JournalState.UNDONE else block


def _block_of(content: bytes) -> Block | None:
    try:
        return find(content)
    except RepairError:
        return None


def _backup(looked: _Looked) -> bytes:
    receipt, journal = looked.receipt, looked.journal
    try:
        before = journal.before(receipt)
    except OSError as error:
        raise RepairError(text("the backup {backup} cannot be read", backup=journal.backup(receipt.id))) from error
    if digest(before) != receipt.hash_before:
        raise RepairError(text("the backup {backup} is not what was stored there", backup=journal.backup(receipt.id)))
    return before


def _written(looked: _Looked) -> bytes:
    try:
        written = looked.journal.after(looked.receipt)
    except OSError as error:
        raise RepairError(_cannot(looked, text("what was written is not on record any more"))) from error
    if digest(written) != looked.receipt.hash_after:
        raise RepairError(_cannot(looked, text("what was written is not on record any more")))
    return written


def _edit(looked: _Looked, after: bytes) -> FileEdit:
    receipt, target = looked.receipt, looked.target
    return FileEdit(receipt.path, target.path_written, target.content, after, existed=True, dialect=receipt.dialect)


def _nothing_left(receipt: Receipt) -> FileUndo:
    way = text("{path} holds nothing of this change any more; nothing was changed", path=receipt.target)
    return FileUndo(receipt, None, removes_file=False, way=way)


def _cannot(looked: _Looked, reason: Text) -> Text:
    return text(
        "the change {change} was not undone: {reason}. What {path} held before it is kept in {backup}.",
        change=looked.receipt.change,
        reason=reason,
        path=looked.receipt.target,
        backup=looked.journal.backup(looked.receipt.id),
    )
