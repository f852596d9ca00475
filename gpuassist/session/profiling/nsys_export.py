"""The SQLite export of Nsight Systems, opened as what it is: a file of a stranger's making.

Only tables are read, no views; nothing in the file is run or trusted, and no statement but our own selections is allowed.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gpuassist.formats.profiles.event_table import EventTable
from gpuassist.formats.profiles.names import call_kind, device_kind, operator_kind, shortened
from gpuassist.model.profile import GPU_KINDS, ProfileForm, ProfileGap, ProfileReading, TimeKind

_NANOSECOND = 1e-9
_ROWS = 1 << 14
_MOST_STRINGS = 2_000_000
_STEPS = 200_000
_MOST_SECONDS = 600.0
_MOST_VALUE_BYTES = 1 << 20

# Table, the columns that may name an event (the first that is there; of a copy all), and what it is. A graph that is launched as a
# whole has no rows for its kernels.
_EVENTS = (
    ("CUPTI_ACTIVITY_KIND_KERNEL", ("demangledName", "shortName", "mangledName"), "kernel"),
    ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", ("graphExecId", "graphId"), "graph"),
    ("CUPTI_ACTIVITY_KIND_MEMCPY", ("copyKind", "srcKind", "dstKind"), "copy"),
    ("CUPTI_ACTIVITY_KIND_MEMSET", (), "set"),
    ("CUPTI_ACTIVITY_KIND_RUNTIME", ("nameId",), "call"),
    ("CUPTI_ACTIVITY_KIND_DRIVER", ("nameId",), "call"),
    ("NVTX_EVENTS", ("textId", "text"), "range"),
)
# CUpti_ActivityMemcpyKind, CUPTI documentation; an export's ENUM_CUDA_MEMCPY_OPER says the same.
_COPIES = {1: "Memcpy HtoD", 2: "Memcpy DtoH", 8: "Memcpy DtoD", 10: "Memcpy PtoP"}
_MEMORY = {0: "Pageable", 1: "Pinned", 2: "Device", 3: "Array", 4: "Managed"}  # an export's ENUM_CUDA_MEM_KIND


def read_export(path: str, size: int, tell: Callable[[int, int], None]) -> ProfileReading:
    """What it tells; raises `ValueError` for a file that is none, or is damaged."""
    began = time.monotonic()
    connection = sqlite3.connect(f"file:{_in_address(path)}?mode=ro&immutable=1", uri=True, isolation_level=None)
    try:
        _defend(connection)
        connection.set_progress_handler(lambda: time.monotonic() - began > _MOST_SECONDS, _STEPS)
        return _read(connection, size, tell)
    except sqlite3.Error as error:
        raise ValueError(str(error)) from error
    finally:
        connection.close()


def _in_address(path: str) -> str:
    """A path as an address has it: every byte that could end it or mean something else by its number."""
    return "".join(
        chr(byte) if (byte < 128 and chr(byte).isalnum()) or byte in b"/._-" else f"%{byte:02x}" for byte in os.fsencode(path)
    )


def _defend(connection: sqlite3.Connection) -> None:
    for pragma in ("trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "query_only=ON", "cache_size=-16384"):
        connection.execute(f"PRAGMA {pragma}")
    if hasattr(connection, "setlimit"):  # Python 3.11
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY)


def _read(connection: sqlite3.Connection, size: int, tell: Callable[[int, int], None]) -> ProfileReading:
    tables = _tables(connection)
    table = EventTable(_NANOSECOND)
    names = _strings(connection, tables)
    for place, source in enumerate(map(_Source._make, _EVENTS)):
        tell(size * place // len(_EVENTS), size)
        if source.name in tables:
            _take(connection, table, source, names)
    told = table.reading(ProfileForm.NSYS_EXPORT, _gaps(table))
    if not told.events:
        raise ValueError("no activity of CUDA in it")
    return told


def _gaps(table: EventTable) -> tuple[ProfileGap, ...]:
    none = () if table.has(*GPU_KINDS) else (ProfileGap.NO_GPU,)
    return (*none, ProfileGap.NO_PYTHON, ProfileGap.NO_LINES, ProfileGap.NO_OPERATORS)


def _tables(connection: sqlite3.Connection) -> frozenset[str]:
    """Real ones: what is computed while it is read (a view, a virtual table) is left alone."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchmany(10_000)
    return frozenset(
        name for name, sql in rows if isinstance(name, str) and isinstance(sql, str) and "VIRTUAL" not in sql[:40].upper()
    )


def _strings(connection: sqlite3.Connection, tables: frozenset[str]) -> dict[object, str]:
    if "StringIds" not in tables:
        return {}
    cursor = connection.execute("SELECT id, value FROM StringIds")
    found = dict[object, str]()
    for number, value in _rows(cursor):
        if isinstance(value, str) and len(found) < _MOST_STRINGS:
            found[number] = shortened(value)
    return found


class _Source(NamedTuple):
    """A table: its name, the columns that may name an event, and what its events are."""

    name: str
    columns: tuple[str, ...]
    sort: str


def _take(connection: sqlite3.Connection, table: EventTable, source: _Source, names: dict[object, str]) -> None:
    name, columns, sort = source
    there = {column[0] for column in connection.execute(f'SELECT * FROM "{name}" LIMIT 0').description}
    if not {"start", "end"} <= there:
        return
    wanted = [column for column in columns if column in there]
    thread = "globalTid" if "globalTid" in there else "start"
    picked = ", ".join(f'"{column}"' for column in ("start", "end", thread, *wanted))
    codes = dict[object, int]()
    for row in _rows(connection.execute(f'SELECT {picked} FROM "{name}"')):
        begin, end, owner = row[0], row[1], row[2]
        if not (isinstance(begin, int) and isinstance(end, int)) or end < begin:
            continue
        key = row[3:] if sort == "copy" else next((one for one in row[3:] if one is not None), None)
        code = codes.get(key)
        if code is None:
            code = codes[key] = _code(table, sort, key, names)
        if code >= 0:
            table.add(code, begin, end - begin, table.thread(owner if thread == "globalTid" else 0))


def _code(table: EventTable, sort: str, key: object, names: dict[object, str]) -> int:
    if isinstance(key, tuple):
        return table.code(TimeKind.COPIES, _copy_name(*key))
    if sort == "graph":
        return table.code(TimeKind.KERNELS, f"CUDA graph {key}" if isinstance(key, int) else "CUDA graph")
    if sort == "set":
        return table.code(TimeKind.COPIES, "Memset")
    name = names.get(key) or (shortened(key) if isinstance(key, str) else "…")
    if sort == "range":
        kind = operator_kind(name)
        return table.code(kind, name) if kind is TimeKind.DATA else -1
    return table.code(device_kind(name) if sort == "kernel" else call_kind(name), name)


def _copy_name(kind: object = None, source: object = None, goal: object = None) -> str:
    """As torch writes it in its traces."""
    name = _COPIES.get(kind, "Memcpy") if isinstance(kind, int) else "Memcpy"
    ends = [_MEMORY.get(one, "Unknown") for one in (source, goal) if isinstance(one, int)]
    return f"{name} ({' -> '.join(ends)})" if len(ends) == 2 else name


def _rows(cursor: sqlite3.Cursor) -> Iterator[tuple[object, ...]]:
    while rows := cursor.fetchmany(_ROWS):
        yield from rows
