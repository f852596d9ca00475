"""Every kind of plan carried out by the one function that window and command line call: made, proved, refused, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.journal import Journal
from gpuassist.changes.plan import RECORDED, ChangeOutcome
from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import ChangeWish, CleanShell, UseCuda, UseDevices
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.system.world import World
from tests.changes.homes import make_toolkit
from tests.changes.wished import MISSING, furnished, machine_of, wish


@pytest.fixture
def world(home: Path) -> World:
    return furnished(home)


@pytest.fixture
def machine(world: World) -> Machine:
    return machine_of(world)


def made(world: World, machine: Machine, home: Path, kind: type[ChangeWish], scope: str = "shell") -> ChangeOutcome:
    return carry_out(world, plan_change(world, machine, wish(kind, home, scope)))


def holds(outcome: ChangeOutcome) -> bool:
    assert outcome.proof is not None
    assert isinstance(outcome.proof.holds, Known)
    return outcome.proof.holds.value


def test_a_toolkit_is_made_and_proved_in_every_shell(world: World, machine: Machine, home: Path) -> None:
    outcome = made(world, machine, home, UseCuda)
    assert holds(outcome)
    assert outcome.receipt is not None
    assert outcome.receipt.path == f"{home}/.bashrc"
    assert outcome.shells
    assert outcome.proof is not None
    assert outcome.proof.winner is not None
    assert outcome.proof.winner.path == f"{home}/cuda-12.4/bin/nvcc"


def test_gpus_are_chosen_and_proved(world: World, machine: Machine, home: Path) -> None:
    outcome = made(world, machine, home, UseDevices)
    assert holds(outcome)
    assert outcome.proof is not None
    assert isinstance(outcome.proof.terminal, Known)
    assert outcome.proof.terminal.value.variable("CUDA_VISIBLE_DEVICES") == "1"


def test_cleaning_is_made_and_proved(world: World, machine: Machine, home: Path) -> None:
    outcome = made(world, machine, home, CleanShell)
    assert holds(outcome)
    assert outcome.proof is not None
    assert isinstance(outcome.proof.terminal, Known)
    assert MISSING not in outcome.proof.terminal.value.variable("PATH").split(":")


def test_a_scope_is_entered_by_a_shell(world: World, machine: Machine, home: Path) -> None:
    assert holds(made(world, machine, home, UseCuda, "conda"))


def test_a_scope_that_no_shell_reads_is_not_proved(world: World, machine: Machine, home: Path) -> None:
    outcome = made(world, machine, home, UseDevices, "dotenv")
    assert (outcome.wrote, outcome.proof) == (True, None)
    assert "CUDA_VISIBLE_DEVICES" in (home / "envs/train/.env").read_text()


def test_a_file_that_may_not_be_written_is_refused(world: World, machine: Machine, home: Path) -> None:
    (home / ".bashrc").unlink()
    (home / ".bashrc").mkdir()
    outcome = made(world, machine, home, UseDevices)
    assert (outcome.outcome.result, outcome.proof, outcome.receipts) == (Result.REFUSED, None, ())


def test_a_recorded_machine_is_looked_at_only(world: World, machine: Machine, home: Path) -> None:
    plan = replace(plan_change(world, machine, wish(UseCuda, home)), recorded=True)
    outcome = carry_out(world, plan)
    assert (outcome.outcome.result, outcome.outcome.text, outcome.wrote) == (Result.REFUSED, RECORDED, False)


def test_what_lost_a_toolkit_is_taken_back_by_itself(world: World, home: Path) -> None:
    """A guard of the user's own throws PATH away unless it begins with the older toolkit."""
    make_toolkit(home / "cuda-11.7", "11.7.99")
    guarded = f"export PATH={home}/cuda-11.7/bin:$PATH\ncase $PATH in *uda-11.7/bin:*) ;; *) PATH=/usr/bin:/bin ;; esac\n"
    (home / ".bashrc").write_text(guarded)
    machine = machine_of(world)
    older = Toolkit(f"{home}/cuda-11.7", version=Known(Version.parse("11.7.99"), "x"))
    toolkits = Known((*value_or(machine.toolkits, ()), older), "x")
    outcome = made(world, replace(machine, toolkits=toolkits), home, UseCuda)
    assert outcome.rolled_back is not None
    assert (outcome.outcome.result, outcome.receipts, outcome.wrote) == (Result.FAILED, (), False)
    assert outcome.shells
    assert (home / ".bashrc").read_text() == guarded
    assert all(entry.receipt.undone_at for entry in Journal.of(world).entries())
