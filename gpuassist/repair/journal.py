"""The journal of changes: for each its record and the file's bytes before and after, kept under XDG state for this user alone.

A record is on disk before its file is touched, as `prepared`. Whether the change then took place is read from the file itself, so a
crash between any two steps loses nothing and leaves nothing in doubt.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from enum import Enum

from gpuassist.model.plan import Receipt
from gpuassist.system.disk import Disk
from gpuassist.system.world import World

SCHEMA = 1
_LOCK_SECONDS = 5.0


class State(str, Enum):
    """How far a change came: about to be made, made, or taken back."""

    PREPARED = "prepared"
    MADE = "made"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Entry:
    """A change in the journal."""

    receipt: Receipt
    state: State


class Journal:
    """The directory that holds it."""

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self.directory = directory

    @classmethod
    def of(cls, world: World) -> Journal:
        """This user's."""
        return cls(world.disk, f"{world.surroundings.state()}/journal")

    def lock(self) -> AbstractContextManager[None]:
        """One change at a time; raises `BlockingIOError` where another gpuassist is at it."""
        self._disk.make_directory(self.directory)
        return self._disk.lock(f"{self.directory}/lock", _LOCK_SECONDS)

    def unused(self, change: str) -> str:
        """The id, with a number behind it where a change of that id is on record."""
        number, candidate = 1, change
        while self._disk.exists(self.backup(candidate)):
            number += 1
            candidate = f"{change}-{number}"
        return candidate

    def prepare(self, receipt: Receipt, before: bytes, after: bytes) -> None:
        """Puts the change on record, with everything that taking it back needs, before anything is changed."""
        self._keep(self.backup(receipt.id), before)
        self._keep(f"{self.directory}/{receipt.id}.after", after)
        self._keep(self._record(receipt.id), _encode(Entry(receipt, State.PREPARED)))
        self._disk.flush(self.directory)

    def settle(self, receipt: Receipt, state: State) -> None:
        """Says how far the change came."""
        beside = f"{self._record(receipt.id)}.new"
        self._disk.remove(beside)
        self._keep(beside, _encode(Entry(receipt, state)))
        self._disk.replace(beside, self._record(receipt.id))
        self._disk.flush(self.directory)

    def forget(self, receipt: Receipt) -> None:
        """Takes a change off the record that was prepared and then not made."""
        for path in (self._record(receipt.id), self.backup(receipt.id), f"{self.directory}/{receipt.id}.after"):
            self._disk.remove(path)

    def entries(self) -> tuple[Entry, ...]:
        """All changes on record, oldest first; a damaged record is left out, its backup stays where it is."""
        names = (name for name in self._disk.names(self.directory) if name.endswith(".json"))
        found = (_decode(self._disk.read(f"{self.directory}/{name}")) for name in names)
        return tuple(sorted((entry for entry in found if entry), key=lambda entry: (entry.receipt.made_at, entry.receipt.id)))

    def before(self, receipt: Receipt) -> bytes:
        """The file's bytes before the change."""
        return self._disk.read(self.backup(receipt.id))

    def backup(self, change: str) -> str:
        """Where the bytes before a change lie."""
        return f"{self.directory}/{change}.before"

    def _record(self, change: str) -> str:
        return f"{self.directory}/{change}.json"

    def _keep(self, path: str, content: bytes) -> None:
        self._disk.create(path)
        self._disk.write(path, content)
        self._disk.flush(path)


def made(entry: Entry, now: bytes) -> bool:
    """Whether a change stands: one that was only prepared does where the file holds its bytes or what it wrote."""
    if entry.state is not State.PREPARED:
        return entry.state is State.MADE
    return digest(now) == entry.receipt.hash_after or entry.receipt.id.encode() in now


def digest(content: bytes) -> str:
    """SHA-256 in hex."""
    return hashlib.sha256(content).hexdigest()


def undone(receipt: Receipt, when: str) -> Receipt:
    """The receipt of a change that was taken back."""
    return replace(receipt, undone_at=when)


def _encode(entry: Entry) -> bytes:
    document = {"schema": SCHEMA, "state": entry.state.value, **asdict(entry.receipt)}
    return (json.dumps(document, indent=1) + "\n").encode()


def _decode(content: bytes) -> Entry | None:
    try:
        document = json.loads(content)
        if document.pop("schema") != SCHEMA:
            return None
        state = State(document.pop("state"))
        return Entry(Receipt(**document), state)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
