"""Which files a repair looks at, for each login shell, and which of them it may change."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.line_plan import change_id, parsed
from gpuassist.changes.shell_files import login_file, shell_files, with_traced
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.world import World
from tests.changes.homes import world_at

LINE = "export PATH=/x:$PATH\n"


def _world(home: Path, shell: str = "/bin/bash", **variables: str) -> World:
    world = world_at(home)
    around = replace(world.surroundings, login_shell=shell, variables={"PATH": "/usr/bin:/bin", **variables})
    return replace(world, surroundings=around)


def _put(home: Path, **files: str) -> None:
    for name, content in files.items():
        path = home / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


@pytest.mark.parametrize(
    ("shell", "variables", "main", "dialect"),
    [
        ("/bin/bash", {}, ".bashrc", Dialect.BASH),
        ("/bin/sh", {}, ".profile", Dialect.BASH),
        ("/bin/zsh", {}, ".zshrc", Dialect.ZSH),
        ("/usr/bin/fish", {}, ".config/fish/config.fish", Dialect.FISH),
        ("/usr/bin/fish", {"XDG_CONFIG_HOME": "{home}/xdg"}, "xdg/fish/config.fish", Dialect.FISH),
    ],
)
def test_each_shell_has_its_file(home: Path, shell: str, variables: dict[str, str], main: str, dialect: Dialect) -> None:
    files = shell_files(_world(home, shell, **{name: value.format(home=home) for name, value in variables.items()}))
    assert (files.main.path, files.main.dialect) == (f"{home}/{main}", dialect)
    assert files.main.obstacle is None


@pytest.mark.parametrize(
    ("rc", "dialect"), [(".zshrc", Dialect.ZSH), ("x.fish", Dialect.FISH), ("mine.sh", Dialect.BASH), ("mine", Dialect.FISH)]
)
def test_a_named_file_is_read_by_its_name(home: Path, rc: str, dialect: Dialect) -> None:
    assert shell_files(_world(home, "/usr/bin/fish"), f"{home}/{rc}").main.dialect is dialect


def _own(home: Path, world: World) -> list[str]:
    others = shell_files(world).others
    return [file.path.removeprefix(f"{home}/") for file in others if file.path.startswith(str(home))]


def test_the_others_are_those_that_are_read(home: Path) -> None:
    _put(home, _DOT_bashrc=". ~/.cuda\n", _DOT_cuda=LINE, _DOT_bash_profile=". ~/.bashrc\n" + LINE, _DOT_profile=LINE)
    assert _own(home, _world(home)) == [".bash_profile", ".cuda"]


def test_a_link_to_the_main_file_is_not_another(home: Path) -> None:
    _put(home, _DOT_bashrc=LINE)
    (home / ".bash_profile").symlink_to(".bashrc")
    assert _own(home, _world(home)) == []


def test_a_file_of_a_tool_is_seen_and_not_changed(home: Path) -> None:
    _put(home, _DOT_bashrc=". ~/.oh-my-bash/theme.sh\n", **{"_DOT_oh-my-bash__theme.sh": LINE})
    (other,) = (file for file in shell_files(_world(home)).others if file.path.endswith("theme.sh"))
    assert other.obstacle is not None
    assert "belongs to oh-my-bash" in ENGLISH(other.obstacle)


def test_a_file_of_the_system_is_seen_and_not_changed(home: Path) -> None:
    others = shell_files(_world(home)).others
    for file in others:
        if file.path.startswith("/etc/"):
            assert file.obstacle is not None
            assert "whole system" in ENGLISH(file.obstacle)


@pytest.mark.parametrize(
    ("files", "login"),
    [
        ({}, ""),
        ({"_DOT_profile": "alias x=y\n"}, ".profile"),
        ({"_DOT_bash_profile": "alias x=y\n", "_DOT_profile": ". ~/.bashrc\n"}, ".bash_profile"),
        ({"_DOT_bash_login": "alias x=y\n"}, ".bash_login"),
        ({"_DOT_profile": "[ -f ~/.bashrc ] && . ~/.bashrc\n"}, ""),
        ({"_DOT_bash_profile": ". ~/.profile\n", "_DOT_profile": 'if [ -f "$HOME/.bashrc" ]; then\n. "$HOME/.bashrc"\nfi\n'}, ""),
    ],
)
def test_a_login_file_that_does_not_read_the_other_is_named(home: Path, files: dict[str, str], login: str) -> None:
    _put(home, _DOT_bashrc=LINE, **files)
    assert login_file(shell_files(_world(home))) == (f"{home}/{login}" if login else "")


def test_zsh_has_no_such_login_file(home: Path) -> None:
    _put(home, _DOT_zprofile=LINE)
    assert login_file(shell_files(_world(home, "/bin/zsh"))) == ""


BROKEN = "# >>> gpuassist version=1 change=x added=0 >>>\n"


def test_markers_that_do_not_pair_up_stop_the_main_file_alone(home: Path) -> None:
    _put(home, _DOT_profile=LINE + BROKEN)
    (other,) = (file for file in shell_files(_world(home)).others if file.path == f"{home}/.profile")
    assert other.obstacle is not None
    assert "do not pair up" in ENGLISH(other.obstacle)
    with pytest.raises(RepairError):
        shell_files(_world(home), f"{home}/.profile")


def test_every_plan_has_an_id_of_its_own(home: Path) -> None:
    world = _world(home)
    main = shell_files(world).main
    assert change_id(world, main, (b"a",)) != change_id(world, main, (b"b",))


def test_the_file_that_would_break_is_named(home: Path) -> None:
    _put(home, _DOT_bashrc=LINE, _DOT_profile=LINE)
    world = _world(home)
    files = shell_files(world)
    (other,) = (file for file in files.others if file.path == f"{home}/.profile")
    syntax, obstacle = parsed(world, (files.main.edit(b"x\n"), other.edit(b"fi\n")))
    assert not syntax.broken
    assert obstacle is not None
    assert f"so {home}/.profile is not written" in ENGLISH(obstacle)


@pytest.mark.parametrize(
    ("shell", "files", "later"),
    [
        ("/bin/bash", {"_DOT_bashrc": ". ~/.env\n", "_DOT_env": LINE, "_DOT_profile": LINE}, {".env": False, ".profile": False}),
        ("/bin/zsh", {"_DOT_zshrc": ". ~/.env\n", "_DOT_env": LINE, "_DOT_zprofile": LINE}, {".env": False, ".zprofile": False}),
        (
            "/usr/bin/fish",
            dict.fromkeys((".config__fish__config.fish", ".config__fish__conf.d__zz.fish"), "set -gx PATH /x $PATH\n"),
            {".config/fish/conf.d/zz.fish": False},
        ),
    ],
)
def test_knows_what_is_read_after_the_block(home: Path, shell: str, files: dict[str, str], later: dict[str, bool]) -> None:
    _put(home, **files)
    others = shell_files(_world(home, shell)).others
    mine = {file.path.removeprefix(f"{home}/"): file.later for file in others if file.path.startswith(str(home))}
    assert mine == later


HANDING_OVER = [
    ("exec zsh\n", "/usr/bin/zsh", ".zshrc", Dialect.ZSH),
    ("[ -t 1 ] && exec fish\n", "/usr/bin/fish", ".config/fish/config.fish", Dialect.FISH),
    ("alias x=y\n", "/bin/bash", ".bashrc", Dialect.BASH),
    ("exec sh\n", "/bin/sh", ".bashrc", Dialect.BASH),
]


@pytest.mark.parametrize(("bashrc", "answering", "main", "dialect"), HANDING_OVER)
def test_a_bash_that_hands_over_leads_to_that_shells_file(
    home: Path, bashrc: str, answering: str, main: str, dialect: Dialect
) -> None:
    _put(home, _DOT_bashrc=LINE + bashrc)
    files = shell_files(_world(home), answering=answering)
    assert (files.main.path, files.main.dialect) == (f"{home}/{main}", dialect)
    assert {files.main.path, *(file.path for file in files.others)} >= {f"{home}/.bashrc"}


def test_the_files_of_a_shell_that_is_handed_over_to_are_seen_though_another_answers(home: Path) -> None:
    _put(home, _DOT_bashrc=LINE, _DOT_bash_profile="exec zsh -l\n", _DOT_zshrc=LINE)
    assert ".zshrc" in _own(home, _world(home))


@pytest.mark.parametrize(
    "zshenv", ["export ZDOTDIR=$HOME/.zsh\n", 'ZDOTDIR="${ZDOTDIR:-$HOME/.zsh}"\n', ": ${ZDOTDIR:=$HOME/.zsh}\n"]
)
@pytest.mark.needs("zsh")
def test_zsh_is_asked_where_its_files_lie(home: Path, zshenv: str) -> None:
    _put(home, _DOT_zshenv=zshenv, _DOT_zsh__DOT_zshrc=LINE)
    assert shell_files(_world(home, "/usr/bin/zsh")).main.path == f"{home}/.zsh/.zshrc"


def test_a_file_of_the_users_own_below_a_tool_may_be_changed(home: Path) -> None:
    _put(home, _DOT_bashrc=". ~/.oh-my-bash/custom/mine.sh\n", **{"_DOT_oh-my-bash__custom__mine.sh": LINE})
    (other,) = (file for file in shell_files(_world(home)).others if file.path.endswith("mine.sh"))
    assert other.obstacle is None


def test_files_that_only_the_shell_knows_of_are_traced(home: Path) -> None:
    _put(
        home,
        _DOT_bashrc='for f in ~/.bash.d/*.sh; do . "$f"; done\n',
        **{"_DOT_bash.d__cuda.sh": LINE, "_DOT_bash.d__x.sh": "alias x=y\n"},
    )
    world = _world(home)
    found = [file.path.removeprefix(f"{home}/") for file in with_traced(world, shell_files(world)).others]
    assert ".bash.d/cuda.sh" in found
    assert ".bash.d/x.sh" not in found


def test_the_desktops_own_variables_are_seen(home: Path) -> None:
    _put(home, **{"_DOT_config__environment.d__cuda.conf": "CUDA_HOME=/c\n"})
    (file,) = (file for file in shell_files(_world(home)).others if file.path.endswith("cuda.conf"))
    assert (file.dialect, file.obstacle, file.of_terminal) == (Dialect.ENVIRONMENT_D, None, False)
