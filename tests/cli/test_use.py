"""`gpuassist use cuda`: what it prints, when it asks, and what it ends with."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gpuassist.cli import use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import FaultyDisk, make_toolkit, world_at
from tests.cli.runs import Run, run


@pytest.fixture
def session(home: Path) -> Session:
    make_toolkit(home / "cuda-11.7", "11.7.99")
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\n")
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _use(session: Session, *options: str, interactive: bool = False) -> Run:
    return run(use, session, "cuda", *options, interactive=interactive)


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(_use(session, *options, "--json").out)
    assert isinstance(document, dict)
    assert document["schema"] == 1
    return document


def _content(home: Path) -> str:
    return (home / ".bashrc").read_text()


def test_changes_and_proves(session: Session, home: Path) -> None:
    done = _use(session, "12.4", "--yes")
    assert done.exit is Exit.HEALTHY
    assert f"✓ a new terminal finds {home}/cuda-12.4/bin/nvcc (nvcc 12.4.131)" in done.out
    assert "To undo it: gpuassist undo 20261121-" in done.out
    assert _content(home) == f"export PATH={home}/cuda-12.4/bin:$PATH\n"


def test_shows_lines_reasons_and_diff(session: Session, home: Path) -> None:
    out = _use(session, "12.4", "--dry-run").out
    assert f"[~] 1: puts {home}/cuda-11.7/bin in front of PATH – names another toolkit than the one that you chose" in out
    assert f"      becomes: export PATH={home}/cuda-12.4/bin:$PATH" in out
    assert "LD_LIBRARY_PATH: off" in out
    assert f"+export PATH={home}/cuda-12.4/bin:$PATH" in out


def test_a_file_without_such_a_line_gets_the_block(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    done = _use(session, "12.4", "--yes")
    assert done.exit is Exit.HEALTHY
    assert "+# >>> gpuassist version=1" in done.out
    assert f'\nexport CUDA_HOME={home}/cuda-12.4\nexport PATH="$CUDA_HOME/bin:$PATH"\n' in _content(home)


def test_a_dry_run_changes_nothing(session: Session, home: Path) -> None:
    before = _content(home)
    done = _use(session, "12.4", "--dry-run")
    assert done.exit is Exit.HEALTHY
    assert "nothing was changed (--dry-run)" in done.out
    assert _content(home) == before


def test_is_refused_where_nobody_can_be_asked(session: Session, home: Path) -> None:
    before = _content(home)
    with pytest.raises(UsageError) as raised:
        _use(session, "12.4")
    assert "--yes" in ENGLISH(raised.value.reason)
    assert _content(home) == before


ANSWERS = [("y\n", True), ("yes\n", True), ("Y\n", True), ("n\n", False), ("\n", False), ("", False)]


@pytest.mark.parametrize(("answer", "changed"), ANSWERS)
def test_asks_on_a_terminal(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, changed: bool) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    done = _use(session, "12.4", interactive=True)
    assert done.exit is Exit.HEALTHY
    assert "Change the files like this? [y/N]" in done.err
    assert ("cuda-12.4" in _content(home)) is changed


def test_unchanged_is_done_and_says_so(session: Session) -> None:
    _use(session, "12.4", "--yes")
    again = _use(session, "12.4")
    assert again.exit is Exit.HEALTHY
    assert "already says so" in again.out
    assert "✓" in again.out


def test_a_version_that_is_not_installed_lists_what_is(session: Session) -> None:
    done = _use(session, "9.9", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "CUDA 9.9 is not installed. Installed: " in done.err
    assert "12.4.131" in done.err


@pytest.mark.parametrize("version", ["banana", "12.x", ""])
def test_no_version_is_wrong_usage(session: Session, version: str) -> None:
    with pytest.raises(UsageError):
        _use(session, version, "--yes")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "601"])
def test_a_time_limit_that_is_none_is_wrong_usage(session: Session, seconds: str) -> None:
    with pytest.raises(UsageError) as raised:
        _use(session, "12.4", f"--seconds={seconds}")
    assert "from 0.1 to 600" in ENGLISH(raised.value.reason)


def test_a_recorded_machine_is_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError):
        run(use, session, "cuda", "12.4", "--yes", machine_file="rig.json")


def test_an_obstacle_prints_the_lines_to_paste(session: Session, home: Path) -> None:
    (home / ".bashrc").chmod(0o444)
    done = _use(session, "12.4", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "read-only" in done.out
    assert f"\nexport CUDA_HOME={home}/cuda-12.4\n" in done.out


def test_an_obstacle_shows_in_a_dry_run(session: Session, home: Path) -> None:
    (home / ".bashrc").chmod(0o444)
    assert _use(session, "12.4", "--dry-run").exit is Exit.PROBLEMS


def test_a_failed_proof_is_a_problem(session: Session, home: Path) -> None:
    words = f"export PATH={home}/cuda-11.7/bin:$PATH\n" + "nvcc() { echo mine; }\n"
    (home / ".bashrc").write_text(words)
    done = run(use, session, "cuda", "12.4", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "✗" in done.out
    assert "gpuassist undo" in done.out


def test_a_terminal_that_cannot_be_asked_is_undetermined(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("exit 3\n")
    assert _use(session, "12.4", "--yes").exit is Exit.UNDETERMINED


def test_a_full_disk_is_a_problem(home: Path, session: Session) -> None:
    full = Session(world_at(home, disk=FaultyDisk(only="write")), session.knowledge, ENGLISH)
    before = _content(home)
    done = _use(full, "12.4", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "disk is full" in done.out
    assert _content(home) == before


def test_a_relative_file_is_taken_from_here(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    (home / "other").write_text(f"export CUDA_HOME={home}/cuda-11.7\n")
    assert _json(session, "12.4", "--rc", "other", "--dry-run")["file"] == f"{home}/other"


@pytest.mark.parametrize("wish", ["on", "off", "auto"])
def test_the_loader_path_is_an_option(session: Session, wish: str) -> None:
    document = _json(session, "12.4", "--ld-library-path", wish, "--dry-run")
    assert document["ld_library_path"]["on"] is (wish == "on")
    assert document["ld_library_path"]["reason"]


def test_json_is_one_document(session: Session, home: Path) -> None:
    document = _json(session, "12.4", "--yes")
    assert document["result"] == "modified"
    assert document["toolkit"] == {"root": f"{home}/cuda-12.4", "version": "12.4.131"}
    assert document["proof"]["holds"] is True
    assert document["proof"]["nvcc"] == f"{home}/cuda-12.4/bin/nvcc"
    assert document["lines"][0]["choice"] == "rewrite"
    assert document["change"]
    assert document["paste"]


def test_json_of_a_dry_run_says_so(session: Session) -> None:
    document = _json(session, "12.4", "--dry-run")
    assert (document["dry_run"], document["change"], document["proof"]) == (True, None, None)
    assert document["diff"]


def test_json_of_a_refusal_is_a_document(session: Session) -> None:
    document = _json(session, "9.9", "--yes")
    assert document["result"] == "refused"
    assert "not installed" in document["message"]


def test_bytes_that_are_not_utf_8_can_be_printed(session: Session, home: Path) -> None:
    (home / ".bashrc").write_bytes(b"# caf\xe9\nexport PATH=/caf\xe9/bin:/usr/local/cuda-11.7/bin:$PATH\n")
    done = _use(session, "12.4", "--yes")
    done.out.encode()
    assert "/caf\\xe9/bin" in done.out
    assert (home / ".bashrc").read_bytes().startswith(b"# caf\xe9\nexport PATH=/caf\xe9/bin")


def test_json_of_bytes_that_are_not_utf_8(session: Session, home: Path) -> None:
    (home / ".bashrc").write_bytes(b"export PATH=/caf\xe9/bin:/usr/local/cuda-11.7/bin:$PATH\n")
    done = _use(session, "12.4", "--dry-run", "--json")
    assert json.loads(done.out.encode())["lines"][0]["text"] == "export PATH=/caf\\xe9/bin:/usr/local/cuda-11.7/bin:$PATH"


def test_another_users_home_is_left_alone(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("touch ~/ran\n")
    sudo = Session(world_at(home, uid=os.geteuid() + 1), session.knowledge, ENGLISH)
    done = _use(sudo, "12.4", "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "without sudo" in done.out
    assert not (home / "ran").exists()
    assert not (home / ".local").exists()
