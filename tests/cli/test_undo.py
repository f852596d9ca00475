"""`gpuassist undo`: the newest without asking, others only when they were agreed to."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.undo import history
from gpuassist.cli import undo, use
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from tests.changes.homes import choose, edit_of, world_at
from tests.cli.runs import run

ORIGINAL = b"# mine\n"


@pytest.fixture
def session(home: Path) -> Session:
    """Two changes: 11.7, then 12.4; proved elsewhere, for that starts ten shells a change."""
    (home / ".bashrc").write_bytes(ORIGINAL)
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    choose(session.world, "11.7.99", "12.4.131")
    return session


def _ids(session: Session) -> list[str]:
    return [change.id for change in history(session.world)]


def _in_effect(home: Path) -> str:
    return (home / ".bashrc").read_text().partition("CUDA_HOME=")[2].partition("\n")[0]


def test_undoes_the_newest_without_asking(session: Session, home: Path) -> None:
    done = run(undo, session)
    assert done.exit is Exit.HEALTHY
    assert "restored exactly" in done.out
    assert _in_effect(home) == f"{home}/cuda-11.7"


def test_what_it_does_not_reach_is_said(home: Path) -> None:
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    file = home / ".config" / "fish" / "config.fish"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"fish_add_path /opt/cuda-11.7/bin\n")
    edit = edit_of(file, b"fish_add_path /opt/cuda-12.4/bin\n", dialect="fish")
    assert apply(session.world, FileChange("20261122-120000-abcdef", "use cuda 12.4", (edit,))).outcome.result is Result.MODIFIED
    remembered = r"SETUVAR fish_user_paths:/opt/cuda\x2d12\x2e4/bin\x1e/opt/cuda\x2d11\x2e7/bin"
    (file.parent / "fish_variables").write_text(f"# VERSION: 3.0\n{remembered}\n")
    said = run(undo, session).out.splitlines()
    assert any("also after `source`" in line for line in said)
    (told,) = [line for line in said if "fish_user_paths" in line]
    assert "/opt/cuda-12.4/bin" in told
    assert "/opt/cuda-11.7/bin" not in told


def test_undoes_everything_one_by_one(session: Session, home: Path) -> None:
    assert [run(undo, session).exit for _ in range(2)] == [Exit.HEALTHY, Exit.HEALTHY]
    assert (home / ".bashrc").read_bytes() == ORIGINAL


def test_the_newest_may_be_named(session: Session, home: Path) -> None:
    run(undo, session, _ids(session)[0])
    assert _in_effect(home) == f"{home}/cuda-11.7"


def test_an_older_one_is_refused_where_nobody_can_be_asked(session: Session, home: Path) -> None:
    with pytest.raises(UsageError):
        run(undo, session, _ids(session)[1])
    assert _in_effect(home) == f"{home}/cuda-12.4"


def test_an_older_one_with_yes(session: Session, home: Path) -> None:
    assert run(undo, session, _ids(session)[1], "--yes").exit is Exit.HEALTHY
    run(undo, session)
    assert (home / ".bashrc").read_bytes() == ORIGINAL


@pytest.mark.parametrize(("answer", "undone"), [("y\n", True), ("n\n", False)])
def test_an_older_one_is_asked_about(session: Session, monkeypatch: pytest.MonkeyPatch, answer: str, undone: bool) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    done = run(undo, session, _ids(session)[1], interactive=True)
    assert "This is not the newest change" in done.err
    assert bool(history(session.world)[1].undone_at) is undone


def test_nothing_to_undo_is_done(session: Session) -> None:
    for _ in range(2):
        run(undo, session)
    done = run(undo, session)
    assert done.exit is Exit.HEALTHY
    assert "there is no change to undo" in done.err


def test_undone_already_is_done(session: Session) -> None:
    newest = _ids(session)[0]
    run(undo, session)
    done = run(undo, session, newest, "--yes")
    assert done.exit is Exit.HEALTHY
    assert "undone already" in done.err


def test_an_unknown_id_is_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError):
        run(undo, session, "nothing", "--yes")


def test_a_recorded_machine_is_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError):
        run(undo, session, machine_file="rig.json")


def test_what_cannot_be_undone_is_a_problem(session: Session, home: Path) -> None:
    (home / ".bashrc").unlink()
    done = run(undo, session)
    assert done.exit is Exit.PROBLEMS
    assert "is kept in" in done.err


def test_lists_changes(session: Session) -> None:
    run(undo, session)
    lines = run(undo, session, "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == _ids(session)
    assert "undone 2026-11-21 " in lines[0]
    assert "in effect" in lines[1]


def test_an_empty_list_says_so(home: Path) -> None:
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    assert run(undo, session, "--list").out == "gpuassist has changed nothing yet\n"


def test_the_list_as_json(session: Session) -> None:
    document = json.loads(run(undo, session, "--list", "--json").out)
    assert document["schema"] == 1
    assert [change["undone_at"] for change in document["changes"]] == [None, None]
    assert all(Path(change["backup"]).exists() for change in document["changes"])


def test_undo_as_json(session: Session) -> None:
    document = json.loads(run(undo, session, "--json").out)
    assert (document["schema"], document["result"]) == (1, "modified")
    assert document["change"]["undone_at"]


def test_a_refusal_as_json(session: Session, home: Path) -> None:
    (home / ".bashrc").unlink()
    assert json.loads(run(undo, session, "--json").out)["result"] == "refused"


def test_a_dry_run_shows_and_changes_nothing(session: Session, home: Path) -> None:
    before = (home / ".bashrc").read_bytes()
    done = run(undo, session, "--dry-run")
    assert done.exit is Exit.HEALTHY
    assert f"+export CUDA_HOME={home}/cuda-11.7" in done.out
    assert "nothing was changed (--dry-run)" in done.out
    assert (home / ".bashrc").read_bytes() == before


def test_a_dry_run_of_an_older_one_asks_nothing(session: Session) -> None:
    document = json.loads(run(undo, session, _ids(session)[1], "--dry-run", "--json").out)
    assert (document["result"], document["dry_run"]) == ("unchanged", True)
    assert [(file["removes_file"], file["edited_since"]) for file in document["files"]] == [(False, False)]
    assert len([change for change in history(session.world) if not change.undone_at]) == 2


def test_what_was_edited_since_is_shown_as_a_diff(session: Session, home: Path) -> None:
    with open(home / ".bashrc", "a", encoding="utf-8") as file:
        file.write("alias mine=x\n")
    done = run(undo, session)
    assert f"-export CUDA_HOME={home}/cuda-12.4" in done.out
    assert "was edited since" in done.out
    assert "alias mine=x" in (home / ".bashrc").read_text()


@pytest.fixture
def conflict(session: Session, home: Path) -> Session:
    """Somebody changed a line of the block."""
    content = (home / ".bashrc").read_bytes()
    (home / ".bashrc").write_bytes(content.replace(b"/cuda-12.4\n", b"/cuda-mine\n"))
    return session


@pytest.mark.parametrize(("options", "status"), [((), Exit.USAGE), (("--dry-run",), Exit.PROBLEMS), (("--yes",), Exit.USAGE)])
def test_a_conflict_in_our_block_shows_all_three_and_what_takes_it_out(
    conflict: Session, home: Path, options: tuple[str, ...], status: Exit
) -> None:
    before = (home / ".bashrc").read_bytes()
    done = run(undo, conflict, *options)
    assert done.exit is status
    assert f": gpuassist undo {_ids(conflict)[0]} --take-out\n" in done.err
    for words in ("What was changed in", "/cuda-mine", "What undo would change", "<<<<<<< now", "is kept in"):
        assert words in done.err
    assert (home / ".bashrc").read_bytes() == before


def test_a_conflict_as_json(conflict: Session) -> None:
    document = json.loads(run(undo, conflict, "--json").out)
    assert document["result"] == "refused"
    assert document["command"] == f"gpuassist undo {_ids(conflict)[0]} --take-out"
    assert "/cuda-mine" in document["conflict"]["since"]
    assert [sorted(meeting) for meeting in document["conflict"]["meetings"]] == [["line", "now", "undo", "written"]]


@pytest.mark.parametrize(("answer", "taken"), [("y\n", True), ("n\n", False)])
def test_on_a_terminal_it_is_offered_to_take_the_block_out(
    conflict: Session, home: Path, monkeypatch: pytest.MonkeyPatch, answer: str, taken: bool
) -> None:
    before = (home / ".bashrc").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    done = run(undo, conflict, interactive=True)
    assert done.exit is Exit.HEALTHY
    assert "/cuda-mine" in done.err
    assert "Take gpuassist's own lines out like this, with what was edited there? [y/N]" in done.err
    assert ((home / ".bashrc").read_bytes() == before) is not taken
    assert ("/cuda-mine" in _in_effect(home)) is not taken


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_command_that_was_given_takes_it_out(conflict: Session, home: Path, options: tuple[str, ...]) -> None:
    command = json.loads(run(undo, conflict, "--json").out)["command"].split()
    done = run(undo, conflict, *command[2:], *options)
    assert done.exit is Exit.HEALTHY
    assert _in_effect(home) == f"{home}/cuda-11.7"
    assert run(undo, conflict).exit is Exit.HEALTHY
    assert (home / ".bashrc").read_bytes() == ORIGINAL


def test_a_conflict_elsewhere_is_a_problem_without_a_command(session: Session, home: Path) -> None:
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\n")
    assert run(use, session, "cuda", "12.4", "--yes").exit is Exit.HEALTHY
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-12.4/bin:/mine:$PATH\n")
    done = run(undo, session, "--json")
    assert (done.exit, json.loads(done.out)["command"]) == (Exit.PROBLEMS, None)


def test_the_list_says_what_was_edited_since(session: Session, home: Path) -> None:
    (home / ".bashrc").write_bytes(b"# head\n" + (home / ".bashrc").read_bytes())
    assert "(in effect; the file was edited since)" in run(undo, session, "--list").out.splitlines()[0]
    newest = json.loads(run(undo, session, "--list", "--json").out)["changes"][0]
    assert (newest["stands"], newest["edited_since"], newest["standing"]) == (True, True, "stands")


def _several(session: Session, home: Path) -> None:
    edits = tuple(edit_of(home / name, b"A=1\n", dialect="env") for name in (".env", ".config/environment.d/50-gpuassist.conf"))
    assert apply(session.world, FileChange("several", "use devices 0", edits)).outcome.result is Result.MODIFIED


def test_files_of_one_change_are_listed_together(session: Session, home: Path) -> None:
    _several(session, home)
    lines = run(undo, session, "--list").out.splitlines()
    assert lines[0].startswith("several  ")
    assert [line.strip().split()[0] for line in lines[1:3]] == [f"{home}/.env", f"{home}/.config/environment.d/50-gpuassist.conf"]
    changes = json.loads(run(undo, session, "--list", "--json").out)["changes"]
    assert [(change["id"], change["group"]) for change in changes[:2]] == [("several", "several"), ("several-2", "several")]


@pytest.mark.parametrize("change", ["", "several", "several-2"])
def test_files_of_one_change_are_undone_together(session: Session, home: Path, change: str) -> None:
    _several(session, home)
    document = json.loads(run(undo, session, *([change] if change else []), "--json").out)
    assert len(document["files"]) == 2
    assert not (home / ".env").exists()
    assert not (home / ".config").exists()


def test_a_file_that_cannot_be_read_is_listed_so(session: Session, home: Path) -> None:
    (home / ".bashrc").unlink()
    assert "(the file is not there any more)" in run(undo, session, "--list").out
    (home / ".bashrc").mkdir()
    assert "(the file cannot be read)" in run(undo, session, "--list").out
    assert json.loads(run(undo, session, "--list", "--json").out)["changes"][0]["stands"] is None


def test_what_was_taken_out_by_hand_is_listed_so(session: Session, home: Path) -> None:
    (home / ".bashrc").write_bytes(ORIGINAL + b"alias x=y\n")
    assert "(nothing of it is left in the file)" in run(undo, session, "--list").out
