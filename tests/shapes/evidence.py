"""What the shells of a shape said when they were asked for real: kept as data, and given to a plan in place of shells."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from msgspec.structs import replace

from gpuassist.changes import shell_files, use_toolkit
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.codec import decode, encode
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, Terminal
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.processes import Ending, Processes, ProcessResult
from gpuassist.system.shell_trace import Trace, trace_startup
from gpuassist.system.terminal import Opening, ShellState, ask_shell, ask_ways
from gpuassist.system.world import World

CHOSEN, INSTALLED = "13.0", ("11.8", "12.4", "13.0")
_TERMINAL: Any = Known[Terminal] | Unknown
_CHANGE = re.compile(rb"\d{8}-\d{6}-[0-9a-f]{6}")


@dataclass
class Evidence:
    """A terminal of a session, the ways that a plan asks for beside it, the user's files that a trace passed through (None: it was
    not made), and what programs said that were run: for each command and what was written to it, status, output and errors.
    """

    terminal: Fact[Terminal]
    ways: dict[str, Fact[Terminal]] = field(default_factory=dict)
    traced: list[str] | None = None
    said: dict[str, tuple[int, str, str]] = field(default_factory=dict)


def as_json(evidence: Evidence) -> dict[str, Any]:
    """For a file."""
    ways = {name: encode(fact, ENGLISH) for name, fact in evidence.ways.items()}
    said = {key: list(words) for key, words in evidence.said.items()}
    return {"terminal": encode(evidence.terminal, ENGLISH), "ways": ways, "traced": evidence.traced, "said": said}


def from_json(data: Mapping[str, Any]) -> Evidence:
    """From a file."""
    ways = {name: decode(_TERMINAL, fact) for name, fact in data["ways"].items()}
    said = {key: (status, out, err) for key, (status, out, err) in data["said"].items()}
    return Evidence(decode(_TERMINAL, data["terminal"]), ways, data["traced"], said)


def toolkits(parent: str = "/usr/local") -> tuple[Toolkit, ...]:
    """Those of every shape's machine."""
    return tuple(Toolkit(f"{parent}/cuda-{name}", version=Known(Version.parse(f"{name}.48"), "x")) for name in INSTALLED)


def machine_with(terminal: Fact[Terminal], shell: str, parent: str = "/usr/local") -> Machine:
    """As much of a machine as a toolkit is chosen by."""
    own = Shell(login_shell=Known(shell, "x"), new_terminal=terminal)
    return Machine("2026", toolkits=Known(toolkits(parent), "x"), shell=own)


def record(world: World) -> Evidence:
    """Asks real shells all that a plan asks them; for the user whose shape this is."""
    evidence = Evidence(_nvcc_alone(ask_shell(world, Opening.TERMINAL).terminal))

    def asked(_: World, openings: Sequence[Opening]) -> dict[Opening, ShellState]:
        found = ask_ways(world, openings)
        evidence.ways.update({opening.value: _nvcc_alone(one.terminal) for opening, one in found.items()})
        return found

    def traced(_: World, names: Sequence[str]) -> Fact[Trace]:
        found = trace_startup(world, names)
        home = f"{world.surroundings.home}/"
        if isinstance(found, Known):
            evidence.traced = list(dict.fromkeys(path for path, _ in found.value.taken if path.startswith(home)))
        return found

    heard = World(world.surroundings, world.files, _Heard(world.processes, evidence.said), world.clock, world.resources)
    with _seams(asked, traced), suppress(RepairError):
        plan_use_cuda(heard, machine_with(evidence.terminal, world.surroundings.login_shell), UseCuda(CHOSEN))
    return evidence


def _nvcc_alone(fact: Fact[Terminal]) -> Fact[Terminal]:
    """Compilers of the machine that it was recorded on are no part of a shape."""
    if isinstance(fact, Unknown):
        return fact
    return replace(fact, value=replace(fact.value, commands=tuple(one for one in fact.value.commands if one.name == "nvcc")))


def planned(world: World, evidence: Evidence) -> ChangePlan:
    """The plan that follows from what was said once; no shell is started."""

    def asked(_: World, openings: Sequence[Opening]) -> dict[Opening, ShellState]:
        return {opening: ShellState(evidence.ways.get(opening.value, NOT_ASKED), 0.0) for opening in openings}

    def traced(_: World, names: Sequence[str]) -> Fact[Trace]:
        if evidence.traced is None:
            return Unknown(text("no trace was recorded"))
        steps = {(path, 1): number for number, path in enumerate(evidence.traced)}
        return Known(Trace((), steps, dict.fromkeys(names), whole=True, seconds=0.0), "set -x")

    with _seams(asked, traced):
        return plan_use_cuda(world, machine_with(evidence.terminal, world.surroundings.login_shell), UseCuda(CHOSEN))


@contextmanager
def _seams(asked: Callable[..., Any], traced: Callable[..., Any]) -> Iterator[None]:
    with patch.object(use_toolkit, "ask_ways", asked), patch.object(shell_files, "trace_startup", traced):
        yield


def _key(command: Sequence[str], stdin: bytes) -> str:
    neutral = hashlib.sha256(_CHANGE.sub(b"ID", stdin)).hexdigest()[:12]
    return f"{' '.join(command)} < {neutral}"


class _Heard:
    """Real programs, and what they said."""

    def __init__(self, processes: Processes, said: dict[str, tuple[int, str, str]]) -> None:
        self._processes, self._said = processes, said

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        outcome = self._processes.run(
            command, seconds=seconds, environment=environment, directory=directory, stdin=stdin, cancelled=cancelled
        )
        words = (outcome.stdout.decode("latin-1"), outcome.stderr.decode("latin-1"))
        if outcome.ending is Ending.EXITED and (outcome.status or any(words)):
            self._said[_key(command, stdin)] = (outcome.status, *words)
        return outcome


class Repeated:
    """Programs that say again what they said; one that said nothing then, and ended well, does so again."""

    def __init__(self, evidence: Evidence) -> None:
        self._said = evidence.said

    def run(
        self,
        command: Sequence[str],
        *,
        seconds: float,
        environment: Mapping[str, str],
        directory: str = "/",
        stdin: bytes = b"",
        cancelled: Callable[[], bool] | None = None,
    ) -> ProcessResult:
        status, out, err = self._said.get(_key(command, stdin), (0, "", ""))
        return ProcessResult(Ending.EXITED, status, out.encode("latin-1"), err.encode("latin-1"), 0.0)
