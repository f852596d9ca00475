"""Writes samples to a recording (`monitor.sample_file`), so that whatever ends it, no more than the last commit is missing.

Each commit adds a small block; once a block's worth of samples is there, one great block takes the place of the small ones, in
the same transaction, which makes it a quarter of their size. Commits reach the disk before they return (synchronous=FULL: in WAL
mode NORMAL loses commits with the power, sqlite.org/pragma.html). What cannot be written, because the disk is full, waits in
memory, packed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from uuid import uuid4

from msgspec import Struct

from gpuassist import __version__
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.sample_block import packed
from gpuassist.monitor.sample_file import (
    APPLICATION_ID,
    BUSY_SECONDS,
    PARTS_AT_MOST,
    SCHEMA,
    TABLES,
    SampleFileError,
    connect,
    part_name,
    parts_of,
)

BLOCK_SAMPLES = 128
ROTATE_BYTES = 1 << 30
WAITING_BYTES = 32 << 20
_PAGE_BYTES = 4096
_WAL_BYTES = 8 << 20  # what is left of it after a checkpoint


class _Block(Struct, frozen=True):
    first: int  # its first sample's number since the writer began
    count: int
    fresh: int  # so many of them, the last ones, are on no disk yet
    since: float
    until: float
    data: bytes


class SampleWriter:
    """One run. Used by one thread at a time."""

    def __init__(self, path: str, started: float, *, gap_seconds: float = 3.0, rotate_bytes: int = ROTATE_BYTES) -> None:
        self.path = path = os.path.realpath(path)  # beside which SQLite puts its -wal, too
        self.lost = 0  # samples that no room was left for, on disk or in memory
        self.damage: Text | None = None
        self._run = (uuid4().hex, started, gap_seconds)
        self._gap_written = gap_seconds
        self._rotate_bytes = rotate_bytes
        self._ready: deque[_Block] = deque()
        self._tail: list[Sample] = []
        self._tail_committed = self._taken = 0
        self._first_path, self._whole, self._claim = path, _Claim(path), _Claim("")
        self._connection: sqlite3.Connection
        with ExitStack() as undone:
            undone.callback(self._whole.release)
            parts = parts_of(path) if os.path.exists(path) and os.path.getsize(path) else (path,)
            self._part = len(parts)
            self._open(parts[-1])
            undone.pop_all()

    @property
    def waiting(self) -> int:
        """Samples that are not on disk yet."""
        return sum(block.fresh for block in self._ready) + len(self._tail) - self._tail_committed

    def widen_gap(self, seconds: float) -> None:
        """Samples come more seldom from now on: between two of them it is no gap. Told by the next commit."""
        identity, started, before = self._run
        self._run = (identity, started, max(before, seconds))

    def write(self, samples: Sequence[Sample]) -> None:
        """Takes the samples in and commits them with all that waits; raises `SampleFileError` where they must wait further."""
        for sample in samples:
            self._tail.append(sample)
            if len(self._tail) == BLOCK_SAMPLES:
                self._finish_block()
        while len(self._ready) > 1 and sum(len(block.data) for block in self._ready) > WAITING_BYTES:
            self.lost += self._ready.popleft().fresh
        if self.waiting:
            self._commit()

    def close(self, ended: float) -> None:
        """Commits what waits, and leaves one file; raises `SampleFileError` where samples are lost by that."""
        try:
            if self._tail:
                self._finish_block()
            self._commit(ended)
        finally:
            self._shut()

    def _finish_block(self) -> None:
        self._ready.append(self._block(self._tail, 0))
        self._taken += len(self._tail)
        self._tail, self._tail_committed = [], 0

    def _block(self, samples: Sequence[Sample], offset: int) -> _Block:
        times = [sample.monotonic for sample in samples]
        fresh = offset + len(samples) - self._tail_committed
        return _Block(self._taken + offset, len(samples), fresh, min(times), max(times), packed(samples))

    def _commit(self, ended: float | None = None) -> None:
        try:
            self._require_place()
            fresh = self._tail[self._tail_committed :]
            blocks = [*self._ready, *([self._block(fresh, self._tail_committed)] if fresh else [])]
            self._connection.execute("BEGIN IMMEDIATE")
            for block in blocks:
                first = self._offset + block.first
                self._connection.execute("DELETE FROM blocks WHERE id >= ? AND id < ?", (first, first + block.count))
                row = (first, self._number, block.count, block.since, block.until, block.data)
                self._connection.execute("INSERT INTO blocks VALUES (?, ?, ?, ?, ?, ?)", row)
            gap = self._run[2]
            if gap != self._gap_written:
                self._connection.execute("UPDATE runs SET gap_seconds = ? WHERE id = ?", (gap, self._number))
            if ended is not None:
                self._connection.execute("UPDATE runs SET ended = ? WHERE id = ?", (ended, self._number))
            self._connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise _write_error(self.path, error) from error
        self._gap_written = gap
        self._ready.clear()
        self._tail_committed = len(self._tail)
        if ended is None and not self._tail and self._bytes() >= self._rotate_bytes:
            self._go_on_in_next_part()

    def _require_place(self) -> None:
        """Somebody may have removed the file, or put another in its place: then what follows goes to a new one."""
        if self._claim.holds():
            return
        self.damage = text("{path} was removed or replaced while it was recorded to; a new one was begun", path=self.path)
        with suppress(sqlite3.Error):
            self._connection.close()
        if self._claim is not self._whole:
            self._claim.release()
        self._open(self.path)
        self._offset -= self._taken  # samples in the tail are on their way to the new file, too
        self._tail_committed = 0

    def _bytes(self) -> int:
        (pages,) = self._connection.execute("PRAGMA page_count").fetchone()
        return int(pages) * _PAGE_BYTES

    def _go_on_in_next_part(self) -> None:
        connection, claim, path = self._connection, self._claim, self.path
        for number in range(self._part + 1, PARTS_AT_MOST):
            name = part_name(self._first_path, number)
            if os.path.lexists(name):
                continue  # somebody else's
            try:
                self._open(name)
            except SampleFileError:
                self._connection, self._claim, self.path = connection, claim, path
                return  # no room for another file now: this one goes on
            connection.close()
            if claim is not self._whole:
                claim.release()
            self._part = number
            self._offset = 1 - self._taken
            return

    def _open(self, path: str) -> None:
        claim = self._whole if path == self._first_path else _Claim(path)
        try:
            self._connection = _connect(path)
            row = (*self._run, __version__)
            statement = "INSERT INTO runs (identity, started, gap_seconds, version) VALUES (?, ?, ?, ?)"
            self._number = self._connection.execute(statement, row).lastrowid
            (last,) = self._connection.execute(
                "SELECT max(id + count) FROM blocks WHERE id = (SELECT max(id) FROM blocks)"
            ).fetchone()
            claim.opened()
        except (sqlite3.Error, OSError, SampleFileError) as error:
            if claim is not self._whole:
                claim.release()
            raise error if isinstance(error, SampleFileError) else _write_error(path, error) from error
        self.path, self._claim = path, claim
        self._offset = last or 1  # the number in the file of this writer's first sample

    def _shut(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()  # the last one that closes takes the -wal file in
        self._claim.release()
        self._whole.release()


class _Claim:
    """That nobody else records to a file: a lock on `FILE-lock`, which the kernel drops when its holder ends, however that is."""

    def __init__(self, path: str) -> None:
        self._path, self._lock_path = path, path + "-lock"
        self._inode: tuple[int, int] | None = None
        self._descriptor = -1
        if not path:
            return
        try:
            if os.path.lexists(path) and not os.path.isfile(path):
                raise SampleFileError(text("{path} is not a file, so nothing can be recorded to it", path=path))
            self._descriptor = _locked(self._lock_path)
        except BlockingIOError as error:
            raise SampleFileError(text("another gpuassist is recording to {path}: name another file", path=path)) from error
        except OSError as error:
            raise _write_error(path, error) from error

    def opened(self) -> None:
        status = os.stat(self._path)
        self._inode = (status.st_dev, status.st_ino)

    def holds(self) -> bool:
        try:
            status = os.stat(self._path)
        except FileNotFoundError:
            return False
        return (status.st_dev, status.st_ino) == self._inode

    def release(self) -> None:
        """The first time; it may be called again."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.unlink(self._lock_path)
            os.close(self._descriptor)
            self._descriptor = -1


