"""The way back of installs: what is planned for each kind of step, with conda's and others' answers recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.execution import mark, take
from gpuassist.install.records import Install, InstallState, StepState, installs, save
from gpuassist.install.rollback import BackStep, plan_back, take_back
from gpuassist.install.run import StepEnding, StepOutcome
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.system.processes import Ending, ProcessResult
from tests.fakes import ScriptedProcesses
from tests.install.installs_made import ScriptedPrograms, begun, by_user, script, session_at

CHANNEL = "https://conda.anaconda.org/conda-forge/linux-64"
CPU = f"{CHANNEL}/pytorch-2.9.1-cpu_generic_py312_0.conda#11"
CUDA = f"{CHANNEL}/pytorch-2.9.1-cuda129_py312_0.conda#22"
OLD_NUMPY, NEW_NUMPY = f"{CHANNEL}/numpy-2.0.0-py312_0.conda#33", f"{CHANNEL}/numpy-2.4.0-py312_0.conda#44"
RUNTIME = f"{CHANNEL}/cuda-cudart-12.9.79-h5888daf_0.conda#55"
LIST = "conda list --prefix /e --explicit"
FREEZE = "/e/bin/python -m pip freeze --all --disable-pip-version-check"
PIP = StepRun((("/e/bin/python", "-m", "pip", "install", "torch"),), Tool.PIP, "/e", "/e/bin/python")
CONDA = StepRun((("conda", "install", "--yes", "--prefix", "/e", "pytorch=2.9.1=cuda*"),), Tool.CONDA, "/e", "/e/bin/python")


@dataclass
class Lab:
    """A session whose environment says what it holds each time anew."""

    home: Path
    asks: str = LIST
    programs: ScriptedPrograms = field(default_factory=ScriptedPrograms)
    holds: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def session(self) -> Session:
        session = session_at(self.home)
        processes = ScriptedProcesses({self.asks: self.answer})
        return replace(session, world=replace(session.world, processes=processes, programs=self.programs))

    def answer(self) -> ProcessResult:
        """What it holds now; the last answer stays."""
        lines = self.holds.pop(0) if len(self.holds) > 1 else self.holds[0]
        return ProcessResult(Ending.EXITED, 0, "\n".join(lines).encode(), b"", 0.1)

    def taken(self, run: StepRun) -> Install:
        """An install of that one step, done."""
        step = Step(StepKind.COMMAND, verbatim("Install torch"), run=run)
        install, done = take(self.session, begun(self.session, step), 0, on_line=lambda _: None, cancelled=lambda: False)
        assert done.ending is StepEnding.DONE, done
        return install

    def planned(self, install: Install) -> BackStep:
        """Its way back, of one step."""
        (back,) = plan_back(self.session, install)
        return back

    def back(self, install: Install, back: BackStep) -> tuple[Install, StepOutcome]:
        """Goes it."""
        return take_back(self.session, install, back, on_line=lambda _: None, cancelled=lambda: False)

    def says(self, done: StepOutcome) -> str:
        return self.session.words(done.words)


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path / "home")


def test_conda_gets_back_the_very_builds(lab: Lab) -> None:
    before, after = (CPU, OLD_NUMPY), (CUDA, NEW_NUMPY, RUNTIME)
    lab.holds = [before, after, after, before]
    install = lab.taken(CONDA)
    back = lab.planned(install)
    assert back.run is not None
    assert back.run.programs == (
        ("conda", "remove", "--yes", "--force", "--prefix", "/e", "cuda-cudart"),
        ("conda", "install", "--yes", "--prefix", "/e", OLD_NUMPY, CPU),
    )
    install, done = lab.back(install, back)
    assert (done.ending, install.state) == (StepEnding.DONE, InstallState.TAKEN_BACK)
    assert lab.says(done) == "everything is as it was before"


def test_the_lines_to_read_are_what_is_run(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    back = lab.planned(lab.taken(CONDA))
    assert back.commands == (f"conda install --yes --prefix /e '{CPU}'",)


def test_what_did_not_come_back_is_named(lab: Lab) -> None:
    lab.holds = [(CPU, OLD_NUMPY), (CUDA, NEW_NUMPY), (CUDA, NEW_NUMPY), (CPU, NEW_NUMPY)]
    install = lab.taken(CONDA)
    install, done = lab.back(install, lab.planned(install))
    assert (done.ending, install.steps[0].state) == (StepEnding.FAILED, StepState.DONE)
    assert lab.says(done) == "these are not as they were: numpy"


def test_a_way_back_that_fails_keeps_the_record(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    install = lab.taken(CONDA)
    back = lab.planned(install)
    lab.programs = ScriptedPrograms((b"CondaHTTPError: HTTP 000 CONNECTION FAILED\n",), status=1)
    install, done = lab.back(install, back)
    assert (done.ending, install.steps[0].state) == (StepEnding.FAILED, StepState.DONE)
    assert "CondaHTTPError" in lab.says(done)
    assert plan_back(lab.session, install)


def test_a_step_that_changed_nothing_needs_no_program(lab: Lab) -> None:
    lab.holds = [(CPU,)]
    install = lab.taken(CONDA)
    back = lab.planned(install)
    assert back.commands == ()
    started = len(lab.programs.started)
    install, done = lab.back(install, back)
    assert (done.ending, len(lab.programs.started)) == (StepEnding.DONE, started)


def test_an_environment_that_no_longer_answers_is_an_obstacle(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    install = lab.taken(CONDA)
    lab.asks = "nothing"
    back = lab.planned(install)
    assert back.obstacle is not None
    install, done = lab.back(install, back)
    assert (done.ending, install.steps[0].state) == (StepEnding.NOT_STARTED, StepState.DONE)


def test_an_editable_package_comes_back_as_such(lab: Lab) -> None:
    lab.asks = FREEZE
    mine = "-e git+https://example.org/mine.git@0123456#egg=mine"
    lab.holds = [(mine, "torch==2.8.0"), ("mine==1.0", "torch==2.9.1")]
    back = lab.planned(lab.taken(PIP))
    assert back.run is not None
    assert back.run.programs[-1][-3:] == ("-e", mine[3:], "torch==2.8.0")


def test_of_a_local_wheel_the_file_is_named(lab: Lab) -> None:
    lab.asks = FREEZE
    wheel = "flash_attn @ file:///home/you/flash_attn-2.8.3-cp312-cp312-linux_x86_64.whl"
    lab.holds = [(wheel,), ()]
    back = lab.planned(lab.taken(PIP))
    assert back.run is not None
    assert back.run.programs[-1][-1] == wheel


@pytest.mark.parametrize(
    ("lines", "indexes"),
    [
        (("torch==2.8.0+cu126", "torchvision==0.23.0+cu126"), ["https://download.pytorch.org/whl/cu126"]),
        (("torch==2.8.0+cpu", "torchaudio==2.7.0+cu118"), ["https://download.pytorch.org/whl/cpu", "https://download.pytorch.org/whl/cu118"]),
        (("torch==2.8.0",), []),
        (("mine @ https://example.org/a+b.whl",), []),
    ],
)  # fmt: skip
def test_builds_are_looked_for_where_they_are(lab: Lab, lines: tuple[str, ...], indexes: list[str]) -> None:
    lab.asks = FREEZE
    lab.holds = [lines, ()]
    back = lab.planned(lab.taken(PIP))
    assert back.run is not None
    assert sorted(word for word in back.run.programs[-1] if word.startswith("https://")) == sorted(indexes)


def test_of_the_users_own_steps_nothing_is_taken_back(lab: Lab) -> None:
    lab.holds = [()]
    install = begun(lab.session, by_user(StepKind.ROOT_COMMAND), by_user(StepKind.REBOOT), script("pass"))
    assert plan_back(lab.session, install) == ()


def test_the_last_step_goes_first(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    step = Step(StepKind.COMMAND, verbatim("x"), run=CONDA)
    install = begun(lab.session, step, step, step)
    for number in (0, 1):
        install, _ = take(lab.session, install, number, on_line=lambda _: None, cancelled=lambda: False)
    assert [one.number for one in plan_back(lab.session, install)] == [1, 0]


def test_what_was_killed_in_the_middle_is_taken_back_too(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    install = lab.taken(CONDA)
    install = install.with_step(0, replace(install.steps[0], state=StepState.RUNNING))
    save(lab.session.world, install)
    assert lab.planned(install).commands


def test_what_still_runs_is_ended_before_anything_is_asked(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,)]
    install = lab.taken(CONDA)
    lab.programs.ended.clear()
    lab.planned(install)
    assert lab.programs.ended == [mark(lab.session, install, 0)]


def test_a_step_without_an_environment_says_so(lab: Lab) -> None:
    lab.holds = [()]
    install = lab.taken(StepRun((("docker", "pull", "nvcr.io/nvidia/pytorch:25.10-py3"),), Tool.DOCKER))
    back = lab.planned(install)
    assert back.commands == ()
    assert "nothing to undo" in lab.session.words(back.text)


def test_programs_run_where_the_install_was_begun(lab: Lab, tmp_path: Path) -> None:
    lab.holds = [()]
    step = Step(StepKind.COMMAND, verbatim("x"), run=CONDA)
    install = begun(lab.session, step, directory=str(tmp_path))
    take(lab.session, install, 0, on_line=lambda _: None, cancelled=lambda: False)
    assert lab.programs.directories == [str(tmp_path)]


def test_a_directory_that_cannot_be_removed_is_said(lab: Lab, tmp_path: Path) -> None:
    lab.holds = [()]
    made = tmp_path / "made"
    made.write_text("a file where a directory was")
    install = begun(lab.session, script("pass", creates=str(made)))
    install = install.with_step(0, replace(install.steps[0], state=StepState.DONE, made=True))
    install, done = lab.back(install, lab.planned(install))
    assert (done.ending, install.steps[0].state, made.exists()) == (StepEnding.FAILED, StepState.DONE, True)


def test_one_taken_back_is_still_on_record_for_its_logs(lab: Lab) -> None:
    lab.holds = [(CPU,), (CUDA,), (CUDA,), (CPU,)]
    install = lab.taken(CONDA)
    lab.back(install, lab.planned(install))
    (found,) = installs(lab.session.world)
    assert found.state is InstallState.TAKEN_BACK
    assert plan_back(lab.session, found) == ()
