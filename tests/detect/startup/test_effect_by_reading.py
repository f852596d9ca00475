"""What holds and what wins where lines and the value in the end are all that is known."""

from __future__ import annotations

import pytest

from gpuassist.detect.startup.chain import ChainFile, Stage
from gpuassist.detect.startup.effect import PlacedStatement, by_reading, deciding, elements_of
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.text import text
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import Statement, ToolLine


def _terminal(nvcc: str = "", **variables: str) -> Fact[Terminal]:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Known(Terminal("/bin/bash", tuple(Variable(name, value) for name, value in variables.items()), commands), "x")


def _effects(content: str, terminal: Fact[Terminal], start: tuple[str, ...] = ()) -> list[tuple[bool | None, tuple[str, ...]]]:
    reading = read_startup(content.encode(), Dialect.BASH, {"HOME": "/home/you"})
    file = ChainFile("/home/you/.bashrc", Dialect.BASH, Stage.TERMINAL, reading=reading)
    said: list[Statement | ToolLine] = [*reading.statements, *reading.tools]
    lines = [PlacedStatement(number, file, says) for number, says in enumerate(said)]
    judge = by_reading(lines, terminal, start)
    return [(value_or(effect.holds, None), effect.wins) for effect in map(judge, lines)]


@pytest.mark.parametrize(
    ("content", "effects"),
    [
        ("CUDA_HOME=/c\n", [(True, ("CUDA_HOME",))]),
        ("CUDA_HOME=/d\n", [(False, ())]),
        ("CUDA_HOME=/d\nCUDA_HOME=/c\n", [(False, ()), (True, ("CUDA_HOME",))]),
        ("CUDA_HOME=/c\nCUDA_HOME=/c\n", [(None, ()), (True, ("CUDA_HOME",))]),
        ("CUDA_HOME=$(find)\n", [(None, ())]),
        ("CUDA_PATH=/c\n", [(False, ())]),
        ("unset CUDA_HOME\n", [(False, ())]),
        ("CUDA_HOME=/c make\n", [(False, ())]),
        ("module load cuda\n", [(None, ())]),
    ],
)
def test_a_value_in_the_end_tells_of_its_line(content: str, effects: list[tuple[bool | None, tuple[str, ...]]]) -> None:
    assert _effects(content, _terminal(CUDA_HOME="/c")) == effects


@pytest.mark.parametrize(
    ("content", "effects"),
    [
        ("PATH=/a:$PATH\n", [(True, ())]),
        ("PATH=/c/bin/:$PATH\n", [(True, ("PATH",))]),
        ("PATH=/x:$PATH\n", [(False, ())]),
        ("PATH=/x:/a:$PATH\n", [(True, ())]),
        ("PATH=/a:$PATH\nPATH=/a:$PATH\n", [(None, ()), (None, ())]),
        ("PATH=/usr/bin:$PATH\n", [(None, ())]),
        ("PATH=$X/bin:$PATH\n", [(None, ())]),
        ("CUDA_HOME=/no PATH=/a:$PATH\n", [(True, ())]),
        ("LIBRARY_PATH=/l\n", [(False, ())]),
    ],
)
def test_an_element_in_the_end_tells_of_its_line(content: str, effects: list[tuple[bool | None, tuple[str, ...]]]) -> None:
    assert _effects(content, _terminal(nvcc="/c/bin/nvcc", PATH="/a:/c/bin:/usr/bin"), ("/usr/bin",)) == effects


def test_without_a_terminal_nothing_is_known() -> None:
    assert _effects("CUDA_HOME=/c\nPATH=/a:$PATH\n", Unknown(text("hung"))) == [(None, ()), (None, ())]


def test_a_file_that_is_not_read_holds_nothing() -> None:
    reading = read_startup(b"CUDA_HOME=/c\n", Dialect.BASH, {})
    file = ChainFile("/x", Dialect.BASH, Stage.LOGIN, unread=text("hidden"), reading=reading)
    line = PlacedStatement(0, file, reading.statements[0])
    effect = by_reading([line], _terminal(CUDA_HOME="/c"), ())(line)
    assert (effect.holds, effect.why) == (Known(False, "the order in which the shell reads its files"), text("hidden"))


@pytest.mark.parametrize(("value", "elements"), [(None, ()), ("", ()), ("/a::/b/:/", ("/a", "/b", "/"))])
def test_parts_a_list(value: str | None, elements: tuple[str, ...]) -> None:
    assert elements_of(value) == elements


@pytest.mark.parametrize(
    ("variable", "nvcc", "wanted"),
    [("PATH", "/c/bin/nvcc", "/c/bin"), ("PATH", "", ""), ("CPATH", "", "/a"), ("CPATH", "/c/bin/nvcc", "/a")],
)
def test_knows_what_decides(variable: str, nvcc: str, wanted: str) -> None:
    assert deciding(_terminal(nvcc=nvcc), variable, "/a:/b") == wanted
