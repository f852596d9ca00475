"""The text card: its buttons, its choice, and what it tells the page."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QSignalSpy, QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.explain.text import TextCard
from gpuassist.ui.widgets.buttons import DropDown
from tests.ui.showing import Show, button_named, words_in


@pytest.fixture
def card(show: Show) -> TextCard:
    return show(TextCard(ENGLISH), 900, 260)


def test_the_box_says_what_goes_into_it(card: TextCard) -> None:
    assert card.edit.placeholderText().startswith("Paste an error, a log")


def test_pasting_puts_the_clipboard_in(card: TextCard, clipboard: QClipboard) -> None:
    clipboard.setText("one\r\ntwo")
    button_named(card, "Paste").click()
    assert card.edit.toPlainText() == "one\ntwo"
    assert card.edit.hasFocus()


def test_opening_is_asked_of_the_page(card: TextCard) -> None:
    spy = QSignalSpy(card.file_wanted)
    button_named(card, "Open a log…").click()
    assert spy.count() == 1


def test_there_is_nothing_to_clear_at_first(card: TextCard) -> None:
    clear = button_named(card, "Clear")
    states = [clear.isEnabled()]
    QTest.keyClicks(card.edit, "x")
    states.append(clear.isEnabled())
    clear.click()
    states.append(clear.isEnabled())
    assert states == [False, True, False]


def test_a_text_that_was_given_can_be_cleared(card: TextCard, qtbot: QtBot) -> None:
    card.edit.fill("given")
    qtbot.waitUntil(lambda: not card.edit.filling)
    assert button_named(card, "Clear").isEnabled()


def test_clearing_leads_back_to_the_box(card: TextCard) -> None:
    QTest.keyClicks(card.edit, "x")
    button_named(card, "Clear").click()
    assert card.edit.toPlainText() == ""
    assert card.edit.hasFocus()


def test_text_and_choice_tell_of_a_change(card: TextCard) -> None:
    spy = QSignalSpy(card.changed)
    QTest.keyClicks(card.edit, "x")
    card.findChildren(DropDown)[0].setCurrentIndex(1)
    assert spy.count() == 2
    assert not card.joins


def test_it_is_joined_unless_somebody_chooses_otherwise(card: TextCard) -> None:
    assert card.joins
    assert card.findChildren(DropDown)[0].currentText() == "Use facts of this computer"


def test_naming_the_machine_keeps_the_choice(card: TextCard) -> None:
    card.findChildren(DropDown)[0].setCurrentIndex(1)
    card.show_machine(recorded=True)
    assert card.findChildren(DropDown)[0].itemText(0) == "Use facts of the recording"
    assert not card.joins


def test_a_note_comes_and_goes(card: TextCard) -> None:
    card.show_note(text("Saved as {path}", path="/tmp/a.md"))
    assert "Saved as /tmp/a.md" in words_in(card)
    card.show_note(None)
    assert words_in(card) == []


def test_every_control_is_reached_by_tab(card: TextCard) -> None:
    QTest.keyClicks(card.edit, "x")
    card.edit.setFocus()
    reached = []
    for _ in range(4):
        QTest.keyClick(card.window().focusWidget(), Qt.Key.Key_Tab)
        after = card.window().focusWidget()
        reached.append(after.property("text") or after.accessibleName())
    assert reached == ["Paste", "Open a log…", "Clear", "Facts that the answer is based on"]
