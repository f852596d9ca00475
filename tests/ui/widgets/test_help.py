"""Help names the keys that the window really has, and promises what gpuassist keeps."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import TITLES
from gpuassist.ui.shortcuts import SHORTCUTS
from gpuassist.ui.widgets.facts import FactTable
from gpuassist.ui.widgets.help import PROMISES, Help, open_help
from tests.ui.made import framed
from tests.ui.showing import button_named, words_in

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # sizes of dialogs, offscreen


@pytest.fixture
def frame(qtbot: QtBot) -> QWidget:
    return framed(qtbot)


@pytest.fixture
def opened(qtbot: QtBot, frame: QWidget) -> Help:
    made = Help(ENGLISH, frame)
    with qtbot.waitExposed(made):
        made.open()
    return made


def test_every_key_is_named(opened: Help) -> None:
    shown = [row.label for table in opened.findChildren(FactTable) for row in table.rows]
    assert shown == [one.shown for place in (None, *TITLES) for one in SHORTCUTS if one.place is place]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda one: one.message[:24])
def test_every_promise_is_told(opened: Help, promise: object) -> None:
    assert ENGLISH(promise) in words_in(opened)  # type: ignore[arg-type]  # parametrized


@pytest.mark.parametrize("keys", sorted({key for one in SHORTCUTS for key in one.keys}))
def test_qt_knows_every_key(keys: str) -> None:
    assert QKeySequence(keys).toString() == keys


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return], ids=lambda key: key.name)
def test_keys_close_it(opened: Help, qtbot: QtBot, key: Qt.Key) -> None:
    with qtbot.waitSignal(opened.finished):
        QTest.keyClick(opened, key)


def test_closed_it_is_gone(opened: Help, qtbot: QtBot) -> None:
    with qtbot.waitSignal(opened.destroyed):
        button_named(opened, "Close").click()


def test_nothing_in_it_is_cut(opened: Help, qtbot: QtBot) -> None:
    labels = [label for label in opened.findChildren(QLabel) if label.isVisible() and label.hasHeightForWidth()]
    assert len(labels) > 10
    qtbot.waitUntil(lambda: all(label.height() >= label.heightForWidth(label.width()) for label in labels))


def test_a_second_press_opens_no_second_one(frame: QWidget) -> None:
    open_help(ENGLISH, frame)
    open_help(ENGLISH, frame)
    assert len(frame.findChildren(Help)) == 1


def test_it_opens_again_right_after_it_was_closed(frame: QWidget) -> None:
    open_help(ENGLISH, frame)
    first = frame.findChild(Help)
    assert first is not None
    first.reject()
    open_help(ENGLISH, frame)
    assert [one.isVisible() for one in frame.findChildren(Help) if one is not first] == [True]


def test_the_window_can_be_used_beside_it(frame: QWidget) -> None:
    open_help(ENGLISH, frame)
    assert not frame.findChild(Help).isModal()  # type: ignore[union-attr]  # it is there, as the test before says


@pytest.mark.parametrize("page_has_escape", [False, True])
def test_escape_closes_it_before_the_desktop_has_given_it_the_keys(frame: QWidget, qtbot: QtBot, *, page_has_escape: bool) -> None:
    taken = []
    if page_has_escape:
        QShortcut(QKeySequence("Esc"), frame, lambda: taken.append("page"))
    below = frame.window().windowHandle()
    open_help(ENGLISH, frame)
    shown = frame.findChild(Help)
    assert shown is not None
    with qtbot.waitSignal(shown.destroyed):
        QTest.keyClick(below, Qt.Key.Key_Escape)
    assert not taken


def test_other_keys_stay_with_the_window_below(frame: QWidget) -> None:
    pressed = []
    QShortcut(QKeySequence("F5"), frame, lambda: pressed.append("F5"))
    below = frame.window().windowHandle()
    open_help(ENGLISH, frame)
    QTest.keyClick(below, Qt.Key.Key_F5)
    assert pressed == ["F5"]
