"""The libraries of a process that only imports torch, and what they are without the variables that choose libraries."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping

from msgspec import Struct

from gpuassist.model.codec import DecodeError, decode
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.json_reader import NotJsonError, read_json
from gpuassist.model.libraries import LibraryDifference
from gpuassist.model.text import Text, text
from gpuassist.system.own_child import clean
from gpuassist.system.streams import DESCRIPTOR, MARK, NotStarted, Quiet, Stream
from gpuassist.system.world import World
from gpuassist.verify.library_faults import clean_variables, differences, may_differ, torch_words
from gpuassist.verify.provenance import ProcessLibraries
from gpuassist.verify.runner import CHILD, Cancelled

_LOOK_EVERY_SECONDS = 0.1
_ENDING_SECONDS = 5.0


class LibraryComparison(Struct, frozen=True):
    """What the variables `changed` do: to torch itself, and to its libraries. All empty where there was nothing to compare."""

    changed: tuple[str, ...] = ()
    torch: Text | None = None
    differences: tuple[LibraryDifference, ...] = ()


def compare_with_clean(
    world: World, interpreter: str, variables: Mapping[str, str], mine: ProcessLibraries, *, seconds: float, cancelled: Cancelled
) -> Fact[LibraryComparison]:
    """Lets torch be imported once more without the variables that choose libraries, and says what is otherwise.

    Nothing is run where no such variable is set, or none of them decided on a library.
    """
    kept, changed = clean_variables(variables, mine)
    if not changed or not may_differ(mine):
        return Known(LibraryComparison(), interpreter)
    other = libraries_after_import(world, interpreter, kept, seconds=seconds, cancelled=cancelled)
    if isinstance(other, Unknown):
        return other
    told = torch_words(mine, other.value, changed)
    return Known(LibraryComparison(changed, told, differences(mine, other.value)), interpreter)


def libraries_after_import(
    world: World, interpreter: str, variables: Mapping[str, str], *, seconds: float, cancelled: Cancelled
) -> Fact[ProcessLibraries]:
    """What a process has loaded that imported torch and touched a GPU; its last report also where it did not survive that."""
    mark = secrets.token_hex(8)
    stream = world.streams.start(
        (interpreter, CHILD, DESCRIPTOR, json.dumps({"libraries": True})), environment={**clean(variables), MARK: mark}
    )
    if isinstance(stream, NotStarted):
        return Unknown(text("{path} could not be started: {words}", path=interpreter, words=stream.words))
    until = world.clock.monotonic() + seconds
    try:
        last = _last_line(stream, lambda: cancelled() or world.clock.monotonic() >= until)
        stream.end(patience=_ENDING_SECONDS if last.closed else 0.0)
    finally:
        stream.end()
        world.programs.end_marked(mark)
    if not last.line:
        late = not last.closed
        return Unknown(text("it was stopped before it reported") if late else text("it ended without a report"))
    try:
        return Known(decode(ProcessLibraries, read_json(last.line)), interpreter)
    except (NotJsonError, DecodeError):
        return Unknown(text("its report makes no sense"))


class _Last(Struct, frozen=True):
    """The last line of a report, and whether the report was closed after it."""

    line: bytes
    closed: bool


def _last_line(stream: Stream, enough: Callable[[], bool]) -> _Last:
    last = b""
    while not enough():
        line = stream.line(seconds=_LOOK_EVERY_SECONDS)
        if line is Quiet.CLOSED:
            return _Last(last, closed=True)
        if isinstance(line, bytes):
            last = line
    return _Last(last, closed=False)
