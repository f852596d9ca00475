"""The databases in which dnf keeps its history, read without a lock and without a trace.

A database is a program of its maker's as much as data: it is opened read only and as immutable, only the tables that are known are
asked, nothing of its schema is run, and what it costs is bounded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.log_files import LogReading, read_head
from gpuassist.formats.package_logs.dnf_history import DnfItem, Layout, read_dnf_history
from gpuassist.formats.package_logs.entries import Moments, is_relevant, words_of
from gpuassist.model.past import PackageEvent
from gpuassist.model.text import text

_HEADER = b"SQLite format 3\0"
_NAMES_AT_MOST = 100_000
_ITEMS_AT_MOST = 20_000
_NAMES_A_QUERY = 400
_CELL_AT_MOST = 1 << 20
_SECONDS = 1.5
_STEPS = 20_000  # of SQLite's machine between two looks at the clock, a millisecond
_COLUMNS = (int, int, int, str, int, int, str, int, str, str, str)
_EPOCH_AT_MOST = 1 << 40


class DnfHistory(Struct, frozen=True):
    """What a database tells, and from when on (None: of nothing)."""

    events: tuple[PackageEvent, ...]
    first: float | None


class _StrangeError(Exception):
    """It is a database, and not of dnf's."""


def read_database(reading: LogReading, path: str, layout: Layout) -> DnfHistory | None:
    """None where it cannot be read, which is noted."""
    files = reading.world.files
    try:
        if read_head(files, path, len(_HEADER)) != _HEADER:
            raise _StrangeError
        place = files.place(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")  # sqlite.org/uri.html
        connection = sqlite3.connect(f"file:{place}?mode=ro&immutable=1", uri=True, timeout=0)
        try:
            history = _read(reading, connection, path, layout)
        finally:
            connection.close()
    except OSError as error:
        reading.unread.append(reading.why(path, error))
        return None
    except (sqlite3.Error, _StrangeError, OverflowError, ValueError) as error:
        words = str(error) or "no history of dnf's"
        reading.unread.append(text("{path} could not be read: {error}", path=path, error=words))
        return None
    _note_what_waits(reading, path)
    return history


def _read(reading: LogReading, connection: sqlite3.Connection, path: str, layout: Layout) -> DnfHistory:
    _bound(reading, connection)
    _look_at_schema(connection, layout)
    connection.set_authorizer(_allowed(layout))
    names = [name for (name,) in connection.execute(layout.names, (_NAMES_AT_MOST,)) if _relevant(name)]
    since = int(max(reading.since, -_EPOCH_AT_MOST)) if reading.since < _EPOCH_AT_MOST else _EPOCH_AT_MOST
    items: list[DnfItem] = []
    waiting = iter(names)
    while some := tuple(islice(waiting, _NAMES_A_QUERY)):
        query = layout.items.format(names=", ".join("?" * len(some)))
        rows = connection.execute(query, (*some, since, _ITEMS_AT_MOST))
        items += [item for item in map(_item, rows) if item is not None]
    moments = Moments(reading.zone)
    events = read_dnf_history(items, layout, moments, path)
    first = connection.execute("SELECT dt_begin FROM trans ORDER BY id LIMIT 1").fetchone()
    return DnfHistory(tuple(_named(reading, events)), float(first[0]) if first and isinstance(first[0], int) else None)


def _bound(reading: LogReading, connection: sqlite3.Connection) -> None:
    monotonic = reading.world.clock.monotonic
    until = monotonic() + _SECONDS
    connection.set_progress_handler(lambda: monotonic() > until, _STEPS)
    connection.text_factory = words_of
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if hasattr(connection, "setlimit"):  # since Python 3.11
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _CELL_AT_MOST)


def _look_at_schema(connection: sqlite3.Connection, layout: Layout) -> None:
    """A view, a virtual table or a column that is computed would run what its maker wrote."""
    there = set()
    for name, page, made in connection.execute("SELECT name, rootpage, sql FROM sqlite_master WHERE type = 'table' LIMIT 1000"):
        if name in layout.tables and isinstance(page, int) and page > 0 and " AS " not in str(made).upper().replace("(", " "):
            there.add(name)
    if there != layout.tables:
        raise _StrangeError


def _allowed(layout: Layout) -> Callable[..., int]:
    def authorize(action: int, first: str | None, *_rest: object) -> int:
        fine = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and first in layout.tables)
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    return authorize


def _relevant(name: object) -> bool:
    return isinstance(name, str) and is_relevant(name.encode("utf-8", "replace"))


def _item(row: tuple[Any, ...]) -> DnfItem | None:
    """The item of a row; None where one is of another. A transaction need not have a command line."""
    cells: tuple[Any, ...] = tuple("" if cell is None and kind is str else cell for cell, kind in zip(row, _COLUMNS, strict=True))
    return DnfItem(*cells) if all(type(cell) is kind for cell, kind in zip(cells, _COLUMNS, strict=True)) else None


def _named(reading: LogReading, events: Iterator[PackageEvent]) -> Iterator[PackageEvent]:
    for event in events:
        yield replace(event, user=reading.accounts.user(int(event.user))) if event.user else event


def _note_what_waits(reading: LogReading, path: str) -> None:
    """Both write to a log beside the database first (libdnf5/utils/sqlite3/sqlite3.cpp: WAL), which is left there when its content
    was taken over, and then is the older of the two.
    """
    files = reading.world.files
    try:
        log = files.status(f"{path}-wal")
        if log.st_size and log.st_mtime > files.status(path).st_mtime + 1:
            reading.unread.append(text("What dnf did last stands in {path} and was not read", path=f"{path}-wal"))
    except OSError:
        return
