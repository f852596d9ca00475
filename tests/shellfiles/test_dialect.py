"""The corpus of start-up files as people have them, each read in its own language; held line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.shellfiles.bash_tree import Tree, masked
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import WATCHED, Reading, StatementPlace

CASES = Path(__file__).parent.parent / "cases" / "shell"
DIALECTS = {
    "bashrc": Dialect.BASH,
    "profile": Dialect.BASH,
    "zshrc": Dialect.ZSH,
    "zshenv": Dialect.ZSH,
    "fish": Dialect.FISH,
    "environment": Dialect.ENVIRONMENT,
}
NAMES = sorted(path.name for path in CASES.iterdir())


def _read(name: str) -> Reading:
    return read_startup((CASES / name).read_bytes(), DIALECTS[name.rpartition(".")[2]], {"HOME": "/home/you"})


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_the_corpus_is_understood(name: str) -> None:
    assert _read(name).unreadable_line == 0


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("workstation.bashrc", [52, 53, 57, 58, 59, 60, 61, 70, 71, 72, 80, 92, 99]),
        ("cluster.bashrc", [11, 20, 53, 55, 61, 63, 65, 66, 67, 68, 69, 70]),
        ("framework.bashrc", [41, 50, 51, 52, 54, 55, 57, 61, 65, 69, 80]),
        ("login.profile", [15, 18, 20, 21]),
        ("framework.zshrc", [7, 16, 17, 18, 20, 24, 27, 41, 58]),
        ("plain.zshenv", [2, 3, 4, 7]),
        ("plain.fish", [8, 9, 10, 11, 12, 15, 16, 18, 20, 24, 25, 34, 36, 39, 40, 44, 53]),
        ("gnome.environment", [1, 2, 3]),
    ],
)
def test_finds_the_lines_that_set_something(name: str, lines: list[int]) -> None:
    assert [statement.line for statement in _read(name).statements] == lines


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_is_the_bytes_of_its_lines(name: str) -> None:
    content = (CASES / name).read_bytes()
    rows = content.splitlines(keepends=True)
    for statement in _read(name).statements:
        assert content[statement.first_byte : statement.end_byte] == b"".join(rows[statement.line - 1 : statement.last_line])


@pytest.mark.parametrize(
    ("name", "line", "place"),
    [
        ("workstation.bashrc", 52, StatementPlace.TOP),
        ("workstation.bashrc", 70, StatementPlace.FUNCTION),
        ("workstation.bashrc", 80, StatementPlace.CONDITION),
        ("cluster.bashrc", 61, StatementPlace.LOOP),
        ("cluster.bashrc", 65, StatementPlace.COMMAND),
        ("cluster.bashrc", 68, StatementPlace.SUBSHELL),
        ("framework.bashrc", 57, StatementPlace.BRANCH),
        ("framework.zshrc", 41, StatementPlace.FUNCTION),
        ("plain.fish", 34, StatementPlace.CASE),
        ("plain.fish", 44, StatementPlace.GROUP),
    ],
)
def test_knows_what_each_stands_in(name: str, line: int, place: StatementPlace) -> None:
    assert next(statement.place for statement in _read(name).statements if statement.line == line) is place


@pytest.mark.parametrize(
    ("name", "owners"),
    [
        ("workstation.bashrc", {80: "pyenv", 92: "conda initialize"}),
        ("framework.bashrc", {61: "ANSIBLE MANAGED BLOCK cuda", 65: "bun"}),
        ("framework.zshrc", {58: "conda initialize"}),
        ("cluster.bashrc", {}),
    ],
)
def test_knows_whose_each_is(name: str, owners: dict[int, str]) -> None:
    assert {statement.line: statement.owner for statement in _read(name).statements if statement.owner} == owners


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("cluster.bashrc", ["/etc/bashrc", "/home/you/.bashrc.d/*"]),
        ("login.profile", ["/home/you/.bashrc", "/home/you/.config/profile.d/*.sh"]),
        ("plain.zshenv", ["/home/you/.cargo/env"]),
        ("plain.fish", ["/home/you/.config/fish/local.d/*.fish"]),
    ],
)
def test_finds_what_each_reads_in(name: str, paths: list[str]) -> None:
    assert [source.path for source in _read(name).sources] == paths


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(("bashrc", "profile"))])
def test_a_look_at_parts_finds_what_a_look_at_all_finds(name: str) -> None:
    content = (CASES / name).read_bytes()
    tree = Tree(masked(content), WATCHED)
    everything = [tree.root]
    for node in everything:
        everything.extend(node.children)
    wanted = {node.start_byte for node in everything if node.type == "variable_assignment" and _is_watched(node.text)}
    assert {setting.node.start_byte for setting in tree.settings() if setting.node.type == "variable_assignment"} >= wanted
    assert {one.start_byte for one in tree.of_type("command")} >= {
        node.start_byte
        for node in everything
        if node.type == "command" and node.text and node.text.startswith((b"return", b". ", b"eval"))
    }


def _is_watched(words: bytes | None) -> bool:
    return words is not None and words.partition(b"=")[0].rstrip(b"+").decode() in WATCHED


def test_one_language_is_not_read_as_another() -> None:
    line = b"set -gx PATH /a $PATH\n"
    assert not read_startup(line, Dialect.BASH, {}).statements
    assert read_startup(line, Dialect.FISH, {}).statements
    assert not read_startup(b"path=(/a $path)\n", Dialect.BASH, {}).statements
    assert read_startup(b"path=(/a $path)\n", Dialect.ZSH, {}).statements
    assert (
        read_startup(b"PATH=$HOME/a\n", Dialect.ENVIRONMENT_D, {"HOME": "/h"}).statements[0].assignments[0].elements[0].directory
        == "/h/a"
    )
