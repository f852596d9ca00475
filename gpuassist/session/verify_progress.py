"""A verification under way as a value: which checks wait, which run and since when, what came of the others.

Events go in, a new value comes out.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.verdict import Check, Verification
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, Event, Imported, Planned, Started
from gpuassist.verify.runner import LIMITS, Level


class RunStage(str, Enum):
    """What the child is at."""

    IMPORTING = "importing"
    STARTING = "starting"
    CHECKING = "checking"


class CheckState(str, Enum):
    """Where a check is; one that never came to its turn is `LEFT`."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    LEFT = "left"


class CheckLine(Struct, frozen=True):
    """A check on a device; `check` is what came of it once it is done, `since` when it began."""

    device: str
    planned: Planned
    state: CheckState = CheckState.WAITING
    check: Check | None = None
    since: float = 0.0


class VerifyProgress(Struct, frozen=True):
    """All checks of a run; `environment` is what the child says of itself, `since` when its stage began, `imported` when torch was
    there: in seconds of whichever clock the events were followed by.
    """

    stage: RunStage = RunStage.IMPORTING
    since: float = 0.0
    imported: float = 0.0
    environment: tuple[tuple[str, str], ...] = ()
    devices: tuple[Device, ...] = ()
    lines: tuple[CheckLine, ...] = ()

    @property
    def done(self) -> int:
        """How many checks are done."""
        return sum(line.state is CheckState.DONE for line in self.lines)

    @property
    def slowest(self) -> CheckLine | None:
        """Of the checks that run, the one that has run longest."""
        running = [line for line in self.lines if line.state is CheckState.RUNNING]
        return min(running, key=lambda line: line.since) if running else None


def follow(progress: VerifyProgress, event: Event, at: float = 0.0) -> VerifyProgress:
    """The progress after an event that came at this time."""
    if isinstance(event, Imported):
        return replace(progress, stage=RunStage.STARTING, since=at, imported=at)
    if isinstance(event, Started):
        lines = tuple(CheckLine(one.device, planned) for one in event.devices for planned in one.checks)
        imported = progress.imported or at
        return VerifyProgress(RunStage.CHECKING, at, imported, event.environment, event.devices, lines)
    if isinstance(event, CheckBegun):
        planned = Planned(event.name, event.dtype)
        return _with(progress, CheckLine(event.device, planned, CheckState.RUNNING, since=at))
    if isinstance(event, CheckDone):
        planned = Planned(event.check.name, event.check.dtype)
        return _with(progress, CheckLine(event.device, planned, CheckState.DONE, event.check))
    return progress


def conclude(progress: VerifyProgress, result: Verification) -> VerifyProgress:
    """The progress when the run has ended: what the result says of each check counts, and the rest was left."""
    told = {(device.device, Planned(check.name, check.dtype)): check for device in result.devices for check in device.checks}
    lines = tuple(_ended(line, told.get((line.device, line.planned))) for line in progress.lines)
    return replace(progress, lines=lines)


def limit_of(stage: RunStage, level: Level) -> float:
    """How many seconds a stage may take; 0 where there is no such limit."""
    limits = LIMITS[level]
    return {RunStage.IMPORTING: limits.importing, RunStage.STARTING: limits.start, RunStage.CHECKING: limits.checks}[stage]


def seconds_left(progress: VerifyProgress, level: Level, at: float) -> float | None:
    """Until the last check begins or is cut off, where the level has such an end."""
    limit = LIMITS[level].checks
    if not limit or progress.stage is not RunStage.CHECKING:
        return None
    return max(0.0, progress.imported + limit - at)


def _ended(line: CheckLine, check: Check | None) -> CheckLine:
    if check is not None:
        return replace(line, state=CheckState.DONE, check=check)
    return line if line.state is CheckState.DONE else replace(line, state=CheckState.LEFT)


def _with(progress: VerifyProgress, new: CheckLine) -> VerifyProgress:
    same = (new.device, new.planned)
    return replace(progress, lines=tuple(new if (line.device, line.planned) == same else line for line in progress.lines))
