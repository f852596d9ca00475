"""Proving a torch: which environment, in which surroundings, and what each check is called."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

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
from gpuassist.verify.protocol import CheckBegun, Planned
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
    return environment, gpus, machine.driver, terminal.value if isinstance(terminal, Known) else None


def verify(session: Session, request: VerifyRequest, *, on_event: OnEvent, cancelled: Cancelled) -> Verification:
    """Runs the checks; whatever goes wrong is in the result. `on_event` is called on this thread for every event."""
    variables = _surroundings(session.world, request.terminal)
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
    return not value_or(environment.active, default=False), for_cpu


def _surroundings(world: World, terminal: Terminal | None) -> dict[str, str]:
    own = dict(world.surroundings.variables)
    if terminal is None:
        return own
    for variable in that_matter(own):
        del own[variable.name]
    return {**own, **{variable.name: variable.value for variable in terminal.variables}}
