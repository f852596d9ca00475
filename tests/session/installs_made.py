"""Installs for tests: steps of scripts and of real pip on record under a test's own home."""

from __future__ import annotations

import sys
from pathlib import Path

from gpuassist.model.plan import Run, Step, StepKind, StepProof, Tool
from gpuassist.model.text import verbatim
from gpuassist.session.context import Session
from gpuassist.session.installs import Install, begin
from gpuassist.session.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import knowledge


def session_at(home: Path) -> Session:
    """A live session of a user who lives there."""
    home.mkdir(exist_ok=True)
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    return Session(World(Surroundings(str(home), "you", 1000, variables, str(home))), knowledge(), ENGLISH)


def script(source: str, *, creates: str = "", proof: StepProof | None = None) -> Step:
    """A step of one program in Python."""
    run = Run(((sys.executable, "-c", source),), Tool.PIP, creates=creates)
    return Step(StepKind.COMMAND, verbatim("run a script"), ("python -c …",), run=run, proof=proof)


def by_user(kind: StepKind, proof: StepProof | None = None) -> Step:
    """A step that the user takes."""
    return Step(kind, verbatim(f"a {kind.value}"), ("sudo something",), needs_root=kind is StepKind.ROOT_COMMAND, proof=proof)


def begun(session: Session, *steps: Step, directory: str = "") -> Install:
    """An install of these on record."""
    return begin(session, "torch", steps, goals=("torch",), directory=directory or session.world.surroundings.home)
