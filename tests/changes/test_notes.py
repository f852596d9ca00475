"""What the user is told before a file is changed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.changes.notes import notes_on, notes_on_shell, notes_on_syntax
from gpuassist.changes.syntax import Syntax
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.lines import ShellLine


def _notes(content: bytes, *lines: ShellLine, block: bool = True) -> str:
    return "\n".join(ENGLISH(note) for note in notes_on(content, read(content, {}), lines, block=block))


def _line(number: int, *, ticked: bool) -> ShellLine:
    return ShellLine(number, number, "x", ("PATH",), (), tickable=True, ticked=ticked, why=text("because"), other=True)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'x\n[ -z "$PS1" ] && return\n', 'line 2 (“[ -z "$PS1" ] && return”) leaves the file in shells that are not interactive'),
        (b"exec zsh\n", "line 1 (“exec zsh”) may end the file or hand over to another program: the block stands in front of it"),
        (b"x\n[ -x /bin/zsh ] && exec zsh\nreturn\n", "line 2 (“[ -x /bin/zsh ] && exec zsh”) may end the file"),
        (b"a\r\nb\r\n", "Windows line ends"),
        (b"if x; then\n", "could not be understood"),
    ],
)
def test_says_what_the_file_gives_reason_to(content: bytes, says: str) -> None:
    assert says in _notes(content)


def test_an_ordinary_file_needs_no_note() -> None:
    assert _notes(b"alias x=y\nexport PATH=$HOME/bin:$PATH\n") == ""


@pytest.mark.parametrize("content", [b'[ -z "$PS1" ] && return\n', b"exec zsh\n"])
def test_where_no_block_is_written_nothing_is_said_of_what_it_would_not_reach(content: bytes) -> None:
    assert _notes(content, block=False) == ""


@pytest.mark.parametrize(
    ("ticked", "count", "says"),
    [
        (True, 1, "1 of your lines is commented out; undo restores it"),
        (True, 2, "2 of your lines are commented out; undo restores them"),
        (False, 1, "1 line of yours is changed where it names the toolkit, and restored by undo"),
        (False, 2, "2 lines of yours are changed where they name the toolkit, and restored by undo"),
    ],
)
def test_counts_what_is_changed(ticked: bool, count: int, says: str) -> None:
    lines = (replace(_line(number, ticked=ticked), rewritten=not ticked) for number in range(count))
    assert _notes(b"", *lines) == says


def test_what_follows_is_not_in_the_way() -> None:
    assert _notes(b"", replace(_line(7, ticked=False), follows=True)) == ""


def test_names_what_stays_in_the_way() -> None:
    assert "line 7 stays: because" in _notes(b"", _line(7, ticked=False))


@pytest.mark.parametrize(("shell", "told"), [("/bin/bash", False), ("", False), ("/usr/bin/zsh", True), ("/usr/bin/fish", True)])
def test_says_where_another_shell_is_used(shell: str, told: bool) -> None:
    notes = notes_on_shell(shell, "/home/you/.bashrc")
    assert bool(notes) is told
    assert all("which does not read /home/you/.bashrc" in ENGLISH(note) for note in notes)


@pytest.mark.parametrize(
    ("syntax", "says"),
    [
        (
            Syntax(broken=True, asked=True, words="line 3: syntax error"),
            "as it is now (line 3: syntax error)",
        ),
        (Syntax(broken=False, asked=False, words="no bash"), "could not be asked"),
    ],
)
def test_says_what_bash_thinks_of_the_file(syntax: Syntax, says: str) -> None:
    assert says in ENGLISH(notes_on_syntax(syntax)[0])


def test_a_valid_file_needs_no_note() -> None:
    assert notes_on_syntax(Syntax(broken=False, asked=True)) == ()
