"""Installs for tests: steps of scripts and of real pip on record under a test's own home."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpuassist.context import Session
from gpuassist.install.records import Install, begin
from gpuassist.model.plan import Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.system.streams import NotStarted, Program, ProgramEnd, Quiet
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import knowledge


def session_at(home: Path) -> Session:
    """A live session of a user who lives there."""
    home.mkdir(exist_ok=True)
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    return Session(World(Surroundings(str(home), "you", os.geteuid(), variables, str(home))), knowledge(), ENGLISH)


def script(source: str, *, creates: str = "", proof: StepProof | None = None) -> Step:
    """A step of one program in Python."""
    run = StepRun(((sys.executable, "-c", source),), Tool.PIP, creates=creates)
    return Step(StepKind.COMMAND, verbatim("run a script"), ("python -c …",), run=run, proof=proof)


def by_user(kind: StepKind, proof: StepProof | None = None) -> Step:
    """A step that the user takes."""
    return Step(kind, verbatim(f"a {kind.value}"), ("sudo something",), needs_root=kind is StepKind.ROOT_COMMAND, proof=proof)


def begun(session: Session, *steps: Step, directory: str = "") -> Install:
    """An install of these on record."""
    return begin(session, "torch", steps, goals=("torch",), directory=directory or session.world.surroundings.home)


@dataclass
class ScriptedProgram:
    """Prints its pieces and ends with its status."""

    pieces: list[bytes]
    status: int = 0

    def read(self, *, seconds: float) -> bytes | Quiet:
        return self.pieces.pop(0) if self.pieces else Quiet.CLOSED

    def ended(self) -> bool:
        return not self.pieces

    def interrupt(self) -> None:
        self.pieces.clear()

    def terminate(self) -> None:
        self.pieces.clear()

    def end(self) -> ProgramEnd:
        return ProgramEnd(self.status)


@dataclass
class ScriptedPrograms:
    """Every program prints the same and ends with this status; what was started, in order."""

    pieces: tuple[bytes, ...] = (b"working\n",)
    status: int = 0
    started: list[tuple[str, ...]] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
        self.started.append(tuple(command))
        self.directories.append(directory)
        return ScriptedProgram(list(self.pieces), self.status)

    def marked(self, mark: str) -> tuple[int, ...]:
        return ()

    def end_marked(self, mark: str) -> int:
        self.ended.append(mark)
        return 0
