"""The files of a log, its rotated ones with it: found, opened and handed out as pieces, newest file first, within bounds."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from datetime import tzinfo
from typing import BinaryIO

from msgspec import Struct

from gpuassist.detect.accounts import Accounts
from gpuassist.formats.package_logs.entries import FIRST_MOMENT, LogPiece, Moments, instant, pieces, words_of
from gpuassist.formats.package_logs.unpack import ENDINGS, UnpackError, unpacked
from gpuassist.model.text import Text, counted, text
from gpuassist.system.files import Files
from gpuassist.system.world import World

BLOCK = 1 << 20
FILE_AT_MOST = 64 << 20  # bytes of one log; dpkg's of a month with an upgrade to another release has 5 MB
PACKED_AT_MOST = 16 << 20
ALL_AT_MOST = 128 << 20
SECONDS = 3.0  # after these no further file is begun
_LATE_SECONDS = 10.0  # after these the one that is read is left: its newest entries, which stand last, would be missing
_FILES_AT_MOST = 120  # of one log: zypper's configuration of logrotate keeps 99
_HEAD = 1 << 16  # bytes of a place in a log in which a moment is looked for
_MARGIN = 7200.0  # seconds by which a moment without its zone can be read wrong, where clocks are put back
_ROTATED = r"(?:[.-](\d{1,8})(?:[-T_.]\d{1,10})?)?(\.gz|\.xz|\.bz2|\.zst)?"


class LogFile(Struct, frozen=True):
    """A file of a log; `ending` says how it is packed, empty where it is not."""

    path: str
    ending: str
    size: int
    changed: float


class Budget:
    """What all logs together may cost: bytes, once they are unpacked, and seconds."""

    def __init__(self, world: World) -> None:
        self._monotonic = world.clock.monotonic
        self._until = self._monotonic() + SECONDS
        self.bytes = ALL_AT_MOST

    @property
    def spent(self) -> bool:
        return self.bytes <= 0 or self._monotonic() > self._until

    @property
    def late(self) -> bool:
        return self._monotonic() > self._until + _LATE_SECONDS - SECONDS


class LogReading:
    """Reads the logs of one machine from the moment `since` on (seconds since 1970, or minus infinity)."""

    def __init__(self, world: World, zone: tzinfo | None, since: float) -> None:
        self.world = world
        self.zone = zone
        self.since = since
        self.budget = Budget(world)
        self.unread: list[Text] = []
        self._accounts: Accounts | None = None

    @property
    def accounts(self) -> Accounts:
        self._accounts = self._accounts or Accounts(self.world)
        return self._accounts

    def logs(self, path: str, entry: bytes = b"\n") -> Iterator[Log]:
        """The files of a log that may tell of what was since then, newest first."""
        found = self._found(path)
        for place, file in enumerate(found):
            if self.budget.spent:
                self.unread.append(
                    counted(
                        "{path} was not read: together the logs are longer than what is read of them",
                        "{path} and {others} older logs were not read: together they are longer than what is read of them",
                        len(found) - place,
                        path=file.path,
                        others=len(found) - place - 1,
                    )
                )
                return
            if file.changed < self.since - _MARGIN:
                yield Log(file.path, iter(()), lambda: self.since)
                continue
            first = _FirstMoment(self.zone)
            yield Log(file.path, pieces_of(self, file, first, entry), first)

    def _found(self, path: str) -> list[LogFile]:
        files, directory, base = self.world.files, posixpath.dirname(path), posixpath.basename(path)
        if files.is_directory(directory) and not files.may(directory, os.R_OK | os.X_OK):
            self.unread.append(self.refusal(directory))
            return []
        name = re.compile(re.escape(base) + _ROTATED)
        found = []
        for one in files.names(directory):
            match = name.fullmatch(one)
            if match is not None:
                number = match[1] or ""
                order = (0, 0) if not number else (1, int(number)) if len(number) < 4 else (1, -int(number))
                found.append((order, f"{directory}/{one}", match[2] or ""))
        rows = (self._file(place, ending) for _order, place, ending in sorted(found)[:_FILES_AT_MOST])
        return [file for file in rows if file is not None]

    def _file(self, path: str, ending: str) -> LogFile | None:
        try:
            status = self.world.files.status(path)
        except OSError as error:
            self.unread.append(self.why(path, error))
            return None
        return LogFile(path, ending, status.st_size, status.st_mtime)

    def why(self, path: str, error: OSError) -> Text:
        if isinstance(error, PermissionError):
            return self.refusal(path)
        return text("{path} could not be read: {error}", path=path, error=error.strerror or str(error))

    def refusal(self, path: str) -> Text:
        """Who may read what this user may not."""
        try:
            status = self.world.files.status(path)
        except OSError:
            return text("{path} was not read: this user may not", path=path)
        if status.st_mode & 0o040 and status.st_gid != 0:
            group = self.accounts.group(status.st_gid)
            return text("{path} was not read: root and members of the group {group} may", path=path, group=group)
        return text("{path} was not read: {owner} alone may", path=path, owner=self.accounts.user(status.st_uid))


class Log:
    """One file of a log: its pieces, to be read once, and then the first moment that was seen in it (None: there was none)."""

    def __init__(self, path: str, its_pieces: Iterator[LogPiece], first: Callable[[], float | None]) -> None:
        self.path = path
        self.pieces = its_pieces
        self.first = first


class _FirstMoment:
    def __init__(self, zone: tzinfo | None) -> None:
        self._moments = Moments(zone)
        self._found: float | None = None
        self._looked = 0

    def __call__(self) -> float | None:
        return self._found

    def look(self, data: bytes) -> None:
        if self._found is None and self._looked < _HEAD:
            self._looked += len(data)
            self._found = moment_in(data, self._moments)


def moment_in(data: bytes, moments: Moments) -> float | None:
    """The first moment that stands in what a log holds."""
    match = FIRST_MOMENT.search(data, 0, _HEAD)
    at = moments.at(words_of(match[0])) if match else ""
    return instant(at) if at else None


def pieces_of(reading: LogReading, file: LogFile, first: _FirstMoment, entry: bytes) -> Iterator[LogPiece]:
    """A file's pieces; what cannot be read of it is noted."""
    if file.ending and file.ending not in ENDINGS:
        reading.unread.append(text("{path} was not read: logs that are packed so are not", path=file.path))
        return
    try:
        with reading.world.files.opened(file.path) as opened:
            if file.ending:
                blocks, line = _unpacked(reading, file, opened), 1
            else:
                start = _start(reading, file, opened)
                line = 1 + _lines(opened, start)
                blocks = _blocks(reading, file.path, opened, start)
            yield from pieces(_seen(blocks, reading.budget, first), line, entry)
    except UnpackError as error:
        reading.unread.append(text("{path} is damaged, and was read as far as it goes: {error}", path=file.path, error=str(error)))
    except OSError as error:
        reading.unread.append(reading.why(file.path, error))


