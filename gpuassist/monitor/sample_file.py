"""Samples kept in a file: SQLite in WAL mode, so that others may read it while it is written and no kill leaves it half done.

    runs     one row for each time that something was recorded to the file
    blocks   `monitor.sample_block`s; a block's id is the number of its first sample in the file, counted from 1

A reader asks for the block that holds sample N, and then for the one after it: it does not matter to it that a writer puts one
great block in the place of many small ones meanwhile. A file that grew to its limit is followed by `NAME.2.EXT`, `NAME.3.EXT` and
so on, in which the same run goes on.

No file of ours is ever opened but by SQLite: closing any descriptor of a file drops every lock that the process holds on it
(sqlite.org/howtocorrupt.html).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, counted, text
from gpuassist.monitor.sample_block import BlockError, unpacked

APPLICATION_ID = 0x67707561  # "gpua", as `file` shows it
SCHEMA = 1
TABLES = (
    "CREATE TABLE runs (id INTEGER PRIMARY KEY, identity TEXT NOT NULL, started REAL NOT NULL, "
    "gap_seconds REAL NOT NULL, version TEXT NOT NULL, ended REAL)",
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, count INTEGER NOT NULL, since REAL NOT NULL, "
    "until REAL NOT NULL, data BLOB NOT NULL)",
)
_BEFORE = "SELECT data FROM blocks WHERE run = ? AND since <= ? ORDER BY since DESC LIMIT 1"
BUSY_SECONDS = 5.0
PARTS_AT_MOST = 10_000
_MISSES_AT_MOST = 65_536  # so many samples in a row that a damaged file has no block for, and nothing further is looked for

_ROW = "SELECT id, run, count, data FROM blocks WHERE id "
_AT, _AFTER = _ROW + "<= ? ORDER BY id DESC LIMIT 1", _ROW + "> ? ORDER BY id LIMIT 1"


class SampleFileError(Exception):
    """A file cannot be read, or written, as a recording of samples; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class RecordedRun(Struct, frozen=True):
    """One run of a recording. `number` counts from 1; `gap_seconds` is how long a silence in it is a gap; `ended` is None where it
    goes on, or was cut short.
    """

    number: int
    identity: str
    started: float
    gap_seconds: float
    ended: float | None


class SampleReader:
    """Reads a recording with all its parts. Damage is told in `damage`, and what can be read is read."""

    def __init__(self, path: str) -> None:
        self.path = path = os.path.realpath(path)
        self.parts = parts_of(path)
        self.damage: tuple[Text, ...] = tuple(text("{path} is missing", path=name) for name in _missing(path, self.parts[-1]))
        self._read: dict[str, int] = {}  # the number of the sample after the last one that was read, by part

    def runs(self) -> tuple[RecordedRun, ...]:
        """Every run, the oldest first; one that goes on over several parts is one."""
        found: dict[str, RecordedRun] = {}
        for path in self.parts:
            for _, identity, started, gap_seconds, ended in _run_rows(path):
                known = found.get(identity, RecordedRun(len(found) + 1, identity, started, gap_seconds, None))
                found[identity] = replace(known, gap_seconds=max(known.gap_seconds, gap_seconds), ended=ended)
        return tuple(found.values())

    def samples(self, run: RecordedRun | None = None) -> Iterator[Sample]:
        """Those of one run, or of all, as they were taken."""
        for path in self.parts:
            wanted = None if run is None else {row[0] for row in _run_rows(path) if row[1] == run.identity}
            if wanted is None or wanted:
                yield from self._of_part(path, wanted)

    def more(self, run: RecordedRun) -> Iterator[Sample]:
        """What was written of a run since `samples` or this read all that there was."""
        self.parts = parts_of(self.path)
        for path in self.parts:
            wanted = {row[0] for row in _run_rows(path) if row[1] == run.identity}
            if wanted:
                yield from self._of_part(path, wanted, self._read.get(path, 1))

    def block_before(self, run: RecordedRun, monotonic: float) -> list[Sample]:
        """The newest samples that are packed together and begin no later than then; none where they cannot be read."""
        for path in reversed(self.parts):
            numbers = [row[0] for row in _run_rows(path) if row[1] == run.identity]
            if not numbers:
                continue
            connection = connect(path)
            try:
                row = connection.execute(_BEFORE, (numbers[-1], monotonic)).fetchone()
                if row is not None:
                    return unpacked(_of_types(row, (bytes,))[0])
            except (sqlite3.DatabaseError, BlockError):
                return []
            finally:
                connection.close()
        return []

    def _of_part(self, path: str, wanted: set[int] | None, number: int = 1) -> Iterator[Sample]:
        connection = connect(path)
        lost = 0
        try:
            last = _last(connection)
            while True:
                try:
                    row = _block_row(connection, _AT, number)
                    if row is None or row[0] + row[2] <= number:
                        row = _block_row(connection, _AFTER, number)
                    if row is None:
                        break
                    first, of_run, count, data = row
                    block = unpacked(data) if wanted is None or of_run in wanted else []
                except (sqlite3.DatabaseError, BlockError):
                    # One by one from here: of a file that was cut, whatever page is there is found so.
                    number, missed = _after_damage(connection, number, last)
                    lost += missed
                    if not number:
                        break
                    continue
                yield from block[max(0, number - first) :]
                number = max(number + 1, first + count)
        finally:
            connection.close()
        if number:
            self._read[path] = number
        if lost or last is None:
            self.damage = (*self.damage, _damage_words(path, lost))


