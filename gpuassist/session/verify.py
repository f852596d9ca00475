"""Proving a torch: which environment, in which surroundings, what each check is called, and how far a run has come."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect import environments
from gpuassist.model.environment import Accelerator, PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.verdict import Check, Verification
from gpuassist.system.terminal import own_terminal, that_matter
from gpuassist.system.world import World
from gpuassist.verify.protocol import CheckBegun, CheckDone, Event, Planned, Started
from gpuassist.verify.runner import Cancelled, Level, OnEvent, RunRequest, run

_PYTHONS = ("python", "python3")


class VerifyRequest(Struct, frozen=True):
    """Which interpreter, on which devices (`all`, or indices, UUIDs and `cpu`), how thoroughly. Where a `terminal` is given, its
    variables count and not those that gpuassist itself was started with.
    """

    interpreter: str
    devices: tuple[str, ...] = ("all",)
    level: Level = Level.QUICK
    terminal: Terminal | None = None


def rests_on(machine: Machine, interpreter: str) -> tuple[object, ...]:
    """The facts that a verification rests on: when they change, what it came to may not hold any more."""
    environment = [one for one in value_or(machine.environments, ()) if value_or(one.interpreter, "") == interpreter]
    gpus = [(gpu.pci_address, gpu.uuid, gpu.mig_enabled) for gpu in value_or(machine.gpus, ())]
    terminal = machine.shell.new_terminal
    return environment, gpus, machine.driver, value_or(terminal, None)


def verify(session: Session, request: VerifyRequest, *, on_event: OnEvent, cancelled: Cancelled) -> Verification:
    """Runs the checks; whatever goes wrong is in the result. `on_event` is called on this thread for every event."""
    variables = dict(session.world.surroundings.variables)
    if request.terminal is not None:
        for variable in that_matter(variables):
            del variables[variable.name]
        variables.update({variable.name: variable.value for variable in request.terminal.variables})
    wish = RunRequest(request.interpreter, variables, request.devices, request.level)
    return run(session.world, wish, on_event=on_event, cancelled=cancelled)


def interpreter_at(world: World, path: str) -> Fact[str]:
    """The interpreter that a user means by a path: the file itself, or that of the environment in a directory."""
    place = os.path.abspath(path)
    if not world.files.is_directory(place):
        found = [place] if world.files.is_file(place) else []
    else:
        found = [one for name in _PYTHONS if world.files.is_file(one := f"{place}/bin/{name}")]
        found += [one for name in _PYTHONS if world.files.is_file(one := f"{place}/{name}")]
    return Known(found[0], path) if found else Unknown(text("there is no Python interpreter at {path}", path=path))


def find_environments(session: Session) -> Fact[tuple[PythonEnvironment, ...]]:
    """The environments of this machine as its files describe them, without asking a shell."""
    return environments.probe(session.world, own_terminal(session.world))


def choose(found: Fact[tuple[PythonEnvironment, ...]]) -> Fact[PythonEnvironment]:
    """The environment to verify unless the user says which: the active one that has a torch, else the first with a GPU's torch."""
    if isinstance(found, Unknown):
        return found
    usable = [one for one in found.value if value_or(one.torch, ()) and isinstance(one.interpreter, Known)]
    if not usable:
        return Unknown(text("no Python environment with torch was found; name one with --python"))
    return Known(min(usable, key=_rank), found.source)


def check_label(check: Check | CheckBegun | Planned) -> Text:
    """What a check is called."""
    return _LABELS.get(check.name, verbatim(check.name))


def verdict_on_accelerators(verification: Verification) -> Text:
    """What the run proves of the GPUs, in a sentence."""
    passed = sum(device.device != "cpu" and device.verdict.value == "pass" for device in verification.devices)
    if verification.accelerator_verified:
        return text("Every GPU that this torch sees computed the right results.")
    if verification.visible:
        return counted(
            "The GPU that this torch sees is not verified.",
            "{passed} of the {count} GPUs that this torch sees are verified.",
            verification.visible,
            passed=passed,
        )
    if verification.no_accelerator:
        return text("No accelerator was verified: {reason}.", reason=verification.no_accelerator)
    return text("No accelerator was verified.")


_LABELS: Mapping[str, Text] = {
    "matmul": text("matrix product"),
    "elementwise": text("functions of each element"),
    "reduction": text("sums"),
    "convolution": text("convolution"),
    "backward": text("backward pass"),
    "copy-to-device": text("copy to the device, checksum"),
    "copy-from-device": text("copy back, every value"),
    "memory-returned": text("memory given back"),
    "fft": text("Fourier transform"),
    "solve": text("system of equations"),
    "memory-pattern": text("patterns in free memory"),
}


def _rank(environment: PythonEnvironment) -> tuple[bool, bool]:
    accelerators = [torch.accelerator for torch in value_or(environment.torch, ())]
    for_cpu = all(isinstance(one, Known) and one.value is Accelerator.CPU for one in accelerators)
    return not environment.active.is_true, for_cpu


# A run under way as a value: which checks wait, which one runs, what came of the others. Events in, a new value out.


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
