"""`gpuassist shell --clean`: what it takes out, what it leaves to the user, and that it comes back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.clean_plan import plan_clean
from gpuassist.changes.undo import undo
from gpuassist.changes.wishes import CleanShell
from gpuassist.cli import shell
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.system.files import Files
from tests.changes.homes import world_at
from tests.cli.runs import Run, run

RC = "export PATH=/tmp::$PATH\nexport PATH=$HOME/none:$PATH\nexport LD_LIBRARY_PATH=/opt/cuda/lib64/stubs\n"
PROFILE = ". ~/.bashrc\nexport LIBRARY_PATH=/tmp:$LIBRARY_PATH\n"


@pytest.fixture
def session(home: Path) -> Session:
    (home / ".bashrc").write_text(RC)
    (home / ".profile").write_text(PROFILE)
    return Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)


def _clean(session: Session, *options: str) -> Run:
    return run(shell, session, "--clean", *options)


def _json(session: Session, *options: str) -> dict[str, Any]:
    document = json.loads(_clean(session, *options, "--json").out)
    assert isinstance(document, dict)
    return document


def _choices(document: dict[str, Any]) -> dict[str, str]:
    home = str(Path.home())
    mine = (line for line in document["lines"] if line["file"].startswith(home))
    return {f"{Path(line['file']).name}:{line['line']}": line["choice"] for line in mine}


def test_suggests_by_what_is_certain(session: Session) -> None:
    choices = _choices(_json(session, "--dry-run"))
    assert choices == {".bashrc:1": "rewrite", ".bashrc:2": "leave", ".bashrc:3": "retire", ".profile:2": "rewrite"}


def test_cleans_proves_and_comes_back(session: Session, home: Path) -> None:
    document = _json(session, "--yes")
    assert (document["result"], document["proof"]["holds"]) == ("modified", True)
    assert "LD_LIBRARY_PATH: /opt/cuda/lib64/stubs" in document["proof"]["message"]
    assert "export PATH=/tmp:$PATH\n" in (home / ".bashrc").read_text()
    assert "/tmp${LIBRARY_PATH:+:$LIBRARY_PATH}\n" in (home / ".profile").read_text()
    assert "nothing is left to do" in _json(session, "--yes")["message"]
    undo(session.world)
    assert ((home / ".bashrc").read_text(), (home / ".profile").read_text()) == (RC, PROFILE)


def test_cleans_the_lines_that_are_named(session: Session, home: Path) -> None:
    _json(session, "--yes", "--lines", f"{home}/.bashrc:2")
    assert (home / ".bashrc").read_text().splitlines()[1].startswith("# gpuassist retired")
    assert (home / ".profile").read_text() == PROFILE


def test_shows_what_is_wrong_and_what_becomes_of_it(session: Session) -> None:
    done = _clean(session, "--dry-run")
    assert done.exit is Exit.HEALTHY
    assert "[~] 1: an empty entry, which means the current directory – only that is removed" in done.out
    assert "      becomes: export PATH=/tmp:$PATH" in done.out
    assert "[ ] 2: " in done.out


def test_is_refused_where_nobody_can_be_asked(session: Session, home: Path) -> None:
    with pytest.raises(UsageError):
        _clean(session)
    assert (home / ".bashrc").read_text() == RC


WRONG = [("--yes",), ("--lines", "~/.bashrc:1"), ("--dry-run",), ("--clean", "--lines", "12"), ("--clean", "--lines", "/x:1")]


@pytest.mark.parametrize("options", WRONG)
def test_wrong_usage_is_told(session: Session, options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(shell, session, *options)


def test_a_recorded_machine_is_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError):
        run(shell, session, "--clean", "--yes", machine_file="rig.json")


def test_nothing_wrong_is_done_and_says_so(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("alias x=y\n")
    (home / ".profile").unlink()
    done = _clean(session, "--yes", "--lines", "")
    assert done.exit is Exit.HEALTHY
    assert "nothing is left to do; nothing was changed" in done.out


def test_what_hurts_is_handed_in(session: Session, home: Path) -> None:
    (home / ".profile").write_text("export LD_LIBRARY_PATH=/tmp\n")
    plan = plan_clean(session.world, Machine(), CleanShell(hurts={"/tmp": text("an older cuDNN lies there")}))
    (line,) = (line for line in plan.lines if line.file == f"{home}/.profile")
    assert ENGLISH(line.does[0]) == "an older cuDNN lies there"
    assert line.ticked


def test_a_file_with_broken_markers_is_left(session: Session, home: Path) -> None:
    (home / ".profile").write_text(PROFILE + "# >>> gpuassist version=1 change=x added=0 >>>\n")
    plan = plan_clean(session.world, Machine(), CleanShell())
    assert [Path(edit.path).name for edit in plan.edits] == [".bashrc"]


def test_a_recorded_world_is_never_written(session: Session, home: Path, tmp_path: Path) -> None:
    plan = plan_clean(session.world, Machine(), CleanShell())
    recorded = replace(session, world=replace(session.world, files=Files(str(tmp_path))))
    assert carry_out(recorded.world, plan).outcome.result.value == "refused"
    assert (home / ".bashrc").read_text() == RC


def test_the_proof_names_what_is_gone(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text("export LD_LIBRARY_PATH=/a\n")
    (home / ".profile").unlink()
    before = Terminal("/bin/bash", (Variable("LD_LIBRARY_PATH", "/b:/a::"),), ())
    assert _proof(session, Known(before, "x")).endswith("LD_LIBRARY_PATH: /b; LD_LIBRARY_PATH: ''")
    assert "starts as before" in _proof(session, NOT_ASKED)


def _proof(session: Session, before: Fact[Terminal]) -> str:
    plan = plan_clean(session.world, Machine(shell=Shell(new_terminal=before)), CleanShell())
    proof = carry_out(session.world, plan).proof
    assert proof is not None
    return ENGLISH(proof.words)


def test_a_terminal_that_cannot_be_asked_is_undetermined(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text(RC + "exit 3\n")
    assert _clean(session, "--yes").exit is Exit.UNDETERMINED


def test_another_users_home_is_neither_changed_nor_run(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text(RC + "touch ~/ran\n")
    sudo = replace(session, world=world_at(home, uid=os.geteuid() + 1))
    done = _clean(sudo, "--yes")
    assert done.exit is Exit.PROBLEMS
    assert "without sudo" in done.out
    assert not (home / "ran").exists()
    assert not (home / ".local").exists()
