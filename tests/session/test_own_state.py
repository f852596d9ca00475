"""gpuassist's own data: all that it writes is found, what is needed stays, and nothing of anybody else's is ever deleted."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import gpuassist
from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.undo_all import plan_undo_all, undo_all
from gpuassist.context import Session
from gpuassist.install.autostart import add_autostart, autostart_path
from gpuassist.install.records import lock, root
from gpuassist.model.words import ENGLISH
from gpuassist.session import own_state as module
from gpuassist.session.own_state import DeletedPart, OwnState, delete_own_state
from gpuassist.session.settings import Settings, save_settings
from gpuassist.session.thresholds import save_thresholds
from gpuassist.session.traces import look_at_traces
from gpuassist.session.verifications import keep, new
from gpuassist.shellfiles.edit import LineChanges, write
from tests.changes.crashing import quiet_world
from tests.changes.homes import edit_of
from tests.shellfiles.written import block_lines
from tests.strangers import given_away
from tests.values import knowledge


@pytest.fixture
def session(home: Path) -> Session:
    world = quiet_world(home)
    around = replace(world.surroundings, variables={**world.surroundings.variables, "XDG_RUNTIME_DIR": str(home / "run")})
    return Session(replace(world, surroundings=around), knowledge(), ENGLISH)


def _change(session: Session, home: Path) -> None:
    (home / ".bashrc").write_bytes(b"# mine\n")
    edit = edit_of(home / ".bashrc", write(b"# mine\n", block_lines("/c"), LineChanges(()), "one"))
    apply(session.world, FileChange("one", "use cuda 12.4", (edit,)))


def _everything(session: Session, home: Path) -> None:
    """Whatever gpuassist keeps, written by who writes it."""
    _change(session, home)
    undo_all(session.world, plan_undo_all(session.world))
    save_settings(session.world, Settings("dark"))
    save_thresholds(session.world, ())
    assert keep(session.world, new(session.world, {}, "580", "quick")) is None
    add_autostart(session, ("gpuassist",))
    with lock(session.world):
        pass
    Path(session.world.surroundings.cache(), "scratch-x").mkdir(parents=True)
    Path(session.world.surroundings.cache(), "scratch-x/link").symlink_to(home / ".bashrc")
    (home / "run/gpuassist/run-999999999-1/python").mkdir(parents=True, mode=0o700)
    (home / "run/gpuassist/run-999999999-1/python/sitecustomize.py").write_text("")


def _state(session: Session) -> OwnState:
    return look_at_traces(session).state


def _deleted(session: Session) -> tuple[DeletedPart, ...]:
    return delete_own_state(session, _state(session))


def test_all_that_it_writes_is_found_and_goes(session: Session, home: Path) -> None:
    _everything(session, home)
    state = _state(session)
    names = {Path(part.path).name for part in state.deletable}
    assert names == {
        "journal",
        "installs",
        "verifications",
        "window.json",
        "alerts.json",
        "gpuassist",
        Path(autostart_path(session.world)).name,
    }
    assert (state.others, state.stays) == ((), None)
    assert [one for one in delete_own_state(session, state) if one.trouble is not None] == []
    assert {path.name for path in home.rglob("*")} == {".bashrc", ".cache", ".config", "autostart", ".local", "state", "run"}
    assert (home / ".bashrc").read_bytes() == b"# mine\n"
    assert _state(session) == OwnState()


def test_no_directory_is_forgotten_that_some_module_names() -> None:
    sources = (path.read_text("utf-8") for path in Path(gpuassist.__file__).parent.rglob("*.py"))
    named = {name for source in sources for name in re.findall(r"surroundings\.state\(\)}/([a-z-]+)", source)}
    assert {"journal", "installs"} <= named <= set(module._STATE)


def test_sizes_are_those_of_the_files(session: Session, home: Path) -> None:
    (home / ".local/state/gpuassist/verifications").mkdir(parents=True)
    for number in range(3):
        (home / f".local/state/gpuassist/verifications/{number}").write_bytes(b"x" * 100)
    (part,) = _state(session).parts
    assert (part.size_bytes, part.files, part.counted) == (300, 3, True)


def test_nothing_goes_while_a_change_stands(session: Session, home: Path) -> None:
    _change(session, home)
    state = _state(session)
    assert state.stays is not None
    assert state.deletable == ()
    assert delete_own_state(session, state) == ()
    assert (home / ".local/state/gpuassist/journal/one.before").exists()


def test_a_change_that_was_made_after_the_look_keeps_everything(session: Session, home: Path) -> None:
    _everything(session, home)
    state = _state(session)
    _change(session, home)  # under an id that is on record already
    edit = edit_of(home / ".env", b"A=1\n", dialect="env")
    apply(session.world, FileChange("two", "use", (edit,)))
    assert all(one.trouble is not None for one in delete_own_state(session, state))
    assert (home / ".local/state/gpuassist/journal/two.before").exists()
    assert (home / ".config/gpuassist/window.json").exists()


@pytest.mark.parametrize("spoil", ["one.json", "x.json"])
def test_a_record_that_cannot_be_read_keeps_everything(session: Session, home: Path, spoil: str) -> None:
    _everything(session, home)
    Path(Journal.of(session.world).directory, spoil).write_bytes(b"{")
    assert _state(session).deletable == ()


def test_what_is_gone_is_no_reason_to_keep_it_but_is_named(session: Session, home: Path) -> None:
    _change(session, home)
    (home / ".bashrc").unlink()
    state = _state(session)
    assert (state.stays, state.lost) == (None, (str(home / ".bashrc"),))


@pytest.mark.parametrize("name", [".local/state/gpuassist", ".local/state/gpuassist/verifications", ".cache/gpuassist"])
def test_a_symlink_is_never_followed(session: Session, home: Path, name: str) -> None:
    theirs = home / "theirs"
    theirs.mkdir()
    (theirs / "verifications").mkdir()
    (theirs / "file").write_text("kept")
    (home / name).parent.mkdir(parents=True, mode=0o700)
    (home / name).symlink_to(theirs)
    _deleted(session)
    assert (theirs / "file").read_text() == "kept"
    assert (home / name).is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may give a file away")
def test_what_another_user_owns_stays_with_all_beside_it(session: Session, home: Path) -> None:
    _everything(session, home)
    theirs = home / ".local/state/gpuassist/verifications/theirs"
    theirs.write_text("kept")
    given_away(session.world, theirs)
    done = {Path(one.part.path).name: one.trouble for one in _deleted(session)}
    assert "verifications" not in done
    assert theirs.read_text() == "kept"
    assert not (home / ".local/state/gpuassist/journal").exists()


def test_what_nobody_knows_stays_and_is_named(session: Session, home: Path) -> None:
    _everything(session, home)
    mine = home / ".local/state/gpuassist/night.db"
    mine.write_text("a recording of the user's")
    assert _state(session).others == (str(mine),)
    _deleted(session)
    assert [path.name for path in mine.parent.iterdir()] == ["night.db"]


def test_another_at_an_install_keeps_everything(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _everything(session, home)
    state = _state(session)
    monkeypatch.setattr("gpuassist.install.records._LOCK_SECONDS", 0.0)
    with lock(session.world):
        assert all(one.trouble is not None for one in delete_own_state(session, state))
    assert Path(root(session.world)).exists()


def test_what_an_interrupted_deleting_left_is_found(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _everything(session, home)
    monkeypatch.setattr(module, "_removed", lambda world, part: None)
    _deleted(session)
    monkeypatch.undo()
    assert not (home / ".local/state/gpuassist/journal").exists()
    assert [one for one in _deleted(session) if one.trouble is not None] == []
    assert not (home / ".local/state/gpuassist").exists()
    assert not (home / ".cache").exists() or list((home / ".cache").iterdir()) == []


def test_what_cannot_be_deleted_is_said(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _everything(session, home)

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(session.world.disk, "remove_tree", refuse)
    done = _deleted(session)
    assert {Path(one.part.path).name for one in done if one.trouble is None} >= {"window.json", "alerts.json"}
    assert all(one.trouble is not None for one in done if Path(one.part.path).name in {"journal", "installs"})


def test_an_autostart_entry_of_somebody_elses_stays(session: Session, home: Path) -> None:
    path = Path(autostart_path(session.world))
    path.parent.mkdir(parents=True)
    path.write_text("[Desktop Entry]\n")
    _deleted(session)
    assert path.exists()


def test_a_tree_without_end_is_counted_to_a_bound(session: Session, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ENTRIES_AT_MOST", 5)
    place = home / ".cache/gpuassist"
    place.mkdir(parents=True)
    for number in range(20):
        (place / str(number)).write_bytes(b"x")
    (part,) = _state(session).parts
    assert (part.counted, part.files) == (False, 4)
