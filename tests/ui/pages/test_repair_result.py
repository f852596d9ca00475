"""The right side of the repair page: what changes, what a new terminal finds, and every change with its way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import NOT_SET, TerminalRow, expected_rows
from gpuassist.ui.pages.repair.panel import DiffCard, TerminalCard
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.labels import ElidedLabel, Hairline
from gpuassist.ui.widgets.marks import StatusPill
from tests.changes.homes import make_toolkit, world_at
from tests.remembered import RememberedShells
from tests.ui.made import known
from tests.ui.showing import Show, button_named, words_in

LONG = "/home/you/.local/share/toolkits/of/a/name/that/is/long/cuda-12.4/bin/nvcc"
NOTHING = text("nothing has to be written")


@pytest.fixture
def plan(home: Path) -> ChangePlan:
    """A plan for a home with one toolkit and a .bashrc of one line."""
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    toolkit = Toolkit(f"{home}/cuda-12.4", version=Known(Version.parse("12.4"), "x"))
    world = world_at(home, processes=RememberedShells(home))
    return plan_use_cuda(world, Machine(toolkits=Known((toolkit,), "x")), UseCuda("12.4"))


@pytest.fixture
def diff(show: Show) -> DiffCard:
    return show(DiffCard(ENGLISH, "/home/you"), 560, 400)


@pytest.fixture
def terminal(show: Show) -> TerminalCard:
    return show(TerminalCard(ENGLISH), 640, 160)


def show_plan(card: DiffCard, plan: ChangePlan) -> None:
    card.show_plan(plan, NOTHING)


def copy_buttons(card: DiffCard) -> list[CopyButton]:
    return [button for file in card.files for button in file.findChildren(CopyButton)]


def without_diff(plan: ChangePlan) -> ChangePlan:
    steps = tuple(replace(step, diff="") for step in plan.plan.steps)
    return replace(plan, plan=replace(plan.plan, steps=steps))


def cells(card: TerminalCard) -> list[str]:
    """The monospaced cells that can be seen."""
    return [label.words for label in card.findChildren(ElidedLabel) if label.isVisibleTo(card)]


def tell(card: TerminalCard, rows: tuple[TerminalRow, ...], qtbot: QtBot) -> None:
    """Shows planned rows, and waits until they are seen."""
    card.show_rows(rows, proved=False)
    qtbot.waitUntil(lambda: bool(words_in(card)))


def row(name: str = "nvcc", now: str = "/a", after: str = "/b") -> TerminalRow:
    return TerminalRow(name, verbatim(now), verbatim(after), now == after)


def test_the_diff_says_what_is_written(diff: DiffCard, plan: ChangePlan) -> None:
    show_plan(diff, plan)
    assert diff.diff == plan.diff
    assert "+# >>> gpuassist" in diff.diff


def test_a_diff_that_comes_back_can_be_copied_again(diff: DiffCard, plan: ChangePlan) -> None:
    show_plan(diff, without_diff(plan))
    show_plan(diff, plan)
    assert len(copy_buttons(diff)) == 1
    assert not any("nothing has to be written" in words for words in words_in(diff))


def test_without_a_diff_there_is_nothing_to_copy(diff: DiffCard, plan: ChangePlan) -> None:
    show_plan(diff, without_diff(plan))
    assert copy_buttons(diff) == []
    assert diff.diff == ""


def test_the_diff_is_copied_by_key(diff: DiffCard, plan: ChangePlan, clipboard: QClipboard) -> None:
    show_plan(diff, plan)
    QTest.keyClick(button_named(diff, "Copy diff"), Qt.Key.Key_Space)
    assert clipboard.text() == plan.diff


def test_each_file_has_its_own_view(diff: DiffCard, plan: ChangePlan) -> None:
    (step,) = (step for step in plan.plan.steps if step.edit is not None)
    assert step.edit is not None
    login = replace(step, edit=replace(step.edit, path="/home/you/.profile", target="/home/you/.profile"))
    show_plan(diff, replace(plan, plan=replace(plan.plan, steps=(step, login))))
    assert [file.path for file in diff.files] == [step.edit.path, "/home/you/.profile"]
    assert len(copy_buttons(diff)) == 2


def test_the_view_of_a_file_stays_while_its_diff_changes(diff: DiffCard, plan: ChangePlan) -> None:
    show_plan(diff, plan)
    view = diff.files[0].view
    steps = tuple(replace(step, diff=step.diff + "+more\n") if step.diff else step for step in plan.plan.steps)
    show_plan(diff, replace(plan, plan=replace(plan.plan, steps=steps)))
    assert diff.files[0].view is view
    assert view.lines[-1].words == "more"


def test_the_newest_diff_is_the_one_copied(diff: DiffCard, plan: ChangePlan, clipboard: QClipboard) -> None:
    show_plan(diff, plan)
    steps = tuple(replace(step, diff="--- a\n+++ b\n") if step.diff else step for step in plan.plan.steps)
    show_plan(diff, replace(plan, plan=replace(plan.plan, steps=steps)))
    button_named(diff, "Copy diff").click()
    assert clipboard.text() == "--- a\n+++ b\n"


def test_a_planned_terminal_is_now_and_after(terminal: TerminalCard, plan: ChangePlan, qtbot: QtBot) -> None:
    tell(terminal, expected_rows(replace(plan, now=known(Terminal("/bin/bash", (), ())))), qtbot)
    assert words_in(terminal)[:3] == ["In a new terminal", "Now", "After"]
    assert [one.name for one in terminal.rows] == ["nvcc", "CUDA_HOME"]


def test_what_is_a_sentence_is_no_path(terminal: TerminalCard, qtbot: QtBot) -> None:
    tell(terminal, (TerminalRow("nvcc", text("not found"), verbatim("/b"), same=False),), qtbot)
    assert cells(terminal) == ["/b"]
    assert "not found" in words_in(terminal)


def test_a_terminal_that_did_not_answer_says_why(terminal: TerminalCard, plan: ChangePlan, qtbot: QtBot) -> None:
    tell(terminal, expected_rows(replace(plan, now=Unknown(text("bash did not end")))), qtbot)
    assert words_in(terminal).count("bash did not end") == 3
    assert "bash did not end" not in cells(terminal)


def test_what_stays_unset_is_unchanged(terminal: TerminalCard) -> None:
    terminal.show_rows((TerminalRow("CUDA_HOME", NOT_SET, NOT_SET, same=True),), proved=True)
    (pill,) = terminal.findChildren(StatusPill)
    assert (pill.words, pill.mark) == ("unchanged", Mark.RIGHT)


def test_a_proof_takes_the_place_of_the_plan(terminal: TerminalCard, qtbot: QtBot) -> None:
    terminal.show_rows((row(), row("CUDA_HOME", "/c", "/d")), proved=False)
    terminal.show_rows((row(after="/e"),), proved=True)
    qtbot.waitUntil(lambda: cells(terminal) == ["/a", "/e"])
    assert words_in(terminal)[:3] == ["In a new terminal", "Before", "Now, tested"]


def test_a_long_path_is_whole_in_its_tool_tip(terminal: TerminalCard, qtbot: QtBot) -> None:
    terminal.show_rows((row(now=LONG),), proved=False)
    (path,) = (label for label in terminal.findChildren(ElidedLabel) if label.words == LONG)
    qtbot.waitUntil(lambda: path.toolTip() == LONG)


def test_a_long_path_does_not_widen_the_card(terminal: TerminalCard) -> None:
    terminal.show_rows((row(now=LONG * 4, after=LONG * 5),), proved=False)
    assert terminal.minimumSizeHint().width() <= 640


def test_a_path_is_copied_by_key(terminal: TerminalCard, clipboard: QClipboard, qtbot: QtBot) -> None:
    tell(terminal, (row(now=LONG),), qtbot)
    path = terminal.findChildren(ElidedLabel)[0]
    path.setFocus()
    QTest.keyClick(path, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == LONG


def test_each_row_has_its_line_above(terminal: TerminalCard) -> None:
    terminal.show_rows((row(), row("CUDA_HOME"), row("LD_LIBRARY_PATH")), proved=False)
    assert len(terminal.findChildren(Hairline)) == 3
