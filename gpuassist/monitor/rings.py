"""The files that programs started by `gpuassist run` write of their torch (`monitor.inside.gpuassist_memory`), as facts.

Any of them may be of a process that has ended, of another user, cut short, half written, or filled by somebody with something
else: a block counts only with its checksum, a file only where its owner is its process's. Files of this user's whose process has
gone are taken away.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from math import isfinite
from struct import Struct as Layout
from struct import calcsize, error, unpack
from zlib import crc32

from msgspec import Struct

from gpuassist.model.sample import TorchMemory
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.run_place import RUN_PREFIX, is_own, leave, process_of, take_away_run
from gpuassist.system.files import Files
from gpuassist.system.process_names import started_ticks
from gpuassist.system.surroundings import Surroundings

LOOK_AGAIN_SECONDS = 1.0
OTHERS_SECONDS = 10.0
"""Between two looks for the directories of other users, of which the listing of /tmp may be long."""

_RUNTIME = "/run/user"
FILES_AT_MOST = 1024
_TRIES = 3  # while it is written at that very moment
_BYTES_AT_MOST = 1 << 48  # no GPU has 256 TiB
_NO_UUID = bytes(16)
_SEAL_SIZE = calcsize(inside.SEAL)
_HEAD, _STATE = Layout(inside.HEAD), Layout(inside.STATE)
_DEVICE, _RECORD = (Layout(first + inside.FIGURES[1:]) for first in (inside.DEVICE, inside.RECORD))


class TorchDevice(Struct, frozen=True):
    """What torch holds of one GPU: `uuid` is its 32 hexadecimal digits, `ordinal` the index by which torch knows it."""

    ordinal: int
    uuid: str
    pci: str
    memory: TorchMemory


class TorchNote(Struct, frozen=True):
    """Words of the program's at one moment (`monotonic` as a sample's): an out-of-memory error's message, a mark that it set, or
    the path of torch's snapshot of such an error, and where there is none, why.
    """

    number: int
    monotonic: float
    is_out_of_memory: bool
    ordinal: int
    words: str
    is_snapshot: bool = False


class TorchState(Struct, frozen=True):
    """What a program's file said last; `beat` is when it was written."""

    beat: float
    devices: tuple[TorchDevice, ...]
    notes: int = 0
    records: int = 0
    ended: bool = False
    trouble: str = ""


class TorchRecord(Struct, frozen=True):
    """What a device held from that moment on, until the next record of it."""

    number: int
    monotonic: float
    ordinal: int
    memory: TorchMemory


class Ring:
    """One file, open as long as it is of interest: what its process wrote last can be read after both have gone."""

    def __init__(self, descriptor: int, pid: int, started: int) -> None:
        self.pid, self.started = pid, started
        self._descriptor, self._seal = descriptor, b""
        self.state: TorchState | None = None

    def refresh(self) -> TorchState | None:
        """What it says now; what it said before where that cannot be read, None where nothing ever could."""
        seal = self._read(inside.STATE_AT, _SEAL_SIZE)
        if seal != self._seal:  # written since: twice a second
            payload = self._block(inside.STATE_AT, inside.STATE_SIZE)
            state = _state(payload) if payload is not None else None
            self.state, self._seal = state or self.state, seal if state is not None else b""
        return self.state

    def notes(self, since: int) -> tuple[TorchNote, ...]:
        """Those from number `since` on that still stand there."""
        written = self.state.notes if self.state is not None else 0
        first = max(since, written - inside.NOTES)
        places = (inside.NOTES_AT + number % inside.NOTES * inside.NOTE_SIZE for number in range(first, written))
        return tuple(note for place in places if (note := _note(self._block(place, inside.NOTE_SIZE))) and note.number >= first)

    def records(self) -> tuple[TorchRecord, ...]:
        """All figures that changed, the oldest first, as far as the file still has them: the last minutes, ten times a second."""
        written = self.state.records if self.state is not None else 0
        first = max(0, written - inside.RECORDS)
        size = inside.RECORD_SIZE
        raw = self._read(inside.RECORDS_AT, size * min(written, inside.RECORDS))
        found = (_record(_unsealed(raw[place : place + size])) for place in range(0, len(raw) - size + 1, size))
        return tuple(sorted((one for one in found if one and one.number >= first), key=lambda one: one.number))

    def close(self) -> None:
        os.close(self._descriptor)

    def is_of(self, pid_namespace: int) -> bool:
        """Whether it is what its name says: written by that process, which has that number here too."""
        payload = self._block(inside.HEAD_AT, inside.HEAD_SIZE)
        if payload is None or len(payload) < _HEAD.size:
            return False
        magic, pid, _, started, namespace, *_ = _HEAD.unpack_from(payload)
        return (magic, pid, started, namespace) == (inside.MAGIC, self.pid, self.started, pid_namespace)

    def _block(self, place: int, size: int) -> bytes | None:
        for _ in range(_TRIES):
            payload = _unsealed(self._read(place, size))
            if payload is not None:
                return payload
        return None

    def _read(self, place: int, size: int) -> bytes:
        # Not by a mapping: one that is cut while it is read would end us with SIGBUS.
        try:
            return os.pread(self._descriptor, size, place)
        except OSError:
            return b""


