"""What is behind a start-up file's name, and what forbids writing it: each obstacle in words, and nothing opened that hangs."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from gpuassist.changes.target import SIZE_AT_MOST_BYTES, FileTarget, examine
from gpuassist.model.words import ENGLISH
from tests.changes.homes import world_at
from tests.fakes import link, put, world_under


def _examine(home: Path, name: str = ".bashrc") -> FileTarget:
    return examine(world_at(home), str(home / name))


def _obstacle(target: FileTarget) -> str:
    assert target.obstacle is not None
    return ENGLISH(target.obstacle)


def test_an_ordinary_file_has_no_obstacle(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    assert _examine(home) == FileTarget(str(home / ".bashrc"), str(home / ".bashrc"), b"x\n", exists=True)


def test_a_missing_file_can_be_made(home: Path) -> None:
    target = _examine(home)
    assert (target.exists, target.obstacle) == (False, None)
    assert "will be created" in ENGLISH(target.notes[0])


def test_a_directory_is_refused(home: Path) -> None:
    (home / ".bashrc").mkdir()
    assert "is a directory" in _obstacle(_examine(home))


def test_a_pipe_is_refused_without_opening_it(home: Path) -> None:
    os.mkfifo(home / ".bashrc")
    assert "not a regular file" in _obstacle(_examine(home))


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(".bashrc")
        assert "not a regular file" in _obstacle(_examine(tmp_path))


def test_a_device_is_refused(home: Path) -> None:
    (home / ".bashrc").symlink_to("/dev/null")
    assert "not a regular file" in _obstacle(_examine(home))


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o555, 0o464])
def test_a_read_only_file_is_refused_even_to_root(home: Path, mode: int) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    (home / ".bashrc").chmod(mode)
    assert f"read-only (mode {mode:04o})" in _obstacle(_examine(home))


def test_a_dangling_symlink_is_refused(home: Path) -> None:
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    said = _obstacle(_examine(home))
    assert "is a symlink to dotfiles/bashrc, and there is nothing" in said
    assert not (home / "dotfiles").exists()


def test_a_symlink_to_itself_is_refused(home: Path) -> None:
    (home / ".bashrc").symlink_to(".bashrc")
    assert "symlink" in _obstacle(_examine(home))


def test_a_symlink_is_followed_and_named(home: Path) -> None:
    (home / "real").write_bytes(b"x\n")
    (home / ".bashrc").symlink_to("real")
    target = _examine(home)
    assert target.path_written == str(home / "real")
    assert "its target" in ENGLISH(target.notes[0])


@pytest.mark.parametrize("kind", ["directory", "file"])
def test_a_git_checkout_is_named(home: Path, kind: str) -> None:
    dotfiles = home / "dotfiles" / "bash"
    dotfiles.mkdir(parents=True)
    git = home / "dotfiles" / ".git"
    git.mkdir() if kind == "directory" else git.write_text("gitdir: elsewhere")
    (dotfiles / "bashrc").write_bytes(b"x\n")
    (home / ".bashrc").symlink_to("dotfiles/bash/bashrc")
    notes = " ".join(ENGLISH(note) for note in _examine(home).notes)
    assert f"git checkout {home}/dotfiles" in notes


def test_hard_links_are_named(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    (home / "other").hardlink_to(home / ".bashrc")
    assert "has 2 names" in ENGLISH(_examine(home).notes[0])


@pytest.mark.parametrize("store", ["/nix/store", "/gnu/store"])
def test_a_store_is_refused(tmp_path: Path, store: str) -> None:
    put(tmp_path, f"{store}/abc-home-manager/bashrc", "x\n", mode=0o444)
    link(tmp_path, "/home/you/.bashrc", f"{store}/abc-home-manager/bashrc")
    assert "read-only store" in _obstacle(examine(world_under(tmp_path), "/home/you/.bashrc"))


def test_a_file_of_the_system_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "/etc/bash.bashrc", "x\n")
    assert "whole system" in _obstacle(examine(world_under(tmp_path), "/etc/bash.bashrc"))


def test_another_users_home_is_refused(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    said = _obstacle(examine(world_at(home, uid=os.geteuid() + 1), str(home / ".bashrc")))
    assert "belongs to another user" in said
    assert "without sudo" in said


def test_another_users_file_is_refused(home: Path, tmp_path: Path) -> None:
    (tmp_path / "rc").write_bytes(b"x\n")
    said = _obstacle(examine(world_at(home / "nobody", uid=os.geteuid() + 1), str(tmp_path / "rc")))
    assert f"belongs to another user (uid {os.geteuid()}" in said


def test_no_file_is_made_in_another_users_directory(home: Path, tmp_path: Path) -> None:
    said = _obstacle(examine(world_at(home / "nobody", uid=os.geteuid() + 1), str(tmp_path / "rc")))
    assert "belongs to another user, so no file is made there" in said


def test_missing_directories_are_named_outermost_first(home: Path) -> None:
    target = _examine(home, ".config/fish/conf.d/gpuassist.fish")
    assert target.obstacle is None
    assert target.missing_directories == tuple(f"{home}/{one}" for one in (".config", ".config/fish", ".config/fish/conf.d"))


def test_a_missing_home_is_not_made(home: Path) -> None:
    assert "is not a directory" in _obstacle(_examine(home / "unmounted" / "you"))


def test_nothing_is_made_below_a_file(home: Path) -> None:
    (home / ".config").write_bytes(b"")
    assert "is not a directory" in _obstacle(_examine(home, ".config/fish/x.fish"))


def test_nothing_is_made_behind_a_dangling_link(home: Path) -> None:
    (home / ".config").symlink_to(home / "unmounted")
    assert "there is nothing" in _obstacle(_examine(home, ".config/fish/x.fish"))


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may give a directory away")
def test_no_directory_is_made_in_a_strangers(home: Path) -> None:
    (home / ".config").mkdir()
    os.chown(home / ".config", 1234, 1234)
    assert "belongs to another user" in _obstacle(_examine(home, ".config/fish/x.fish"))


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT RUN: root may write everywhere")
def test_a_directory_without_write_permission_is_refused(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    home.chmod(0o500)
    try:
        assert "no file can be made" in _obstacle(_examine(home))
    finally:
        home.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="NOT RUN: root may read everything")
def test_an_unreadable_file_is_refused(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    (home / ".bashrc").chmod(0o200)
    assert "cannot be read" in _obstacle(_examine(home))


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff"])
def test_utf_16_is_refused(home: Path, mark: bytes) -> None:
    (home / ".bashrc").write_bytes(mark + "export A=1\n".encode("utf-16-le"))
    assert "UTF-16" in _obstacle(_examine(home))


def test_a_huge_file_is_refused(home: Path) -> None:
    with (home / ".bashrc").open("wb") as file:
        file.truncate(SIZE_AT_MOST_BYTES + 1)
    assert "16 MiB" in _obstacle(_examine(home))


def test_two_mebibytes_are_no_obstacle(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"# x\n" * (1 << 19))
    assert _examine(home).obstacle is None


def test_a_link_within_another_root_is_followed(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/real", "x\n")
    link(tmp_path, "/home/you/.bashrc", "/home/you/real")
    world = world_under(tmp_path)
    assert examine(world, "/home/you/.bashrc").path_written == "/home/you/real"


def test_a_file_that_others_write_in_is_warned_of_and_written(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    (home / ".bashrc").chmod(0o666)
    target = _examine(home)
    assert target.obstacle is None
    (said,) = map(ENGLISH, target.notes)
    assert "everybody may write in it (mode 0666)" in said
    assert "runs commands with your rights" in said
    assert f"`chmod go-w {home}/.bashrc`" in said


@pytest.mark.parametrize("exists", [True, False])
def test_a_home_that_others_write_in_is_warned_of(home: Path, *, exists: bool) -> None:
    if exists:
        (home / ".bashrc").write_bytes(b"x\n")
    home.chmod(0o777)
    said = ENGLISH(_examine(home).notes[-1])
    assert "start-up files of his own" in said
    assert f"`chmod go-w {home}`" in said


def test_nothing_is_planned_that_could_not_be_put_on_record(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"x\n")
    state = home / ".local" / "state" / "gpuassist"
    state.mkdir(parents=True)
    state.chmod(0o777)
    assert f"`chmod go-w {state}`" in _obstacle(_examine(home))
