"""A plan and what came of it, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Proof, UseCuda
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.session.context import Session
from gpuassist.session.repair_summary import (
    TerminalRow,
    edit_summary,
    expected_rows,
    is_verbatim,
    line_context,
    line_name,
    offers,
    outcome,
    proved_rows,
    title,
)
from gpuassist.session.words import ENGLISH
from gpuassist.shellfiles.lines import ShellLine
from tests.changes.homes import make_toolkit, world_at


def terminal(nvcc: str, **variables: str) -> Known[Terminal]:
    commands = (Command("nvcc", nvcc, nvcc),) if nvcc else ()
    return Known(Terminal("bash", tuple(Variable(name, value) for name, value in variables.items()), commands), "asked")


def toolkit(root: str, version: str, origin: Origin = Origin.LOCAL, nvcc: str = "nvcc") -> Toolkit:
    return Toolkit(root, Known(origin, "x"), Known(Version.parse(version), "x"), Known(nvcc, "x"))


@pytest.fixture
def plan(home: Path) -> ChangePlan:
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text(f"export LD_LIBRARY_PATH={home}/cuda-11.7/lib64\n")
    machine = Machine(
        toolkits=Known((toolkit(f"{home}/cuda-12.4", "12.4"), toolkit(f"{home}/cuda-11.7", "11.7")), "x"),
        shell=Shell(new_terminal=terminal("/usr/bin/nvcc", LD_LIBRARY_PATH="/old/lib64")),
    )
    return plan_use_cuda(Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH), machine, UseCuda("12.4"))


def told(rows: tuple[TerminalRow, ...]) -> list[tuple[str, str, str]]:
    return [(row.name, ENGLISH(row.now), ENGLISH(row.after)) for row in rows]


def shell_line(**more: object) -> ShellLine:
    line = ShellLine(3, 3, "export PATH=x", ("PATH",), (), tickable=True, ticked=False, why=text("a reason"))
    return replace(line, **more)  # type: ignore[arg-type]


def applied(result: Result, holds: Holds | None, after: str = "/new/nvcc") -> ChangeOutcome:
    proof = None if holds is None else Proof(terminal(after), None, holds, verbatim("a new terminal finds it"))
    outcomes = (Outcome(result, verbatim("it was written")),)
    return ChangeOutcome(outcomes, None, terminal("/old/nvcc"), terminal(after), proof)


def test_toolkits_are_offered_newest_first() -> None:
    machine = Machine(toolkits=Known((toolkit("/a", "11.7"), toolkit("/b", "12.4")), "x"))
    assert [offer.version for offer in offers(machine)] == ["12.4", "11.7"]


def test_a_toolkit_goes_by_its_release() -> None:
    (offer,) = offers(Machine(toolkits=Known((toolkit("/a", "12.4.131"),), "x")))
    assert (offer.version, ENGLISH(offer.words)) == ("12.4.131", "CUDA 12.4 in /a")


def test_a_conda_toolkit_is_left_to_its_environment() -> None:
    assert offers(Machine(toolkits=Known((toolkit("/a", "12.4", Origin.CONDA),), "x"))) == ()


def test_a_toolkit_without_nvcc_is_not_offered() -> None:
    assert offers(Machine(toolkits=Known((toolkit("/a", "12.4", nvcc=""),), "x"))) == ()


def test_unknown_toolkits_offer_nothing() -> None:
    assert offers(Machine()) == ()


def test_the_title_names_the_version(plan: ChangePlan) -> None:
    assert ENGLISH(title(plan)) == "Make new shells use CUDA 12.4"


def test_a_plan_that_changes_nothing_says_so(plan: ChangePlan) -> None:
    steps = tuple(replace(step, diff="") for step in plan.plan.steps)
    same = replace(plan, plan=replace(plan.plan, steps=steps))
    assert ENGLISH(title(same)) == "New shells are set up for CUDA 12.4"
    assert "nothing is changed" in ENGLISH(edit_summary(same))


def test_rewritten_lines_are_told_too(plan: ChangePlan) -> None:
    (line,) = plan.lines[:1]
    rewritten = replace(line, ticked=False, rewritten=True)
    assert ENGLISH(edit_summary(replace(plan, lines=(rewritten,)))).startswith("1 line rewritten · ")
    both = (replace(line, ticked=True), rewritten, rewritten)
    assert ENGLISH(edit_summary(replace(plan, lines=both))).startswith("1 line retired · 2 lines rewritten · ")


def test_the_edit_is_told_in_figures(plan: ChangePlan) -> None:
    assert ENGLISH(edit_summary(plan)).startswith("1 line retired · ")


def test_a_new_file_is_told(plan: ChangePlan) -> None:
    steps = tuple(
        replace(step, edit=replace(step.edit, existed=False)) if step.edit is not None else step for step in plan.plan.steps
    )
    assert ENGLISH(edit_summary(replace(plan, plan=replace(plan.plan, steps=steps)))).startswith("a new file · ")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (shell_line(), "Retire line 3"),
        (shell_line(last_line=5), "Retire lines 3 to 5"),
        (shell_line(tickable=False), "Line 3"),
        (shell_line(tickable=False, last_line=5), "Lines 3 to 5"),
    ],
)
def test_a_line_is_named_by_its_place(line: ShellLine, name: str) -> None:
    assert ENGLISH(line_name(line)) == name


def test_context_is_told_where_the_reason_does_not() -> None:
    line = shell_line(inside="if true; then", owner="conda")
    assert list(map(ENGLISH, line_context(line))) == ["inside `if true; then`", "in the block of conda"]


def test_context_is_not_told_twice() -> None:
    why = text("stands in “{inside}”, belongs to {owner}", inside="if", owner="conda")
    assert line_context(shell_line(inside="if", owner="conda", why=why)) == ()


def test_a_path_is_verbatim_and_a_sentence_is_not() -> None:
    assert is_verbatim(verbatim("/usr/bin/nvcc"))
    assert not is_verbatim(text("not set"))


def test_expected_rows_show_before_and_after(plan: ChangePlan, home: Path) -> None:
    assert told(expected_rows(plan)) == [
        ("nvcc", "/usr/bin/nvcc", f"{home}/cuda-12.4/bin/nvcc"),
        ("CUDA_HOME", "not set", f"{home}/cuda-12.4"),
        ("LD_LIBRARY_PATH", "/old/lib64", "without what the retired lines put in"),
    ]


def test_a_library_path_that_was_asked_for_comes_first(plan: ChangePlan) -> None:
    asked = replace(plan, expected=replace(plan.expected, ld_library_path="/x/lib64"))
    assert told(expected_rows(asked))[2][2] == "/x/lib64 first"


def test_a_terminal_that_nobody_asked_says_so(plan: ChangePlan) -> None:
    unasked = replace(plan, now=Unknown(text("the shell never returned")))
    assert told(expected_rows(unasked))[0][1] == "the shell never returned"


def test_rows_that_stay_are_the_same() -> None:
    rows = proved_rows(applied(Result.MODIFIED, Holds.YES, "/old/nvcc"))
    assert [row.same for row in rows] == [True, True]


def test_a_proof_that_could_not_be_had_says_so() -> None:
    unknown = replace(applied(Result.MODIFIED, Holds.UNKNOWN), after=Unknown(text("no terminal")))
    assert told(proved_rows(unknown))[0][2] == "no terminal"


@pytest.mark.parametrize(
    ("done", "words"),
    [
        (applied(Result.MODIFIED, Holds.YES), "Done and proved: a new terminal finds it"),
        (applied(Result.MODIFIED, Holds.NO), "Changed, but a new terminal finds it"),
        (applied(Result.UNCHANGED, Holds.YES), "Nothing had to be changed; a new terminal finds it"),
        (applied(Result.FAILED, None), "it was written"),
    ],
)
def test_the_outcome_is_one_sentence(done: ChangeOutcome, words: str) -> None:
    assert ENGLISH(outcome(done)) == words