class Rings:
    """All files that can be seen; used by one thread. `look_around` at most once a second does any work."""

    def __init__(self, files: Files, around: Surroundings) -> None:
        self._files, self._around = files, around
        self._open: dict[tuple[int, int], Ring] = {}
        self._gone: set[tuple[int, int]] = set()
        self._living: dict[int, Ring] = {}
        self._looked: float | None = None
        self._others: tuple[str, ...] = ()
        self._others_looked = -OTHERS_SECONDS
        self._seen: set[tuple[int, int]] | None = None  # at the last look, of programs that had ended by then, too

    def look_again(self) -> None:
        """The next look is due, whenever it comes."""
        self._looked = None

    def look_around(self, now: float) -> None:
        """Finds new files at `now`, seconds of a clock that never jumps, and forgets those of processes that were gone before.

        Of a program that came and ended between two looks, out of memory as likely as not, all is told once.
        """
        if self._looked is not None and now - self._looked < LOOK_AGAIN_SECONDS:
            return
        self._looked = now
        for key in [key for key in self._open if started_ticks(self._files, key[0]) != key[1]]:
            if key in self._gone:
                self._gone.discard(key)
                self._open.pop(key).close()
            else:
                self._gone.add(key)  # what it said last is told of once more
        seen: set[tuple[int, int]] = set()
        for directory in self._directories(now):
            self._look_in(directory, seen)
            if is_own(self._files.place(directory)):
                leave(self._files.place(directory))
        self._seen = seen
        self._living = {key[0]: ring for key, ring in self._open.items() if key not in self._gone}

    def of(self, pid: int) -> Ring | None:
        """A living process's."""
        return self._living.get(pid)

    def all(self) -> tuple[Ring, ...]:
        """Also those of processes that ended just now, once."""
        return tuple(self._open.values())

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()
        self._gone, self._living, self._looked, self._seen, self._others_looked = set(), {}, None, None, -OTHERS_SECONDS

    def _directories(self, now: float) -> Iterator[str]:
        """Where files may lie, runs' own directories too; for root those of all users."""
        bases = inside.base_directories(self._around.variables, self._around.uid)
        bases.append(f"{_RUNTIME}/{self._around.uid}/gpuassist")
        if self._around.uid == 0 and now - self._others_looked >= OTHERS_SECONDS:
            self._others_looked, self._others = now, tuple(self._of_others())
        bases += self._others
        for base in filter(self._files.is_directory, dict.fromkeys(bases)):
            yield base
            for name in self._names(base):
                if name.startswith(RUN_PREFIX):
                    yield f"{base}/{name}"

    def _of_others(self) -> Iterator[str]:
        yield from (f"{_RUNTIME}/{uid}/gpuassist" for uid in self._names(_RUNTIME) if uid.isdecimal())
        for name in self._names("/tmp"):
            prefix, _, uid = name.rpartition("-")
            if prefix == "gpuassist" and uid.isdecimal():
                yield f"/tmp/{name}"

    def _names(self, directory: str) -> tuple[str, ...]:
        try:
            return self._files.names(directory)
        except OSError:
            return ()

    def _look_in(self, directory: str, seen: set[tuple[int, int]]) -> None:
        run = directory.rpartition("/")[2]
        runner, began = process_of(run.removeprefix(RUN_PREFIX)) if run.startswith(RUN_PREFIX) else (0, 0)
        place = self._files.place(directory)
        left_behind = not (began and started_ticks(self._files, runner) == began) and is_own(place)
        living = False
        for name in self._names(directory):
            if not name.endswith(inside.SUFFIX):
                continue
            pid, started = process_of(name.removesuffix(inside.SUFFIX))
            is_there = started != 0 and started_ticks(self._files, pid) == started
            living = living or is_there
            seen.add((pid, started))
            if is_there and (pid, started) not in self._open and len(self._open) < FILES_AT_MOST:
                self._add(f"{place}/{name}", pid, started, self._owner(pid))
            elif not is_there:
                if self._is_new(pid, started) and self._add(f"{place}/{name}", pid, started, _owner_of(place)):
                    self._gone.add((pid, started))
                if left_behind and self._is_of_here(f"{place}/{name}"):
                    _take_away(f"{place}/{name}")
        if run.startswith(RUN_PREFIX) and left_behind and not living:
            take_away_run(place)

    def _is_of_here(self, place: str) -> bool:
        """Whether the numbers in its name count here: a container that shares the directory has its own."""
        descriptor = _opened(place)
        if descriptor is None:
            return True
        head = _unsealed(os.pread(descriptor, inside.HEAD_SIZE, inside.HEAD_AT)) or b""
        os.close(descriptor)
        return len(head) < _HEAD.size or _HEAD.unpack_from(head)[4] == self._pid_namespace()

    def _is_new(self, pid: int, started: int) -> bool:
        """Whether a program that has ended was not seen before; what ended before the first look is nobody's news."""
        if not started or self._seen is None or len(self._open) >= FILES_AT_MOST:
            return False
        return (pid, started) not in self._seen and (pid, started) not in self._open

    def _add(self, place: str, pid: int, started: int, owner: int) -> bool:
        descriptor = _opened(place)
        if descriptor is None:
            return False
        ring = Ring(descriptor, pid, started)
        if os.fstat(descriptor).st_uid != owner or not ring.is_of(self._pid_namespace()):
            ring.close()
            return False
        self._open[pid, started] = ring
        return True

    def _owner(self, pid: int) -> int:
        try:
            return self._files.status(f"/proc/{pid}").st_uid
        except OSError:
            return -1

    def _pid_namespace(self) -> int:
        try:
            return self._files.status("/proc/self/ns/pid").st_ino
        except OSError:
            return 0


