"""The journal of changes: for each file its record and its bytes before and after, kept under XDG state for this user alone.

A record is on disk, under a name that says `prepared`, before its file is touched; giving it its lasting name is what settles it.
Whether a prepared change took place is read from the file itself, so a crash between any two steps loses nothing and leaves nothing
in doubt; and what a crash left unsettled is found by its name, however many changes are on record.
"""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timezone
from enum import Enum

from msgspec import Struct
from msgspec.structs import asdict, astuple, replace

from gpuassist.changes.own_files import why_strange
from gpuassist.model.codec import Json, decode
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.plan import Receipt
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.disk import Disk
from gpuassist.system.ownership import why_state_untrusted, why_untrusted
from gpuassist.system.world import World

SCHEMA = 1
_LOCK_SECONDS = 5.0
_SETTLED, _PREPARING, _PREPARED, _UNDOING = ".json", ".preparing", ".prepared", ".undoing"
_ID = lazy_regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")


class JournalState(str, Enum):
    """How far a change came: about to be made, made, or taken back."""

    PREPARED = "prepared"
    MADE = "made"
    UNDONE = "undone"


class JournalEntry(Struct, frozen=True):
    """The change of one file in the journal."""

    receipt: Receipt
    state: JournalState


class Kept(Struct, frozen=True):
    """What is put on record of one file before it is changed."""

    receipt: Receipt
    before: bytes
    after: bytes


class JournalError(RepairError):
    """The journal's directory could be another user's, or hold what another put there: nothing is read from it or written to it."""


