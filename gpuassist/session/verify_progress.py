"""A verification under way as pure data: which checks wait, which one runs, what came of the others. Events in, a new value out."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.verdict import Check, Verification
from gpuassist.verify.protocol import CheckBegun, CheckDone, Event, Planned, Started


class CheckState(str, Enum):
    """Where a check is; one that never came to its turn is `LEFT`."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    LEFT = "left"


class CheckLine(Struct, frozen=True):
    """A check on a device; `check` is what came of it once it is done."""

    device: str
    planned: Planned
    state: CheckState = CheckState.WAITING
    check: Check | None = None


class VerifyProgress(Struct, frozen=True):
    """All checks of a run; `names` are the devices with what they are, `environment` what the child says of itself."""

    environment: tuple[tuple[str, str], ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    lines: tuple[CheckLine, ...] = ()

    @property
    def done(self) -> int:
        """How many checks are done."""
        return sum(line.state is CheckState.DONE for line in self.lines)


def follow(progress: VerifyProgress, event: Event) -> VerifyProgress:
    """The progress after an event."""
    if isinstance(event, Started):
        lines = tuple(CheckLine(one.device, planned) for one in event.devices for planned in event.checks)
        return VerifyProgress(event.environment, tuple((one.device, one.name) for one in event.devices), lines)
    if isinstance(event, CheckBegun):
        return _with(progress, CheckLine(event.device, Planned(event.name, event.dtype), CheckState.RUNNING))
    if isinstance(event, CheckDone):
        planned = Planned(event.check.name, event.check.dtype)
        return _with(progress, CheckLine(event.device, planned, CheckState.DONE, event.check))
    return progress


def conclude(progress: VerifyProgress, result: Verification) -> VerifyProgress:
    """The progress when the run has ended: what the result says of each check counts, and the rest was left."""
    told = {(device.device, Planned(check.name, check.dtype)): check for device in result.devices for check in device.checks}
    lines = tuple(_ended(line, told.get((line.device, line.planned))) for line in progress.lines)
    return replace(progress, lines=lines)


def _ended(line: CheckLine, check: Check | None) -> CheckLine:
    if check is not None:
        return replace(line, state=CheckState.DONE, check=check)
    return line if line.state is CheckState.DONE else replace(line, state=CheckState.LEFT)


def _with(progress: VerifyProgress, new: CheckLine) -> VerifyProgress:
    same = (new.device, new.planned)
    return replace(progress, lines=tuple(new if (line.device, line.planned) == same else line for line in progress.lines))
