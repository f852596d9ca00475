"""The shell's facts around what a new terminal holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect import shell
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.shell import Terminal, Variable
from gpuassist.model.text import text
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import put, world_under


def _terminal(**variables: str) -> Known[Terminal]:
    return Known(Terminal("/bin/bash", tuple(Variable(*one) for one in variables.items()), ()), "a test")


def _files(world: World) -> dict[str, bool]:
    return {file.path: file.exists for file in shell.startup_files(world)}


def _with_shell(world: World, path: str) -> World:
    return replace(world, surroundings=replace(world.surroundings, login_shell=path))


def test_files_of_bash_are_listed_with_those_missing(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/.bashrc")
    assert _files(world_under(tmp_path)) == {
        "/home/you/.bashrc": True,
        "/home/you/.bash_profile": False,
        "/home/you/.bash_login": False,
        "/home/you/.profile": False,
    }


def test_files_of_zsh_follow_its_directory(tmp_path: Path) -> None:
    world = _with_shell(world_under(tmp_path, variables={"ZDOTDIR": "/home/you/.zsh"}), "/usr/bin/zsh")
    assert list(_files(world)) == [f"/home/you/.zsh/{name}" for name in (".zshenv", ".zprofile", ".zshrc", ".zlogin")]


def test_files_of_fish_include_its_fragments(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/.config/fish/conf.d/cuda.fish")
    world = _with_shell(world_under(tmp_path), "/usr/bin/fish")
    assert _files(world) == {"/home/you/.config/fish/conf.d/cuda.fish": True, "/home/you/.config/fish/config.fish": False}


def test_foreign_shell_has_no_files_listed(tmp_path: Path) -> None:
    assert _files(_with_shell(world_under(tmp_path), "/bin/tcsh")) == {}


def test_missing_directories_of_both_paths_are_named(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/true")
    terminal = _terminal(PATH="/usr/bin:/gone/bin::relative", LD_LIBRARY_PATH="/gone/lib:/gone/bin")
    found = shell.around(world_under(tmp_path), terminal)
    assert found.directories_missing == Known(("/gone/bin", "/gone/lib"), "a test")


def test_missing_directories_are_unknown_without_a_terminal(tmp_path: Path) -> None:
    found = shell.around(world_under(tmp_path), Unknown(text("no")))
    assert isinstance(found.directories_missing, Unknown)
    assert found.new_terminal == Unknown(text("no"))


def test_login_shell_is_the_users(tmp_path: Path) -> None:
    assert shell.around(world_under(tmp_path), _terminal()).login_shell == Known("/bin/bash", "SHELL, else the user database")


@pytest.mark.parametrize("name", ["own", "new_terminal"])
def test_real_shell_is_asked_beside_our_own(home: Path, name: str) -> None:
    put(home, ".bashrc", "export CUDA_HOME=/new_terminal\n")
    world = World(Surroundings(str(home), "you", os.geteuid(), {"CUDA_HOME": "/own"}, str(home), "/bin/bash"))
    fact = getattr(shell.probe(world), name)
    assert isinstance(fact, Known)
    assert fact.value.variable("CUDA_HOME") == f"/{name}"
