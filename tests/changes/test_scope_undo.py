"""Undo in scopes whose files were edited, replaced or taken away since: what is not ours stays, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuassist.changes.restore import ConflictError
from gpuassist.changes.scope_plan import plan_in_scope
from gpuassist.changes.undo import history, undo
from gpuassist.changes.wishes import UseCuda, UseDevices
from gpuassist.context import Session
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from tests.changes.homes import made
from tests.changes.scoped import ACTIVATE, KERNEL, furnish, machine, session_at, tree

ML = "miniconda3/envs/ml/etc/conda"


@pytest.fixture
def session(home: Path) -> Session:
    return session_at(furnish(home))


def _choose(session: Session, home: Path, scope: str, devices: str = "0,2") -> str:
    plan = plan_in_scope(session.world, machine(home), UseDevices(devices, scope=scope))
    assert made(session.world, plan).result is Result.MODIFIED
    return plan.plan.id


def test_lines_below_the_block_of_a_dotenv_stay(session: Session, home: Path) -> None:
    file = home / "project/.env"
    file.write_bytes(b"A=1")
    _choose(session, home, "dotenv:~/project")
    file.write_bytes(file.read_bytes() + b"B=2\n")
    undo(session.world)
    assert file.read_bytes() == b"A=1\nB=2\n"


def test_lines_above_the_block_of_an_envrc_stay(session: Session, home: Path) -> None:
    file = home / "project/.envrc"
    _choose(session, home, "envrc:~/project")
    file.write_bytes(b"layout python\n" + file.read_bytes())
    undo(session.world)
    assert file.read_bytes() == b"layout python\n"


def test_a_members_of_a_kernel_that_somebody_added_stays(session: Session, home: Path) -> None:
    file = home / ".local/share/jupyter/kernels/ml/kernel.json"
    _choose(session, home, "jupyter:ml")
    file.write_bytes(file.read_bytes().replace(b'{\n "argv"', b'{\n "interrupt_mode": "signal",\n "argv"'))
    undo(session.world)
    assert json.loads(file.read_bytes()) == {"interrupt_mode": "signal", **json.loads(KERNEL)}


def test_a_kernel_changed_in_the_same_lines_is_shown_three_ways(session: Session, home: Path) -> None:
    file = home / ".local/share/jupyter/kernels/ml/kernel.json"
    _choose(session, home, "jupyter:ml")
    edited = file.read_bytes().replace(b'"0,2"', b'"1"')
    file.write_bytes(edited)
    with pytest.raises(ConflictError) as caught:
        undo(session.world)
    assert caught.value.three_way.meetings
    assert file.read_bytes() == edited


def test_a_hook_that_somebody_deleted_is_passed_over(session: Session, home: Path) -> None:
    before = tree(home)
    _choose(session, home, "conda:ml")
    (home / ML / "activate.d/gpuassist.sh").unlink()
    undo(session.world)
    assert {path: content for path, content in tree(home).items() if not path.startswith("cuda-")} == before


def test_hooks_of_others_keep_their_directory(session: Session, home: Path) -> None:
    _choose(session, home, "conda:ml")
    other = home / ML / "activate.d/other.sh"
    other.write_text("export X=1\n")
    undo(session.world)
    assert other.read_text() == "export X=1\n"
    assert not (home / ML / "activate.d/gpuassist.sh").exists()
    assert not (home / ML / "deactivate.d").exists()


def test_an_environment_made_anew_holds_nothing_of_it(session: Session, home: Path) -> None:
    _choose(session, home, "venv:~/project/.venv")
    anew = ACTIVATE.format(prefix="/elsewhere")
    (home / "project/.venv/bin/activate").write_text(anew)
    (home / "project/.venv/bin/activate.fish").write_text("set -gx VIRTUAL_ENV /elsewhere\n")
    undo(session.world)
    assert (home / "project/.venv/bin/activate").read_text() == anew


def test_an_environment_that_is_gone_cannot_be_put_back(session: Session, home: Path) -> None:
    change = _choose(session, home, "venv:~/project/.venv")
    for path in (home / "project/.venv/bin").iterdir():
        path.unlink()
    with pytest.raises(RepairError) as caught:
        undo(session.world, change)
    assert "is not there any more" in ENGLISH(caught.value.reason)


def test_a_hook_with_lines_of_the_users_own_keeps_them(session: Session, home: Path) -> None:
    hook = home / ML / "activate.d/gpuassist.sh"
    _choose(session, home, "conda:ml")
    hook.write_bytes(hook.read_bytes() + b"export MINE=1\n")
    undo(session.world)
    assert hook.read_bytes() == b"export MINE=1\n"


def test_a_file_that_was_changed_after_the_preview_is_left_alone(session: Session, home: Path) -> None:
    plan = plan_in_scope(session.world, machine(home), UseDevices("1", scope="dotenv:~/project"))
    (home / "project/.env").write_text("A=1\n")
    assert made(session.world, plan).result is Result.REFUSED
    assert (home / "project/.env").read_text() == "A=1\n"


def test_one_hook_that_cannot_be_made_leaves_neither(session: Session, home: Path) -> None:
    (home / ML / "deactivate.d").mkdir(parents=True)
    (home / ML / "deactivate.d/gpuassist.sh").symlink_to(home / "nowhere")
    before = tree(home)
    plan = plan_in_scope(session.world, machine(home), UseDevices("1", scope="conda:ml"))
    assert made(session.world, plan).result is Result.REFUSED
    assert {path: content for path, content in tree(home).items() if not path.startswith("cuda-")} == before


def test_the_history_names_the_scope(session: Session, home: Path) -> None:
    plan = plan_in_scope(session.world, machine(home), UseCuda("12.4", scope="conda:ml"))
    made(session.world, plan)
    assert {receipt.goal for receipt in history(session.world)} == {"use cuda 12.4 --scope conda:ml"}
    assert {receipt.change for receipt in history(session.world)} == {plan.plan.id}
