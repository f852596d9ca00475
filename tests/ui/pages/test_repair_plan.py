"""The repair page's plan by key and by eye: what can be chosen, what stays where it is, and how a line reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import LdLibraryPath, UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import Offer
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.pages.repair.choices import LineRow
from gpuassist.ui.pages.repair.plan import ToolkitCard
from gpuassist.ui.widgets.code import StepRow
from gpuassist.ui.widgets.labels import ElidedLabel
from tests.changes.homes import make_toolkit, world_at
from tests.remembered import RememberedShells
from tests.ui.showing import Show, words_in

OFFERS = (Offer("13.0.48", text("CUDA 13.0")), Offer("12.4.131", text("CUDA 12.4")), Offer("11.7", text("CUDA 11.7")))
LINE = ShellLine(
    3,
    3,
    "export CUDA_HOME=/opt/old",
    ("CUDA_HOME",),
    (text("sets CUDA_HOME"),),
    tickable=True,
    ticked=True,
    why=text("old"),
    file="/home/you/.bashrc",
)
Plan = Callable[[UseCuda], ChangePlan]


@pytest.fixture
def planned(home: Path) -> Plan:
    """Plans for a home with two toolkits, whose .bashrc names the older one in two statements."""
    make_toolkit(home / "cuda-12.4", "12.4.131")
    make_toolkit(home / "cuda-11.7", "11.7.99")
    (home / ".bashrc").write_text(f"export PATH={home}/cuda-11.7/bin:$PATH\nexport CUDA_HOME={home}/cuda-11.7\n")
    toolkits = [Toolkit(f"{home}/cuda-{version}", version=Known(Version.parse(version), "x")) for version in ("12.4", "11.7")]
    machine = Machine(toolkits=Known(tuple(toolkits), "x"))
    return lambda wish: plan_use_cuda(world_at(home, processes=RememberedShells(home)), machine, wish)


@pytest.fixture
def card(show: Show) -> ToolkitCard:
    return show(ToolkitCard(ENGLISH, "/home/you"), 360, 700)


@pytest.fixture
def full(card: ToolkitCard, planned: Plan) -> ToolkitCard:
    """The card with a plan of two lines."""
    card.show_offers(OFFERS, "12.4")
    card.show_repair(planned(UseCuda("12.4")))
    return card


def chosen(row: LineRow) -> QPushButton:
    """The button of what is chosen for a line."""
    assert row.row is not None
    return row.row.segments.button(row.row.segments.place)


def first_commented_out(home: Path) -> tuple[LineChoice, ...]:
    """The first of the two lines as a comment, the words of the second replaced."""
    return (LineChoice(f"{home}/.bashrc", 1, Choice.COMMENT_OUT), LineChoice(f"{home}/.bashrc", 2, Choice.REPLACE))


def press(widget: QWidget, key: Qt.Key) -> None:
    widget.setFocus()
    QTest.keyClick(widget, key)


def test_before_anything_is_planned_nothing_can_be_chosen(card: ToolkitCard) -> None:
    assert card.lines == ()
    assert card.loader is None


def test_an_offer_is_chosen_by_arrow_key(full: ToolkitCard) -> None:
    told: list[object] = []
    full.toolkit_chosen.connect(told.append)
    press(full._toolkit, Qt.Key.Key_Up)
    assert told == ["13.0.48"]


def test_showing_offers_chooses_nothing_by_itself(card: ToolkitCard) -> None:
    told: list[object] = []
    card.toolkit_chosen.connect(told.append)
    card.show_offers(OFFERS, "12.4")
    card.show_offers(OFFERS[:1], "13.0")
    assert told == []


def test_other_offers_take_the_place_of_the_first(card: ToolkitCard) -> None:
    card.show_offers(OFFERS, "12.4")
    card.show_offers(OFFERS[2:], "11.7")
    assert [card._toolkit.itemText(place) for place in range(card._toolkit.count())] == ["CUDA 11.7"]


def test_without_a_choice_the_user_is_asked_for_one(card: ToolkitCard) -> None:
    card.show_offers(OFFERS, "")
    assert card._toolkit.placeholderText() == "Choose an installed toolkit"


def test_a_release_is_not_taken_for_a_longer_one(card: ToolkitCard) -> None:
    card.show_offers((Offer("12.40.1", text("CUDA 12.40")),), "12.4")
    assert card._toolkit.currentIndex() == -1


def test_another_choice_is_made_by_the_arrow_key(full: ToolkitCard, home: Path) -> None:
    told: list[object] = []
    full.lines_chosen.connect(told.append)
    press(chosen(full.lines[0]), Qt.Key.Key_Left)
    assert told == [first_commented_out(home)]


def test_showing_a_plan_chooses_nothing_by_itself(card: ToolkitCard, planned: Plan) -> None:
    told: list[object] = []
    card.lines_chosen.connect(told.append)
    card.loader_chosen.connect(told.append)
    card.show_repair(planned(UseCuda("12.4")))
    assert told == []


def test_the_focus_stays_where_something_was_chosen(full: ToolkitCard, planned: Plan, home: Path) -> None:
    press(chosen(full.lines[0]), Qt.Key.Key_Left)
    full.show_repair(planned(UseCuda("12.4", lines=first_commented_out(home))))
    assert QApplication.focusWidget() is chosen(full.lines[0])


def test_rows_follow_the_plan(full: ToolkitCard, planned: Plan, home: Path) -> None:
    full.show_repair(planned(UseCuda("12.4", lines=first_commented_out(home))))
    assert [row.line_choice.choice for row in full.lines] == [Choice.COMMENT_OUT, Choice.REPLACE]


def test_the_figures_follow_the_choices(full: ToolkitCard, planned: Plan, qtbot: QtBot, home: Path) -> None:
    full.show_repair(planned(UseCuda("12.4", lines=first_commented_out(home))))
    qtbot.waitUntil(lambda: any(words.startswith("1 line replaced · 1 line commented out") for words in words_in(full)))


def test_the_loader_is_asked_for_by_key(full: ToolkitCard) -> None:
    told: list[object] = []
    full.loader_chosen.connect(told.append)
    assert full.loader is not None
    press(full.loader.tick, Qt.Key.Key_Space)
    assert told == [LdLibraryPath.ON]


def test_what_is_being_applied_refuses_the_keyboard(full: ToolkitCard) -> None:
    told: list[object] = []
    full.lines_chosen.connect(told.append)
    button = chosen(full.lines[0])
    full.freeze()
    press(button, Qt.Key.Key_Left)
    assert told == []


def test_a_plan_after_a_forgotten_one_is_whole(full: ToolkitCard, planned: Plan) -> None:
    full.forget_plan()
    full.show_repair(planned(UseCuda("12.4")))
    assert len(full.lines) == 2
    assert "Plan" in words_in(full)


def test_more_marks_than_steps_do_no_harm(full: ToolkitCard) -> None:
    full.mark_steps([Mark.RIGHT] * 9)
    assert all(row.mark is Mark.RIGHT for row in full.findChildren(StepRow))


def test_a_new_plan_has_no_marks(full: ToolkitCard, planned: Plan, qtbot: QtBot) -> None:
    full.mark_steps([Mark.PROBLEM])
    full.show_repair(planned(UseCuda("12.4")))
    qtbot.waitUntil(lambda: [row.mark for row in full.findChildren(StepRow) if row.isVisibleTo(full)] == [None] * 3)


def test_a_statement_of_many_lines_is_one(show: Show) -> None:
    long = replace(LINE, last_line=5, text="export CUDA_HOME=\\\n  /opt/old")
    row = show(LineRow(ENGLISH, long, "/home/you"), 360, 120)
    assert words_in(row)[0] == "~/.bashrc, lines 3 to 5"
    assert [label.words for label in row.findChildren(ElidedLabel)][:1] == ["export CUDA_HOME=\\ /opt/old"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (replace(LINE, inside="if true; then"), "Inside if true; then"),
        (replace(LINE, owner="conda"), "In the block of conda"),
        (replace(LINE, does=(text("sets a"), text("sets b"))), "Sets b"),
    ],
    ids=["inside", "owner", "two-effects"],
)
def test_a_line_says_in_what_it_stands(show: Show, line: ShellLine, words: str) -> None:
    assert words in words_in(show(LineRow(ENGLISH, line, "/home/you"), 360, 120))


def test_a_file_is_never_read_as_markup(show: Show) -> None:
    row = show(
        LineRow(ENGLISH, replace(LINE, text="export A='<b>x</b>'", why=text("of {what}", what="<b>x</b>")), "/home/you"), 360, 120
    )
    assert "Of <b>x</b>" in words_in(row)
    assert all(label.textFormat() is not Qt.TextFormat.AutoText for label in row.findChildren(QLabel))
