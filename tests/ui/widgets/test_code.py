"""Commands are never clipped: long lines scroll, and the button copies all of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.ui.widgets.code import CodeBlock, CodeText
from tests.ui.showing import Show, button_named

COMMANDS = "sudo apt-get update\nsudo apt-get install nvidia-driver-570"
LONG = "pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cu130 " * 6


def test_the_button_copies_every_line(show: Show, clipboard: QClipboard) -> None:
    block = show(CodeBlock(ENGLISH, COMMANDS, "Commands"), 400, 80)
    button_named(block, "Copy").click()
    assert clipboard.text() == COMMANDS


def test_other_lines_are_copied_once_they_are_shown(show: Show, clipboard: QClipboard) -> None:
    block = show(CodeBlock(ENGLISH, COMMANDS, "Commands"), 400, 80)
    block.set_content("nvcc --version")
    button_named(block, "Copy").click()
    assert clipboard.text() == block.content == "nvcc --version"


@pytest.mark.parametrize("content", ["", "a\n", "\ttab", "äöü 你好", "<b>", "a\\\nb", "   leading"])
def test_lines_stay_as_they_are(qtbot: QtBot, content: str) -> None:
    block = CodeBlock(ENGLISH, content, "Commands")
    qtbot.addWidget(block)
    assert block.content == content


def test_a_long_line_scrolls(show: Show) -> None:
    made = show(CodeText(LONG, "Commands"), 300, 60)
    assert made.horizontalScrollBar().maximum() > 0


def test_a_long_line_makes_room_for_its_scroll_bar(show: Show) -> None:
    long, short = show(CodeText(LONG, "Commands"), 300, 60), show(CodeText("short", "Commands"), 300, 60)
    assert long.sizeHint().height() > short.sizeHint().height()


@pytest.mark.parametrize("count", [1, 2, 5, 14])
def test_as_high_as_its_lines(show: Show, count: int) -> None:
    made = CodeText("\n".join(["line"] * count), "Commands")
    show(made, 300, made.sizeHint().height())
    assert made.verticalScrollBar().maximum() == 0


def test_very_many_lines_scroll(show: Show) -> None:
    made = CodeText("\n".join(["line"] * 200), "Commands")
    show(made, 300, made.sizeHint().height())
    assert made.height() < 400
    assert made.verticalScrollBar().maximum() > 0


def test_it_is_read_only_and_named(show: Show) -> None:
    made = show(CodeText(COMMANDS, "Commands"), 300, 60)
    QTest.keyClicks(made, "rm")
    assert (made.toPlainText(), made.accessibleName()) == (COMMANDS, "Commands")


def test_the_keyboard_selects_and_copies(show: Show, clipboard: QClipboard) -> None:
    made = show(CodeText(COMMANDS, "Commands"), 300, 60)
    made.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_C):
        QTest.keyClick(made, key, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == COMMANDS


def test_tab_goes_on_to_the_button(show: Show) -> None:
    block = show(CodeBlock(ENGLISH, COMMANDS, "Commands"), 400, 80)
    text, button = block.findChildren(CodeText)[0], button_named(block, "Copy")
    text.setFocus()
    QTest.keyClick(text, Qt.Key.Key_Tab)
    assert _focused(block) is button


def test_the_same_lines_keep_what_is_selected(show: Show) -> None:
    made = show(CodeText(COMMANDS, "Commands"), 300, 60)
    made.selectAll()
    made.set_content(COMMANDS)
    assert made.textCursor().hasSelection()


def _focused(inside: QWidget) -> QWidget | None:
    return inside.window().focusWidget()
