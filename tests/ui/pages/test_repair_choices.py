"""What is chosen for one line: what is offered, why something is not, and what it becomes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.pages.repair.choices import CHOICES, LineChoiceRow, LineRow, TickRow
from gpuassist.ui.widgets.labels import ElidedLabel
from tests.ui.showing import Show, words_in

LINE = ShellLine(
    7,
    7,
    "export  PATH=/x:$PATH",
    ("PATH",),
    (text("puts /x in front"),),
    tickable=True,
    ticked=True,
    why=text("in the way"),
    file="/home/you/.bashrc",
    instead=b"export PATH=$PATH",
)


def row_of(show: Show, line: ShellLine) -> LineChoiceRow:
    return show(LineChoiceRow(ENGLISH, line), 360, 60)


@pytest.mark.parametrize(
    ("line", "choice"),
    [
        (replace(LINE, ticked=False), Choice.KEEP),
        (LINE, Choice.COMMENT_OUT),
        (replace(LINE, ticked=False, rewritten=True), Choice.REPLACE),
    ],
    ids=["keep", "comment-out", "replace"],
)
def test_a_row_shows_what_is_planned(show: Show, line: ShellLine, choice: Choice) -> None:
    assert row_of(show, line).choice is choice


def test_the_new_line_is_seen_only_where_it_is_written(show: Show) -> None:
    row = row_of(show, LINE)
    assert not row.findChildren(ElidedLabel)[0].isVisibleTo(row)
    row.segments.choose(CHOICES.index(Choice.REPLACE))
    assert row.findChildren(ElidedLabel)[0].isVisibleTo(row)
    assert row.findChildren(ElidedLabel)[0].words == "export PATH=$PATH"


def test_a_choice_is_told_with_its_place(show: Show) -> None:
    row = row_of(show, LINE)
    told: list[LineChoice] = []
    row.chosen.connect(lambda: told.append(row.line_choice))
    row.segments.choose(0)
    assert told == [LineChoice("/home/you/.bashrc", 7, Choice.KEEP)]


def test_without_a_new_line_replacing_is_not_offered(show: Show) -> None:
    row = row_of(show, replace(LINE, instead=b"", why_not=text("nothing would be left")))
    assert not row.segments.button(2).isEnabled()
    assert row.segments.button(2).toolTip() == "Nothing would be left"


def test_what_may_not_be_commented_out_says_why(show: Show) -> None:
    row = row_of(show, replace(LINE, tickable=False, ticked=False, why=text("belongs to conda")))
    assert not row.segments.button(1).isEnabled()
    assert row.segments.button(1).toolTip() == "Belongs to conda"


def test_showing_a_choice_tells_nobody(show: Show) -> None:
    row = row_of(show, LINE)
    told: list[bool] = []
    row.chosen.connect(lambda: told.append(True))
    row.show_choice(Choice.KEEP)
    assert told == []


def test_a_frozen_row_refuses_the_keyboard(show: Show) -> None:
    row = row_of(show, LINE)
    row.freeze()
    QTest.keyClick(row.segments.button(1), Qt.Key.Key_Left)
    assert row.choice is Choice.COMMENT_OUT


def test_a_line_shows_where_and_what_and_why(show: Show) -> None:
    row = show(LineRow(ENGLISH, LINE, "/home/you"), 360, 140)
    assert words_in(row) == ["~/.bashrc, line 7", "Puts /x in front", "In the way"]
    assert row.findChildren(ElidedLabel)[0].words == "export PATH=/x:$PATH"


def test_a_line_that_stays_offers_nothing(show: Show) -> None:
    row = show(LineRow(ENGLISH, replace(LINE, tickable=False, ticked=False, instead=b""), "/home/you"), 360, 140)
    assert row.row is None
    assert row.line_choice.choice is Choice.KEEP
    row.show_choice(Choice.COMMENT_OUT)
    row.freeze()
    assert row.line_choice.choice is Choice.KEEP


def test_a_tick_has_its_reason_below(show: Show) -> None:
    row = show(TickRow("Take it"), 300, 60)
    row.show_reason("because of this")
    assert words_in(row) == ["Because of this"]


def test_the_three_choices_go_by_one_name_everywhere(show: Show) -> None:
    row = row_of(show, LINE)
    assert [row.segments.button(place).text() for place in range(3)] == ["Keep", "Comment out", "Replace"]