def _seen(blocks: Iterator[bytes], budget: Budget, first: _FirstMoment) -> Iterator[bytes]:
    for block in blocks:
        budget.bytes -= len(block)
        first.look(block)
        yield block


def _start(reading: LogReading, file: LogFile, opened: BinaryIO) -> int:
    """From where on a log is read: its last `FILE_AT_MOST` bytes or, of these, what is not before `since`. A single older moment
    does not count: a clock may have jumped.
    """
    least = max(0, file.size - min(FILE_AT_MOST, reading.budget.bytes))
    start, older, moments = least, 0, Moments(reading.zone)
    for place in range(file.size - BLOCK, least, -BLOCK) if reading.since > float("-inf") else ():
        opened.seek(place)
        moment = moment_in(opened.read(_HEAD), moments)
        older = older + 1 if moment is not None and moment < reading.since - _MARGIN else 0
        if older == 2:
            return place
    if start:
        reading.unread.append(text("{path} is longer than what is read of a log: its older part was left out", path=file.path))
    return start


def _lines(opened: BinaryIO, until: int) -> int:
    opened.seek(0)
    count = 0
    while until > 0:
        data = opened.read(min(BLOCK, until))
        if not data:
            break
        count += data.count(b"\n")
        until -= len(data)
    return count


def _blocks(reading: LogReading, path: str, opened: BinaryIO, start: int) -> Iterator[bytes]:
    opened.seek(start)
    left = FILE_AT_MOST + BLOCK  # it may grow meanwhile, but not without end
    while left > 0 and not reading.budget.late:
        data = opened.read(BLOCK)
        if not data:
            return
        left -= len(data)
        yield data
    reading.unread.append(text("{path} was not read to its end: that took too long", path=path))


def _unpacked(reading: LogReading, file: LogFile, opened: BinaryIO) -> Iterator[bytes]:
    packed = read_all(opened, PACKED_AT_MOST + 1)
    left = FILE_AT_MOST
    for block in unpacked(packed[:PACKED_AT_MOST], file.ending, BLOCK) if len(packed) <= PACKED_AT_MOST else ():
        left -= len(block)
        if left < 0 or reading.budget.bytes <= 0 or reading.budget.late:
            break
        yield block
    else:
        if len(packed) <= PACKED_AT_MOST:
            return
    reading.unread.append(text("{path} is longer than what is read of a log: the rest of it was left out", path=file.path))


def read_all(opened: BinaryIO, limit: int) -> bytes:
    """At most `limit` bytes of an unbuffered file, whose single reads may be short."""
    parts = []
    while limit > 0:
        data = opened.read(min(limit, BLOCK))
        if not data:
            break
        parts.append(data)
        limit -= len(data)
    return b"".join(parts)


def read_head(files: Files, path: str, limit: int) -> bytes:
    """The beginning of a regular file; raises `OSError`."""
    with files.opened(path) as opened:
        return read_all(opened, limit)
