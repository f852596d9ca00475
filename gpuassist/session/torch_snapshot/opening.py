"""A snapshot from its file: how much memory that takes, whether there is so much, and the child that reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from gpuassist.context import Session
from gpuassist.formats.torch_snapshot.byte_stream import SnapshotError
from gpuassist.formats.torch_snapshot.event_range import EVERYTHING, EventRange
from gpuassist.model.memory_snapshot import MemorySnapshot
from gpuassist.model.text import Text, text, verbatim
from gpuassist.session.opened_recording import NotWantedError
from gpuassist.session.torch_snapshot.passage import unpack
from gpuassist.system.column_file import ColumnFile, ColumnFileError, new_column_file
from gpuassist.system.frames import FrameError
from gpuassist.system.own_child import clean
from gpuassist.system.piped_child import command, start_piped
from gpuassist.system.streams import Quiet
from gpuassist.system.worker import Worker

HIDDEN_ARGUMENT = "--read-snapshot"
_BASE_BYTES = 160 << 20  # Python, numpy, and what a small file takes
# Measured on made snapshots of 60 MB, 2026-11-24, the reader with what it hands over, and then the one that looks at it: 0.95 and
# 0.85 of a file with stacks (466,000 events), 1.95 and 2.0 of one whose events have none (1,083,000 events).
_OF_EACH_BYTE = 2.0
_ROOM_BYTES = 512 << 20  # what a stranger file may take beyond that before it is stopped
_LOOK_EVERY_SECONDS = 0.1
_SILENT_SECONDS = 120.0
_MEMORY = "/proc/meminfo"
_CGROUP = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")

Tell = Callable[[int, int], None]
"""Is told how many bytes of how many were read."""


def open_snapshot(
    session: Session,
    path: str,
    wanted: EventRange = EVERYTHING,
    *,
    tell: Tell = lambda *_: None,
    ends: Callable[[], bool] = lambda: False,
) -> MemorySnapshot:
    """The snapshot in the file. Raises `SnapshotError` with the reason where there is none, and `NotWantedError` once `ends`
    says so.
    """
    path = os.path.abspath(path)
    try:
        size = os.stat(path).st_size
    except (OSError, ValueError) as error:
        raise SnapshotError(verbatim(getattr(error, "strerror", None) or str(error))) from error
    needed, free = memory_needed(size, wanted), memory_free(session)
    if free is not None and needed > free:
        raise SnapshotError(
            text(
                "reading its {size} MiB takes about {needed} MiB of memory, and {free} MiB are free here;"
                " a range of events takes less",
                size=size >> 20,
                needed=needed >> 20,
                free=free >> 20,
            )
        )
    request = {"path": path, "first": wanted.first, "end": wanted.end, "memory_bytes": needed + _ROOM_BYTES}
    return _read_by_child(session, request, tell, ends)


def memory_needed(size: int, wanted: EventRange = EVERYTHING) -> int:
    """An estimate from above of what reading a file of `size` bytes takes."""
    part = 1.0 if wanted == EVERYTHING else 0.5  # references to stacks are kept of all events
    return _BASE_BYTES + int(size * _OF_EACH_BYTE * part)


def memory_free(session: Session) -> int | None:
    """What this process can still have; None where nobody says."""
    files = session.world.files
    found = [int(words.split()[1]) << 10 for words in files.text(_MEMORY).splitlines() if words.startswith("MemAvailable:")]
    limit, used = (files.text(path).strip() for path in _CGROUP)
    if limit.isdigit() and used.isdigit():
        found.append(max(int(limit) - int(used), 0))
    return min(found, default=None)


def _read_by_child(session: Session, request: dict[str, Any], tell: Tell, ends: Callable[[], bool]) -> MemorySnapshot:
    descriptor = new_column_file()
    try:
        variables = clean(session.world.surroundings.variables) | {"OPENBLAS_NUM_THREADS": "1"}
        words = command("gpuassist.session.torch_snapshot.child", HIDDEN_ARGUMENT)
        worker = Worker(start_piped(words, variables, descriptor))
        try:
            worker.send(request)
            start, length = _answer(worker, tell, ends)
        finally:
            worker.kill()
            worker.end()
        return unpack(ColumnFile(descriptor), start, length)
    except (ColumnFileError, OSError) as error:
        raise SnapshotError(text("the process that reads it failed: {error}", error=str(error))) from error
    finally:
        os.close(descriptor)


def _answer(worker: Worker, tell: Tell, ends: Callable[[], bool]) -> tuple[int, int]:
    silent = 0.0
    while True:
        if ends():
            raise NotWantedError
        try:
            answer = worker.receive(_LOOK_EVERY_SECONDS)
        except FrameError as error:
            raise SnapshotError(text("the process that reads it failed: {error}", error=str(error))) from error
        if answer is Quiet.SILENT:
            silent += _LOOK_EVERY_SECONDS
            if silent < _SILENT_SECONDS:
                continue
        if isinstance(answer, Quiet):
            raise SnapshotError(text("the process that reads it ended, most likely for want of memory"))
        silent = 0.0
        if "failed" in answer:
            raise SnapshotError(_text(answer["failed"]))
        if "done" in answer:
            start, length = answer["done"]
            return start, length
        tell(answer["read"], answer["of"])


def _text(told: dict[str, Any]) -> Text:
    parameters = tuple((name, _text(value) if isinstance(value, dict) else value) for name, value in told["parameters"])
    return Text(told["message"], parameters, told["plural"])
