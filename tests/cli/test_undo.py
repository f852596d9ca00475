"""`gpuassist undo`: the newest without asking, others only when they were agreed to."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from gpuassist.cli import undo, use
from gpuassist.cli.context import Exit, UsageError
from gpuassist.knowledge.tables import Knowledge
from gpuassist.session import fix
from gpuassist.session.context import Session
from gpuassist.session.words import ENGLISH
from tests.cli.runs import run
from tests.repair.homes import make_toolkit, world_at

ORIGINAL = b"# mine\n"


@pytest.fixture
def session(home: Path) -> Session:
    """Two changes: 11.7, then 12.4."""
    (home / ".bashrc").write_bytes(ORIGINAL)
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    for version in ("11.7.99", "12.4.131"):
        make_toolkit(home / f"cuda-{version[:4]}", version)
        assert run(use, session, "cuda", version[:4], "--yes").exit is Exit.HEALTHY
    return session


def _ids(session: Session) -> list[str]:
    return [change.id for change in fix.history(session)]


def _in_effect(home: Path) -> str:
    return (home / ".bashrc").read_text().partition("CUDA_HOME='")[2].partition("'")[0]


def test_undoes_the_newest_without_asking(session: Session, home: Path) -> None:
    done = run(undo, session)
    assert done.exit is Exit.HEALTHY
    assert "byte for byte" in done.out
    assert _in_effect(home) == f"{home}/cuda-11.7"


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
    assert bool(fix.history(session)[1].undone_at) is undone


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
    assert "undone 2026-11-21T" in lines[0]
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
