"""The right side of the repair page: what changes, what a new terminal finds, and every change with its way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Receipt
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text, verbatim
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.session.context import Session
from gpuassist.session.fix import CudaPlan, UseCuda, plan_use_cuda
from gpuassist.session.repair_summary import NOT_SET, TerminalRow, expected_rows
from gpuassist.session.words import ENGLISH
from gpuassist.ui.pages.repair_result import DiffCard, HistoryCard, ReceiptRow, TerminalCard
from gpuassist.ui.palette import Mark
from gpuassist.ui.widgets.labels import ElidedLabel, Rule
from gpuassist.ui.widgets.marks import StatusPill
from tests.repair.homes import make_toolkit, world_at
from tests.ui.made import known
from tests.ui.showing import Show, button_named, words_in

LONG = "/home/you/.local/share/toolkits/of/a/name/that/is/long/cuda-12.4/bin/nvcc"
MADE = Receipt("20261121-090000-aaaaaa", "2026-11-21T09:00:00+00:00", "use cuda 12.4", "~/.bashrc", "/x", True, "", "")


@pytest.fixture
def plan(home: Path) -> CudaPlan:
    """A plan for a home with one toolkit and a .bashrc of one line."""
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / ".bashrc").write_text("alias ll='ls -l'\n")
    toolkit = Toolkit(f"{home}/cuda-12.4", version=Known(Version.parse("12.4"), "x"))
    session = Session(world_at(home), Knowledge(lambda name: b"[]"), ENGLISH)
    return plan_use_cuda(session, Machine(toolkits=Known((toolkit,), "x")), UseCuda("12.4"))


@pytest.fixture
def diff(show: Show) -> DiffCard:
    return show(DiffCard(ENGLISH), 560, 400)


@pytest.fixture
def terminal(show: Show) -> TerminalCard:
    return show(TerminalCard(ENGLISH), 640, 160)


@pytest.fixture
def history(show: Show) -> HistoryCard:
    return show(HistoryCard(ENGLISH), 640, 200)


def without_diff(plan: CudaPlan) -> CudaPlan:
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


def test_the_diff_says_what_is_written(diff: DiffCard, plan: CudaPlan) -> None:
    diff.show_plan(plan)
    assert diff.diff == plan.diff
    assert "+# >>> gpuassist" in diff.diff


def test_a_diff_that_comes_back_can_be_copied_again(diff: DiffCard, plan: CudaPlan) -> None:
    diff.show_plan(without_diff(plan))
    diff.show_plan(plan)
    assert button_named(diff, "Copy diff").isVisibleTo(diff)
    assert not any("nothing has to be written" in words for words in words_in(diff))


def test_without_a_diff_there_is_nothing_to_copy(diff: DiffCard, plan: CudaPlan) -> None:
    diff.show_plan(without_diff(plan))
    assert not button_named(diff, "Copy diff").isVisibleTo(diff)
    assert diff.diff == ""


def test_the_diff_is_copied_by_key(diff: DiffCard, plan: CudaPlan, clipboard: QClipboard) -> None:
    diff.show_plan(plan)
    QTest.keyClick(button_named(diff, "Copy diff"), Qt.Key.Key_Space)
    assert clipboard.text() == plan.diff


def test_the_newest_diff_is_the_one_copied(diff: DiffCard, plan: CudaPlan, clipboard: QClipboard) -> None:
    diff.show_plan(plan)
    steps = tuple(replace(step, diff="--- a\n+++ b\n") if step.diff else step for step in plan.plan.steps)
    diff.show_plan(replace(plan, plan=replace(plan.plan, steps=steps)))
    button_named(diff, "Copy diff").click()
    assert clipboard.text() == "--- a\n+++ b\n"


def test_a_planned_terminal_is_now_and_after(terminal: TerminalCard, plan: CudaPlan, qtbot: QtBot) -> None:
    tell(terminal, expected_rows(replace(plan, now=known(Terminal("/bin/bash", (), ())))), qtbot)
    assert words_in(terminal)[:3] == ["In a new terminal", "now", "after"]
    assert [one.name for one in terminal.rows] == ["nvcc", "CUDA_HOME"]


def test_what_is_a_sentence_is_no_path(terminal: TerminalCard, qtbot: QtBot) -> None:
    tell(terminal, (TerminalRow("nvcc", text("not found"), verbatim("/b"), same=False),), qtbot)
    assert cells(terminal) == ["/b"]
    assert "not found" in words_in(terminal)


def test_a_terminal_that_did_not_answer_says_why(terminal: TerminalCard, plan: CudaPlan, qtbot: QtBot) -> None:
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
    assert words_in(terminal)[:3] == ["In a new terminal", "before", "now, proved"]


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
    assert len(terminal.findChildren(Rule)) == 3


def test_before_any_change_the_card_is_not_there(history: HistoryCard) -> None:
    assert HistoryCard(ENGLISH, history).isHidden()
    assert history.receipts == ()


def test_the_order_is_that_of_the_changes(history: HistoryCard) -> None:
    older = replace(MADE, id="20261120-090000-bbbbbb")
    history.show_receipts((MADE, older))
    assert [one.id for one in history.receipts] == [MADE.id, older.id]


def test_a_change_says_what_and_when(history: HistoryCard) -> None:
    history.show_receipts((MADE,))
    (one,) = history.findChildren(ReceiptRow)
    assert [label.words for label in one.findChildren(ElidedLabel)] == ["use cuda 12.4 in ~/.bashrc", MADE.id]
    assert words_in(one) == ["made 2026-11-21 09:00"]


def test_undo_is_asked_for_by_key(history: HistoryCard) -> None:
    told: list[object] = []
    history.undo_wanted.connect(told.append)
    history.show_receipts((MADE,))
    QTest.keyClick(history.findChildren(ReceiptRow)[0].button, Qt.Key.Key_Space)
    assert told == [MADE]


def test_the_last_change_gone_hides_the_card(history: HistoryCard) -> None:
    history.show_receipts((MADE,))
    history.show_receipts(())
    assert not history.isVisible()


def test_one_undone_leaves_the_other_its_undo(history: HistoryCard) -> None:
    history.show_receipts((replace(MADE, id="b", undone_at="2026-11-21T10:00:00+00:00"), MADE))
    assert [not one.button.isHidden() for one in history.findChildren(ReceiptRow)] == [False, True]