class Journal:
    """The directory that holds it. What is in it decides what undo writes, so only this user's own records count.

    `why_not` says why the directory may not be used, `why_untrusted` why a file in it may be another's, and `why_strange` why a
    record is not one of a change that gpuassist made.
    """

    def __init__(
        self,
        disk: Disk,
        directory: str,
        *,
        why_not: Callable[[], Text | None] = lambda: None,
        why_untrusted: Callable[[os.stat_result], Text | None] = lambda _: None,
        why_strange: Callable[[Receipt], Text | None] = lambda _: None,
    ) -> None:
        self._disk = disk
        self.directory = directory
        self._why_not, self._why_untrusted, self._why_strange = why_not, why_untrusted, why_strange
        self._left_out: dict[str, Text] = {}

    @classmethod
    def of(cls, world: World) -> Journal:
        """This user's."""
        directory = f"{world.surroundings.state()}/journal"
        return cls(
            world.disk,
            directory,
            why_not=lambda: why_state_untrusted(world, directory),
            why_untrusted=lambda status: why_untrusted(world, status),
            why_strange=lambda receipt: why_strange(world, receipt),
        )

    @property
    def left_out(self) -> Mapping[str, Text]:
        """The records that were come to so far and are none of this user's changes, by name, with the reason."""
        return self._left_out

    def lock(self) -> AbstractContextManager[None]:
        """One change at a time; raises `BlockingIOError` where another gpuassist is at it, and `JournalError`."""
        self._require_own()  # before it is made: what leads to it counts too
        self._disk.make_directory(self.directory)
        self._require_own()
        return self._disk.lock(f"{self.directory}/lock", _LOCK_SECONDS)

    def unused(self, change: str) -> str:
        """The id, with a number behind it where a change of that id is on record."""
        number, candidate = 1, change
        while self._disk.exists(self.backup(candidate)):
            number += 1
            candidate = f"{change}-{number}"
        return candidate

    def prepare(self, kept: Sequence[Kept]) -> None:
        """Puts a change on record, with everything that taking it back needs, before anything is changed.

        A record gets the name that counts when it is whole: one under its first name says that its file was not touched yet.
        """
        made: list[str] = []
        done = False
        try:
            for path, content in self._files(kept):
                self._disk.create(path)
                made.append(path)
                self._fill(path, content)
            for one in kept:
                self._disk.replace(self._path(one.receipt.id, _PREPARING), self._path(one.receipt.id, _PREPARED))
                made.append(self._path(one.receipt.id, _PREPARED))
            self._disk.flush(self.directory)
            done = True
        finally:
            for path in () if done else reversed(made):  # not by id: what was there already is another change's
                self._disk.remove(path)

    def commit(self, receipts: Iterable[Receipt]) -> None:
        """Says that a prepared change was made. The name of the first file's record decides for all of them."""
        for receipt in receipts:
            self._disk.replace(self._path(receipt.id, _PREPARED), self._path(receipt.id, _SETTLED))

    def settle(self, receipt: Receipt, state: JournalState) -> None:
        """Says how far the change of a file came, and what its receipt says now."""
        path = self._path(receipt.id, _SETTLED)
        written = _document(self._read(receipt.id, _SETTLED) or self._read(receipt.id, _PREPARED)).get("written")
        settled = False
        self._disk.remove(f"{path}.new")
        try:
            self._disk.create(f"{path}.new")
            self._fill(f"{path}.new", _encode(JournalEntry(receipt, state), written))
            self._disk.replace(f"{path}.new", path)
            settled = True
        finally:
            if not settled:
                self._disk.remove(f"{path}.new")
        self._disk.remove(self._path(receipt.id, _PREPARED))

    def clear(self) -> None:
        """Takes away what was being put on record when a crash came: nothing had been changed yet."""
        for name in self._disk.names(self.directory):
            change = name.removesuffix(_PREPARING)
            if name.endswith(f"{_SETTLED}.new"):
                self._disk.remove(f"{self.directory}/{name}")
            elif name.endswith(_PREPARING):
                for path in (self.backup(change), self._path(change, _PREPARING)):
                    self._disk.remove(path)

    def forget(self, receipts: Iterable[Receipt]) -> None:
        """Takes a change off the record that was prepared and then not made; the record goes last, so that a crash is noticed."""
        for receipt in receipts:
            for path in (self.backup(receipt.id), self._path(receipt.id, _PREPARED)):
                self._disk.remove(path)

    def entries(self) -> tuple[JournalEntry, ...]:
        """All changes on record, oldest first; a damaged record is left out, its backup stays where it is.

        Raises `JournalError`, as every reading of records does.
        """
        self._require_own()
        return self._all("")

    def damaged(self) -> tuple[str, ...]:
        """The files that should hold records and hold none that can be read: nobody knows whether their changes stand."""
        self._require_own()
        records = (name for name in self._disk.names(self.directory) if name.endswith((_SETTLED, _PREPARED)))
        ids = {name: name.removesuffix(_SETTLED).removesuffix(_PREPARED) for name in records}
        return tuple(
            name for name, one in ids.items() if one not in self._left_out and _decode(self._read(one, name[len(one) :])) is None
        )

    def group(self, change: str) -> tuple[JournalEntry, ...]:
        """The files of one change, which may be named by the id of any of them: no other record is read for it."""
        self._require_own()
        if not is_plain(change):
            return ()
        named = self._entry(change, _SETTLED) or self._entry(change, _PREPARED)
        wanted = named.receipt.change if named else change
        return tuple(entry for entry in self._all(wanted) if entry.receipt.change == wanted)

    def unsettled(self) -> tuple[JournalEntry, ...]:
        """The changes that were prepared and not settled, oldest first: no other record is read for it."""
        self._require_own()
        ids = (name.removesuffix(_PREPARED) for name in self._disk.names(self.directory) if name.endswith(_PREPARED))
        found = (self._entry(one, _PREPARED) for one in ids)
        return tuple(sorted((entry for entry in found if entry), key=_age))

    def settled(self, change: str) -> JournalEntry | None:
        """The record of this id, where it has its lasting name."""
        self._require_own()
        return self._entry(change, _SETTLED)

    def begin_undo(self, change: str, wanted: Mapping[str, str]) -> None:
        """Notes that a change is about to be taken back: by the id of each file's receipt the hash of what it is to hold."""
        self.end_undo(change)
        self._disk.create(self._path(change, _UNDOING))
        self._disk.write(self._path(change, _UNDOING), json.dumps(wanted).encode())

    def end_undo(self, change: str) -> None:
        """Notes that nothing of the change is being taken back any more."""
        self._disk.remove(self._path(change, _UNDOING))

    def unfinished_undos(self) -> tuple[tuple[str, Mapping[str, str]], ...]:
        """The changes whose undo was interrupted, with what `begin_undo` noted; without that where it was lost with the power."""
        self._require_own()
        ids = [name.removesuffix(_UNDOING) for name in self._disk.names(self.directory) if name.endswith(_UNDOING)]
        ids = [one for one in ids if is_plain(one)]
        return tuple((one, _hashes(self._read(one, _UNDOING))) for one in ids)

    def keep_edited(self, receipt: Receipt, content: bytes) -> None:
        """Keeps what somebody had made of the file since, before it is taken back."""
        path = f"{self.directory}/{receipt.id}.edited"
        self._disk.remove(path)
        self._disk.create(path)
        self._fill(path, content)

    def before(self, receipt: Receipt) -> bytes:
        """The file's bytes before the change; raises `OSError` also where the backup is not this user's."""
        self._require_own()
        content, status = self._disk.read_own(self.backup(receipt.id))
        if self._why_untrusted(status) is not None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), self.backup(receipt.id))
        return content

    def after(self, receipt: Receipt) -> bytes:
        """The bytes that the change wrote; others where the record or the backup is damaged."""
        content = self._read(receipt.id, _SETTLED) or self._read(receipt.id, _PREPARED)
        return patched(self.before(receipt), _document(content).get("written"))

    def backup(self, change: str) -> str:
        """Where the bytes before a change lie."""
        return f"{self.directory}/{change}.before"

    def _files(self, kept: Iterable[Kept]) -> Iterator[tuple[str, bytes]]:
        for one in kept:
            written = difference(one.before, one.after)
            yield self._path(one.receipt.id, _PREPARING), _encode(JournalEntry(one.receipt, JournalState.MADE), written)
            yield self.backup(one.receipt.id), one.before

    def _all(self, beginning: str) -> tuple[JournalEntry, ...]:
        names = [name for name in self._disk.names(self.directory) if name.startswith(beginning)]
        settled = {name.removesuffix(_SETTLED) for name in names if name.endswith(_SETTLED)}
        prepared = {name.removesuffix(_PREPARED) for name in names if name.endswith(_PREPARED)} - settled
        found = (*(self._entry(one, _SETTLED) for one in settled), *(self._entry(one, _PREPARED) for one in prepared))
        return tuple(sorted((entry for entry in found if entry), key=_age))

    def _path(self, change: str, ending: str) -> str:
        return f"{self.directory}/{change}{ending}"

    def _entry(self, change: str, ending: str) -> JournalEntry | None:
        entry = _decode(self._read(change, ending)) if is_plain(change) else None
        if entry is None:
            return None
        if entry.receipt.id != change or not is_plain(entry.receipt.change):
            self._left_out[change] = text("it names another change than its own")
            return None
        # What was taken back is only listed: a mark of it is nowhere any more.
        over = entry.state is JournalState.UNDONE and bool(entry.receipt.undone_at) and ending == _SETTLED
        strange = None if over else self._why_strange(entry.receipt)
        if strange is not None:
            self._left_out[change] = strange
            return None
        return replace(entry, state=JournalState.PREPARED) if ending == _PREPARED else entry

    def _read(self, change: str, ending: str) -> bytes:
        try:
            content, status = self._disk.read_own(self._path(change, ending))
        except OSError:  # damaged like one that holds something else
            return b""
        reason = self._why_untrusted(status)
        if reason is not None:
            self._left_out[change] = reason
            return b""
        return content

    def _require_own(self) -> None:
        reason = self._why_not()
        if reason is not None:
            raise JournalError(reason)

    def _fill(self, path: str, content: bytes) -> None:
        self._disk.write(path, content)
        self._disk.flush(path)