def read_run(files: Files, directory: str) -> tuple[Ring, ...]:
    """The files of a run, of processes that have ended too, for whoever made it; they are to be closed."""
    found = []
    for name in files.names(directory):
        pid, started = process_of(name.removesuffix(inside.SUFFIX)) if name.endswith(inside.SUFFIX) else (0, 0)
        descriptor = _opened(files.place(f"{directory}/{name}")) if started else None
        if descriptor is not None:
            ring = Ring(descriptor, pid, started)
            ring.refresh()
            found.append(ring)
    return tuple(found)


def remove_ring(files: Files, directory: str, ring: Ring) -> None:
    _take_away(files.place(f"{directory}/{ring.pid}-{ring.started}{inside.SUFFIX}"))


def _opened(place: str) -> int | None:
    """Anybody may have put anything there: neither a link is followed nor a pipe waited for."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _owner_of(directory: str) -> int:
    try:
        return os.lstat(directory).st_uid
    except OSError:
        return -1


def _take_away(place: str) -> None:
    try:
        os.unlink(place)
    except OSError:
        pass


def _unsealed(raw: bytes) -> bytes | None:
    if len(raw) < _SEAL_SIZE:
        return None
    checksum, length = unpack(inside.SEAL, raw[:_SEAL_SIZE])
    payload = raw[_SEAL_SIZE : _SEAL_SIZE + length]
    return payload if len(payload) == length and crc32(payload) == checksum else None


def _state(payload: bytes) -> TorchState | None:
    try:
        beat, records, notes, devices, ended, trouble = _STATE.unpack_from(payload)
        end = _STATE.size + min(devices, inside.DEVICES_AT_MOST) * _DEVICE.size
        found = tuple(map(_device, (payload[place : place + _DEVICE.size] for place in range(_STATE.size, end, _DEVICE.size))))
    except error:
        return None
    if None in found or not isfinite(beat):
        return None
    words = trouble.rstrip(b"\0").decode("utf-8", "replace")
    return TorchState(beat, tuple(one for one in found if one), notes, records, bool(ended), words)


def _device(raw: bytes) -> TorchDevice | None:
    uuid, pci, ordinal, _, *figures = _DEVICE.unpack(raw)
    memory = _memory(figures)
    address = pci.rstrip(b"\0").decode("ascii", "replace")
    return TorchDevice(ordinal, "" if uuid == _NO_UUID else uuid.hex(), address, memory) if memory is not None else None


def _memory(figures: list[int]) -> TorchMemory | None:
    return TorchMemory(*figures) if max(figures) < _BYTES_AT_MOST else None


def _note(payload: bytes | None) -> TorchNote | None:
    size = calcsize(inside.NOTE)
    if payload is None or len(payload) < size:
        return None
    number, moment, kind, ordinal = unpack(inside.NOTE, payload[:size])
    if not isfinite(moment):
        return None
    words = payload[size:].decode("utf-8", "replace")
    return TorchNote(number, moment, kind == inside.OUT_OF_MEMORY, ordinal, words, kind == inside.SNAPSHOT)


def _record(payload: bytes | None) -> TorchRecord | None:
    if payload is None or len(payload) != _RECORD.size:
        return None
    number, moment, ordinal, _, *figures = _RECORD.unpack(payload)
    memory = _memory(figures)
    return TorchRecord(number, moment, ordinal, memory) if memory is not None and isfinite(moment) else None
