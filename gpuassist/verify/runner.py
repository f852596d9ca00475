"""Runs the child script in an interpreter of the user's, hands on what it reports, and ends it when it hangs."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Verdict, Verification
from gpuassist.system.clock import Clock
from gpuassist.system.processes import clean
from gpuassist.system.streams import DESCRIPTOR, MARK, Ended, NotStarted, Quiet, Stream
from gpuassist.system.world import World
from gpuassist.verify.protocol import Event, ProtocolError, parse
from gpuassist.verify.transcript import Transcript

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child.py")

_LOOK_EVERY_SECONDS = 0.1
_TAIL_LINES = 4
_NO_TORCH = "ModuleNotFoundError: No module named 'torch'"


class Level(str, Enum):
    """How thorough: seconds, or minutes."""

    QUICK = "quick"
    FULL = "full"


class Limits(Struct, frozen=True):
    """Seconds: until torch is imported and its GPUs are found, for one check, for everything, and to end after the last word.

    The first import after an installation took 5 s on a fast disk, the first touch of a GPU may compile PTX for minutes
    (CUDA C++ programming guide, just-in-time compilation).
    """

    start: float = 180.0
    check: float = 180.0
    overall: float = 900.0
    ending: float = 5.0


LIMITS = {Level.QUICK: Limits(), Level.FULL: Limits(check=900.0, overall=3600.0)}


class RunRequest(Struct, frozen=True):
    """What to verify: the interpreter, what runs on it (`all`, `cuda`, or indices, UUIDs and `cpu`), and how thoroughly."""

    interpreter: str
    variables: Mapping[str, str]
    devices: tuple[str, ...] = ("all",)
    level: Level = Level.QUICK
    limits: Limits | None = None


OnEvent = Callable[[Event], None]
Cancelled = Callable[[], bool]


def run(world: World, request: RunRequest, *, on_event: OnEvent, cancelled: Cancelled) -> Verification:
    """One run. What goes wrong is in its result; `on_event` is called on this thread."""
    blank, mark = Verification(request.interpreter, (), ()), secrets.token_hex(8)
    # Python's own switches are the user's in a new terminal, so they stay; only what a bundle of ours put in goes.
    variables = clean(request.variables)
    variables.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # so that torch counts GPUs as NVML and this program do
    if all(_is_uuid(device) for device in request.devices):
        # The driver matches them, of MIG instances too, where torch's own properties have no UUID (before 2.4).
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(request.devices)
    stream = world.streams.start(
        (request.interpreter, CHILD, DESCRIPTOR, *_devices(request.devices), request.level.value),
        environment={**variables, MARK: mark},
    )
    if isinstance(stream, NotStarted):
        if stream.missing:
            why_not_started = text("there is no interpreter at {path}", path=request.interpreter)
        else:
            why_not_started = text("{path} could not be started: {words}", path=request.interpreter, words=stream.words)
        return replace(blank, error=why_not_started)
    transcript = Transcript()
    limits = request.limits or LIMITS[request.level]
    try:
        stop = _listen(stream, transcript, _Deadlines(world.clock, limits), on_event=on_event, cancelled=cancelled)
        ended = stream.end(patience=limits.ending if stop is _Stop.GONE else 0.0)
    finally:
        stream.end()
        world.programs.end_marked(mark)  # what left its process group, which `end` ended
    return _result(blank, transcript, stop, ended)


class _Stop(Enum):
    """Why listening ended: the report was closed, a limit was passed, the user does not want it any more, or it made no sense."""

    GONE = "gone"
    LATE = "late"
    CANCELLED = "cancelled"
    NONSENSE = "nonsense"


class _Deadlines:
    """When the child must have said its next word, and its last."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock, self._check = clock, limits.check
        self._last = clock.monotonic() + limits.overall
        self._next = clock.monotonic() + limits.start

    def heard(self) -> None:
        """It said something: the next word has the time of one check."""
        self._next = self._clock.monotonic() + self._check

    def passed(self) -> bool:
        return self._clock.monotonic() >= min(self._next, self._last)


def _listen(stream: Stream, transcript: Transcript, deadlines: _Deadlines, *, on_event: OnEvent, cancelled: Cancelled) -> _Stop:
    while True:
        line = stream.line(seconds=_LOOK_EVERY_SECONDS)
        if cancelled():
            return _Stop.CANCELLED
        if line is Quiet.CLOSED:
            return _Stop.GONE
        if deadlines.passed():
            return _Stop.LATE
        if isinstance(line, bytes):
            deadlines.heard()
            try:
                event = parse(line)
                transcript.take(event)
            except ProtocolError as error:
                transcript.nonsense = error.reason
                return _Stop.NONSENSE
            on_event(event)


def _result(blank: Verification, transcript: Transcript, stop: _Stop, ended: Ended) -> Verification:
    error = _why_stopped(transcript, stop, ended)
    verdict = Verdict.HUNG if stop is _Stop.LATE else Verdict.SKIPPED if stop is _Stop.CANCELLED else Verdict.FAIL
    devices = transcript.devices(verdict, error)
    if transcript.refused is not None and transcript.refused.error.startswith(_NO_TORCH):
        overall = Verdict.SKIPPED
    else:
        found = {device.verdict for device in devices}
        wrong = next((one for one in (Verdict.HUNG, Verdict.FAIL) if one in found), None)
        if wrong is not None or not transcript.finished:
            overall = wrong or verdict
        else:
            overall = Verdict.PASS if Verdict.PASS in found else Verdict.SKIPPED
    return replace(
        blank,
        environment=transcript.environment,
        devices=devices,
        error=error,
        output=ended.output,
        visible=transcript.accelerators,
        no_accelerator=transcript.no_accelerator,
        verdict=overall,
    )


def _why_stopped(transcript: Transcript, stop: _Stop, ended: Ended) -> Text | None:
    if transcript.finished:
        return None  # whatever became of the process while torch was cleaning up
    if transcript.refused is not None:
        return verbatim(transcript.refused.error)
    if stop is _Stop.GONE:
        if ended.ended_by_us:
            return text("it closed its report before it was done, and had to be ended{said}", said=_said(ended))
        if ended.signal:
            return text("the process was ended by {signal}{said}", signal=ended.signal, said=_said(ended))
        if not transcript.began:
            return text("the process ended with status {status} without a report{said}", status=ended.status, said=_said(ended))
        return text("the process ended with status {status} before it was done{said}", status=ended.status, said=_said(ended))
    reasons = {_Stop.CANCELLED: text("it was stopped"), _Stop.LATE: text("it hung, and was ended with all its processes")}
    return reasons.get(stop, transcript.nonsense)


def _said(ended: Ended) -> Text:
    lines = [line for line in ended.output.splitlines() if line.strip()][-_TAIL_LINES:]
    return text("; it said: {words}", words=" / ".join(lines)) if lines else verbatim("")


def _devices(devices: tuple[str, ...]) -> tuple[str]:
    return ("cuda",) if all(_is_uuid(device) for device in devices) else (",".join(devices),)


def _is_uuid(device: str) -> bool:
    return device.startswith(("GPU-", "MIG-"))
