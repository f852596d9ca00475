"""What one command of fish does to variables, whichever way it is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.shellfiles.fish_parse import parse
from gpuassist.shellfiles.fish_set import SetEffect, change_of, value_of
from tests.rows import for_each

HOME = {"HOME": "/home/you", "ROOT": "/opt/cuda"}


def change(seen: str) -> SetEffect:
    (command,) = parse(seen).commands
    return change_of(command, HOME)


def elements(seen: str) -> list[str]:
    """The elements of what it sets, `<before>` for the value so far."""
    (assignment,) = change(seen).assignments
    return ["<before>" if one.previous else one.directory or "?" for one in assignment.elements]


@for_each(
    "seen",
    [
        "set",
        "set -x",
        "set --show PATH",
        "set -q PATH",
        "set --query PATH",
        "set -S PATH",
        "set -n",
        "set --names PATH",
        "echo PATH=/a",
        "fish_add_path",
        "fish_add_path --dry-run /a",
        "fish_add_path -n /a",
        "export",
        "FOO=/a",
    ],
)
def test_command_that_only_asks_changes_nothing(seen: str) -> None:
    assert change(seen).assignments == ()


@for_each(
    ("seen", "found"),
    [
        ("set -gx LD_LIBRARY_PATH /a /b", ["/a", "/b"]),
        ("set -gx LD_LIBRARY_PATH $ROOT/lib64 $LD_LIBRARY_PATH", ["/opt/cuda/lib64", "<before>"]),
        ('set -gx LD_LIBRARY_PATH "$ROOT/lib64:$LD_LIBRARY_PATH"', ["/opt/cuda/lib64", "<before>"]),
        ("set -gx LD_LIBRARY_PATH $LD_LIBRARY_PATH[2..-1]", ["?"]),
        ("set -gx CUDA_HOME $ROOT", ["/opt/cuda"]),
        ("set -gx CUDA_HOME ~/cuda", ["/home/you/cuda"]),
        ("set -gx CUDA_HOME '~/cuda'", ["~/cuda"]),
        ("set -gx CUDA_HOME $NOTHING", ["?"]),
        ("set --unpath --export PATH /a", ["/a"]),
        ("set -gxa LD_LIBRARY_PATH /a", ["<before>", "/a"]),
        ("set --append --global LD_LIBRARY_PATH /a", ["<before>", "/a"]),
        ("set -gxap LD_LIBRARY_PATH /a", ["<before>", "/a"]),
        ("fish_add_path --prepend --move /a", ["/a", "<before>"]),
        ("fish_add_path --path -a /a /b", ["<before>", "/a", "/b"]),
        ("export LD_LIBRARY_PATH=/a:$LD_LIBRARY_PATH", ["/a", "<before>"]),
        ("CUDA_VISIBLE_DEVICES=1 python train.py", ["1"]),
        ("set -e LD_LIBRARY_PATH[1]", ["?", "<before>"]),
        ("set fish_user_paths[1] /a", ["?"]),
    ],
)
def test_elements_are_those_that_fish_would_hold(seen: str, found: list[str]) -> None:
    assert elements(seen) == found


@pytest.mark.parametrize(
    ("seen", "variable"),
    [
        ("set -U fish_user_paths /a", "PATH"),
        ("set -e CUDA_HOME", "CUDA_HOME"),
        ("set --erase PATH", "PATH"),
        ("set -Ux CPATH /a", "CPATH"),
        ("fish_add_path /a", "PATH"),
    ],
)
def test_variable_is_the_one_that_programs_see(seen: str, variable: str) -> None:
    assert [one.variable for one in change(seen).assignments] == [variable]


def test_local_variable_ends_with_its_block() -> None:
    found = change("set -l PATH /a")
    assert found.assignments == ()
    assert found.values == (("PATH", "/a"),)


def test_several_are_erased_at_once() -> None:
    found = change("set -e CUDA_HOME FOO PATH")
    assert [(one.variable, one.unsets) for one in found.assignments] == [("CUDA_HOME", True), ("PATH", True)]
    assert found.values == (("CUDA_HOME", ""), ("FOO", ""), ("PATH", ""))


def test_several_are_exported_at_once() -> None:
    found = change("export CUDA_HOME=/a FOO=1 CPATH=/b")
    assert [one.variable for one in found.assignments] == ["CUDA_HOME", "CPATH"]


@pytest.mark.parametrize(
    ("seen", "value"),
    [
        ("set X /a", "/a"),
        ("set X '/a b'", "/a b"),
        ("set X $HOME/b", "/home/you/b"),
        ("set X (pwd)", None),
        ("set X a*", None),
        ("set X '*'", "*"),
        ("set X", ""),
        ("set X a b", None),
    ],
)
def test_value_of_any_variable_is_known_where_the_line_says_it(seen: str, value: str | None) -> None:
    assert change(seen).values == (("X", value),)


@pytest.mark.parametrize(("seen", "value"), [("cat /a/*.fish", "/a/*.fish"), ("cat (ls)", None), ("cat ~/x", "/home/you/x")])
def test_pattern_is_known_where_it_is_asked_for(seen: str, value: str | None) -> None:
    word = parse(seen).commands[0].words[1]
    assert value_of(word, HOME, pattern=True) == value


def test_variables_that_a_value_refers_to_are_told() -> None:
    (assignment,) = change("set -gx PATH $ROOT/bin $HOME/bin /c $PATH").assignments
    assert assignment.uses == {"ROOT", "HOME", "PATH"}
    assert assignment.keeps_previous


@given(st.lists(st.from_regex(r"/[a-z0-9]{1,6}", fullmatch=True), min_size=1, max_size=4))
def test_plain_directories_come_back_in_their_order(directories: list[str]) -> None:
    assert elements(f"set -gx LD_LIBRARY_PATH {' '.join(directories)}") == directories
    assert elements(f"set -gx LD_LIBRARY_PATH {':'.join(directories)}") == directories
    assert elements(f"fish_add_path {' '.join(directories)}") == [*directories, "<before>"]


@given(st.text(alphabet="set -gxaeU PATH/$'\"*~:[1]", max_size=40))
def test_any_command_is_survived(words: str) -> None:
    for command in parse(f"set {words}").commands:
        found = change_of(command, HOME)
        assert all(one.variable for one in found.assignments)
