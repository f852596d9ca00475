"""A plan and what came of it, in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Proof
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.shell import Command, Shell, Terminal, Variable
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.toolkit_change import (
    TerminalRow,
    edit_summary,
    expected_rows,
    is_verbatim,
    line_context,
    offers,
    proved_rows,
    title,
)
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
    make_toolkit(home / "cuda-11.7", "11.7.99")
    (home / ".bashrc").write_text(f"export LD_LIBRARY_PATH={home}/cuda-11.7/lib64\n")
    machine = Machine(
        toolkits=Known((toolkit(f"{home}/cuda-12.4", "12.4"), toolkit(f"{home}/cuda-11.7", "11.7")), "x"),
        shell=Shell(new_terminal=terminal("/usr/bin/nvcc", LD_LIBRARY_PATH="/old/lib64")),
    )
    return plan_use_cuda(world_at(home), machine, UseCuda("12.4"))


def told(rows: tuple[TerminalRow, ...]) -> list[tuple[str, str, str]]:
    return [(row.name, ENGLISH(row.now), ENGLISH(row.after)) for row in rows]


def shell_line(**more: object) -> ShellLine:
    line = ShellLine(3, 3, "export PATH=x", ("PATH",), (), tickable=True, ticked=False, why=text("a reason"))
    return replace(line, **more)


def applied(after: Fact[Terminal]) -> ChangeOutcome:
    proof = Proof(Known(value=True, source="x"), verbatim("a new terminal finds it"), after)
    return ChangeOutcome(Outcome(Result.MODIFIED, verbatim("it was written")), proof=proof)


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
    assert ENGLISH(title(plan)) == "Use CUDA 12.4 in new terminals"


def test_a_plan_that_changes_nothing_says_so(plan: ChangePlan) -> None:
    steps = tuple(replace(step, diff="") for step in plan.plan.steps)
    same = replace(plan, plan=replace(plan.plan, steps=steps))
    assert ENGLISH(title(same)) == "New terminals are set up for CUDA 12.4"
    assert "nothing is changed" in ENGLISH(edit_summary(same))


def test_the_edit_is_told_in_figures(plan: ChangePlan) -> None:
    line = replace(plan.lines[0], ticked=False, rewritten=True)
    assert ENGLISH(edit_summary(replace(plan, lines=(line,)))).startswith("1 line replaced · ")
    both = (replace(line, ticked=True, rewritten=False), line, line)
    assert ENGLISH(edit_summary(replace(plan, lines=both))).startswith("2 lines replaced · 1 line commented out · ")


def test_a_new_file_is_told(plan: ChangePlan) -> None:
    steps = tuple(
        replace(step, edit=replace(step.edit, existed=False)) if step.edit is not None else step for step in plan.plan.steps
    )
    assert ENGLISH(edit_summary(replace(plan, plan=replace(plan.plan, steps=steps)))).startswith("a new file · ")


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
        ("LD_LIBRARY_PATH", "/old/lib64", f"{home}/cuda-12.4/lib64 first"),
    ]


def test_what_is_commented_out_puts_nothing_on_the_library_path(plan: ChangePlan) -> None:
    assert plan.cuda is not None
    cuda = replace(plan.cuda, expected=replace(plan.cuda.expected, ld_library_path=""))
    lines = (replace(plan.lines[0], ticked=True, rewritten=False),)
    assert (
        told(expected_rows(replace(plan, cuda=cuda, lines=lines)))[2][2] == "without what the lines put in that are commented out"
    )


def test_a_terminal_that_nobody_asked_says_so(plan: ChangePlan) -> None:
    unasked = replace(plan, now=Unknown(text("the shell never returned")))
    assert told(expected_rows(unasked))[0][1] == "the shell never returned"


def test_rows_that_stay_are_the_same(plan: ChangePlan) -> None:
    rows = proved_rows(plan, applied(terminal("/usr/bin/nvcc", LD_LIBRARY_PATH="/old/lib64")))
    assert [row.same for row in rows] == [True, True, True]


def test_a_proof_that_could_not_be_had_says_so(plan: ChangePlan) -> None:
    assert told(proved_rows(plan, applied(Unknown(text("no terminal")))))[0][2] == "no terminal"
