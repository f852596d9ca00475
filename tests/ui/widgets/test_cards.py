"""Panels: headings, notices and empty states say what they say, to eyes and ears."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice, Well
from gpuassist.ui.widgets.layouts import clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.scroll_page import ScrollPage
from tests.ui.showing import Show, ink_in, words_in


def test_a_card_is_named_by_its_title(qtbot: QtBot) -> None:
    card = Card("Driver", "550.54.14")
    qtbot.addWidget(card)
    assert card.accessibleName() == "Driver"
    assert words_in(card) == ["Driver", "550.54.14"]


@pytest.mark.parametrize("below", [True, False])
def test_the_subtitle_stands_beside_or_below(show: Show, below: bool) -> None:
    card = show(Card("Driver", "550.54.14", below=below), 400, 120)
    title, subtitle = card.findChildren(QLabel)
    assert (subtitle.y() > title.y()) is below
    assert (subtitle.x() > title.x()) is not below


def test_a_card_without_a_title_has_no_label(qtbot: QtBot) -> None:
    card = Card()
    qtbot.addWidget(card)
    assert (card.title, words_in(card)) == (None, [])


def test_a_card_stands_out_from_the_page(each_look: Theme, show: Show) -> None:
    card = show(Card("Driver"), 200, 100)
    assert ink_in(card, each_look.palette().panel) > 10_000


def test_a_well_is_tinted(each_look: Theme, show: Show) -> None:
    assert ink_in(show(Well(), 200, 60), each_look.palette().well) > 10_000


def test_a_notice_is_read_aloud(qtbot: QtBot) -> None:
    notice = Notice(Mark.INFO, "Run `nvcc` again.")
    qtbot.addWidget(notice)
    assert notice.words == "Run nvcc again."
    assert "nvcc" in notice.accessibleName()


@pytest.mark.parametrize("mark", [Mark.INFO, Mark.WARNING, Mark.PROBLEM, Mark.RIGHT, Mark.UNKNOWN])
def test_a_notice_wears_the_tint_of_its_mark(each_look: Theme, show: Show, mark: Mark) -> None:
    notice = show(Notice(mark, "This is a recorded machine."), 500, 44)
    assert ink_in(notice, each_look.palette().tint(mark)) > 5_000


def test_a_notice_changes_its_tint_with_its_words(theme: Theme, show: Show) -> None:
    notice = show(Notice(Mark.INFO, "working"), 500, 44)
    notice.show_words(Mark.PROBLEM, "failed")
    assert notice.words == "failed"
    assert ink_in(notice, theme.palette().problem_tint) > 5_000
    assert [icon.mark for icon in notice.findChildren(MarkIcon)] == [Mark.PROBLEM]


def test_an_empty_state_says_what_to_do(qtbot: QtBot) -> None:
    empty = EmptyState(Mark.UNKNOWN, "No GPU", "Nothing was found.")
    qtbot.addWidget(empty)
    empty.show_words(Mark.PROBLEM, "No driver", "Install one.")
    assert words_in(empty) == ["No driver", "Install one."]
    assert [icon.mark for icon in empty.findChildren(MarkIcon)] == [Mark.PROBLEM]


def test_a_cleared_layout_lets_its_widgets_go(qtbot: QtBot) -> None:
    outer = QWidget()
    qtbot.addWidget(outer)
    layout = QVBoxLayout(outer)
    gone = [QLabel(words, outer) for words in ("a", "b")]
    for widget in gone:
        layout.addWidget(widget)
    layout.addStretch(1)
    with qtbot.waitSignals([widget.destroyed for widget in gone]):
        clear(layout)
    assert (layout.count(), outer.findChildren(QLabel)) == (0, [])


def test_what_is_told_comes_into_sight(show: Show, qtbot: QtBot) -> None:
    page = ScrollPage()
    notice, below = Notice(Mark.INFO, "", page), QWidget(page)
    notice.hide()
    below.setMinimumHeight(2000)
    page.content.addWidget(notice)
    page.content.addWidget(below)
    show(page, 500, 300)
    bar = page.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    notice.tell(Mark.PROBLEM, "It cannot be read.")
    qtbot.waitUntil(lambda: page.viewport().rect().contains(notice.rect().translated(notice.mapTo(page.viewport(), QPoint()))))
