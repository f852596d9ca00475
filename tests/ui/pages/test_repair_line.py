"""One line in full: what it does, why it holds or not, and what becomes of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication, QLabel

from gpuassist.detect.startup.line import SurveyLine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.pages.repair.survey import LineCard
from gpuassist.ui.widgets.code import CodeBlock
from tests.ui.made import known
from tests.ui.showing import Show

PLANNED = ShellLine(
    5,
    5,
    "export PATH=/x:$PATH",
    ("PATH",),
    (text("puts /x in front"),),
    tickable=True,
    ticked=True,
    why=text("puts another toolkit in the way"),
    file="/home/you/.bashrc",
    instead=b"export PATH=$PATH",
)
LINE = SurveyLine(
    "/home/you/.bashrc",
    5,
    5,
    "export PATH=/x:$PATH",
    ("PATH",),
    (),
    (text("puts /x in front of PATH"),),
    "",
    "",
    known(value=True),
    text("in effect in new terminals"),
    ("PATH",),
    changeable=True,
    why=text("may be commented out or replaced"),
)


@pytest.fixture
def card(show: Show) -> LineCard:
    return show(LineCard(ENGLISH, "/home/you"), 600, 300)


def test_a_line_is_shown_whole_with_its_place(card: LineCard) -> None:
    card.show_line(LINE, PLANNED)
    assert card.title is not None
    assert card.title.text() == "~/.bashrc:5"
    assert card.findChildren(CodeBlock)[0].content == LINE.text


def test_what_it_does_and_why_it_holds_is_said(card: LineCard) -> None:
    card.show_line(LINE, PLANNED)
    words = [label.text() for label in card.findChildren(QLabel)]
    for sentence in ("Puts /x in front of PATH", "In effect in new terminals", "This line wins for PATH"):
        assert sentence in words


def test_its_context_is_shown(card: LineCard) -> None:
    card.show_line(replace(LINE, inside="if true; then", read_by="/home/you/.profile:3"), PLANNED)
    words = " ".join(label.text() for label in card.findChildren(QLabel))
    assert "if true; then" in words
    assert "/home/you/.profile:3" in words


def test_its_choice_is_handed_on(card: LineCard) -> None:
    told: list[object] = []
    card.chosen.connect(told.append)
    card.show_line(LINE, PLANNED)
    assert card.row is not None
    card.row.segments.choose(0)
    assert told == [LineChoice("/home/you/.bashrc", 5, Choice.KEEP)]


def test_the_focus_stays_while_its_choice_changes(card: LineCard) -> None:
    card.show_line(LINE, PLANNED)
    assert card.row is not None
    row, button = card.row, card.row.segments.button(1)
    button.setFocus()
    card.show_line(LINE, replace(PLANNED, ticked=False))
    assert card.row is row
    assert row.choice is Choice.KEEP
    assert QApplication.focusWidget() is button


def test_another_tools_line_offers_nothing_and_says_whose(card: LineCard) -> None:
    owned = replace(PLANNED, tickable=False, ticked=False, instead=b"", why=text("belongs to conda"))
    card.show_line(replace(LINE, owner="conda"), owned)
    assert card.row is None
    assert "Belongs to conda" in [label.text() for label in card.findChildren(QLabel)]


@pytest.mark.parametrize("planned_any", [False, True])
def test_without_a_plan_a_toolkit_is_asked_for(card: LineCard, planned_any: bool) -> None:
    card.show_line(LINE, None, planned_any=planned_any)
    asks = any("choose one under Toolkit" in label.text() for label in card.findChildren(QLabel))
    assert asks is not planned_any
    assert card.row is None


def test_another_line_takes_its_place(card: LineCard) -> None:
    card.show_line(LINE, PLANNED)
    card.show_line(replace(LINE, line=9, text="export A=b"), None)
    assert card.findChildren(CodeBlock)[-1].content == "export A=b"
    assert card.row is None
