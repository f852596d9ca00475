"""What is said beside the table: what hides what, what ends early, what is slow, what could not be told."""

from __future__ import annotations

import pytest

from gpuassist.detect.startup.chain import ChainFile, Stage
from gpuassist.detect.startup.survey import notes_on
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.system.shell_trace import Trace

WHOLE: Fact[Trace] = Known(Trace((), {}, {}, True, 0.1), "bash -x")


def _file(name: str, content: str, stage: Stage, *, ours: bool = True) -> ChainFile:
    dialect = Dialect.ENVIRONMENT if stage is Stage.ENVIRONMENT else Dialect.BASH
    reading = read_startup(content.encode(), dialect, {"HOME": "/home/you"})
    return ChainFile(f"/home/you/{name}", dialect, stage, content=content.encode(), ours=ours, reading=reading)


def _said(*files: ChainFile, shell: str = "/bin/bash", seconds: Fact[float] = NOT_ASKED, trace: Fact[Trace] = WHOLE) -> str:
    return "\n".join(ENGLISH(note) for note in notes_on(shell, files, seconds, trace))


@pytest.mark.parametrize(
    ("login", "words"),
    [
        ("x=1\n", "/home/you/.bash_profile does not read /home/you/.bashrc in"),
        (". ~/.bashrc\n", ""),
        ("[ -f ~/.bashrc ] && . ~/.bashrc\n", ""),
        (None, "no login file reads /home/you/.bashrc in"),
    ],
)
def test_says_whether_a_login_shell_sees_bashrc(login: str | None, words: str) -> None:
    bashrc = _file(".bashrc", "PATH=/a:$PATH\n", Stage.TERMINAL)
    files = (bashrc,) if login is None else (_file(".bash_profile", login, Stage.LOGIN), bashrc)
    assert words in _said(*files)
    assert bool(_said(*files)) is bool(words)


def test_says_nothing_of_a_login_file_of_zsh() -> None:
    assert _said(_file(".zshrc", "x=1\n", Stage.TERMINAL), shell="/bin/zsh") == ""


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("case $- in *i*) ;; *) return;; esac\nPATH=/a:$PATH\n", 1),
        ('x=1\n[ -z "$PS1" ] && return\nPATH=/a:$PATH\n', 2),
        ("PATH=/a:$PATH\n[[ $- == *i* ]] || return\n", 0),
        ("if x; then return; fi\nPATH=/a:$PATH\n", 0),
    ],
)
def test_says_which_lines_scripts_do_not_see(content: str, line: int) -> None:
    said = _said(_file(".zshrc", content, Stage.TERMINAL), shell="/bin/zsh")
    assert (f"line {line} ends the file" in said) is bool(line)


def test_says_what_it_does_not_understand() -> None:
    assert "/home/you/.zshrc, line 2 could not be understood" in _said(_file(".zshrc", "x=1\nif (\n", Stage.TERMINAL), shell="zsh")


def test_says_that_nothing_is_expanded_in_the_environment() -> None:
    said = _said(_file("environment", "A=1\nPATH=/a:$PATH\n", Stage.ENVIRONMENT), shell="zsh")
    assert "line 2: nothing is expanded in this file" in said


@pytest.mark.parametrize(("seconds", "said"), [(0.2, False), (2.0, True), (7.25, True)])
def test_says_that_the_files_are_slow(seconds: float, said: bool) -> None:
    assert (f"{seconds:.1f} s for each new terminal" in _said(seconds=Known(seconds, "x"))) is said


def test_says_why_the_lines_were_not_watched() -> None:
    assert "told by reading alone: nobody asked" in _said(trace=Unknown(text("nobody asked")))
    assert "not all of them are known" in _said(trace=Known(Trace((), {}, {}, False, 0.1), "x"))
