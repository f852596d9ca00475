"""`gpuassist use … --scope` and `--scopes`: what they print, prove and refuse."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpuassist.changes.undo import undo
from gpuassist.cli import use, use_scope
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.present.marks import Exit
from tests.changes.scoped import furnish, machine, session_at, tree
from tests.cli.runs import Run, run


@pytest.fixture
def session(home: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    here = machine(furnish(home))
    monkeypatch.setattr(use_scope, "look_at_gpus", lambda session: here)
    monkeypatch.setattr(use_scope, "look", lambda session: here)
    return session_at(home)


def _use(session: Session, *options: str) -> Run:
    return run(use, session, *options)


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(_use(session, *options, "--json").out)
    assert isinstance(document, dict)
    assert document["schema"] == 1
    return document


def test_changes_proves_says_what_is_left_and_is_undone(session: Session, home: Path) -> None:
    before = tree(home)
    done = _use(session, "cuda", "12.4", "--scope", "conda:ml", "--yes")
    assert done.exit is Exit.HEALTHY
    assert f"✓ bash finds CUDA_HOME={home}/cuda-12.4 in the environment, and everything as before once it has left it" in done.out
    assert "`conda activate ml`" in done.out
    assert "gpuassist undo 2026" in done.out
    undo(session.world)
    assert tree(home) == before


def test_gpus_for_a_project(session: Session, home: Path) -> None:
    done = _use(session, "devices", "0,2", "--scope", "dotenv:~/project", "--yes")
    assert done.exit is Exit.HEALTHY
    assert "\nCUDA_VISIBLE_DEVICES=0,2\n" in (home / "project/.env").read_text()


def test_json_is_one_document(session: Session, home: Path) -> None:
    document = _json(session, "devices", "1", "--scope", "jupyter:ml", "--yes")
    assert (document["result"], document["scope"], document["devices"]) == ("modified", "jupyter:ml", ["1"])
    assert [file["file"] for file in document["files"]] == [f"{home}/.local/share/jupyter/kernels/ml/kernel.json"]
    assert document["proof"] is None
    assert "shut it down" in document["afterwards"]


def test_json_of_a_toolkit_names_it(session: Session, home: Path) -> None:
    document = _json(session, "cuda", "12.4", "--scope", "venv:~/project/.venv", "--yes")
    assert document["toolkit"] == {"root": f"{home}/cuda-12.4", "version": "12.4"}
    assert document["proof"]["holds"] is True


def test_a_dry_run_changes_nothing(session: Session, home: Path) -> None:
    before = tree(home)
    done = _use(session, "devices", "1", "--scope", "envrc:~/project", "--dry-run")
    assert (done.exit, tree(home)) == (Exit.HEALTHY, before)
    assert "+export CUDA_VISIBLE_DEVICES=1" in done.out


@pytest.mark.parametrize("options", [(), ("--scope", "shell")])
def test_the_shell_is_the_default_scope(
    session: Session, home: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(use, "look_at_gpus", lambda session: machine(home))
    assert _json(session, "devices", "1", "--dry-run", *options)["files"][0]["file"] == f"{home}/.bashrc"


def test_a_refusal_prints_the_lines(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = machine(furnish(home))
    monkeypatch.setattr(use_scope, "look_at_gpus", lambda session: here)
    done = _use(session_at(home, uid=os.geteuid() + 1), "devices", "1", "--scope", "conda:ml", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "These are the files, for somebody who may change the environment:\n# " in done.out
    assert "\nexport CUDA_VISIBLE_DEVICES=1\n" in done.out


def test_a_scope_that_is_not_here_is_a_problem(session: Session) -> None:
    done = _use(session, "devices", "1", "--scope", "conda:gone", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "there is no conda environment gone" in done.err


@pytest.mark.parametrize(
    "options",
    [
        ("devices", "1", "--scope", "docker:x"),
        ("devices", "1,1", "--scope", "desktop"),
        ("cuda", "newest", "--scope", "desktop"),
        ("cuda", "12.4", "--scope", "desktop", "--rc", "/x"),
        ("cuda", "12.4", "--scope", "desktop", "--retire", "all"),
        ("cuda", "12.4", "--scope", "desktop", "--also-login"),
        ("cuda",),
        (),
        ("cuda", "12.4", "--scopes"),
        ("devices", "1", "--scope", "desktop"),
    ],
)
def test_wrong_usage(session: Session, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        _use(session, *options)


def test_scopes_shows_them_with_who_sees_each(session: Session, home: Path) -> None:
    _use(session, "devices", "1", "--scope", "dotenv:~/project", "--yes")
    done = _use(session, "--scopes", f"{home}/project")
    assert done.exit is Exit.HEALTHY
    assert "  --scope conda:ml\n" in done.out
    assert f"  --scope dotenv:{home}/project  (CUDA_DEVICE_ORDER=PCI_BUS_ID, CUDA_VISIBLE_DEVICES=1)\n" in done.out
    assert "    ✗ a cron job\n" in done.out
    assert "    ~ a new terminal: after `conda activate`\n" in done.out


def test_scopes_for_programs(session: Session, home: Path) -> None:
    document = _json(session, "--scopes", f"{home}/project")
    found = {one["scope"]: one for one in document["scopes"]}
    assert found["jupyter:ml"]["changeable"] is True
    assert found["desktop"]["files"] == [f"{home}/.config/environment.d/60-gpuassist.conf"]


def test_scopes_says_why_one_may_not_be_changed(session: Session, home: Path) -> None:
    (home / ".local/share/jupyter/kernels/ml/kernel.json").write_text("{,}")
    assert "      it is not JSON" in _use(session, "--scopes").out
