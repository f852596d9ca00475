"""Repairs of every kind as one: planned, made in a real home, and proved; a recorded machine is looked at only."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpuassist.session.clean_plan import CleanShell

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import Aim, ChangePlan, UseCuda
from gpuassist.changes.wishes import ChangeWish, plan_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.line_choice import Choice, LineChoice
from gpuassist.system.terminal import ask_terminal
from tests.changes.homes import make_toolkit, world_at

GPUS = tuple(Gpu(name=Known("RTX 4090", "x"), index=Known(index, "x")) for index in (0, 1))


@pytest.fixture
def session(home: Path) -> Session:
    """A user with a toolkit, an environment, and a .bashrc with a directory that is not there."""
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "envs" / "train" / "conda-meta").mkdir(parents=True)
    (home / ".bashrc").write_text("export PATH=/not/there/cuda-9.0/bin:$PATH\n")
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


@pytest.fixture
def machine(session: Session, home: Path) -> Machine:
    toolkit = Toolkit(f"{home}/cuda-12.4", version=Known(Version.parse("12.4.131"), "x"))
    shell = Shell(new_terminal=ask_terminal(session.world))
    return Machine("2026", gpus=Known(GPUS, "x"), toolkits=Known((toolkit,), "x"), environments=Known((), "x"), shell=shell)


def wish(aim: Aim, home: Path, scope: str = "shell") -> ChangeWish:
    where = scope if scope == "shell" else f"{scope}:{home}/envs/train"
    return ChangeWish(aim, cuda=UseCuda("12.4", everywhere=True), devices="1", scope=where)


def kinds(repair: ChangePlan) -> tuple[bool, bool, bool]:
    return repair.cuda is not None, repair.devices is not None, repair.scope is not None


@pytest.mark.parametrize(
    ("aim", "scope", "parts"),
    [
        (Aim.TOOLKIT, "shell", (True, False, False)),
        (Aim.TOOLKIT, "conda", (False, False, True)),
        (Aim.DEVICES, "shell", (False, True, False)),
        (Aim.DEVICES, "dotenv", (False, False, True)),
        (Aim.CLEAN, "shell", (False, False, False)),
    ],
)
def test_each_aim_has_its_plan(
    session: Session, machine: Machine, home: Path, aim: Aim, scope: str, parts: tuple[bool, bool, bool]
) -> None:
    repair = plan_change(session, machine, wish(aim, home, scope))
    assert kinds(repair) == parts
    assert repair.shell.diff


def test_planning_changes_nothing(session: Session, machine: Machine, home: Path) -> None:
    before = (home / ".bashrc").read_bytes()
    for aim in Aim:
        plan_change(session, machine, wish(aim, home))
    assert (home / ".bashrc").read_bytes() == before


@pytest.mark.parametrize(("aim", "scope"), [(Aim.CLEAN, "shell"), (Aim.DEVICES, "shell"), (Aim.TOOLKIT, "conda")])
def test_what_a_recording_does_not_hold_is_not_planned(
    session: Session, machine: Machine, home: Path, aim: Aim, scope: str
) -> None:
    with pytest.raises(RepairError) as caught:
        plan_change(session, machine, wish(aim, home, scope), recorded=True)
    assert "recorded machine" in ENGLISH(caught.value.reason)


def test_a_toolkit_of_a_recording_is_planned_and_not_made(session: Session, machine: Machine, home: Path) -> None:
    repair = plan_change(session, machine, wish(Aim.TOOLKIT, home), recorded=True)
    carried = carry_out(session, repair)
    assert (repair.recorded, carried.outcome.result, carried.wrote) == (True, Result.REFUSED, False)


def test_a_toolkit_is_made_and_proved(session: Session, machine: Machine, home: Path) -> None:
    carried = carry_out(session, plan_change(session, machine, wish(Aim.TOOLKIT, home)))
    assert isinstance(carried.holds, Known)
    assert carried.holds.value
    assert carried.applied is not None
    assert carried.applied.shells
    assert carried.receipts[0].path == f"{home}/.bashrc"


def test_gpus_are_chosen_and_proved(session: Session, machine: Machine, home: Path) -> None:
    carried = carry_out(session, plan_change(session, machine, wish(Aim.DEVICES, home)))
    assert carried.words is not None
    assert ENGLISH(carried.words) == "a new terminal holds CUDA_VISIBLE_DEVICES=1"
    assert isinstance(carried.terminal, Known)
    assert carried.terminal.value.variable("CUDA_VISIBLE_DEVICES") == "1"


def test_cleaning_is_made_and_proved(session: Session, machine: Machine, home: Path) -> None:
    carried = carry_out(session, plan_change(session, machine, wish(Aim.CLEAN, home)))
    assert carried.words is not None
    assert ENGLISH(carried.words) == "a new terminal no longer searches PATH: /not/there/cuda-9.0/bin"


def test_cleaning_only_what_is_chosen(session: Session, machine: Machine, home: Path) -> None:
    nothing = ChangeWish(Aim.CLEAN, clean=CleanShell(()))
    retired = ChangeWish(Aim.CLEAN, clean=CleanShell((LineChoice(f"{home}/.bashrc", 1, Choice.COMMENT_OUT),)))
    assert plan_change(session, machine, nothing).shell.diff == ""
    assert "gpuassist retired" in plan_change(session, machine, retired).shell.diff


def test_a_scope_is_made_and_entered_by_a_shell(session: Session, machine: Machine, home: Path) -> None:
    carried = carry_out(session, plan_change(session, machine, wish(Aim.TOOLKIT, home, "conda")))
    assert isinstance(carried.holds, Known)
    assert carried.holds.value
    assert carried.terminal is None


def test_a_scope_that_no_shell_reads_is_not_proved(session: Session, machine: Machine, home: Path) -> None:
    carried = carry_out(session, plan_change(session, machine, wish(Aim.DEVICES, home, "dotenv")))
    assert (carried.wrote, carried.holds, carried.words) == (True, None, None)
    assert "CUDA_VISIBLE_DEVICES" in (home / "envs/train/.env").read_text()


def test_a_file_that_may_not_be_written_is_refused(session: Session, machine: Machine, home: Path) -> None:
    (home / ".bashrc").unlink()
    (home / ".bashrc").mkdir()
    carried = carry_out(session, plan_change(session, machine, wish(Aim.DEVICES, home)))
    assert (carried.outcome.result, carried.holds, carried.receipts) == (Result.REFUSED, None, ())
