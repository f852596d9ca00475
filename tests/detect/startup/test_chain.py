"""Which files a new terminal reads, in which order, and which it does not, for bash, zsh and fish in made-up homes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.startup.chain import ChainFile, Stage, dialect_of, sources, startup_chain
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.world import World
from tests.fakes import link, put, world_under

HOME = "/home/you"


def _world(root: Path, shell: str = "/bin/bash") -> World:
    world = world_under(root)
    put(root, shell, mode=0o755)
    return replace(world, surroundings=replace(world.surroundings, login_shell=shell, uid=os.geteuid()))


def _chain(root: Path, shell: str = "/bin/bash") -> dict[str, ChainFile]:
    return {file.path: file for file in startup_chain(_world(root, shell))}


def _order(root: Path, shell: str = "/bin/bash") -> list[str]:
    return [file.path for file in startup_chain(_world(root, shell)) if file.exists and file.unread is None]


def test_bash_reads_its_files_in_this_order(tmp_path: Path) -> None:
    for path in ("/etc/environment", "/etc/profile", "/etc/bash.bashrc", f"{HOME}/.profile", f"{HOME}/.bashrc"):
        put(tmp_path, path, "x=1\n")
    assert _order(tmp_path) == [
        "/etc/environment",
        "/etc/profile",
        f"{HOME}/.profile",
        "/etc/bash.bashrc",
        f"{HOME}/.bashrc",
    ]


def test_what_profile_reads_in_stands_behind_it(tmp_path: Path) -> None:
    put(tmp_path, "/etc/profile", "for i in /etc/profile.d/*.sh; do\n  . $i\ndone\n")
    put(tmp_path, "/etc/profile.d/b.sh", "PATH=/b:$PATH\n")
    put(tmp_path, "/etc/profile.d/a.sh", "PATH=/a:$PATH\n")
    put(tmp_path, "/etc/profile.d/c.csh", "setenv x\n")
    chain = _chain(tmp_path)
    assert list(chain)[:3] == ["/etc/profile", "/etc/profile.d/a.sh", "/etc/profile.d/b.sh"]
    assert chain["/etc/profile.d/a.sh"].sourced_by == ("/etc/profile", 2)
    assert chain["/etc/profile.d/a.sh"].stage is Stage.SYSTEM_LOGIN


@pytest.mark.parametrize(
    ("there", "read"),
    [
        ([".bash_profile", ".bash_login", ".profile"], ".bash_profile"),
        ([".bash_login", ".profile"], ".bash_login"),
        ([".profile"], ".profile"),
    ],
)
def test_bash_reads_only_the_first_login_file(tmp_path: Path, there: list[str], read: str) -> None:
    for name in there:
        put(tmp_path, f"{HOME}/{name}", "x=1\n")
    chain = _chain(tmp_path)
    assert [name for name in there if chain[f"{HOME}/{name}"].unread is None] == [read]


def test_a_login_file_that_is_read_in_is_not_hidden(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bash_profile", ". ~/.profile\n")
    put(tmp_path, f"{HOME}/.profile", "PATH=/a:$PATH\n")
    file = _chain(tmp_path)[f"{HOME}/.profile"]
    assert file.unread is None
    assert file.sourced_by == (f"{HOME}/.bash_profile", 1)


def test_bashrc_is_listed_once_where_a_terminal_reads_it(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.profile", ". ~/.bashrc\n")
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n")
    found = [file for file in startup_chain(_world(tmp_path)) if file.path == f"{HOME}/.bashrc"]
    assert [(file.stage, file.sourced_by) for file in found] == [(Stage.TERMINAL, None)]


def test_the_file_that_is_not_there_is_listed(tmp_path: Path) -> None:
    file = _chain(tmp_path)[f"{HOME}/.bashrc"]
    assert (file.exists, file.ours, file.content) == (False, True, b"")


def test_follows_files_that_are_read_in(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", "D=~/rc\n. $D/a\n")
    put(tmp_path, f"{HOME}/rc/a", ". ~/rc/b\n")
    put(tmp_path, f"{HOME}/rc/b", "PATH=/b:$PATH\n")
    chain = _chain(tmp_path)
    assert chain[f"{HOME}/rc/b"].sourced_by == (f"{HOME}/rc/a", 1)
    assert chain[f"{HOME}/rc/b"].reading.statements[0].line == 1


def test_files_that_read_each_other_in_end(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", ". ~/a\n")
    put(tmp_path, f"{HOME}/a", ". ~/b\n. ~/.bashrc\n. ~/a\n")
    put(tmp_path, f"{HOME}/b", ". ~/a\n")
    link(tmp_path, f"{HOME}/c", "b")
    assert [Path(path).name for path in _order(tmp_path)] == [".bashrc", "a", "b"]


def test_a_long_row_of_files_ends(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", ". ~/f1\n")
    for number in range(1, 20):
        put(tmp_path, f"{HOME}/f{number}", f". ~/f{number + 1}\n")
    assert len(_order(tmp_path)) == 7


def test_very_many_files_end(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", "for f in ~/d/*; do . $f; done\n")
    for number in range(200):
        put(tmp_path, f"{HOME}/d/{number}", "x=1\n")
    assert len(_order(tmp_path)) == 120


def test_a_value_of_an_earlier_file_is_known_in_a_later_one(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.profile", "export CUDA_HOME=/c\n")
    put(tmp_path, f"{HOME}/.bashrc", "PATH=$CUDA_HOME/bin:$PATH\n")
    statement = _chain(tmp_path)[f"{HOME}/.bashrc"].reading.statements[0]
    assert statement.assignments[0].elements[0].directory == "/c/bin"


@pytest.mark.parametrize(
    ("content", "reads"),
    [(". ~/.bashrc\n", True), ("if x; then . $HOME/.bashrc; fi\n", True), (". ~/other\n", True), ("# . ~/.bashrc\n", False)],
)
def test_tells_whether_the_login_file_reads_bashrc(tmp_path: Path, content: str, reads: bool) -> None:
    put(tmp_path, f"{HOME}/.bash_profile", content)
    put(tmp_path, f"{HOME}/other", ". ~/.bashrc\n")
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n")
    assert sources(startup_chain(_world(tmp_path)), f"{HOME}/.bash_profile", f"{HOME}/.bashrc") is reads


def test_zsh_reads_its_files_in_this_order(tmp_path: Path) -> None:
    for name in ("zshenv", "zprofile", "zshrc", "zlogin"):
        put(tmp_path, f"/etc/zsh/{name}", "x=1\n")
        put(tmp_path, f"{HOME}/.{name}", "x=1\n")
    names = [path.replace(HOME, "~") for path in _order(tmp_path, "/bin/zsh")]
    assert names == [
        *("/etc/zsh/zshenv", "~/.zshenv", "/etc/zsh/zprofile", "~/.zprofile", "/etc/zsh/zlogin", "~/.zlogin"),
        *("/etc/zsh/zshrc", "~/.zshrc"),
    ]


def test_zsh_goes_where_its_first_file_says(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.zshenv", "export ZDOTDIR=$HOME/.config/zsh\n")
    put(tmp_path, f"{HOME}/.config/zsh/.zshrc", "path=(/a $path)\n")
    put(tmp_path, f"{HOME}/.zshrc", "path=(/b $path)\n")
    chain = _chain(tmp_path, "/bin/zsh")
    assert chain[f"{HOME}/.config/zsh/.zshrc"].unread is None
    assert chain[f"{HOME}/.zshrc"].unread is not None
    assert chain[f"{HOME}/.config/zsh/.zshrc"].dialect is Dialect.ZSH


def test_zsh_of_other_distributions_has_its_files_elsewhere(tmp_path: Path) -> None:
    put(tmp_path, "/etc/zshrc", "x=1\n")
    assert _order(tmp_path, "/bin/zsh") == ["/etc/zshrc"]


def test_zsh_reads_what_it_reads_in_as_zsh(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.zshrc", ". ~/paths.sh\n")
    put(tmp_path, f"{HOME}/paths.sh", "path=(/a $path)\n")
    assert _chain(tmp_path, "/bin/zsh")[f"{HOME}/paths.sh"].reading.statements


def test_fish_reads_its_files_in_this_order(tmp_path: Path) -> None:
    own = f"{HOME}/.config/fish"
    for path in ("/etc/fish/config.fish", "/etc/fish/conf.d/s.fish", "/usr/share/fish/vendor_conf.d/v.fish", f"{own}/config.fish"):
        put(tmp_path, path, "set x 1\n")
    put(tmp_path, f"{own}/conf.d/b.fish", "set x 1\n")
    put(tmp_path, f"{own}/conf.d/a.fish", "set x 1\n")
    assert _order(tmp_path, "/usr/bin/fish") == [
        f"{own}/conf.d/a.fish",
        f"{own}/conf.d/b.fish",
        "/etc/fish/conf.d/s.fish",
        "/usr/share/fish/vendor_conf.d/v.fish",
        "/etc/fish/config.fish",
        f"{own}/config.fish",
    ]


def test_of_two_snippets_of_one_name_fish_reads_the_users(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.config/fish/conf.d/a.fish", "set x 1\n")
    put(tmp_path, "/etc/fish/conf.d/a.fish", "set x 2\n")
    chain = _chain(tmp_path, "/usr/bin/fish")
    assert chain["/etc/fish/conf.d/a.fish"].unread is not None
    assert chain[f"{HOME}/.config/fish/conf.d/a.fish"].unread is None


def test_the_environment_is_no_shell_file(tmp_path: Path) -> None:
    put(tmp_path, "/etc/environment", 'PATH="/usr/bin:$PATH"\n')
    file = _chain(tmp_path)["/etc/environment"]
    assert (file.dialect, file.stage) == (Dialect.ENVIRONMENT, Stage.ENVIRONMENT)
    assert [element.directory for element in file.reading.statements[0].assignments[0].elements] == ["/usr/bin", "$PATH"]


@pytest.mark.parametrize("make", ["directory", "large", "dangling"])
def test_what_cannot_be_read_says_why(tmp_path: Path, make: str) -> None:
    path = f"{HOME}/.bashrc"
    if make == "directory":
        (tmp_path / path.lstrip("/")).mkdir(parents=True)
    elif make == "large":
        put(tmp_path, path, b"#" * ((1 << 20) + 1))
    else:
        link(tmp_path, path, "nowhere")
    file = _chain(tmp_path)[path]
    assert file.content == b""
    assert file.unreadable is not None or not file.exists


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_says_why(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n", mode=0)
    assert _chain(tmp_path)[f"{HOME}/.bashrc"].unreadable is not None


def test_only_the_users_own_files_are_theirs(tmp_path: Path) -> None:
    put(tmp_path, "/etc/profile", "x=1\n")
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n")
    put(tmp_path, "/home/you2/.bashrc", "x=1\n")
    chain = _chain(tmp_path)
    assert (chain["/etc/profile"].ours, chain[f"{HOME}/.bashrc"].ours) == (False, True)


def test_a_file_of_somebody_else_is_not_theirs(tmp_path: Path) -> None:
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n")
    world = _world(tmp_path)
    other = replace(world, surroundings=replace(world.surroundings, uid=os.geteuid() + 1))
    assert not next(file for file in startup_chain(other) if file.path == f"{HOME}/.bashrc").ours


def test_an_unknown_shell_has_the_environment_alone(tmp_path: Path) -> None:
    put(tmp_path, "/etc/environment", "A=1\n")
    put(tmp_path, f"{HOME}/.bashrc", "x=1\n")
    assert _order(tmp_path, "/usr/bin/nu") == ["/etc/environment"]


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/home/you/.bashrc", Dialect.BASH),
        ("/home/you/.profile", Dialect.BASH),
        ("/home/you/.zshrc", Dialect.ZSH),
        ("/home/you/z/.zshenv", Dialect.ZSH),
        ("/home/you/x.zsh", Dialect.ZSH),
        ("/home/you/.config/fish/config.fish", Dialect.FISH),
        ("/etc/environment", Dialect.ENVIRONMENT),
        ("/home/you/.config/environment.d/cuda.conf", Dialect.ENVIRONMENT_D),
        ("/home/you/other", Dialect.FISH),
    ],
)
def test_a_name_tells_the_language(path: str, dialect: Dialect) -> None:
    assert dialect_of(path, Dialect.FISH) is dialect


def test_files_in_braces_are_read_in_one_after_another(tmp_path: Path) -> None:
    put(tmp_path, "/home/you/.bashrc", 'for file in ~/.{path,exports}{,.local}; do [ -r "$file" ] && source "$file"; done\n')
    for name in (".path", ".exports", ".exports.local", ".extra"):
        put(tmp_path, f"/home/you/{name}", "export PATH=/x:$PATH\n")
    read = [path.removeprefix("/home/you/") for path in _order(tmp_path) if path.startswith("/home/you")]
    assert read == [".bashrc", ".path", ".exports", ".exports.local"]
