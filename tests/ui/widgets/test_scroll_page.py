"""A page has its answer in its title, and scrolls up and down only."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import MARGIN
from gpuassist.ui.widgets.scroll_page import PageHeader, ScrollPage
from tests.ui.showing import Show

LONG = "This torch was built for GPUs up to 9.0 and knows nothing of this one. " * 12


def test_a_header_says_the_answer(qtbot: QtBot) -> None:
    header = PageHeader("Two problems", "Both can be repaired.")
    qtbot.addWidget(header)
    assert (header.title, header.subtitle) == ("Two problems", "Both can be repaired.")


def test_a_new_answer_replaces_the_old(qtbot: QtBot) -> None:
    header = PageHeader("Reading…", "")
    qtbot.addWidget(header)
    header.show_words("No problem", "All checks passed.")
    assert (header.title, header.subtitle) == ("No problem", "All checks passed.")
    assert [made.accessibleName() for made in header.findChildren(QLabel)] == ["No problem", "All checks passed."]


@pytest.mark.parametrize("words", [LONG, "run `nvcc` now", "one\ntwo"])
def test_the_line_below_can_be_shown_again(qtbot: QtBot, words: str) -> None:
    header = PageHeader("Reading…", words)
    qtbot.addWidget(header)
    header.show_words("Answer", header.subtitle)
    assert (header.title, header.subtitle) == ("Answer", words)
    assert header.findChildren(QLabel)[1].accessibleName() == words.replace("`", "")


def test_what_stands_beside_is_at_the_right(show: Show) -> None:
    header = PageHeader("Answer", "in short")
    button = QPushButton("Copy", header)
    header.beside.addWidget(button)
    show(header, 700, 90)
    assert button.geometry().right() > 650


@pytest.mark.parametrize("width", [560, 776, 1200])
def test_a_page_never_scrolls_sideways(show: Show, width: int) -> None:
    page = ScrollPage()
    page.header.show_words(LONG, LONG)
    for _ in range(20):
        page.content.addWidget(paragraph(LONG, "", page.widget()))
    show(page, width, 400)
    assert page.horizontalScrollBar().maximum() == 0
    assert page.verticalScrollBar().maximum() > 0


def test_a_short_page_does_not_scroll(show: Show) -> None:
    page = ScrollPage()
    page.header.show_words("Answer", "in short")
    page.content.addWidget(paragraph("words", "", page.widget()))
    assert show(page, 700, 400).verticalScrollBar().maximum() == 0


def test_content_stands_at_the_top_inside_the_margins(show: Show) -> None:
    page = ScrollPage()
    words = paragraph("words", "", page.widget())
    page.content.addWidget(words)
    show(page, 700, 600)
    assert (words.x(), words.width()) == (MARGIN, 700 - 2 * MARGIN)
    assert words.y() < 120
