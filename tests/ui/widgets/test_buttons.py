"""Buttons do what is on them, by mouse and by keyboard, and a copying one says that it did."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.buttons import CopyButton, DropDown, Tick, primary, secondary, small
from tests.ui.showing import Show, ink_in

KINDS = pytest.mark.parametrize("make", [primary, secondary, small])


@KINDS
def test_a_button_says_what_it_does(qtbot: QtBot, make: Callable[[str], QPushButton]) -> None:
    made = make("Refresh")
    qtbot.addWidget(made)
    assert (made.text(), made.focusPolicy()) == ("Refresh", Qt.FocusPolicy.StrongFocus)


def test_only_the_primary_one_is_primary(qtbot: QtBot) -> None:
    kinds = []
    for make in (primary, secondary, small):
        made = make("Next")
        qtbot.addWidget(made)
        kinds.append(made.property("kind"))
    assert kinds == ["primary", None, None]


@pytest.mark.parametrize(
    ("words", "shown"), [("short", "short"), ("a name that is long " * 9, "a name"), ("/a/path" * 30, "/a/pat")]
)
def test_a_choice_gives_way_with_an_ellipsis(show: Show, words: str, shown: str) -> None:
    made = show(DropDown(), 140, 30)
    made.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.addItem(words)
    made.resize(140, 30)
    assert made.shown.startswith(shown)
    assert ("…" in made.shown) is (made.shown != words)
    assert made.shown[-1] == ("h" if words.startswith("/") else made.shown[-1])


def test_a_click_copies(show: Show, clipboard: QClipboard) -> None:
    button = show(CopyButton(ENGLISH, lambda: "echo äö\n"), 80, 30)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert clipboard.text() == "echo äö\n"


def test_space_copies(show: Show, clipboard: QClipboard) -> None:
    button = show(CopyButton(ENGLISH, lambda: "one"), 80, 30)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert clipboard.text() == "one"


def test_what_is_copied_is_what_stands_there_now(show: Show, clipboard: QClipboard) -> None:
    content = ["before"]
    button = show(CopyButton(ENGLISH, lambda: content[0]), 80, 30)
    content[0] = "after"
    button.click()
    assert clipboard.text() == "after"


def test_copying_is_told_and_then_forgotten(show: Show, qtbot: QtBot) -> None:
    button = show(CopyButton(ENGLISH, lambda: "x", title="Copy the details"), 160, 30)
    button._back.setInterval(20)
    button.click()
    assert button.text() == "Copied"
    qtbot.waitUntil(lambda: button.text() == "Copy the details")


def test_the_row_does_not_jump_when_copied(show: Show) -> None:
    button = show(CopyButton(ENGLISH, lambda: "x", title="Copy the details"), 160, 30)
    before = button.sizeHint(), button.minimumSizeHint()
    button.click()
    assert (button.sizeHint(), button.minimumSizeHint()) == before


def test_copying_twice_keeps_its_title(show: Show, qtbot: QtBot) -> None:
    button = show(CopyButton(ENGLISH, lambda: "x"), 80, 30)
    button._back.setInterval(20)
    button.click()
    button.click()
    qtbot.waitUntil(lambda: button.text() == "Copy")


@pytest.mark.parametrize("enabled", [True, False])
def test_a_tick_is_painted(theme: Theme, show: Show, enabled: bool) -> None:
    box = Tick("Add the library path")
    box.setEnabled(enabled)
    show(box, 200, 24)
    before = box.grab().toImage()
    box.setChecked(True)
    assert box.grab().toImage() != before


def test_a_tick_is_set_by_space(show: Show) -> None:
    box = show(Tick("Add the library path"), 200, 24)
    toggled = QSignalSpy(box.toggled)
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert (box.isChecked(), toggled.count()) == (True, 1)


def test_a_choice_has_a_chevron(each_look: Theme, show: Show) -> None:
    assert ink_in(show(DropDown(), 160, 32), each_look.palette().muted) > 3


def test_a_choice_of_short_words_is_never_cut(show: Show) -> None:
    choice = show(DropDown(), 160, 32)
    for words in ("1 Hz", "now", "按进程"):
        choice.clear()
        choice.addItem(words)
        choice.resize(choice.minimumSizeHint())
        assert choice.shown == words


def test_the_arrows_choose(show: Show) -> None:
    choice = DropDown()
    choice.addItems(["12.4", "12.8"])
    show(choice, 160, 32)
    choice.setFocus()
    QTest.keyClick(choice, Qt.Key.Key_Down)
    assert choice.currentText() == "12.8"
