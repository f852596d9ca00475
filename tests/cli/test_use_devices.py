"""`gpuassist use devices`: what it prints, when it asks, and what it ends with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes.undo import undo
from gpuassist.cli import use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import world_at
from tests.cli.runs import Run, run

GPUS = tuple(Gpu(name=Known(f"RTX {n}", "x"), index=Known(n, "x"), uuid=Known(f"GPU-{n}{n}", "x")) for n in range(2))


@pytest.fixture
def session(home: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr(use, "look_at_gpus", lambda session: Machine(gpus=Known(GPUS, "x")))
    (home / ".bashrc").write_text("alias x=y\n")
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _use(session: Session, *options: str) -> Run:
    return run(use, session, "devices", *options)


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(_use(session, *options, "--json").out)
    assert isinstance(document, dict)
    assert document["schema"] == 1
    return document


def test_changes_proves_and_is_undone(session: Session, home: Path) -> None:
    done = _use(session, "1", "--yes")
    assert done.exit is Exit.HEALTHY
    assert "Note: programs in new terminals find no other GPU: 0: RTX 0 (GPU-00) is hidden" in done.out
    assert "✓ new terminals have CUDA_VISIBLE_DEVICES=1" in done.out
    assert "To undo it: gpuassist undo 20261121-" in done.out
    undo(session.world)
    assert (home / ".bashrc").read_text() == "alias x=y\n"


def test_a_dry_run_changes_nothing(session: Session, home: Path) -> None:
    done = _use(session, "1", "--dry-run")
    assert done.exit is Exit.HEALTHY
    assert "+export CUDA_VISIBLE_DEVICES=1" in done.out
    assert (home / ".bashrc").read_text() == "alias x=y\n"


def test_all_where_nothing_is_chosen_is_done(session: Session) -> None:
    done = _use(session, "all")
    assert done.exit is Exit.HEALTHY
    assert "nothing was changed" in done.out
    assert "✓ programs in new terminals see every GPU" in done.out


def test_is_refused_where_nobody_can_be_asked(session: Session) -> None:
    with pytest.raises(UsageError):
        _use(session, "1")


@pytest.mark.parametrize("words", ["first", "1,1", "0,GPU-00"])
def test_words_that_mean_no_gpus_are_wrong_usage(session: Session, words: str) -> None:
    with pytest.raises(UsageError):
        _use(session, words, "--yes")


def test_options_of_the_toolkit_are_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError):
        _use(session, "1", "--retire", "all")


def test_a_gpu_that_is_not_here_is_a_problem(session: Session) -> None:
    done = _use(session, "5", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "5 is no GPU of this machine. It has 0: RTX 0 (GPU-00); 1: RTX 1 (GPU-11)" in done.err


def test_json_is_one_document(session: Session, home: Path) -> None:
    document = _json(session, "GPU-11", "--yes")
    assert (document["result"], document["devices"], document["hidden"]) == ("modified", ["GPU-11"], ["0: RTX 0 (GPU-00)"])
    assert document["proof"]["holds"] is True
    assert document["files"][0]["file"] == f"{home}/.bashrc"
    assert document["change"]


def test_json_of_a_refusal_is_a_document(session: Session) -> None:
    assert _json(session, "5", "--yes")["result"] == "refused"


def test_json_of_a_dry_run_says_so(session: Session) -> None:
    document = _json(session, "1", "--dry-run")
    assert (document["dry_run"], document["change"], document["proof"]) == (True, None, None)


def test_an_obstacle_prints_the_lines(session: Session, home: Path) -> None:
    (home / ".bashrc").chmod(0o444)
    done = _use(session, "1", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "\nexport CUDA_VISIBLE_DEVICES=1\n" in done.out


def test_a_line_that_wins_fails_the_proof(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("readonly CUDA_VISIBLE_DEVICES=0\n")
    done = _use(session, "1", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "✗ new terminals have CUDA_VISIBLE_DEVICES=0" in done.out


@pytest.mark.parametrize("devices", ["1", "all"])
def test_another_users_home_is_neither_changed_nor_run(session: Session, home: Path, devices: str) -> None:
    (home / ".bashrc").write_text("touch ~/ran\n")
    sudo = Session(world_at(home, uid=os.geteuid() + 1), session.knowledge, ENGLISH)
    done = _use(sudo, devices, "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "without sudo" in done.out
    assert not (home / "ran").exists()
