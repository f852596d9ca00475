"""Choosing for one scope: what is written where, that it is undone byte for byte, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuassist.changes.plan import ChangePlan, ScopeChoice
from gpuassist.changes.proof import prove_scope
from gpuassist.changes.restore import ConflictError
from gpuassist.changes.scope_find import held_in
from gpuassist.changes.scope_plan import plan_in_scope
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.undo import undo
from gpuassist.changes.wishes import LdLibraryPath, UseCuda, UseDevices, WishError
from gpuassist.context import Session
from gpuassist.model.fact import Known
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from tests.changes.homes import made
from tests.changes.scoped import KERNEL, furnish, machine, session_at, tree

SCOPES = ("conda:ml", "venv:~/project/.venv", "envrc:~/project", "dotenv:~/project", "jupyter:ML", "desktop")


@pytest.fixture
def place(home: Path) -> Path:
    return furnish(home)


@pytest.fixture
def session(place: Path) -> Session:
    return session_at(place)


def _cuda(session: Session, scope: str, version: str = "12.4", *, libraries: bool = False) -> ChangePlan:
    loader = LdLibraryPath.ON if libraries else LdLibraryPath.AUTO
    wish = UseCuda(version, ld_library_path=loader, scope=scope)
    return plan_in_scope(session.world, machine(Path(session.world.surroundings.home)), wish)


def _devices(session: Session, scope: str, words: str = "0,2") -> ChangePlan:
    return plan_in_scope(session.world, machine(Path(session.world.surroundings.home)), UseDevices(words, scope=scope))


def _made(session: Session, plan: ChangePlan) -> Result:
    return made(session.world, plan).result


def _chosen(plan: ChangePlan) -> ScopeChoice:
    assert plan.scope is not None
    return plan.scope


def _notes(plan: ChangePlan) -> str:
    return "\n".join(ENGLISH(note) for note in plan.plan.notes)


@pytest.mark.parametrize("scope", SCOPES)
def test_undo_leaves_every_byte_as_it_was(session: Session, place: Path, scope: str) -> None:
    machine(place)
    before = tree(place)
    assert _made(session, _cuda(session, scope)) is Result.MODIFIED
    assert _made(session, _devices(session, scope)) is Result.MODIFIED
    assert tree(place) != before
    undo(session.world)
    undo(session.world)
    assert tree(place) == before


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if not scope.startswith("jupyter")])
def test_the_older_choice_is_undone_first(session: Session, place: Path, scope: str) -> None:
    machine(place)
    before = tree(place)
    first = _cuda(session, scope)
    made(session.world, first)
    made(session.world, _devices(session, scope))
    undo(session.world, first.plan.id)  # the block is the second one's by now: what it says stays until that one goes
    undo(session.world)
    assert tree(place) == before


def test_changes_of_one_kernel_that_meet_are_undone_newest_first(session: Session, place: Path) -> None:
    first = _cuda(session, "jupyter:ml")
    made(session.world, first)
    made(session.world, _devices(session, "jupyter:ml"))
    with pytest.raises(ConflictError):
        undo(session.world, first.plan.id)
    undo(session.world)
    undo(session.world)
    assert (place / ".local/share/jupyter/kernels/ml/kernel.json").read_bytes() == KERNEL


@pytest.mark.parametrize("scope", SCOPES)
def test_the_same_choice_again_changes_nothing(session: Session, scope: str) -> None:
    made(session.world, _cuda(session, scope))
    made(session.world, _devices(session, scope))
    assert _cuda(session, scope).diff == ""
    assert _made(session, _devices(session, scope)) is Result.UNCHANGED


@pytest.mark.parametrize("scope", SCOPES)
def test_a_toolkit_and_gpus_do_not_take_each_others_place(session: Session, place: Path, scope: str) -> None:
    made(session.world, _cuda(session, scope, "11.8"))
    made(session.world, _devices(session, scope, "GPU-11"))
    plan = _cuda(session, scope)
    made(session.world, plan)
    assert held_in(session.world, _chosen(plan).scope) == ScopeValues(f"{place}/cuda-12.4", "", ("GPU-11",))
    made(session.world, _devices(session, scope, "all"))
    assert held_in(session.world, _chosen(plan).scope) == ScopeValues(f"{place}/cuda-12.4")


@pytest.mark.parametrize("scope", SCOPES)
def test_what_stands_in_the_files_stays(session: Session, place: Path, scope: str) -> None:
    (place / "project/.env").write_bytes(b"TOKEN=abc")
    (place / "project/.envrc").write_bytes(b"layout python\n")
    before = {path: content for path, content in tree(place).items() if not path.endswith("kernel.json")}
    made(session.world, _cuda(session, scope))
    after = tree(place)
    assert all(after[path].startswith(content) for path, content in before.items())


@pytest.mark.parametrize("scope", ["conda:ml", "venv:~/project/.venv"])
def test_a_shell_proves_it(session: Session, scope: str) -> None:
    made(session.world, _devices(session, scope))
    plan = _cuda(session, scope, libraries=True)
    made(session.world, plan)
    proof = prove_scope(session.world, _chosen(plan).scope, _chosen(plan).held)
    assert isinstance(proof.holds, Known)
    assert proof.holds.value, ENGLISH(proof.words)
    assert "CUDA_VISIBLE_DEVICES=0,2" in ENGLISH(proof.words)


def test_another_hook_that_wins_fails_the_proof(session: Session, place: Path) -> None:
    plan = _cuda(session, "conda:ml")
    made(session.world, plan)
    (place / "miniconda3/envs/ml/etc/conda/activate.d/~mine.sh").write_text("export CUDA_HOME=/mine\necho hello\n")
    proof = prove_scope(session.world, _chosen(plan).scope, _chosen(plan).held)
    assert (proof.holds, ENGLISH(proof.words)) == (Known(value=False, source="bash"), "in the environment CUDA_HOME is /mine")


def test_a_hook_that_ends_the_shell_leaves_it_unproved(session: Session, place: Path) -> None:
    plan = _cuda(session, "conda:ml")
    made(session.world, plan)
    (place / "miniconda3/envs/ml/etc/conda/activate.d/a.sh").write_text("exit 3\n")
    proof = prove_scope(session.world, _chosen(plan).scope, _chosen(plan).held)
    assert not isinstance(proof.holds, Known)
    assert "could not enter and leave" in ENGLISH(proof.words)


def test_what_a_hook_leaves_behind_fails_the_proof(session: Session, place: Path) -> None:
    plan = _devices(session, "conda:ml")
    made(session.world, plan)
    (place / "miniconda3/envs/ml/etc/conda/deactivate.d/gpuassist.sh").write_text("")
    proof = prove_scope(session.world, _chosen(plan).scope, _chosen(plan).held)
    assert "leaving the environment did not put" in ENGLISH(proof.words)


def test_the_kernel_holds_json_with_the_choice(session: Session, place: Path) -> None:
    made(session.world, _cuda(session, "jupyter:ML"))
    found = json.loads((place / ".local/share/jupyter/kernels/ml/kernel.json").read_bytes())
    assert found["env"] == {"CUDA_HOME": f"{place}/cuda-12.4", "PATH": f"{place}/cuda-12.4/bin:${{PATH}}"}
    assert found["display_name"] == "ML"


def test_fish_gets_hooks_where_it_is_the_login_shell(place: Path) -> None:
    plan = _devices(session_at(place, shell="/usr/bin/fish"), "conda:ml")
    assert [Path(edit.path).name for edit in plan.edits] == ["gpuassist.sh"] * 2 + ["gpuassist.fish"] * 2
    assert {edit.dialect for edit in plan.edits} == {"bash", "fish"}


def test_new_files_are_as_open_as_such_files_are(session: Session, place: Path) -> None:
    old = os.umask(0o077)
    try:
        made(session.world, _cuda(session, "conda:ml"))
    finally:
        os.umask(old)
    folder = place / "miniconda3/envs/ml/etc/conda/activate.d"
    assert (folder / "gpuassist.sh").stat().st_mode & 0o777 == 0o644
    assert folder.stat().st_mode & 0o777 == (place / "miniconda3/envs/ml").stat().st_mode & 0o775


@pytest.mark.parametrize("scope", ["conda:ml", "venv:~/project/.venv"])
def test_an_environment_of_another_user_is_refused_with_the_lines(place: Path, scope: str) -> None:
    strange = session_at(place, uid=os.geteuid() + 1)
    plan = _cuda(strange, scope)
    assert plan.obstacle is not None
    assert "export CUDA_HOME=" in plan.block
    before = tree(place)
    assert _made(strange, plan) is Result.REFUSED
    assert tree(place) == before


@pytest.mark.parametrize("scope", [scope for scope in SCOPES if scope != "conda:ml" and scope != "desktop"])
def test_a_read_only_file_is_refused_with_the_lines(session: Session, place: Path, scope: str) -> None:
    (place / "project/.env").write_bytes(b"")
    (place / "project/.envrc").write_bytes(b"")
    files = (*place.glob("project/.env*"), *place.glob("project/.venv/bin/activate*"), *place.rglob("kernel.json"))
    for path in files:
        path.chmod(0o444)
    plan = _devices(session, scope)
    assert "read-only" in ENGLISH(plan.obstacle) if plan.obstacle is not None else False
    assert "CUDA_VISIBLE_DEVICES" in plan.block
    assert _made(session, plan) is Result.REFUSED


def test_a_link_to_nowhere_is_refused(session: Session, place: Path) -> None:
    (place / "project/.env").symlink_to(place / "gone")
    assert _devices(session, "dotenv:~/project").obstacle is not None


def test_a_kernel_that_is_no_json_is_refused(session: Session, place: Path) -> None:
    (place / ".local/share/jupyter/kernels/ml/kernel.json").write_text("{,}")
    with pytest.raises(RepairError) as caught:
        _devices(session, "jupyter:ml")
    assert "kernel.json cannot be changed: it is not JSON" in ENGLISH(caught.value.reason)


def test_markers_that_do_not_pair_up_are_refused(session: Session, place: Path) -> None:
    (place / "project/.env").write_text("# <<< gpuassist <<<\n")
    with pytest.raises(RepairError):
        _devices(session, "dotenv:~/project")


@pytest.mark.parametrize(
    "words", ["", "conda", "conda:", "shell:x", "desktop:x", "docker:x", "venv:", "jupyter:", "Conda:ml", "envrc"]
)
def test_words_that_name_no_scope_are_wrong_usage(session: Session, words: str) -> None:
    with pytest.raises(WishError):
        _devices(session, words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("conda:gone", "there is no conda environment gone. Found: base, ml, other"),
        ("conda:~/project", "is no conda environment"),
        ("venv:~/project", "is no virtual environment"),
        ("envrc:~/gone", "is not a directory"),
        ("dotenv:~/gone", "is not a directory"),
        ("jupyter:gone", "Jupyter has no kernel gone. Found: ml"),
        ("jupyter:~/gone", "does not exist"),
    ],
)
def test_a_scope_that_is_not_here_is_named(session: Session, words: str, said: str) -> None:
    with pytest.raises(RepairError) as caught:
        _devices(session, words)
    assert said in ENGLISH(caught.value.reason)


def test_two_environments_of_one_name_are_told_apart(session: Session, place: Path) -> None:
    (place / "miniforge3/envs/ml/conda-meta").mkdir(parents=True)
    with pytest.raises(RepairError) as caught:
        _devices(session, "conda:ml")
    assert f"{place}/miniforge3/envs/ml" in ENGLISH(caught.value.reason)
    assert _chosen(_devices(session, f"conda:{place}/miniforge3/envs/ml")).scope.place == f"{place}/miniforge3/envs/ml"


def test_two_kernels_of_one_name_are_told_apart(session: Session, place: Path) -> None:
    second = place / "project/.venv/share/jupyter/kernels/ml/kernel.json"
    second.parent.mkdir(parents=True)
    second.write_text("{}")
    with pytest.raises(RepairError):
        _devices(session, "jupyter:ml")
    assert _chosen(_devices(session, f"jupyter:{second.parent}")).scope.place == str(second)


def test_says_what_each_scope_cannot_do(session: Session) -> None:
    assert "cannot put a directory in front of PATH" in _notes(_cuda(session, "dotenv:~/project"))
    assert "`conda activate OTHER` straight from ml" in _notes(_cuda(session, "conda:ml"))
    assert "keeps all but PATH" in _notes(_cuda(session, "venv:~/project/.venv"))
    assert "${PATH} in kernel.json" in _notes(_cuda(session, "jupyter:ml"))
    assert "1: RTX 1 (GPU-11) is hidden from them" in _notes(_devices(session, "desktop"))


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("conda:ml", "`conda activate ml`"),
        ("venv:~/project/.venv", "/project/.venv/bin/activate`"),
        ("envrc:~/project", "`direnv allow "),
        ("dotenv:~/project", "/project/.env find it"),
        ("jupyter:ml", "shut it down and start it"),
        ("desktop", "Log out and in again"),
    ],
)
def test_says_what_is_left_to_do(session: Session, scope: str, said: str) -> None:
    afterwards = _devices(session, scope).afterwards
    assert afterwards is not None
    assert said in ENGLISH(afterwards)


def test_names_lines_of_the_users_own(session: Session, place: Path) -> None:
    (place / "project/.env").write_text("X=1\nCUDA_VISIBLE_DEVICES=1\n")
    made(session.world, _devices(session, "dotenv:~/project"))
    assert f"line 2 of {place}/project/.env sets CUDA_VISIBLE_DEVICES too" in _notes(_devices(session, "dotenv:~/project"))
    assert "line 2" not in _notes(_cuda(session, "dotenv:~/project"))
