"""`gpuassist undo --all`: shown, asked once, taken back; its own data goes only where that is said on its own."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.undo import history
from gpuassist.cli import undo
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.install.records import StepState, begin, save
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.shellfiles.edit import LineChanges, write
from tests.changes.crashing import quiet_world
from tests.changes.homes import edit_of
from tests.cli.runs import run
from tests.shellfiles.written import block_lines
from tests.values import knowledge

ORIGINAL = b"# mine\n"


@pytest.fixture
def session(home: Path) -> Session:
    """Two changes of .bashrc and one of .env."""
    world = quiet_world(home)
    around = replace(world.surroundings, variables={**world.surroundings.variables, "XDG_RUNTIME_DIR": str(home / "run")})
    session = Session(replace(world, surroundings=around), knowledge(), ENGLISH)
    rc = home / ".bashrc"
    rc.write_bytes(ORIGINAL)
    for number in range(2):
        after = write(rc.read_bytes(), block_lines(f"/c{number}"), LineChanges(()), f"c{number}")
        apply(session.world, FileChange(f"c{number}", f"use cuda 12.{number}", (edit_of(rc, after),)))
    (home / ".env").write_bytes(b"A=1\n")
    apply(session.world, FileChange("c2", "use devices 0", (edit_of(home / ".env", b"A=gpu\n", dialect="env"),)))
    return session


@pytest.fixture
def state(home: Path) -> Path:
    return home / ".local/state/gpuassist"


def _answers(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{one}\n" for one in answers)))


def _is_back(home: Path) -> bool:
    return (home / ".bashrc").read_bytes() == ORIGINAL and (home / ".env").read_bytes() == b"A=1\n"


def test_with_yes_everything_goes_and_its_own_data_stays(session: Session, home: Path, state: Path) -> None:
    done = run(undo, session, "--all", "--yes")
    assert done.exit is Exit.HEALTHY
    assert _is_back(home)
    assert (state / "journal/c0.json").exists()
    assert "--delete-state" in done.out
    assert run(undo, session, "--all").exit is Exit.HEALTHY


def test_a_dry_run_shows_the_whole_and_changes_nothing(session: Session, home: Path) -> None:
    done = run(undo, session, "--all", "--dry-run")
    assert done.exit is Exit.HEALTHY
    places = [done.out.index(f"use {what}") for what in ("devices 0", "cuda 12.1", "cuda 12.0")]
    assert places == sorted(places)
    assert not _is_back(home)
    assert not any(one.undone_at for one in history(session.world))


def test_where_nobody_can_be_asked_it_is_wrong_usage(session: Session, home: Path) -> None:
    for more in ((), ("--json",)):
        with pytest.raises(UsageError):
            run(undo, session, "--all", *more)
    assert not _is_back(home)


@pytest.mark.parametrize(
    ("answers", "back", "deleted"),
    [(("n",), False, False), (("y", "n"), True, False), (("y", ""), True, False), (("y", "y"), True, True)],
)
def test_each_is_asked_for_by_itself(
    session: Session, home: Path, state: Path, monkeypatch: pytest.MonkeyPatch, answers: tuple[str, ...], back: bool, deleted: bool
) -> None:
    _answers(monkeypatch, *answers)
    assert run(undo, session, "--all", interactive=True).exit is Exit.HEALTHY
    assert (_is_back(home), not state.exists()) == (back, deleted)


def test_with_delete_state_nothing_is_left(session: Session, home: Path) -> None:
    done = run(undo, session, "--all", "--yes", "--delete-state")
    assert done.exit is Exit.HEALTHY
    assert _is_back(home)
    assert {path.name for path in home.rglob("*")} == {".bashrc", ".env", ".local", "state"}
    assert run(undo, session, "--all", "--json").exit is Exit.HEALTHY


def test_a_conflict_is_left_with_its_data(session: Session, home: Path, state: Path) -> None:
    (home / ".env").write_bytes(b"A=mine\n")
    done = run(undo, session, "--all", "--yes", "--delete-state", "--json")
    document = json.loads(done.out)
    assert (done.exit, document["result"]) == (Exit.PROBLEMS, "refused")
    first, *others = document["changes"]
    assert (first["result"], first["taken_back"], first["conflict"]["file"]) == ("refused", False, str(home / ".env"))
    assert first["what_to_do"]
    assert [one["taken_back"] for one in others] == [True, True]
    assert document["state"]["deletable"] is False
    assert (state / "journal/c2.before").exists()
    assert (home / ".bashrc").read_bytes() == ORIGINAL


def test_a_document_of_all(session: Session, home: Path) -> None:
    document = json.loads(run(undo, session, "--all", "--yes", "--json").out)
    assert (document["schema"], document["result"], document["dry_run"]) == (1, "modified", False)
    assert [one["change"]["id"] for one in document["changes"]] == ["c2", "c1", "c0"]
    assert all(file["diff"] for one in document["changes"] for file in one["files"])
    assert document["state"]["parts"][0]["size_bytes"] > 0
    assert document["state"]["parts"][0]["deleted"] is False


def test_looked_at_as_a_document(session: Session) -> None:
    document = json.loads(run(undo, session, "--all", "--dry-run", "--json").out)
    assert (document["result"], document["dry_run"]) == ("unchanged", True)
    assert [one["taken_back"] for one in document["changes"]] == [False] * 3


@pytest.mark.parametrize("words", [("--all", "c0"), ("--all", "--list"), ("--delete-state",)])
def test_what_does_not_go_together_is_wrong_usage(session: Session, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        run(undo, session, *words)


def test_an_interruption_ends_between_two_changes(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpuassist.cli import undo_all

    class Once:
        def __init__(self) -> None:
            self.asked = 0

        def __enter__(self) -> Once:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def __call__(self) -> bool:
            self.asked += 1
            return self.asked > 2

    monkeypatch.setattr(undo_all, "counted_interrupts", Once)
    done = run(undo, session, "--all", "--yes", "--delete-state", "--json")
    document = json.loads(done.out)
    assert (done.exit, document["result"]) == (Exit.INTERRUPTED, "interrupted")
    assert [one["taken_back"] for one in document["changes"]] == [True, True, False]
    monkeypatch.undo()
    assert run(undo, session, "--all", "--yes").exit is Exit.HEALTHY
    assert _is_back(home)


def test_an_install_that_stands_is_listed_and_keeps_its_record(session: Session, home: Path, state: Path) -> None:
    made = home / "train"
    made.mkdir()
    run_of = StepRun((("python3", "-m", "venv", str(made)),), Tool.PIP, creates=str(made))
    by_root = Step(StepKind.ROOT_COMMAND, verbatim("Install the driver"), ("sudo apt install nvidia-driver-580",), needs_root=True)
    begun = begin(
        session, "torch", (by_root, Step(StepKind.COMMAND, verbatim("Make it"), run=run_of)), goals=("torch",), directory=str(home)
    )
    for number, one in enumerate(begun.steps):
        begun = begun.with_step(number, replace(one, state=StepState.DONE, made=number == 1))
    save(session.world, begun)
    done = run(undo, session, "--all", "--yes", "--delete-state")
    assert done.exit is Exit.PROBLEMS
    assert f"gpuassist plan --back {begun.id}" in done.out
    assert f"rm -r {made}" in done.out
    assert "sudo apt remove nvidia-driver-580" in done.out
    assert (state / f"installs/{begun.id}/install.json").exists()
    assert not (state / "journal").exists()
    made.rmdir()
    assert run(undo, session, "--all", "--yes", "--delete-state").exit is Exit.HEALTHY
    assert not state.exists()
