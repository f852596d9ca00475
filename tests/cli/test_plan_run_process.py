"""`plan --run` and `--resume` as real processes: Ctrl-C at a terminal, a terminal that is closed, and what is left afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpuassist.cli import doctor
from gpuassist.context import Session
from gpuassist.install.execution import mark
from gpuassist.install.records import Install, StepState, installs
from gpuassist.present.marks import Exit
from gpuassist.system.stop_process import marked
from tests.cli.made_session import run_live
from tests.install.installs_made import begun, script, session_at

_STEP = "import time\nprint('under way', flush=True)\ntry: time.sleep(100)\nfinally: print('put back')"


@dataclass
class Started:
    """A `plan --resume` that is under way, and its step too."""

    process: subprocess.Popen[bytes]
    session: Session

    @property
    def install(self) -> Install:
        (found,) = installs(self.session.world)
        return found

    def ends(self) -> int:
        return self.process.wait()

    def left(self) -> tuple[int, ...]:
        return marked(mark(self.session, self.install, 0))


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Started]:
    session = session_at(tmp_path / "home")
    begun(session, script(_STEP), script("print('never')"))
    variables = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpuassist", "plan", "--resume", "--yes"],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    made = Started(process, session)
    while not made.left() and process.poll() is None:
        time.sleep(0.05)  # it is another process: there is nothing to wait on but what it does
    assert made.left(), (tmp_path / "out").read_text()
    yield made
    if process.poll() is None:
        process.kill()
        process.wait()
    session.world.programs.end_marked(mark(session, made.install, 0))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cancels_the_step_cleanly(started: Started, number: signal.Signals) -> None:
    started.process.send_signal(number)
    assert started.ends() == Exit.INTERRUPTED
    assert started.left() == ()
    assert [one.state for one in started.install.steps] == [StepState.CANCELLED, StepState.WAITING]


def test_a_second_ctrl_c_leaves_nothing_half_recorded(started: Started) -> None:
    for _ in range(5):
        started.process.send_signal(signal.SIGINT)
    assert started.ends() == Exit.INTERRUPTED
    assert started.left() == ()
    assert started.install.steps[0].state is StepState.CANCELLED


def test_killed_outright_it_is_told_and_cleaned_up_later(started: Started) -> None:
    started.process.kill()
    started.ends()
    assert started.install.steps[0].state is StepState.RUNNING
    told = run_live(doctor, session=started.session)
    assert "The install of torch waits at step 1 of 2: run a script: gpuassist plan --resume" in told.out


def test_doctor_says_nothing_where_nothing_waits(tmp_path: Path) -> None:
    assert "--resume" not in run_live(doctor, session=session_at(tmp_path / "home")).out
