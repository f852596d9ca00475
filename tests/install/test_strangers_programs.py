"""What root finds and another user could have put there is run by no part of an install: not to look, do, nor prove it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.dry_run_process import Conditions, look
from gpuassist.install.freeze import freeze
from gpuassist.install.run import RunContext, StepEnding, run_step
from gpuassist.install.step_proof import prove_step
from gpuassist.install.user_terminal import typing_command
from gpuassist.model.fact import Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.text import Text, verbatim
from gpuassist.system.surroundings import Surroundings
from gpuassist.verify.kernel import KernelVerdict, KernelWish, check_kernel
from tests.fakes import put
from tests.install.installs_made import session_at
from tests.strangers import NOBODY, OwnedFiles


@dataclass(frozen=True)
class Trap:
    """Root's session on a machine where a stranger's program says that it was run."""

    session: Session
    program: str
    ran: Path

    def run(self, *words: str) -> StepRun:
        return StepRun(((self.program, *words),), Tool.PIP, str(Path(self.program).parent.parent), self.program)


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    ran = tmp_path / "ran"
    program = put(tmp_path, "env/bin/python", f"#!/bin/sh\ntouch {ran}\n", mode=0o755)
    (program.parent / "xterm").symlink_to(program)
    put(tmp_path, "env/pyvenv.cfg", "version = 3.12.1\n")
    variables = {"PATH": f"{program.parent}:/usr/bin:/bin", "DISPLAY": ":0"}
    around = Surroundings(str(tmp_path / "home"), "root", 0, variables, str(tmp_path / "home"))
    session = session_at(tmp_path / "home")
    files = OwnedFiles(given={str(tmp_path / "env"): (NOBODY, 0o755)})
    return Trap(replace(session, world=replace(session.world, surroundings=around, files=files)), str(program), ran)


def _refused(trap: Trap, words: str) -> None:
    assert "is not run as root" in words
    assert "belongs to another user" in words
    assert not trap.ran.exists()


def test_an_environment_is_not_asked_what_it_holds(trap: Trap) -> None:
    found = freeze(trap.session, trap.run("-m", "pip", "install", "torch"))
    assert isinstance(found, Unknown)
    _refused(trap, trap.session.words(found.reason))


def test_a_tool_is_not_asked_what_it_would_do(trap: Trap) -> None:
    said = look(trap.session, Machine("x"), trap.run("-m", "pip", "install", "torch"), Conditions("/"))
    assert isinstance(said, Text)
    _refused(trap, trap.session.words(said))


@pytest.mark.parametrize("name", ["python", "env/bin/python"])
def test_a_step_is_not_run(trap: Trap, tmp_path: Path, name: str) -> None:
    """Found on PATH, or from where the step runs."""
    step = Step(StepKind.COMMAND, verbatim("a step"), run=StepRun(((name, "-c", ""),), Tool.PIP))
    around = RunContext(str(tmp_path), str(tmp_path / "log.txt"), "a mark")
    done = run_step(trap.session, step, around=around, on_line=lambda _: None, cancelled=lambda: False)
    assert done.ending is StepEnding.NOT_STARTED
    _refused(trap, trap.session.words(done.words))


@pytest.mark.parametrize("proves", [Proves.TORCH, Proves.NVCC])
def test_a_check_is_not_run(trap: Trap, proves: Proves) -> None:
    _refused(trap, trap.session.words(prove_step(trap.session, StepProof(proves, trap.program)).words))


def test_a_kernel_is_not_compiled(trap: Trap) -> None:
    found = check_kernel(trap.session.world, KernelWish(trap.program, "", {}))
    assert found.verdict is KernelVerdict.NOT_COMPILED
    _refused(trap, trap.session.words(found.words))


def test_no_terminal_of_theirs_is_opened(trap: Trap) -> None:
    assert trap.program not in typing_command(trap.session, ("sudo x",))
    assert not any(word.endswith("env/bin/xterm") for word in typing_command(trap.session, ("sudo x",)))
