"""What holds and what wins where the steps of a shell are known, from made-up steps and lines."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gpuassist.detect.startup.chain import ChainFile, Stage
from gpuassist.detect.startup.effect import Effect, PlacedStatement, TraceJudge
from gpuassist.detect.startup.line import SurveyLine, line_of, untold
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.shell import Command, Terminal, Variable
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.statements import Statement, ToolLine
from gpuassist.system.shell_trace import Trace, TracedChange

FILE = "/home/you/.bashrc"


@dataclass(frozen=True)
class _Seen:
    lines: tuple[PlacedStatement, ...]
    chain: tuple[ChainFile, ...]
    traced: TraceJudge

    def effect(self, line: int) -> Effect:
        return self.traced.effect(next(placed for placed in self.lines if placed.says.line == line))

    def holds(self, line: int) -> bool | None:
        return value_or(self.effect(line).holds, None)

    def row(self, line: int) -> SurveyLine:
        placed = next(placed for placed in self.lines if placed.says.line == line)
        return line_of(placed, self.traced.effect(placed), self.traced)


def _change(step: int, variable: str, line: int, before: str | None, after: str | None, file: str = FILE) -> TracedChange:
    return TracedChange(step, variable, file, line, before, after)


def _seen(
    content: str, *changes: TracedChange, ran: tuple[int, ...] = (), whole: bool = True, terminal: Fact[Terminal] = NOT_ASKED
) -> _Seen:
    reading = read_startup(content.encode(), Dialect.BASH, {"HOME": "/home/you"})
    file = ChainFile(FILE, Dialect.BASH, Stage.TERMINAL, content=content.encode(), ours=True, reading=reading)
    said: list[Statement | ToolLine] = [*reading.statements, *reading.tools]
    lines = tuple(PlacedStatement(number, file, says) for number, says in enumerate(sorted(said, key=lambda one: one.line)))
    steps = {change.line: change.step for change in changes if change.file == FILE} | {line: line * 10 for line in ran}
    values = {"PATH": "/usr/bin"} | {change.variable: change.after for change in changes}
    trace = Trace(changes, {(FILE, line): step for line, step in steps.items()}, values, whole, 0.1)
    return _Seen(lines, (file,), TraceJudge(lines, terminal, trace, str))


def test_a_line_that_was_not_come_to_does_not_hold() -> None:
    assert _seen("CUDA_HOME=/c\n").holds(1) is False


def test_a_line_that_may_have_run_unseen_is_unknown() -> None:
    assert isinstance(_seen("CUDA_HOME=/c\n", whole=False).effect(1).holds, Unknown)


def test_the_change_that_stands_wins() -> None:
    seen = _seen("CUDA_HOME=/c\n", _change(1, "CUDA_HOME", 1, None, "/c"))
    assert (seen.holds(1), seen.effect(1).wins) == (True, ("CUDA_HOME",))


def test_a_line_that_repeats_a_value_takes_over() -> None:
    seen = _seen("CUDA_HOME=/c\nCUDA_HOME=/c\n", _change(1, "CUDA_HOME", 1, None, "/c"), ran=(2,))
    assert (seen.holds(1), seen.holds(2), seen.effect(2).wins) == (False, True, ("CUDA_HOME",))


def test_what_runs_later_than_all_lines_takes_over() -> None:
    changes = (_change(1, "CUDA_HOME", 1, None, "/c"), _change(9, "CUDA_HOME", 4, "/c", "/d", "/elsewhere"))
    assert _seen("CUDA_HOME=/c\n", *changes).holds(1) is False


@pytest.mark.parametrize(("after", "holds"), [(None, True), ("", False)])
def test_an_unset_variable_is_gone(after: str | None, holds: bool) -> None:
    seen = _seen("unset CUDA_HOME\n", _change(1, "CUDA_HOME", 1, "/c", after))
    assert seen.holds(1) is holds


@pytest.mark.parametrize(
    ("later", "holds"),
    [
        ("/b:/a:/usr/bin", True),
        ("/a:/usr/bin:/b", True),
        ("/b:/usr/bin", False),
        ("/usr/bin", False),
    ],
)
def test_an_element_lasts_until_a_step_loses_it(later: str, holds: bool) -> None:
    changes = (_change(1, "PATH", 1, "/usr/bin", "/a:/usr/bin"), _change(2, "PATH", 2, "/a:/usr/bin", later))
    assert _seen("PATH=/a:$PATH\nPATH=$X\n", *changes).holds(1) is holds


def test_an_empty_element_is_replaced_by_nothing() -> None:
    seen = _seen("PATH=$PATH:\n", _change(1, "PATH", 1, "/usr/bin", "/usr/bin:"))
    assert ENGLISH(seen.effect(1).why) == "leaves the directories as they are"


def test_an_element_that_comes_back_is_of_the_line_that_brought_it_back() -> None:
    changes = (
        _change(1, "PATH", 1, "/usr/bin", "/a:/usr/bin"),
        _change(2, "PATH", 2, "/a:/usr/bin", "/bin"),
        _change(3, "PATH", 3, "/bin", "/a:/bin"),
    )
    seen = _seen("PATH=/a:$PATH\nPATH=/bin\nPATH=/a:$PATH\n", *changes)
    assert [seen.holds(line) for line in (1, 2, 3)] == [False, True, True]


def test_a_line_whose_element_is_there_already_adds_nothing_and_holds() -> None:
    seen = _seen("PATH=/a:$PATH\nPATH=/a:$PATH\n", _change(1, "PATH", 1, "/usr/bin", "/a:/usr/bin"), ran=(2,))
    assert seen.holds(2) is True


def test_a_line_that_moves_a_directory_to_the_front_wins() -> None:
    nvcc = Known(Terminal("bash", (Variable("PATH", "x"),), (Command("nvcc", "/c/bin/nvcc", ""),)), "x")
    changes = (
        _change(1, "PATH", 1, "/usr/bin", "/c/bin:/usr/bin"),
        _change(2, "PATH", 2, "/c/bin:/usr/bin", "/d/bin:/c/bin:/usr/bin"),
        _change(3, "PATH", 3, "/d/bin:/c/bin:/usr/bin", "/c/bin:/d/bin:/c/bin:/usr/bin"),
    )
    seen = _seen("PATH=/c/bin:$PATH\nPATH=/d/bin:$PATH\nPATH=/c/bin:$PATH\n", *changes, terminal=nvcc)
    assert [seen.effect(line).wins for line in (1, 2, 3)] == [(), (), ("PATH",)]


def test_a_step_that_hid_another_is_not_given_its_element() -> None:
    nvcc = Known(Terminal("bash", (Variable("PATH", "x"),), (Command("nvcc", "/hidden/nvcc", ""),)), "x")
    seen = _seen("PATH=/a:$PATH\n", _change(1, "PATH", 1, "/usr/bin", "/hidden:/a:/usr/bin"), terminal=nvcc)
    assert (seen.holds(1), seen.effect(1).wins) == (True, ())


@pytest.mark.parametrize(
    ("before", "after", "effect", "elements"),
    [
        ("/usr/bin", "/m:/usr/bin", "prepends", ("/m",)),
        ("/usr/bin", "/usr/bin:/m", "appends", ("/m",)),
        ("/usr/bin", "/m", "sets", ("/m",)),
        (None, "/m:/n", "sets", ("/m", "/n")),
        ("/m", None, "unsets", ()),
    ],
)
def test_a_tools_line_does_what_it_was_seen_to_do(
    before: str | None, after: str | None, effect: str, elements: tuple[str, ...]
) -> None:
    row = _seen("module load cuda\n", _change(1, "PATH", 1, before, after)).row(1)
    assert [(one.variable, one.effect, one.elements) for one in row.contributions] == [("PATH", effect, elements)]
    assert (row.owner, row.changeable, value_or(row.in_effect, None)) == ("environment modules", False, True)


def test_a_tools_line_that_does_nothing_says_so() -> None:
    row = _seen("module load cuda\n", ran=(1,)).row(1)
    assert (value_or(row.in_effect, None), row.contributions) == (False, ())


def test_a_line_that_does_not_say_what_it_sets_is_found() -> None:
    seen = _seen(
        "x=1\n# >>> conda initialize >>>\n. hook\n# <<< conda initialize <<<\n", _change(1, "PATH", 3, "/usr/bin", "/o:/usr/bin")
    )
    (row,) = untold(seen.traced, seen.lines, seen.chain)
    assert (row.file, row.line, row.text, row.owner) == (FILE, 3, ". hook", "conda initialize")
    assert row.contributions[0].elements == ("/o",)
    assert not row.changeable


def test_a_line_of_a_file_that_nobody_listed_is_found() -> None:
    seen = _seen("x=1\n", _change(1, "CUDA_HOME", 7, None, "/c", "/opt/hook"))
    (row,) = untold(seen.traced, seen.lines, seen.chain)
    assert (row.file, row.line, row.text, row.wins) == ("/opt/hook", 7, "", ("CUDA_HOME",))


def test_a_change_that_did_not_last_is_not_listed() -> None:
    changes = (_change(1, "PATH", 1, "/usr/bin", "/o:/usr/bin"), _change(2, "PATH", 2, "/o:/usr/bin", "/bin"))
    seen = _seen("hook\nhook\n", *changes)
    assert [row.line for row in untold(seen.traced, seen.lines, seen.chain)] == [2]


@pytest.mark.parametrize(
    ("content", "changeable", "words"),
    [
        ("PATH=/a:$PATH\n", True, "may be commented out or replaced"),
        ("if x; then\n  PATH=/a:$PATH\nfi\n", True, "inside “{inside}”"),
        ("PATH=/a make\n", False, "applies to that one command only; left as it is"),
        ("PATH=/a:$PATH; ls\n", False, "shares its lines with other commands; please change it by hand if it is in the way"),
        ("PATH=$PYENV_ROOT/bin:$PATH\n", False, "belongs to {owner}; left as it is"),
    ],
)
def test_says_whether_a_line_may_be_changed(content: str, changeable: bool, words: str) -> None:
    row = _seen(content).row(2 if "then" in content else 1)
    assert (row.changeable, row.why.message) == (changeable, words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("PATH=/a:$PATH", "puts {value} in front of {variable}"),
        ("PATH=$PATH:/a", "puts {value} at the end of {variable}"),
        ("PATH=$PATH:", "adds no directory to {variable}"),
        ("PATH=/a", "sets {variable} to {value}"),
        ("unset PATH", "unsets {variable}"),
    ],
)
def test_says_what_a_line_does(line: str, words: str) -> None:
    assert [one.message for one in _seen(f"{line}\n").row(1).contribution] == [words]
