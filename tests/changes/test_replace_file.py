"""One file's bytes are exchanged in one step; whatever fails, it is the old or the new one and nothing lies beside it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gpuassist.changes.replace_file import ChangedError, make_directories, put, remove_directories, sibling, take_away
from gpuassist.model.plan import FileEdit
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, edit_of, world_at
from tests.fakes import ScriptedProcesses

OLD, NEW, CHANGE = b"export A=1\n", b"export A=1\nexport B=2\n", "20261121-090000-abcdef"


def world(home: Path, disk: Disk | None = None) -> World:
    return world_at(home, disk=disk, processes=ScriptedProcesses())


@pytest.fixture
def bashrc(home: Path) -> Path:
    (home / ".bashrc").write_bytes(OLD)
    return home / ".bashrc"


def names(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir())


def test_the_new_bytes_stand_in_its_place(home: Path, bashrc: Path) -> None:
    put(world(home), edit_of(bashrc, NEW), CHANGE)
    assert (bashrc.read_bytes(), names(home)) == (NEW, [".bashrc"])


def test_a_new_file_has_the_usual_mode(home: Path) -> None:
    put(world(home), edit_of(home / ".profile", NEW), CHANGE)
    assert stat.S_IMODE((home / ".profile").stat().st_mode) == 0o644


_BY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may read back what nobody may read")


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o444, pytest.param(0, marks=_BY_ROOT)])
def test_a_new_file_has_the_mode_that_is_asked_for(home: Path, mode: int) -> None:
    put(world(home), edit_of(home / ".env", NEW, mode=mode), CHANGE)
    assert stat.S_IMODE((home / ".env").stat().st_mode) == mode


def test_a_file_that_is_there_keeps_its_own_mode(home: Path, bashrc: Path) -> None:
    bashrc.chmod(0o640)
    put(world(home), edit_of(bashrc, NEW, mode=0o600), CHANGE)
    assert stat.S_IMODE(bashrc.stat().st_mode) == 0o640


def test_what_a_crash_left_beside_it_is_overwritten(home: Path, bashrc: Path) -> None:
    beside = Path(sibling(world(home), str(bashrc), CHANGE))
    beside.write_bytes(b"half of it")
    put(world(home), edit_of(bashrc, NEW), CHANGE)
    assert (bashrc.read_bytes(), names(home)) == (NEW, [".bashrc"])


def test_what_somebody_else_wrote_since_stays(home: Path, bashrc: Path) -> None:
    edit = edit_of(bashrc, NEW)
    bashrc.write_bytes(b"mine\n")
    with pytest.raises(ChangedError):
        put(world(home), edit, CHANGE)
    assert (bashrc.read_bytes(), names(home)) == (b"mine\n", [".bashrc"])


def test_a_file_that_appeared_since_stays(home: Path) -> None:
    edit = edit_of(home / ".profile", NEW)
    (home / ".profile").write_bytes(b"mine\n")
    with pytest.raises(ChangedError):
        put(world(home), edit, CHANGE)
    assert ((home / ".profile").read_bytes(), names(home)) == (b"mine\n", [".profile"])


def test_the_refusal_names_the_file_as_the_user_does(home: Path, bashrc: Path) -> None:
    edit = FileEdit("~/.bashrc", str(bashrc), b"another\n", NEW, existed=True)
    with pytest.raises(ChangedError) as refusal:
        put(world(home), edit, CHANGE)
    assert refusal.value.path == "~/.bashrc"


@pytest.mark.parametrize("step", ["create", "write", "copy_attributes", "replace"])
def test_a_failing_step_leaves_the_old_file(home: Path, bashrc: Path, step: str) -> None:
    with pytest.raises(OSError, match="No space"):
        put(world(home, FaultyDisk(only=step)), edit_of(bashrc, NEW), CHANGE)
    assert (bashrc.read_bytes(), names(home)) == (OLD, [".bashrc"])


@pytest.mark.parametrize("step", ["create", "write", "set_mode", "place_new"])
def test_a_failing_step_leaves_no_new_file(home: Path, step: str) -> None:
    with pytest.raises(OSError, match="No space"):
        put(world(home, FaultyDisk(only=step)), edit_of(home / ".profile", NEW), CHANGE)
    assert names(home) == []


def test_a_directory_that_cannot_be_flushed_is_no_failure(home: Path, bashrc: Path) -> None:
    faulty = FaultyDisk(fails_at=7)
    put(world(home, faulty), edit_of(bashrc, NEW), CHANGE)
    assert faulty.steps[-1] == f"flush {home}"
    assert bashrc.read_bytes() == NEW


def test_a_file_of_ours_is_taken_away(home: Path, bashrc: Path) -> None:
    take_away(world(home), edit_of(bashrc, b""))
    assert names(home) == []


def test_a_file_that_somebody_filled_is_not_taken_away(home: Path, bashrc: Path) -> None:
    edit = edit_of(bashrc, b"")
    bashrc.write_bytes(OLD + b"mine\n")
    with pytest.raises(ChangedError):
        take_away(world(home), edit)
    assert bashrc.read_bytes() == OLD + b"mine\n"


def test_a_file_that_has_gone_cannot_be_taken_away(home: Path) -> None:
    edit = FileEdit("~/.env", str(home / ".env"), OLD, b"", existed=True)
    with pytest.raises(FileNotFoundError):
        take_away(world(home), edit)


@pytest.mark.parametrize(("mode", "expected"), [(0o700, 0o700), (0o755, 0o755), (0o777, 0o775), (0o750, 0o750)])
def test_a_directory_is_as_open_as_what_it_lies_in(home: Path, mode: int, expected: int) -> None:
    home.chmod(mode)
    make_directories(world(home), (f"{home}/.config",))
    assert stat.S_IMODE((home / ".config").stat().st_mode) == expected


def test_only_those_that_were_not_there_are_made(home: Path) -> None:
    (home / ".config").mkdir()
    wanted = (f"{home}/.config", f"{home}/.config/fish", f"{home}/.config/fish/conf.d")
    assert make_directories(world(home), wanted) == wanted[1:]


def test_made_directories_go_again_from_the_inside(home: Path) -> None:
    paths = make_directories(world(home), (f"{home}/a", f"{home}/a/b", f"{home}/a/b/c"))
    remove_directories(world(home), paths)
    assert names(home) == []


def test_a_directory_that_somebody_uses_stays_with_its_parents(home: Path) -> None:
    paths = make_directories(world(home), (f"{home}/a", f"{home}/a/b"))
    (home / "a/b/mine").touch()
    remove_directories(world(home), paths)
    assert (home / "a/b/mine").exists()


def test_no_directory_at_all_is_nothing_to_make(home: Path) -> None:
    assert make_directories(world(home), ()) == ()
    assert names(home) == []


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("/home/you/.bashrc", ".bashrc.gpuassist-one"),
        ("/home/you/env", ".env.gpuassist-one"),
        ("/home/you/.config/a.fish", ".a.fish.gpuassist-one"),
        ("/home/you/..odd", ".odd.gpuassist-one"),
    ],
)
def test_what_is_written_first_is_hidden_beside_it(home: Path, target: str, name: str) -> None:
    beside = sibling(world(home), target, "one")
    assert (os.path.dirname(beside), os.path.basename(beside)) == (os.path.dirname(target), name)
