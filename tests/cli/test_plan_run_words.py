"""What `plan --run` tells: changes, warnings, stops, half-made directories, and the document for programs."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import plan_run_words as say
from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.install.records import StepState, save
from gpuassist.install.rollback import BackStep
from gpuassist.install.run import StepEnding, StepOutcome
from gpuassist.install.step_proof import Holds, Proved
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.solve import DryRun, PackageChange, Solve
from gpuassist.model.text import text, verbatim
from gpuassist.present.marks import Exit
from tests.install.installs_made import begun, by_user, script, session_at
from tests.translations import shipped

PLAIN = argparse.Namespace(json=False)
FOR_PROGRAMS = argparse.Namespace(json=True)


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(session_at(tmp_path / "home"), TerminalStreams(io.StringIO(), io.StringIO(), colour=False, interactive=False))


def out(context: Context) -> str:
    assert isinstance(context.terminal.out, io.StringIO)
    return context.terminal.out.getvalue()


def err(context: Context) -> str:
    assert isinstance(context.terminal.err, io.StringIO)
    return context.terminal.err.getvalue()


def changes(*made: PackageChange) -> DryRun:
    return DryRun(Known(Solve(Tool.PIP, made), "pip"))


def test_each_change_is_told_in_its_way(context: Context) -> None:
    found = changes(
        PackageChange("torch", "2.8.0+cpu", "2.9.1+cu128"), PackageChange("triton", "", "3.5"), PackageChange("old", "1", "")
    )
    say.looked(context, found, PLAIN)
    assert out(context).splitlines()[1:] == ["    ~ torch 2.8.0+cpu → 2.9.1+cu128", "    + triton 3.5", "    - old 1"]


def test_of_many_changes_the_rest_is_counted(context: Context) -> None:
    say.looked(context, changes(*(PackageChange(f"p{number}", "", "1") for number in range(50))), PLAIN)
    assert out(context).splitlines()[-1] == "    and 20 more packages"


def test_warnings_and_stops_are_told(context: Context) -> None:
    looked = DryRun(Unknown(text("nobody knows")), (), (text("it is a CPU build"),), (text("xformers breaks"),))
    say.looked(context, looked, PLAIN)
    assert out(context).splitlines() == ["  ! xformers breaks", "  ✗ it is a CPU build", "So it is not run."]


def test_nothing_to_tell_is_nothing(context: Context) -> None:
    say.looked(context, changes(), PLAIN)
    assert out(context) == ""


def test_for_programs_it_goes_where_people_read(context: Context) -> None:
    say.looked(context, changes(PackageChange("torch", "", "2.9.1")), FOR_PROGRAMS)
    assert out(context) == ""
    assert "+ torch 2.9.1" in err(context)


@pytest.mark.parametrize(
    ("came", "mark", "log"),
    [
        (StepEnding.DONE, "✓", False),
        (StepEnding.FAILED, "✗", True),
        (StepEnding.CANCELLED, "!", True),
        (StepEnding.NOT_STARTED, "✗", True),
    ],
)
def test_what_came_of_it_has_a_mark_and_trouble_its_log(context: Context, came: StepEnding, mark: str, log: bool) -> None:
    say.done(context, StepOutcome(came, text("some words"), log="/log.txt"), PLAIN)
    assert out(context).startswith(f"{mark} some words\n")
    assert ("/log.txt" in out(context)) is log


@pytest.mark.parametrize(
    ("left", "words"), [(1, "1 process running, which was ended"), (3, "3 processes running, which were ended")]
)
def test_what_was_left_running_is_counted(context: Context, left: int, words: str) -> None:
    say.done(context, StepOutcome(StepEnding.DONE, text("x"), left=left), PLAIN)
    assert words in out(context)


@pytest.mark.parametrize(("holds", "mark"), [(Holds.YES, "✓"), (Holds.NO, "✗"), (Holds.UNKNOWN, "?")])
def test_a_check_has_its_mark(context: Context, holds: Holds, mark: str) -> None:
    say.proved(context, Proved(holds, text("seen")), PLAIN)
    assert out(context) == f"{mark} seen\n"


def test_the_programs_that_run_are_shown_and_no_activation(context: Context) -> None:
    run = StepRun((("/usr/bin/python3", "-m", "venv", "/home/you/new env"),), Tool.PIP)
    step = Step(StepKind.COMMAND, verbatim("Make one"), ("python3 -m venv 'x'", ". x/bin/activate"), run=run)
    say.step(context, begun(context.session, step), 0, PLAIN)
    assert "    /usr/bin/python3 -m venv '/home/you/new env'\n" in out(context)
    assert "activate" not in out(context)


def test_what_was_half_made_is_told_before_it_goes(context: Context, tmp_path: Path) -> None:
    install = begun(context.session, script("pass", creates=str(tmp_path / "made")))
    install = install.with_step(0, replace(install.steps[0], made=True))
    say.step(context, install, 0, PLAIN)
    assert "taken away first" not in out(context)
    (tmp_path / "made").mkdir()
    say.step(context, install, 0, PLAIN)
    assert f"half made at {tmp_path / 'made'} is taken away first" in out(context)


def test_how_far_it_came_is_told_step_by_step(context: Context) -> None:
    install = begun(context.session, script("pass"), by_user(StepKind.REBOOT))
    install = install.with_step(0, replace(install.steps[0], state=StepState.FAILED, words="no space left"))
    say.steps(context, install, PLAIN)
    assert out(context).splitlines() == ["Goal: torch", "  ✗ 1. run a script", "       no space left", "  · 2. a reboot"]


def test_on_the_way_back_the_lines_and_what_stays_are_told(context: Context) -> None:
    back = BackStep(0, text("Undo install"), removes="/home/you/new env", left=("numpy", "scipy"))
    say.back_step(context, back, PLAIN)
    assert "    rm -r '/home/you/new env'\n" in out(context)
    assert "so they stay as they are: numpy, scipy" in out(context)


def test_the_document_holds_the_keys_of_its_contract(context: Context) -> None:
    install = begun(context.session, script("pass"), by_user(StepKind.ROOT_COMMAND))
    install = install.with_step(0, replace(install.steps[0], state=StepState.DONE, tries=2, words="done"))
    save(context.session.world, install)
    found = say.document(context, install)
    assert isinstance(found, dict)
    assert set(found) == {"schema", "install", "goal", "state", "directory", "next_step", "steps"}
    steps = found["steps"]
    assert isinstance(steps, list)
    first, second = steps
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert set(first) == {"kind", "text", "commands", "needs_root", "runs_here", "state", "message", "log"}
    assert str(first["log"]).endswith("step-1-log-2.txt")
    assert (first["runs_here"], second["runs_here"], second["needs_root"], second["log"]) == (True, False, True, None)


def test_the_end_says_how_it_goes_on_and_back(context: Context) -> None:
    install = begun(context.session, script("pass"), script("pass"))
    install = install.with_step(0, replace(install.steps[0], state=StepState.DONE, tries=1))
    assert say.finished(context, install, PLAIN, Exit.WARNINGS) is Exit.WARNINGS
    assert out(context).splitlines()[1:] == [
        "To continue: gpuassist plan --resume",
        f"To undo it: gpuassist plan --back {install.id}",
    ]


def test_another_language_breaks_nothing(context: Context) -> None:
    chinese = replace(context, session=replace(context.session, words=shipped("zh_CN")))
    install = begun(chinese.session, script("pass"))
    say.step(chinese, install, 0, PLAIN)
    say.finished(chinese, install, PLAIN, Exit.HEALTHY)
    assert "gpuassist plan --resume" in out(chinese)
