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
from gpuassist.model.text import text
from gpuassist.session.inspect import in_words
from gpuassist.session.profiling.answers import HIDDEN_ARGUMENT, ChildLine, NotRead, ReadNothing, ReadSoFar, ReadWhole
from gpuassist.session.profiling.refusals import IMPORTER, ProfileError, importer_of, refusal
from gpuassist.system.own_child import clean, own_child
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet, Stream
from gpuassist.system.world import World

_CHILD = "gpuassist.session.profiling.child"
_LOOK_EVERY_SECONDS = 0.1
_SILENT_SECONDS = 300.0
_ENDING_SECONDS = 2.0

Progress = Callable[[int, int], None]


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
            raise refusal(path, told, importer_of(world.files) if told.why is NotRead.NSYS_STREAM else IMPORTER)
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