def is_plain(change: str) -> bool:
    """Whether this is an id such as gpuassist gives: nothing in it leads elsewhere, or does anything on a terminal."""
    return _ID.fullmatch(change) is not None


def digest(content: bytes) -> str:
    """SHA-256 in hex."""
    import hashlib  # which loads OpenSSL, 2 ms of a start that lists no change

    return hashlib.sha256(content).hexdigest()


def undone(receipt: Receipt, when: str, holds: str = "") -> Receipt:
    """The receipt of a change that was taken back; `holds` is the hash of what the file holds since."""
    return replace(receipt, undone_at=when, hash_undone=holds)


def difference(before: bytes, after: bytes) -> Json:
    """What makes `after` of `before`: how many bytes stay at either end, and what stands between them."""
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    middle = after[head : len(after) - tail]
    return {"head": head, "tail": tail, "middle": base64.b64encode(middle).decode("ascii")}


def patched(before: bytes, written: Json) -> bytes:
    """`before` with such a difference; nothing where it is none."""
    if not isinstance(written, dict):
        return b""
    head, tail, middle = written.get("head"), written.get("tail"), written.get("middle")
    if not (isinstance(head, int) and isinstance(tail, int) and isinstance(middle, str)):
        return b""
    try:
        return before[:head] + base64.b64decode(middle, validate=True) + before[len(before) - tail :]
    except ValueError:
        return b""


def _alike(one: bytes, other: bytes) -> int:
    """How many bytes both begin with: halving is a few comparisons of memory where a loop would take a step for each byte."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        least, most = (middle, most) if one[least:middle] == other[least:middle] else (least, middle - 1)
    return least


def _encode(entry: JournalEntry, written: Json) -> bytes:
    document = {"schema": SCHEMA, "state": entry.state.value, **asdict(entry.receipt), "written": written}
    return (json.dumps(document, indent=1) + "\n").encode()


def _document(content: bytes) -> dict[str, Json]:
    try:
        document = read_json(content)
    except NotJsonError:
        return {}
    return document if isinstance(document, dict) else {}


def _decode(content: bytes) -> JournalEntry | None:
    document = _document(content)
    try:
        receipt, state = decode(Receipt, document), JournalState(document["state"])
    except (ValueError, KeyError, TypeError):
        return None
    if document.get("schema") != SCHEMA or any("\0" in str(one) for one in (*astuple(receipt), *receipt.made_directories)):
        return None  # a NUL is in no path that there can be
    return JournalEntry(receipt, state)


def _hashes(content: bytes) -> dict[str, str]:
    try:
        found = json.loads(content)
        return {str(name): str(value) for name, value in found.items()}
    except (ValueError, AttributeError, RecursionError):
        return {}


def _age(entry: JournalEntry) -> tuple[float, str, int, str]:
    receipt = entry.receipt
    return _moment(receipt.made_at), receipt.change, len(receipt.id), receipt.id


def _moment(iso: str) -> float:
    # Compared as moments, because the zone in them changes with the seasons and with journeys.
    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
