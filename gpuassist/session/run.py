"""`gpuassist run`: a command of the user's in our place, its memory told from inside and followed from outside.

Whoever wants the samples of a run (a recording) is one of its `watchers`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from threading import Event, Thread

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.formats.visible import visible
from gpuassist.model.fact import Unknown
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.ring_source import live_source
from gpuassist.monitor.run_place import SNAPSHOTS, make_run_place
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import EVERYTHING, Detail
from gpuassist.session.run_tally import GpuShare, RunTally, TorchTally, TorchTotals
from gpuassist.system.desktop_notice import show_notice
from gpuassist.system.foreground import ForegroundEnd, NotRunError, run_here, signals_held
from gpuassist.system.own_child import clean
from gpuassist.system.world import World

HZ = 1.0
_WANTED: frozenset[Detail] = frozenset()  # memory, load and power are all that a run is summed up by
_SHELL = "/bin/sh"
_ON_IDLE_SECONDS = 3600.0
_JUST_NOW_SECONDS = 60.0
_LAST_SAMPLE_SECONDS = 1.0

Watcher = Callable[[Sample], None]


class RunEnding(str, Enum):
    """What there is to tell of a run."""

    FINISHED = "finished"
    FAILED = "failed"
    OUT_OF_MEMORY = "out-of-memory"
    IDLE = "idle"


class RunReport(Struct, frozen=True):
    """What came of it, or of it so far where it is idle."""

    outcome: RunEnding
    seconds: float
    end: ForegroundEnd | None = None
    gpus: tuple[GpuShare, ...] = ()
    torch: TorchTotals = TorchTotals()
    joules: float | None = None


class Aftermath(Struct, frozen=True):
    """What is done once there is something to tell: words on the desktop, a command for a shell; and when a run counts as idle."""

    notify: bool = False
    command: str = ""
    idle_seconds: float = 0.0


class RunWish(Struct, frozen=True):
    """The command as words, the variables that choose its GPUs, and where torch's snapshots go that are asked for."""

    command: tuple[str, ...]
    variables: dict[str, str]
    aftermath: Aftermath = Aftermath()
    watchers: tuple[Watcher, ...] = ()
    snapshots: str = ""


Tell = Callable[[RunReport], Text]
"""A report in words."""


def run_command(session: Session, request: RunWish, tell: Tell, note: Callable[[Text], None]) -> RunReport:
    """Runs it to its end; raises `NotRunError` where it cannot be started. What cannot be done around it is noted before."""
    world, clock = session.world, session.world.clock
    made = make_run_place(world.surroundings)
    place = None if isinstance(made, Unknown) else made.value
    if isinstance(made, Unknown):
        note(text("torch's own figures will be missing: {reason}", reason=made.reason))
    environment = {**own_variables(world), **request.variables}
    if request.snapshots:
        environment[SNAPSHOTS] = request.snapshots
    tally = RunTally(world.files, place.path if place is not None else "", request.aftermath.idle_seconds)
    told = TorchTally(world.files, place.path) if place is not None else None
    began = clock.monotonic()
    ending, last_seen = Event(), Event()

    def take(sample: Sample) -> None:
        tally.add(sample)
        if told is not None:
            told.fold(clock.monotonic())
        is_last = ending.is_set()
        for watcher in request.watchers:
            watcher(sample)
        if is_last:
            last_seen.set()
        if tally.became_idle():
            report = RunReport(RunEnding.IDLE, clock.monotonic() - began, gpus=tally.gpus({}), joules=tally.joules)
            Thread(target=follow_up, args=(session, request, report, tell(report)), name="gpuassist idle", daemon=True).start()

    with signals_held():
        wanted = EVERYTHING if request.watchers else _WANTED
        source = live_source(world, wanted=wanted)
        source.look_around()
        sampler = Sampler(source, clock, take, hz=HZ)
        sampler.start()
        try:
            end = run_here(request.command, place.variables(environment) if place is not None else environment)
        finally:
            seconds = clock.monotonic() - began
            ending.set()
            if request.watchers:  # what the program said last, an out-of-memory above all, is still to be read
                for _ in range(2):  # one may have begun before the end
                    last_seen.clear()
                    source.look_again()
                    sampler.pace(HZ)
                    last_seen.wait(_LAST_SAMPLE_SECONDS)
            sampler.stop()
            totals = told.end() if told is not None else TorchTotals()
            if place is not None:
                place.remove()
    return RunReport(_outcome(end, totals, clock.since_boot()), seconds, end, tally.gpus(totals.peaks), totals, tally.joules)


def follow_up(session: Session, request: RunWish, report: RunReport, words: Text) -> Text | None:
    """Tells the desktop and runs the user's own command, as far as either is asked for; what failed of it, where something did."""
    world, aftermath = session.world, request.aftermath
    trouble = None
    said = session.words(words)
    if aftermath.notify:
        title = visible(" ".join(request.command)[:200])
        trouble = show_notice(world, title, visible(said), urgent=report.outcome in {RunEnding.FAILED, RunEnding.OUT_OF_MEMORY})
    if aftermath.command:
        status = str(report.end.status) if report.end is not None else ""
        about = {"GPUASSIST_OUTCOME": report.outcome.value, "GPUASSIST_STATUS": status, "GPUASSIST_SUMMARY": said}
        variables = {**own_variables(world), **about}
        if report.outcome is RunEnding.IDLE:
            world.processes.run((_SHELL, "-c", aftermath.command), seconds=_ON_IDLE_SECONDS, environment=variables)
        else:
            trouble = _run_after(aftermath.command, variables) or trouble
    return trouble


def own_variables(world: World) -> dict[str, str]:
    """What the user's own programs are started with: what we were, without what a frozen gpuassist has put in."""
    return clean(world.surroundings.variables)


def _run_after(command: str, variables: dict[str, str]) -> Text | None:
    """What it prints goes to standard error: standard output is the run's own, and may be a file or a pipe."""
    with signals_held():
        try:
            end = run_here((_SHELL, "-c", command), variables, to_standard_error=True)
        except NotRunError as error:  # a system without a shell
            return text("the command of --on-end could not be started: {words}", words=error.words)
    return text("the command of --on-end failed with status {status}", status=end.status) if end.status else None


def _outcome(end: ForegroundEnd, totals: TorchTotals, now: float) -> RunEnding:
    if end.status == 0:
        return RunEnding.FINISHED
    just_now = totals.last_out_of_memory is not None and now - totals.last_out_of_memory < _JUST_NOW_SECONDS
    return RunEnding.OUT_OF_MEMORY if just_now else RunEnding.FAILED
