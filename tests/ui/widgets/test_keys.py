"""Enter presses the button with the focus, and nothing else; Tab goes in reading order."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton, QRadioButton, QWidget

from gpuassist.ui.widgets.keys import press_focused, tab_stops, tab_through
from tests.ui.showing import Show

ENTER = pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter], ids=lambda key: key.name)


class Holder(QWidget):
    """Something that holds buttons, and remembers what it did not use."""

    def __init__(self) -> None:
        super().__init__()
        self.left: list[int] = []

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not press_focused(self, event):
            self.left.append(event.key())


@pytest.fixture
def holder(show: Show) -> Holder:
    return show(Holder(), 300, 100)


@ENTER
def test_the_focused_button_is_pressed_once(holder: Holder, key: Qt.Key) -> None:
    button = QPushButton("Copy", holder)
    button.show()
    spy = QSignalSpy(button.clicked)
    button.setFocus()
    QTest.keyClick(button, key)
    assert (spy.count(), holder.left) == (1, [])


@ENTER
def test_a_disabled_button_is_not_pressed(holder: Holder, key: Qt.Key) -> None:
    button = QPushButton("Copy", holder)
    button.show()
    spy = QSignalSpy(button.clicked)
    button.setFocus()
    button.setEnabled(False)
    QTest.keyClick(holder, key)
    assert spy.count() == 0


@ENTER
@pytest.mark.parametrize("kind", [QCheckBox, QRadioButton])
def test_what_is_ticked_by_space_is_left_alone(holder: Holder, key: Qt.Key, kind: type[QCheckBox | QRadioButton]) -> None:
    box = kind("Add the library path", holder)
    box.show()
    box.setFocus()
    QTest.keyClick(box, key)
    assert (box.isChecked(), holder.left) == (False, [key.value])


@pytest.mark.parametrize("key", [Qt.Key.Key_A, Qt.Key.Key_Escape, Qt.Key.Key_F2], ids=lambda key: key.name)
def test_other_keys_press_nothing(holder: Holder, key: Qt.Key) -> None:
    button = QPushButton("Copy", holder)
    button.show()
    spy = QSignalSpy(button.clicked)
    button.setFocus()
    QTest.keyClick(button, key)
    assert (spy.count(), holder.left) == (0, [key.value])


@ENTER
def test_without_focus_nothing_is_pressed(holder: Holder, key: Qt.Key) -> None:
    holder.setFocus()
    QTest.keyClick(holder, key)
    assert holder.left == [key.value]


@ENTER
def test_a_button_elsewhere_is_not_pressed(holder: Holder, key: Qt.Key) -> None:
    other = QPushButton("Elsewhere", holder.parentWidget())
    other.show()
    spy = QSignalSpy(other.clicked)
    other.setFocus()
    QTest.keyClick(holder, key)
    assert (spy.count(), holder.left) == (0, [key.value])


def test_tab_goes_through_what_was_made_later(show: Show) -> None:
    page = show(QWidget())
    lines = [QLineEdit(page) for _ in range(4)]
    for line in lines:
        line.show()
    order = [lines[2], lines[0], lines[3], lines[1]]
    tab_through(order)
    reached = [order[0]]
    reached[0].setFocus()
    for _ in range(3):
        QTest.keyClick(reached[-1], Qt.Key.Key_Tab)
        reached.append(next(line for line in lines if line.hasFocus()))
    assert reached == order


def test_what_tab_passes_over_is_no_stop(show: Show) -> None:
    page = show(QWidget())
    line = QLineEdit(page)
    QLabel("not here", page)
    assert tab_stops(page) == (line,)
