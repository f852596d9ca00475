"""Runs the child script in an interpreter of the user's, hands on what it reports, and ends it when it hangs."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import DeviceVerdict, Verdict, Verification, worst_of
from gpuassist.system.clock import Clock
from gpuassist.system.own_child import clean
from gpuassist.system.streams import DESCRIPTOR, MARK, Ended, NotStarted, Quiet, Stream
from gpuassist.system.world import World
from gpuassist.verify.containers import Inside
from gpuassist.verify.library_faults import faults_of
from gpuassist.verify.protocol import NO_DISTRIBUTED, NO_INTERPRETER, NO_TORCH, ONE_RANK, Event, Imported, ProtocolError, parse
from gpuassist.verify.provenance import libraries_of
from gpuassist.verify.transcript import Transcript

CHILD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "child", "main.py")

_NOTHING_TO_VERIFY = (NO_TORCH, NO_INTERPRETER, NO_DISTRIBUTED, ONE_RANK)
_LOOK_EVERY_SECONDS = 0.1
_TAIL_LINES = 4
_TOO_OLD = "future feature annotations is not defined"  # what Python up to 3.6 says of the script's first line
_ENDING_SECONDS = 30.0  # for an engine to take a container apart


class Level(str, Enum):
    """How thorough: seconds, or minutes."""

    QUICK = "quick"
    FULL = "full"


class Limits(Struct, frozen=True):
    """Seconds: until torch is imported; to start the driver or a GPU; for a GPU, a CPU, and a GPU whose code the driver compiles
    first, to give a sign of life within a check; for all checks after the import (0: as long as they take); for everything; to end
    after the last word; and for the ranks of a launcher to come together.

    The first import after an installation took 5 s on a fast disk; starting eight GPUs without persistence mode takes some 20 s;
    the first touch of a GPU may compile PTX for minutes (CUDA C++ programming guide, just-in-time compilation). Most checks are the
    first that need their library, which a network's disk or a card shared with others makes slow: a check may take as long as
    starting a GPU, whatever there is for all of them together.
    """

    importing: float = 180.0
    start: float = 30.0
    gpu: float = 30.0
    cpu: float = 60.0
    compiling: float = 180.0
    checks: float = 10.0
    overall: float = 900.0
    ending: float = 5.0
    joining: float = 300.0


LIMITS = {Level.QUICK: Limits(), Level.FULL: Limits(start=120.0, gpu=60.0, cpu=300.0, compiling=900.0, checks=0.0, overall=3600.0)}


class RunRequest(Struct, frozen=True):
    """What to verify: the interpreter, what runs on it (`all`, `cuda`, or indices, UUIDs and `cpu`), and how thoroughly; `scratch`
    is a directory for what checks write. Where it runs `inside` an image, `interpreter` is what that is called. With a `launcher`
    (`torchrun` and its options, or `env`) it is ranks that are verified, of which with `env` this process has one.
    """

    interpreter: str
    variables: Mapping[str, str]
    devices: tuple[str, ...] = ("all",)
    level: Level = Level.QUICK
    limits: Limits | None = None
    scratch: str = ""
    inside: Inside | None = None
    launcher: tuple[str, ...] = ()


OnEvent = Callable[[Event], None]
Cancelled = Callable[[], bool]


def run(world: World, request: RunRequest, *, on_event: OnEvent, cancelled: Cancelled) -> Verification:
    """One run. What goes wrong is in its result; `on_event` is called on this thread."""
    image = request.interpreter if request.inside is not None else ""
    blank, mark = Verification(request.interpreter, (), (), image=image), secrets.token_hex(8)
    # Python's own switches are the user's in a new terminal, so they stay; only what a bundle of ours put in goes.
    variables = clean(request.variables)
    variables.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # so that torch counts GPUs as NVML and this program do
    if all(is_uuid(device) for device in request.devices):
        # The driver matches them, of MIG instances too, where torch's own properties have no UUID (before 2.4).
        variables["CUDA_VISIBLE_DEVICES"] = ",".join(request.devices)
    limits = request.limits or LIMITS[Level.FULL if request.launcher else request.level]
    asked = _request(request, limits)
    command: tuple[str, ...] = (request.interpreter, CHILD, DESCRIPTOR, asked)
    given = b""
    if request.inside is not None:
        command, given = request.inside.command(mark, asked)
    stream = world.streams.start(command, environment={**variables, MARK: mark}, given=given)
    if isinstance(stream, NotStarted):
        if stream.missing:
            why_not_started = text("there is no interpreter at {path}", path=command[0])
        else:
            why_not_started = text(
                "{path} could not be started: {words}; it must be the Python of an environment", path=command[0], words=stream.words
            )
        return replace(blank, error=why_not_started)
    transcript = Transcript()
    try:
        stop = _listen(stream, transcript, _Deadlines(world.clock, limits), on_event=on_event, cancelled=cancelled)
        ended = stream.end(patience=limits.ending if stop is _Stop.GONE else 0.0)
    finally:
        if stream.end().ended_by_us and request.inside is not None and (end := request.inside.end_command(mark)):
            world.processes.run(end, seconds=_ENDING_SECONDS, environment=variables)
        world.programs.end_marked(mark)  # what left its process group, which `end` ended
    return _result(blank, transcript, stop, ended)


class _Stop(Enum):
    """Why listening ended: the report was closed, a limit was passed, the user does not want it any more, or it made no sense."""

    GONE = "gone"
    LATE = "late"
    CANCELLED = "cancelled"
    NONSENSE = "nonsense"


class _Deadlines:
    """When the child must have said its next word, and its last: it watches its workers by itself, this watches the child."""

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock, self._limits = clock, limits
        self._last = clock.monotonic() + limits.overall
        self._next = clock.monotonic() + limits.importing

    def heard(self, event: Event) -> None:
        """It said something: the next word has the time of the slowest check; what is quick has an end after the import."""
        now, limits = self._clock.monotonic(), self._limits
        slowest = max(limits.start, limits.gpu, limits.cpu, limits.compiling) + limits.ending
        self._next = now + slowest
        if isinstance(event, Imported) and limits.checks:
            self._last = min(self._last, now + limits.checks + slowest)

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
            try:
                event = parse(line)
                deadlines.heard(event)
                transcript.take(event)
            except ProtocolError as error:
                transcript.nonsense = error.reason
                return _Stop.NONSENSE
            on_event(event)


def _result(blank: Verification, transcript: Transcript, stop: _Stop, ended: Ended) -> Verification:
    error = _why_stopped(transcript, stop, ended)
    nothing_proved = stop is _Stop.CANCELLED or _too_old(transcript, ended)
    verdict = Verdict.HUNG if stop is _Stop.LATE else Verdict.SKIPPED if nothing_proved else Verdict.ERROR
    devices = transcript.devices(verdict, error)
    return replace(
        blank,
        environment=transcript.environment,
        devices=devices,
        error=error,
        output=ended.output,
        visible=transcript.accelerators,
        no_accelerator=transcript.no_accelerator,
        shown_by_driver=transcript.shown_by_driver,
        verdict=_overall(transcript, devices, verdict),
        cancelled=stop is _Stop.CANCELLED,
        libraries=libraries_of(transcript.process) if transcript.process is not None else (),
        library_faults=faults_of(transcript.process) if transcript.process is not None else (),
    )


def _overall(transcript: Transcript, devices: tuple[DeviceVerdict, ...], verdict: Verdict) -> Verdict:
    refused = transcript.refused
    if refused is not None:
        return Verdict.SKIPPED if refused.error.startswith(_NOTHING_TO_VERIFY) else Verdict.HUNG if refused.hung else Verdict.ERROR
    found = {device.verdict for device in devices}
    worst = worst_of(found)
    if worst is not None or not transcript.finished:
        return worst or verdict
    return Verdict.SKIPPED if Verdict.SKIPPED in found or not found else Verdict.PASS


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
        if _too_old(transcript, ended):
            return text("this Python is too old: the checks need Python 3.8 or newer{said}", said=_said(ended))
        if not transcript.began:
            return text("the process ended with status {status} without a report{said}", status=ended.status, said=_said(ended))
        return text("the process ended with status {status} before it was done{said}", status=ended.status, said=_said(ended))
    late = text("it hung, and was ended with all its processes")
    if not transcript.began:
        late = text("torch was not imported in time; the process was ended with all that it had started")
    reasons = {_Stop.CANCELLED: text("it was stopped"), _Stop.LATE: late}
    return reasons.get(stop, transcript.nonsense)


def _too_old(transcript: Transcript, ended: Ended) -> bool:
    return not transcript.began and _TOO_OLD in ended.output


def _said(ended: Ended) -> Text:
    lines = [line for line in ended.output.splitlines() if line.strip()][-_TAIL_LINES:]
    return text("; it said: {words}", words=" / ".join(lines)) if lines else verbatim("")


def _request(request: RunRequest, limits: Limits) -> str:
    """What the child is asked, as it reads it."""
    devices = ["cuda"] if all(is_uuid(device) for device in request.devices) else list(request.devices)
    seconds = {"start": limits.start, "gpu": limits.gpu, "cpu": limits.cpu, "compiling": limits.compiling, "all": limits.checks}
    asked: dict[str, object] = {"devices": devices, "level": request.level.value, "limits": seconds, "scratch": request.scratch}
    if request.launcher:
        asked |= {"launcher": list(request.launcher), "joining": limits.joining, "script": CHILD}
    return json.dumps(asked)


def is_uuid(device: str) -> bool:
    """Whether a device is named by the driver's own identity of it."""
    return device.startswith(("GPU-", "MIG-"))
