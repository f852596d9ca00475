"""A scope of several new files and directories on a disk that fails or loses power: all of it or nothing of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.scope_plan import plan_in_scope
from gpuassist.changes.undo import history, undo
from gpuassist.changes.wishes import UseDevices
from gpuassist.context import Session
from gpuassist.model.plan import Result
from tests.changes.homes import FaultyDisk, PowerCut, made
from tests.changes.scoped import furnish, machine, session_at, tree

STEPS = 30  # making two new files in two new directories takes some more: the last ones are the journal's


def _with(session: Session, disk: FaultyDisk) -> Session:
    return replace(session, world=replace(session.world, disk=disk))


@pytest.fixture
def session(home: Path) -> Session:
    machine(furnish(home))
    return session_at(home)


@pytest.mark.parametrize("step", range(1, STEPS))
def test_a_full_disk_leaves_nothing_behind(session: Session, home: Path, step: int) -> None:
    plan = plan_in_scope(session.world, machine(home), UseDevices("1", scope="conda:ml"))
    before = tree(home)
    outcome = made(_with(session, FaultyDisk(fails_at=step)).world, plan)
    if outcome.result is Result.MODIFIED:
        undo(session.world)
    assert tree(home) == before
    assert not (home / "miniconda3/envs/ml/etc").exists()


@pytest.mark.parametrize("step", range(1, STEPS, 2))
def test_a_power_cut_is_settled_by_the_next_run(session: Session, home: Path, step: int) -> None:
    plan = plan_in_scope(session.world, machine(home), UseDevices("1", scope="conda:ml"))
    before = tree(home)
    with pytest.raises(PowerCut):
        made(_with(session, FaultyDisk(fails_at=step, failure=PowerCut)).world, plan)
    again = plan_in_scope(session.world, machine(home), UseDevices("0", scope="conda:ml"))
    made(session.world, again)
    while any(not receipt.undone_at for receipt in history(session.world)):
        undo(session.world)
    assert tree(home) == before