def connect(path: str) -> sqlite3.Connection:
    """A connection that reads only; raises `SampleFileError` for what is no recording that this gpuassist can read."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise SampleFileError(text("{path} cannot be read: {error}", path=path, error=error.strerror or str(error))) from error
    if not os.path.isfile(path):
        raise SampleFileError(text("{path} is not a file", path=path))
    if not status.st_size:
        raise SampleFileError(text("{path} is empty: nothing was recorded to it", path=path))
    address = f"file:{_quoted(os.path.abspath(path))}?mode=ro"
    if not os.path.exists(path + "-wal"):
        address += "&immutable=1"  # nobody writes it, and SQLite would leave a -wal and a -shm file beside what was only read
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA writable_schema = ON")  # else a file that was cut is refused as a whole
        _require_ours(connection, path)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise not_ours(path, error) from error
    except SampleFileError:
        connection.close()
        raise
    return connection


def _quoted(path: str) -> str:
    """A path in SQLite's kind of URI (sqlite.org/uri.html)."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _require_ours(connection: sqlite3.Connection, path: str) -> None:
    """Raises `SampleFileError` unless the file is a recording of a schema that is known here."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise SampleFileError(text("{path} is a database of another program, not a recording of gpuassist monitor", path=path))
    if schema > SCHEMA:
        raise SampleFileError(
            text(
                "{path} was recorded by a newer gpuassist (schema {schema}, and this one knows {known}): read it with that one",
                path=path,
                schema=schema,
                known=SCHEMA,
            )
        )
    connection.execute("SELECT id FROM runs LIMIT 1").fetchone()


def not_ours(path: str, error: sqlite3.Error) -> SampleFileError:
    """What SQLite's complaint about a file means for whoever named it."""
    if "not a database" in str(error):
        return SampleFileError(text("{path} is not a recording of gpuassist monitor", path=path))
    if "locked" in str(error):
        return SampleFileError(text("{path} is locked by another program", path=path))
    if "unable to open" in str(error):
        return SampleFileError(
            text(
                "{path} was not closed, and what is in {log} beside it can only be read where you may write: copy both to a "
                "directory of your own",
                path=path,
                log=f"{path}-wal",
            )
        )
    return SampleFileError(
        text("{path} is damaged from its beginning on, and cannot be read ({error})", path=path, error=str(error))
    )


def part_name(path: str, number: int) -> str:
    """`run.db`, `run.2.db`, `run.3.db`."""
    root, extension = os.path.splitext(path)
    return path if number == 1 else f"{root}.{number}{extension}"


def parts_of(path: str) -> tuple[str, ...]:
    """The file and those that go on where it ends."""
    rows = _run_rows(path)
    found = [path]
    for number in range(2, PARTS_AT_MOST):
        name = part_name(path, number)
        if not os.path.exists(name):
            if not os.path.exists(part_name(path, number + 1)):
                break
            continue  # somebody took one of them away, which is no reason to leave out those after it
        try:
            following = _run_rows(name)
        except SampleFileError:
            continue  # somebody else's, which the writer passed over as well
        if rows and following and following[0][1] == rows[-1][1]:
            found.append(name)
            rows = following
    return tuple(found)


def _missing(path: str, last: str) -> Iterator[str]:
    """The parts before the last one that are not there."""
    for number in range(1, PARTS_AT_MOST):
        name = part_name(path, number)
        if name == last:
            return
        if not os.path.exists(name):
            yield name


def _run_rows(path: str) -> list[tuple[int, str, float, float, float | None]]:
    connection = connect(path)
    try:
        rows = connection.execute("SELECT id, identity, started, gap_seconds, ended FROM runs ORDER BY id").fetchall()
        return [_of_types(row, (int, str, float, float, (float, type(None)))) for row in rows]
    except sqlite3.DatabaseError as error:
        raise not_ours(path, error) from error
    finally:
        connection.close()


def _block_row(connection: sqlite3.Connection, query: str, number: int) -> tuple[int, int, int, bytes] | None:
    row = connection.execute(query, (number,)).fetchone()
    return None if row is None else _of_types(row, (int, int, int, bytes))


def _of_types(row: Any, kinds: Sequence[Any]) -> Any:
    """A row as it was written; pages of a damaged file may hold anything."""
    if not all(isinstance(value, kind) for value, kind in zip(row, kinds, strict=True)):
        raise sqlite3.DatabaseError("a damaged row")
    return row


def _last(connection: sqlite3.Connection) -> int | None:
    """The number of the newest sample; None where damage hides it."""
    try:
        (last,) = connection.execute("SELECT max(id) FROM blocks").fetchone()
    except sqlite3.DatabaseError:
        return None
    return last if isinstance(last, int) else 0


def _after_damage(connection: sqlite3.Connection, number: int, last: int | None) -> tuple[int, int]:
    """The next sample that a block can be read of, 0 where there is none, and how many samples are lost before it."""
    end = number + _MISSES_AT_MOST if last is None else last
    found = next((one for one in range(number + 1, end + 1) if _has_block(connection, one)), 0)
    if found:
        return found, found - number
    return 0, 0 if last is None else max(1, end - number + 1)


def _has_block(connection: sqlite3.Connection, number: int) -> bool:
    """Whether a block begins with this sample that can be read."""
    try:
        row = _block_row(connection, _ROW + "= ?", number)
        return row is not None and bool(unpacked(row[3]))
    except (sqlite3.DatabaseError, BlockError):
        return False


def _damage_words(path: str, lost: int) -> Text:
    if not lost:
        return text("{path} is damaged: it ends here, and how much is missing is not known", path=path)
    return counted(
        "{path} is damaged: {count} sample is missing", "{path} is damaged: {count} samples are missing", lost, path=path
    )