def _locked(path: str) -> int:
    """A descriptor that holds the lock file; raises `BlockingIOError` where another one does."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with ExitStack() as undone:
            undone.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):  # whoever held it may just have removed it
                if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    undone.pop_all()
                    return descriptor


def _connect(path: str) -> sqlite3.Connection:
    """The file open for writing, made where there is none, or an empty one."""
    if not os.path.exists(path) or not os.path.getsize(path):
        _make(path)
    connect(path).close()  # of whatever else is there nothing is touched
    if not os.path.exists(f"{path}-wal") and os.path.getsize(path) % _PAGE_BYTES:
        raise _damaged(path)  # cut within its last page, which SQLite finds out when it uses that page
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
    except sqlite3.DatabaseError as error:
        connection.close()
        if isinstance(error, sqlite3.OperationalError):
            raise
        raise _damaged(path) from error
    return connection


def _damaged(path: str) -> SampleFileError:
    return SampleFileError(text("{path} is damaged, so nothing is added to it: name another file", path=path))


def _make(path: str) -> None:
    """A whole file at once: nobody ever finds one that is half made."""
    for name in (f"{path}-wal", f"{path}-shm"):
        if os.path.exists(path) and os.path.exists(name):
            raise SampleFileError(text("{path} is not a recording of gpuassist monitor", path=path))
        with suppress(FileNotFoundError):
            os.unlink(name)  # of a file that was removed: SQLite would play it into this one (sqlite.org/howtocorrupt.html)
    made = f"{path}.new"
    with suppress(FileNotFoundError):
        os.unlink(made)
    os.close(os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))  # command lines are private
    with ExitStack() as undone:
        undone.callback(_remove, made, f"{made}-journal", f"{made}-wal", f"{made}-shm")
        with closing(sqlite3.connect(made, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("BEGIN")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")
            for table in TABLES:
                connection.execute(table)
            connection.execute("COMMIT")
            connection.execute("PRAGMA journal_mode = WAL")
        os.replace(made, path)
        undone.pop_all()


def _remove(*paths: str) -> None:
    for path in paths:
        with suppress(OSError):
            os.unlink(path)


def _write_error(path: str, error: Exception) -> SampleFileError:
    words = str(error)
    code = error.errno if isinstance(error, OSError) else None
    directory = os.path.dirname(path) or "."
    if code == errno.ENOSPC or "disk is full" in words or code == errno.EDQUOT:
        return SampleFileError(text("the disk that {path} is on is full", path=path))
    if code == errno.ENOENT and not os.path.isdir(directory):
        return SampleFileError(text("there is no directory {directory}", directory=directory))
    # Where directories cannot be written to, as in /proc, making a file there says that it is not found.
    if code in {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOENT} or "readonly" in words or "unable to open" in words:
        return SampleFileError(text("{path} cannot be recorded to: no permission to write there, or in its directory", path=path))
    if isinstance(error, OSError):
        words = error.strerror or words
    return SampleFileError(text("{path} cannot be recorded to: {words}", path=path, words=words))
