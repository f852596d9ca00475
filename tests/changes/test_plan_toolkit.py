"""The plan and its preview: from a live machine, and from a recorded one that nothing may touch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangePlan, Expected
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.machine import Machine, decode_machine
from gpuassist.model.plan import Result, StepKind
from gpuassist.model.shell import Shell, StartupFile
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import Choice
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.resources import Resources
from gpuassist.system.world import World
from tests.changes.homes import make_toolkit, world_at
from tests.fakes import ScriptedProcesses

RC = "/home/ada/.bashrc"
OLD = "export CUDA_HOME=/usr/local/cuda-11.7\nexport PATH=$CUDA_HOME/bin:$PATH\n"


@pytest.fixture
def world(home: Path) -> World:
    return world_at(home)


def _toolkit(version: str) -> Toolkit:
    return Toolkit(f"/usr/local/cuda-{version}", Known(Origin.LOCAL, "x"), Known(Version.parse(version), "x"))


def _recorded(content: Fact[str] = NOT_ASKED, path: str = RC) -> Machine:
    files = (StartupFile("/home/ada/.profile", exists=True), StartupFile(path, exists=True, content=content))
    shell = Shell(login_shell=Known("/bin/bash", "x"), startup_files=Known(files, "x"))
    return Machine(toolkits=Known((_toolkit("11.7"), _toolkit("12.4")), "x"), shell=shell)


def _plan(world: World, machine: Machine, *, recorded: bool = False) -> ChangePlan:
    return plan_use_cuda(world, machine, UseCuda("12.4"), recorded=recorded)


def _notes(plan: ChangePlan) -> str:
    return "\n".join(ENGLISH(note) for note in plan.plan.notes)


def test_a_recorded_file_gives_a_real_diff(world: World) -> None:
    plan = _plan(world, _recorded(Known(OLD, RC)), recorded=True)
    assert plan.diff.startswith(f"--- {RC}\n+++ {RC}\n")
    assert "-export CUDA_HOME=/usr/local/cuda-11.7\n" in plan.diff
    assert "+export CUDA_HOME=/usr/local/cuda-12.4\n" in plan.diff
    assert [line.choice for line in plan.lines] == [Choice.REPLACE, Choice.KEEP]
    assert "gpuassist" not in plan.diff


def test_a_recorded_file_is_known_without_being_told(world: World) -> None:
    assert _plan(world, _recorded(Known(OLD, RC))).recorded


def test_files_of_another_home_mean_a_recording(world: World) -> None:
    plan = _plan(world, _recorded())
    assert plan.recorded
    assert "does not hold the text" in _notes(plan)


def test_a_recording_without_a_text_shows_the_block(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("export SECRET=of-the-live-machine\n")
    plan = _plan(world, _recorded(), recorded=True)
    assert "SECRET" not in plan.diff
    assert "+export CUDA_HOME=/usr/local/cuda-12.4" in plan.diff


def test_a_recording_without_start_up_files_is_planned(world: World) -> None:
    machine = replace(_recorded(), shell=Shell())
    plan = _plan(world, machine, recorded=True)
    assert plan.edit.path == "~/.bashrc"


def test_nothing_is_applied_to_a_recording(world: World, home: Path) -> None:
    outcome = carry_out(world, _plan(world, _recorded(Known(OLD, RC)), recorded=True))
    assert outcome.outcome.result is Result.REFUSED
    assert "this is a recorded machine" in ENGLISH(outcome.outcome.text)
    assert list(home.iterdir()) == []


def test_a_recording_asks_no_program(world: World, home: Path) -> None:
    silent = ScriptedProcesses()
    _plan(world_at(home, processes=silent), _recorded(Known(OLD, RC)), recorded=True)
    assert silent.asked == []


def _live(home: Path) -> Machine:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    toolkit = Toolkit(f"{home}/cuda-12.4", version=Known(Version.parse("12.4.131"), "x"))
    return Machine(toolkits=Known((toolkit,), "x"), shell=Shell(login_shell=Known("/bin/bash", "x")))


def test_the_plan_is_complete(world: World, home: Path) -> None:
    plan = _plan(world, _live(home))
    edit, terminal = plan.plan.steps
    assert (edit.kind, terminal.kind) == (StepKind.EDIT, StepKind.NEW_SHELL)
    assert edit.check is not None
    assert f"{home}/cuda-12.4/bin/nvcc" in ENGLISH(edit.check)
    assert plan.paste == (f"export CUDA_HOME={home}/cuda-12.4", f'export PATH={home}/cuda-12.4/bin:"$PATH"')
    assert plan.cuda is not None
    assert plan.cuda.expected == Expected(f"{home}/cuda-12.4/bin/nvcc", f"{home}/cuda-12.4", "")
    assert not any(step.needs_root for step in plan.plan.steps)


def test_the_id_is_in_the_markers(world: World, home: Path) -> None:
    plan = _plan(world, _live(home))
    assert plan.plan.id.startswith("20261121-")
    assert f"change={plan.plan.id} ".encode() in plan.edit.after


def test_planning_changes_nothing(world: World, home: Path) -> None:
    machine = _live(home)
    before = sorted(home.rglob("*"))
    _plan(world, machine)
    assert sorted(home.rglob("*")) == before


def test_another_login_shell_is_named(world: World, home: Path) -> None:
    machine = _live(home)
    machine = replace(machine, shell=Shell(login_shell=Known("/usr/bin/zsh", "x")))
    assert "your login shell is zsh" in _notes(_plan(world, machine))


@pytest.mark.parametrize(("mode", "says"), [(0o644, "not executable"), (None, "does not exist")])
def test_an_nvcc_that_cannot_win_is_refused(world: World, home: Path, mode: int | None, says: str) -> None:
    machine = _live(home)
    nvcc = home / "cuda-12.4/bin/nvcc"
    nvcc.unlink() if mode is None else nvcc.chmod(mode)
    with pytest.raises(RepairError) as raised:
        _plan(world, machine)
    assert says in ENGLISH(raised.value.reason)


def test_a_line_in_a_loop_is_shown_with_it(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("f() {\nfor x in 1; do\n  PATH=/usr/local/cuda-11.7/bin:$PATH\ndone\n}\n")
    plan = _plan(world, _live(home))
    assert plan.obstacle is None
    assert plan.lines[0].inside == "for x in 1; do"


def test_what_bash_cannot_parse_is_an_obstacle(world: World, home: Path) -> None:
    answers = iter((ProcessResult(Ending.EXITED, 2, b"", b"line 9: oh", 0.0), ProcessResult(Ending.EXITED, 0, b"", b"", 0.0)))
    doubting = ScriptedProcesses({"bash --noprofile --norc -n": lambda: next(answers)})
    plan = _plan(world_at(home, processes=doubting), _live(home))
    assert plan.obstacle is not None
    assert "bash could not parse the result (line 9: oh)" in ENGLISH(plan.obstacle)


def test_a_line_that_cannot_be_commented_out_is_refused(world: World, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    machine = _live(home)
    with pytest.raises(RepairError):
        plan_use_cuda(world, machine, UseCuda("12.4", retire=(1,)))


def test_the_shipped_example_leads_to_a_diff(world: World) -> None:
    (name,) = (name for name in Resources().names("machines", ".json") if "cuda-11-7-first" in name)
    machine = decode_machine(json.loads(Resources().read(f"machines/{name}")))
    plan = _plan(world, machine, recorded=True)
    assert "cuda-11.7" in plan.diff
    assert '+export LD_LIBRARY_PATH="/usr/local/cuda-12.4/lib64:$LD_LIBRARY_PATH"' in plan.diff
    assert "# gpuassist" not in plan.diff
    assert any(line.rewritten for line in plan.lines)
