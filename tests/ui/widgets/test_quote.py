"""A quoted line: its number leads there, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QPushButton

from gpuassist.model.words import ENGLISH
from gpuassist.present.explanation import Quotation
from gpuassist.ui.pages.explain.remedies import Quote
from tests.ui.showing import Show, words_in

QUOTATION = Quotation(12, 2, "nvcc fatal: `x`\nmake: ***")


@pytest.fixture
def quote(show: Show) -> Quote:
    return show(Quote(ENGLISH, QUOTATION), 600, 60)


def test_it_shows_the_words_and_the_number(quote: Quote) -> None:
    assert words_in(quote) == ["nvcc fatal: 'x'\nmake: ***"]
    assert quote.findChildren(QPushButton)[0].text() == "Line 12"


def test_it_is_read_aloud_with_what_it_does(quote: Quote) -> None:
    assert quote.findChildren(QPushButton)[0].accessibleName().startswith("Show line 12: nvcc fatal")


def test_a_click_beside_the_button_leads_there(quote: Quote) -> None:
    spy = QSignalSpy(quote.wanted)
    QTest.mouseClick(quote, Qt.MouseButton.LeftButton, pos=QPoint(300, 3))
    assert spy.at(0)[0] is QUOTATION


def test_the_button_leads_there_once(quote: Quote) -> None:
    spy = QSignalSpy(quote.wanted)
    QTest.mouseClick(quote.findChildren(QPushButton)[0], Qt.MouseButton.LeftButton)
    assert spy.count() == 1


def test_another_mouse_button_does_nothing(quote: Quote) -> None:
    spy = QSignalSpy(quote.wanted)
    QTest.mouseClick(quote, Qt.MouseButton.RightButton)
    assert spy.count() == 0
