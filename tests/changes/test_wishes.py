"""Whatever is wished for is one plan: of its kind, changing nothing, and of a recorded machine only what its recording holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import ChangeWish, CleanShell, UseCuda, UseDevices
from gpuassist.model.machine import Machine
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import Choice, LineChoice
from gpuassist.system.world import World
from tests.changes.wished import MISSING, furnished, machine_of, wish

KINDS: list[tuple[type[UseCuda | UseDevices | CleanShell], str, tuple[bool, bool, bool]]] = [
    (UseCuda, "shell", (True, False, False)),
    (UseCuda, "conda", (False, False, True)),
    (UseDevices, "shell", (False, True, False)),
    (UseDevices, "dotenv", (False, False, True)),
    (CleanShell, "shell", (False, False, False)),
]


@pytest.fixture
def world(home: Path) -> World:
    return furnished(home)


@pytest.fixture
def machine(world: World) -> Machine:
    return machine_of(world)


def test_each_wish_has_a_plan_of_its_kind_that_changes_nothing_yet(world: World, machine: Machine, home: Path) -> None:
    before = (home / ".bashrc").read_bytes()
    for kind, scope, chosen in KINDS:
        plan = plan_change(world, machine, wish(kind, home, scope))
        assert (type(plan.wish), plan.cuda is not None, plan.devices is not None, plan.scope is not None) == (kind, *chosen)
        assert plan.diff
    assert (home / ".bashrc").read_bytes() == before


@pytest.mark.parametrize(("kind", "scope"), [(CleanShell, "shell"), (UseDevices, "shell"), (UseCuda, "conda")])
def test_what_a_recording_does_not_hold_is_not_planned(world: World, home: Path, kind: type[ChangeWish], scope: str) -> None:
    with pytest.raises(RepairError):
        plan_change(world, Machine(), wish(kind, home, scope), recorded=True)


def test_cleaning_only_what_is_chosen(world: World, machine: Machine, home: Path) -> None:
    chosen = (LineChoice(f"{home}/.bashrc", 1, Choice.COMMENT_OUT),)
    nothing, one = (plan_change(world, machine, CleanShell(lines)) for lines in ((), chosen))
    assert nothing.diff == ""
    assert f"-export PATH={MISSING}:$PATH" in one.diff
