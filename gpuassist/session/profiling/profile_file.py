"""A profile read in a child, with progress and a way to stop it, and what it means in the user's words."""

from __future__ import annotations

import os
from collections.abc import Callable

import msgspec
from msgspec import Struct

from gpuassist.context import Session
from gpuassist.diagnose.profiles import FirstChange, first_change, profile_finding
from gpuassist.model.finding import Answer
from gpuassist.model.machine import Machine
from gpuassist.model.profile import ProfileReading
from gpuassist.model.text import Text, text
from gpuassist.session.inspect import in_words
from gpuassist.session.profiling.answers import HIDDEN_ARGUMENT, ChildLine, NotRead, ReadNothing, ReadSoFar, ReadWhole
from gpuassist.session.without_numpy import WITHOUT_NUMPY
from gpuassist.system.own_child import clean, own_child
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet, Stream
from gpuassist.system.world import World

_CHILD = "gpuassist.session.profiling.child"
_LOOK_EVERY_SECONDS = 0.1
_SILENT_SECONDS = 300.0
_ENDING_SECONDS = 2.0

Progress = Callable[[int, int], None]


class ProfileError(Exception):
    """The file cannot be read as a profile; `reason` says why, `lines` what to type in its place."""

    def __init__(self, reason: Text, lines: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.lines = reason, lines


class CancelledError(Exception):
    """The user wants no answer any more."""


class ProfileAnswer(Struct, frozen=True):
    """A profile with what it means: `change` and `answer` are None where nothing can be said of it."""

    path: str
    readings: tuple[ProfileReading, ...]
    change: FirstChange | None
    answer: Answer | None

    @property
    def main(self) -> ProfileReading:
        """What there is a picture of."""
        return next((one for one in self.readings if one.timeline), self.readings[0])


def _nothing(_done: int, _of: int) -> None:
    pass


def profile(
    session: Session, path: str, *, on_progress: Progress = _nothing, cancelled: Callable[[], bool] = lambda: False
) -> ProfileAnswer:
    """The profile in a file; raises `ProfileError`, and `CancelledError` once `cancelled` says so."""
    readings = read_profile(session.world, path, on_progress=on_progress, cancelled=cancelled)
    return answer_of(session, path, readings)


def answer_of(session: Session, path: str, readings: tuple[ProfileReading, ...]) -> ProfileAnswer:
    """What readings mean, in the words of this session."""
    finding = profile_finding(readings)
    answers = in_words(session, Machine(), (finding,)) if finding is not None else ()
    return ProfileAnswer(path, readings, first_change(readings), answers[0] if answers else None)


def read_profile(world: World, path: str, *, on_progress: Progress, cancelled: Callable[[], bool]) -> tuple[ProfileReading, ...]:
    """Without the meaning."""
    place = world.files.place(os.path.abspath(path))
    command = (*own_child(_CHILD, HIDDEN_ARGUMENT), DESCRIPTOR, place)
    stream = world.streams.start(command, environment=clean(world.surroundings.variables))
    if isinstance(stream, NotStarted):
        raise ProfileError(text("{path} could not be read: {words}", path=path, words=stream.words))
    try:
        told = _awaited(world, stream, on_progress, cancelled)
        if isinstance(told, ReadWhole) and told.readings:
            return told.readings
        if isinstance(told, ReadNothing):
            raise refusal(path, told)
        ended = stream.end(patience=_ENDING_SECONDS)
        raise ProfileError(text("{path} could not be read: {words}", path=path, words=ended.signal or ended.output[-200:] or "?"))
    finally:
        stream.end()


def _awaited(world: World, stream: Stream, on_progress: Progress, cancelled: Callable[[], bool]) -> ReadWhole | ReadNothing | None:
    heard = world.clock.monotonic()
    while True:
        line = stream.line(seconds=_LOOK_EVERY_SECONDS)
        if cancelled():
            raise CancelledError
        if isinstance(line, Quiet):
            if line is Quiet.CLOSED or world.clock.monotonic() - heard > _SILENT_SECONDS:
                return None
            continue
        heard = world.clock.monotonic()
        try:
            told: ReadSoFar | ReadWhole | ReadNothing = msgspec.json.decode(line, type=ChildLine)
        except msgspec.DecodeError:
            return None
        if not isinstance(told, ReadSoFar):
            return told
        on_progress(told.read, told.of)


def refusal(path: str, told: ReadNothing) -> ProfileError:
    """What the child said, in the user's words."""
    why = told.why
    if why is NotRead.NSYS_REPORT:
        made = f"{path.rpartition('.')[0]}.sqlite"
        lines = (f"nsys export --type sqlite {_quoted(path)}", f"gpuassist profile {_quoted(made)}")
        return ProfileError(
            text("{path} is Nsight Systems' own file, which only its programs read; export it first", path=path), lines
        )
    if why is NotRead.NCU_REPORT:
        line = f"ncu --import {_quoted(path)}"
        return ProfileError(text("{path} is Nsight Compute's own file, which only its programs read", path=path), (line,))
    if why is NotRead.MEMRAY:
        lines = (f"memray stats {_quoted(path)}", f"memray flamegraph {_quoted(path)}")
        return ProfileError(
            text("{path} is memray's own file, about the memory of the processor; memray itself shows it", path=path), lines
        )
    if why is NotRead.SNAPSHOT:
        line = f"gpuassist snapshot {_quoted(path)}"
        return ProfileError(
            text("{path} is a pickle: torch's memory snapshots are such files, and profiles are not", path=path), (line,)
        )
    said = {
        NotRead.NUMPY: WITHOUT_NUMPY,
        NotRead.EMPTY: text("{path} is empty", path=path),
        NotRead.NO_EVENTS: text("{path} is a JSON document without an event of torch.profiler", path=path),
        NotRead.TOO_LARGE: text("{path} is larger than any profile of its kind", path=path),
        NotRead.MEMORY: text("{path} takes more memory than a profile may", path=path),
        NotRead.NOTHING_KNOWN: text("{path} is no profile that gpuassist knows", path=path),
        NotRead.NO_FILE: text("{path} could not be read: {words}", path=path, words=told.words or "?"),
        NotRead.DAMAGED: text("{path} is damaged, or no profile: {words}", path=path, words=told.words),
    }
    return ProfileError(said[why])


def _quoted(path: str) -> str:
    import shlex

    return shlex.quote(path)
