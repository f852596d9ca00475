"""/etc/environment as pam_env reads it, and the PATH of login.defs."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.system.login import login_environment, parse_environment, parse_login_path, terminal_variables
from tests.fakes import put, world_under

LOGIN_DEFS = "# comment\nENV_SUPATH\tPATH=/usr/local/sbin:/usr/sbin:/sbin:/bin\nENV_PATH PATH=/usr/local/bin:/usr/bin\nUMASK 022\n"


def _given(root: Path, variables: dict[str, str], home: str = "/home/you") -> dict[str, str]:
    world = world_under(root, variables=variables)
    return login_environment(world.files, world.surroundings, shell="/bin/bash", home=home)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('A="/usr/bin:/bin"', "/usr/bin:/bin"),
        ("A='x y'", "x y"),
        ("A=plain", "plain"),
        ("export A=1", "1"),
        ("  A=1  ", "1"),
        ("A=1 # why", "1"),
        ("A=$HOME/x", "$HOME/x"),
        ("A=", ""),
    ],
)
def test_value_is_taken_as_it_stands(line: str, value: str) -> None:
    assert parse_environment(line) == {"A": value}


@pytest.mark.parametrize("line", ["", "# A=1", "A", "=1", "A B=1", "a-b=1"])
def test_other_lines_set_nothing(line: str) -> None:
    assert parse_environment(line) == {}


def test_last_line_wins() -> None:
    assert parse_environment("A=1\nA=2\n") == {"A": "2"}


def test_root_and_others_have_paths_of_their_own() -> None:
    assert parse_login_path(LOGIN_DEFS, root=True) == "/usr/local/sbin:/usr/sbin:/sbin:/bin"
    assert parse_login_path(LOGIN_DEFS, root=False) == "/usr/local/bin:/usr/bin"


@pytest.mark.parametrize("words", ["", "ENV_PATH\n", "#ENV_PATH PATH=/x\n"])
def test_login_path_is_empty_where_not_set(words: str) -> None:
    assert parse_login_path(words, root=False) == ""


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert all(isinstance(value, str) for value in parse_environment(words).values())
    parse_login_path(words, root=True)


def test_login_environment_holds_what_a_login_sets(tmp_path: Path) -> None:
    put(tmp_path, "/etc/environment", 'CUDA_HOME="/etc/cuda"\n')
    put(tmp_path, "/etc/login.defs", "ENV_PATH PATH=/from/login\n")
    variables = {"LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/run/user/1000", "CUDA_PATH": "/ours", "PATH": "/ours"}
    assert _given(tmp_path, variables) == {
        "CUDA_HOME": "/etc/cuda",
        "HOME": "/home/you",
        "LANG": "C.UTF-8",
        "LOGNAME": "you",
        "PATH": "/from/login",
        "SHELL": "/bin/bash",
        "USER": "you",
        "XDG_RUNTIME_DIR": "/run/user/1000",
    }


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, {"TERM": "xterm-256color"}),
        ({"TERM": ""}, {"TERM": "xterm-256color"}),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, {"TERM": "xterm-256color"}),
        ({"TERM": "unknown"}, {"TERM": "xterm-256color"}),
        ({"TERM": "xterm-elsewhere"}, {"TERM": "xterm-256color"}),
        ({"TERM": "../foot"}, {"TERM": "xterm-256color"}),
        ({"TERM": "foot", "TMUX": "/tmp/tmux-1000/default,1,0"}, {"TERM": "xterm-256color"}),
        ({"TERM": "screen-256color"}, {"TERM": "xterm-256color"}),
        ({"TERM": "foot", "COLORTERM": "truecolor"}, {"TERM": "foot", "COLORTERM": "truecolor"}),
        ({"TERM": "mine"}, {"TERM": "mine"}),
    ],
)
def test_terminal_is_the_users_own_where_a_new_window_could_have_it(
    tmp_path: Path, variables: dict[str, str], told: dict[str, str]
) -> None:
    for place in ("/usr/share/terminfo/f/foot", "/usr/share/terminfo/s/screen-256color", "/home/you/.terminfo/6d/mine"):
        put(tmp_path, place)
    world = world_under(tmp_path, variables=variables or {"PATH": "/usr/bin"})
    assert terminal_variables(world.files, world.surroundings) == told


def test_path_of_etc_environment_wins(tmp_path: Path) -> None:
    put(tmp_path, "/etc/environment", "PATH=/from/environment\n")
    assert _given(tmp_path, {})["PATH"] == "/from/environment"


def test_settings_of_the_real_home_do_not_reach_another(tmp_path: Path) -> None:
    variables = {"XDG_CONFIG_HOME": "/home/you/.config", "XDG_SEAT": "seat0"}
    given = _given(tmp_path, variables, home="/tmp/other")
    assert (given["HOME"], given["XDG_SEAT"], "XDG_CONFIG_HOME" in given) == ("/tmp/other", "seat0", False)
