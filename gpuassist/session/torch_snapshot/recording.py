"""torch's snapshot of the memory of a program that runs: now, or after its allocations were recorded for some seconds."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Event

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.text import Text, text
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.monitor.run_place import RUN_PREFIX, TOLD, WISH, is_own, process_of
from gpuassist.session.opened_recording import NotWantedError

SECONDS_AT_MOST = 3600.0
_ANSWER_SECONDS = 10.0
_WRITING_SECONDS = 600.0  # a million events are some seconds; a slow disk is what it is
_LOOK_EVERY_SECONDS = 0.2
_AT_MOST_BYTES = 8192


class RecordWish(Struct, frozen=True):
    """Of which program, for how long its allocations are recorded before, and the file; empty for one in the working directory."""

    pid: int
    seconds: float = 0.0
    path: str = ""


class SnapshotRefusedError(Exception):
    """There is no snapshot: why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def tells_of_itself(session: Session, pid: int) -> bool:
    """Whether a program was started so that it can be asked."""
    return bool(_file_of(session, pid))


def take_snapshot(
    session: Session, wish: RecordWish, *, tell: Callable[[Text], None] = lambda _: None, ends: Callable[[], bool] = lambda: False
) -> str:
    """The path of the snapshot. Raises `SnapshotRefusedError` where there is none, and `NotWantedError` once `ends` says so; a
    program that has begun to record goes on to the end of its seconds then.
    """
    wish = _of_run(session, wish)
    ring = _file_of(session, wish.pid)
    if not ring:
        raise SnapshotRefusedError(
            text("process {pid} cannot be asked: it was not started by `gpuassist run`, or has not started CUDA yet", pid=wish.pid)
        )
    path = os.path.abspath(wish.path or f"snapshot-{wish.pid}-{session.world.clock.now():%Y%m%d-%H%M%S}.pickle")
    if os.path.lexists(path) or "\n" in path:
        raise SnapshotRefusedError(text("{path} is there already, and is left as it is", path=path))
    if not os.access(os.path.dirname(path), os.W_OK):
        raise SnapshotRefusedError(text("nothing can be written to {directory}", directory=os.path.dirname(path)))
    stem = ring.removesuffix(inside.SUFFIX)
    _ask(stem, f"{wish.seconds:g} {path}\n")
    if wish.seconds:
        tell(text("process {pid} records its allocations for {seconds:g} s", pid=wish.pid, seconds=wish.seconds))
    return _outcome(session, stem, wish, path, ends=ends)


def _ask(stem: str, words: str) -> None:
    try:
        for left in (stem + TOLD, stem + WISH):
            if os.path.lexists(left):
                os.unlink(left)
        descriptor = os.open(stem + ".asks", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, words.encode("utf-8", "surrogateescape"))
        finally:
            os.close(descriptor)
        os.rename(stem + ".asks", stem + WISH)
    except OSError as error:
        raise SnapshotRefusedError(text("the program could not be asked: {error}", error=error.strerror or str(error))) from error


def _outcome(session: Session, stem: str, wish: RecordWish, path: str, *, ends: Callable[[], bool]) -> str:
    clock, pause = session.world.clock, Event()
    heard_until = clock.monotonic() + _ANSWER_SECONDS
    until = heard_until + wish.seconds + _WRITING_SECONDS
    while True:
        if ends():
            raise NotWantedError
        try:
            descriptor = os.open(stem + TOLD, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            pass
        else:
            try:
                told = os.read(descriptor, _AT_MOST_BYTES).decode("utf-8", "surrogateescape")
            finally:
                os.close(descriptor)
                os.unlink(stem + TOLD)
            if told != path:
                raise SnapshotRefusedError(text("the program could not take one: {words}", words=told.removeprefix("!")))
            return path
        pid, _, started = os.path.basename(stem).partition("-")
        if str(inside.started_ticks(pid)) != started:
            raise SnapshotRefusedError(text("the program ended before it was done"))
        now = clock.monotonic()
        if now > heard_until and os.path.lexists(stem + WISH):
            os.unlink(stem + WISH)
            raise SnapshotRefusedError(
                text(
                    "the program did not hear it within {seconds:.0f} s: it stands still in one long call", seconds=_ANSWER_SECONDS
                )
            )
        if now > until:
            raise SnapshotRefusedError(text("the program has not told that it is done"))
        pause.wait(_LOOK_EVERY_SECONDS)


def _of_run(session: Session, wish: RecordWish) -> RecordWish:
    """The same of the program below it, where the process is `gpuassist run` itself; refused where several are below it."""
    around = session.world.surroundings
    run = f"{RUN_PREFIX}{wish.pid}-{inside.started_ticks(wish.pid)}"
    found = []
    for base in inside.base_directories(around.variables, around.uid):
        if is_own(base) and is_own(f"{base}/{run}"):
            told = (
                process_of(name.removesuffix(inside.SUFFIX)) for name in _names(f"{base}/{run}") if name.endswith(inside.SUFFIX)
            )
            found += [pid for pid, started in told if started and inside.started_ticks(pid) == started]
    if len(found) > 1:
        numbers = ", ".join(map(str, sorted(found)))
        raise SnapshotRefusedError(
            text("several programs run below process {pid}; choose one: {numbers}", pid=wish.pid, numbers=numbers)
        )
    return replace(wish, pid=found[0]) if found else wish


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _file_of(session: Session, pid: int) -> str:
    """The file in which that very process tells of itself, in a directory of ours; empty where there is none that hears wishes."""
    name = f"{pid}-{inside.started_ticks(pid)}{inside.SUFFIX}"
    around = session.world.surroundings
    for base in inside.base_directories(around.variables, around.uid):
        if not is_own(base):
            continue
        try:
            runs = [entry for entry in os.listdir(base) if entry.startswith(RUN_PREFIX)]
        except OSError:
            continue
        for place in (f"{base}/{run}" for run in runs):
            if is_own(place) and os.path.lexists(f"{place}/{name}"):
                return f"{place}/{name}"
    return ""
