"""The shells' own error lines among all that start-up files print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.system.ask_shell import AT_MOST, complaints, plain

ERRORS = (
    "bash: foo: command not found",
    "-bash: /home/you/.bashrc: line 3: syntax error near unexpected token `then'",
    "/home/you/.bashrc: line 3: conda: command not found",
    "/home/you/.zshrc:11: no matches found: /home/you/.dotfiles/**/*.zsh",
    "compinit:503: no such file or directory: /usr/share/zsh/vendor-completions/_docker",
    "(eval):1: parse error near `&&'",
    "zsh:source:1: no such file or directory: /home/you/.aliases",
    "/home/you/.profile: 3: foo: not found",
    "fish: Unknown command: foo",
    "~/.config/fish/config.fish (line 3):",
)


@pytest.mark.parametrize("line", ERRORS)
def test_error_line_is_found_between_others(line: str) -> None:
    printed = f"Welcome\r\n\x1b]0;you@host\x07\x1b[31m{line}\x1b[0m\r\nLast login: Sat Nov 21 09:00 from here\r\n$ \x1b[6n"
    assert complaints(printed) == (line,)


@pytest.mark.parametrize(
    "line", ["Welcome: all is well", "12:30 up 3 days", "OS: Debian 12", "bash: no job control in this shell", "you@host:~$ ls", ""]
)
def test_other_lines_are_none(line: str) -> None:
    assert complaints(line + "\r\n") == ()


def test_each_is_told_once_and_not_too_many() -> None:
    assert complaints("bash: a: b\n" * 3) == ("bash: a: b",)
    assert len(complaints("".join(f"bash: {number}: no\n" for number in range(1000)))) == AT_MOST


@given(st.text(alphabet=st.sampled_from("\x1b[]()0;mP\\\x07 a:1\r\n\x9b"), max_size=60))
def test_nothing_that_a_terminal_obeys_is_left(printed: str) -> None:
    for line in (*complaints(printed), plain(printed).replace("\n", "").replace("\t", "")):
        assert all(sign.isprintable() for sign in line)
