"""`FILE:LINE,…` on the command line, and the choices that it comes to."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli.context import UsageError
from gpuassist.cli.line_options import choices, named
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.lines import Choice, ShellLine


def _line(number: int, last: int, file: Path, choice: Choice) -> ShellLine:
    line = ShellLine(
        number, last, "x", ("PATH",), (), tickable=number != 9, ticked=choice is Choice.COMMENT_OUT, why=text("a reason")
    )
    return replace(line, file=str(file), rewritten=choice is Choice.REPLACE, instead=b"y")


@pytest.fixture
def lines(home: Path) -> tuple[ShellLine, ...]:
    rc, profile = home / ".bashrc", home / ".profile"
    return (
        _line(1, 1, rc, Choice.COMMENT_OUT),
        _line(3, 5, rc, Choice.KEEP),
        _line(9, 9, rc, Choice.KEEP),
        _line(3, 3, profile, Choice.REPLACE),
    )


L, T, W = Choice.KEEP, Choice.COMMENT_OUT, Choice.REPLACE


@pytest.mark.parametrize(
    ("comment_out", "replaced", "kept", "expected"),
    [
        ("all", None, None, (T, T, L, T)),
        ("none", None, None, (L, L, L, L)),
        ("", None, None, (L, L, L, L)),
        (None, "", None, (T, L, L, W)),
        ("~/.bashrc:1", None, None, (T, L, L, L)),
        ("~/.bashrc:4", None, None, (L, T, L, L)),
        ("~/.bashrc:1,~/.profile:3", None, None, (T, L, L, T)),
        (None, "~/.bashrc:1", None, (W, L, L, W)),
        ("none", "~/.bashrc:3, ~/.profile:3", None, (L, W, L, W)),
        ("all", "~/.bashrc:5", None, (T, W, L, T)),
        (None, None, "all", (L, L, L, L)),
        (None, None, "~/.profile:3", (T, L, L, L)),
        (None, "~/.bashrc:1,~/.bashrc:3", "~/.bashrc:3", (W, L, L, W)),
        ("all", None, "~/.bashrc:1", (L, T, L, T)),
        (None, None, "", (T, L, L, W)),
    ],
)
def test_options_become_choices(
    lines: tuple[ShellLine, ...], comment_out: str | None, replaced: str | None, kept: str | None, expected: tuple[Choice, ...]
) -> None:
    found = choices(lines, comment_out=comment_out, replaced=replaced, kept=kept)
    assert found is not None
    assert tuple(one.choice for one in found) == expected


def test_no_option_is_no_choice(lines: tuple[ShellLine, ...]) -> None:
    assert choices(lines, comment_out=None, replaced=None, kept=None) is None


@pytest.mark.parametrize(
    "words", ["12", "x", ":3", "~/.bashrc:", "~/.bashrc:-1", "~/.bashrc:1.5", "~/.bashrc:²", "a:b:c", "a:" + "9" * 5000]
)
def test_words_that_name_no_line_are_wrong_usage(lines: tuple[ShellLine, ...], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        named(words, lines)
    assert "names no line" in ENGLISH(raised.value.reason)


def test_a_file_may_be_named_in_any_way_that_leads_to_it(
    lines: tuple[ShellLine, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    (home / "link").symlink_to(home)
    for words in (".bashrc:1", "./.bashrc:1", f"{home}/link/.bashrc:1", "~/.bashrc:1"):
        assert named(words, lines) == ((f"{home}/.bashrc", 1),)


def test_a_line_that_is_not_there_keeps_its_number(lines: tuple[ShellLine, ...], home: Path) -> None:
    assert named("~/.bashrc:7,/elsewhere:1", lines) == ((f"{home}/.bashrc", 7), ("/elsewhere", 1))
