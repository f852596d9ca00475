"""What an environment holds, asked of each tool."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.freeze import freeze
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.plan import StepRun, Tool
from gpuassist.system.processes import Ending, ProcessResult
from tests.fakes import ScriptedProcesses
from tests.install.installs_made import session_at

PYTHON = "/e/bin/python"
PIP = StepRun(((PYTHON, "-m", "pip", "install", "torch"),), Tool.PIP, "/e", PYTHON)
UV = StepRun((("uv", "pip", "install", "--python", PYTHON, "torch"),), Tool.UV, "/e", PYTHON)
CONDA = StepRun((("/opt/mamba", "install", "--yes", "--prefix", "/e", "pytorch"),), Tool.CONDA, "/e", PYTHON)
COMMANDS = {
    Tool.PIP: f"{PYTHON} -m pip freeze --all --disable-pip-version-check",
    Tool.UV: f"uv pip freeze --python {PYTHON}",
    Tool.CONDA: "/opt/mamba list --prefix /e --explicit",
}
CONDA_LINES = "@EXPLICIT\nhttps://conda.anaconda.org/conda-forge/linux-64/pytorch-2.9.1-cuda129_0.conda#00\n"


def answering(tmp_path: Path, answers: dict[str, str | ProcessResult]) -> Session:
    session = session_at(tmp_path / "home")
    return replace(session, world=replace(session.world, processes=ScriptedProcesses({**answers})))


@pytest.mark.parametrize(
    ("run", "answer", "packages"),
    [
        (PIP, "numpy==2.0\n\ntorch==2.9.1+cu128\n", {"numpy": "numpy==2.0", "torch": "torch==2.9.1+cu128"}),
        (UV, "torch==2.9.1\n", {"torch": "torch==2.9.1"}),
        (CONDA, CONDA_LINES, {"pytorch": CONDA_LINES.splitlines()[1]}),
        (PIP, "", {}),
    ],
)
def test_each_tool_is_asked_in_its_own_way(tmp_path: Path, run: StepRun, answer: str, packages: dict[str, str]) -> None:
    found = freeze(answering(tmp_path, {COMMANDS[run.tool]: answer}), run)
    assert isinstance(found, Known)
    assert (found.value.packages, found.source) == (packages, COMMANDS[run.tool])


@pytest.mark.parametrize("run", [PIP, UV, CONDA])
@pytest.mark.parametrize(
    "outcome",
    [
        ProcessResult(Ending.EXITED, 1, b"", b"a warning\nNo module named pip\n", 0.1),
        ProcessResult(Ending.TIMED_OUT, 0, b"", b"", 120.0),
        ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, "not found"),
        ProcessResult(Ending.KILLED, 9, b"torch==1\n", b"", 0.0),
    ],
)
def test_no_answer_is_unknown_with_its_reason(tmp_path: Path, run: StepRun, outcome: ProcessResult) -> None:
    session = answering(tmp_path, {COMMANDS[run.tool]: outcome})
    found = freeze(session, run)
    assert isinstance(found, Unknown)
    assert COMMANDS[run.tool] in session.words(found.reason)


@pytest.mark.parametrize(
    "run", [StepRun((("docker", "pull", "x"),), Tool.DOCKER), StepRun((("true",),), Tool.PIP), StepRun((), Tool.PIP)]
)
def test_what_changes_no_environment_has_nothing_to_freeze(tmp_path: Path, run: StepRun) -> None:
    assert freeze(answering(tmp_path, {}), run) is None
