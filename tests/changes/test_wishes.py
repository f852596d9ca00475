"""Whatever is wished for is one plan: of its kind, changing nothing, and of a recorded machine only what its recording holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.clean_plan import CleanShell
from gpuassist.changes.plan import Aim
from gpuassist.changes.wishes import ChangeWish, plan_change
from gpuassist.model.machine import Machine
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import Choice, LineChoice
from gpuassist.system.world import World
from tests.changes.wished import MISSING, furnished, machine_of, wish

KINDS = [
    (Aim.TOOLKIT, "shell", (True, False, False)),
    (Aim.TOOLKIT, "conda", (False, False, True)),
    (Aim.DEVICES, "shell", (False, True, False)),
    (Aim.DEVICES, "dotenv", (False, False, True)),
    (Aim.CLEAN, "shell", (False, False, False)),
]


@pytest.fixture
def world(home: Path) -> World:
    return furnished(home)


@pytest.fixture
def machine(world: World) -> Machine:
    return machine_of(world)


def test_each_wish_has_a_plan_of_its_kind_that_changes_nothing_yet(world: World, machine: Machine, home: Path) -> None:
    before = (home / ".bashrc").read_bytes()
    for aim, scope, kind in KINDS:
        plan = plan_change(world, machine, wish(aim, home, scope))
        assert (plan.aim, plan.cuda is not None, plan.devices is not None, plan.scope is not None) == (aim, *kind)
        assert plan.diff
    assert (home / ".bashrc").read_bytes() == before


@pytest.mark.parametrize(("aim", "scope"), [(Aim.CLEAN, "shell"), (Aim.DEVICES, "shell"), (Aim.TOOLKIT, "conda")])
def test_what_a_recording_does_not_hold_is_not_planned(world: World, home: Path, aim: Aim, scope: str) -> None:
    with pytest.raises(RepairError):
        plan_change(world, Machine(), wish(aim, home, scope), recorded=True)


def test_cleaning_only_what_is_chosen(world: World, machine: Machine, home: Path) -> None:
    chosen = (LineChoice(f"{home}/.bashrc", 1, Choice.COMMENT_OUT),)
    nothing, one = (plan_change(world, machine, ChangeWish(Aim.CLEAN, clean=CleanShell(lines))) for lines in ((), chosen))
    assert nothing.diff == ""
    assert f"-export PATH={MISSING}:$PATH" in one.diff
