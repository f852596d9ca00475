"""The keyboard's place in the window: never lost by a press, and Tab goes where the eye does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.session.navigation import Back, GoTo, Next, SideTool, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.widgets.keys import reading_order
from gpuassist.ui.widgets.scroll_page import PageHeader
from tests.ui.frames import Frames, recorded
from tests.ui.showing import Show
from tests.values import machine

PLACES = [place for place in (*WizardStep, *SideTool) if place is not WizardStep.LIVE]  # that one watches the machine of the test

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support|propagateSizeHints")  # dialogs, offscreen


@pytest.fixture
def frame(desk: Desk, show: Show, qtbot: QtBot, tmp_path: Path) -> Frame:
    return Frames(desk, show, qtbot)(recorded(machine(toolkits=("11.7.99", "12.4.131"), nvcc="11.7"), tmp_path))


def settle(frame: Frame, qtbot: QtBot) -> None:
    """Waits for what a press began on this page."""
    page = frame.pages.currentWidget()
    qtbot.waitUntil(lambda: not getattr(page, "busy", False) and not frame._reading.busy)
    for _ in range(3):  # what was added is laid out, and what stands around it then
        QTest.qWait(0)


def is_placed(frame: Frame) -> bool:
    """Whether what has the focus can be seen and used, and belongs to what is shown at the right."""
    has = QApplication.focusWidget()
    content = (frame.banners, frame.pages, frame.setup, frame.bar)
    return has is not None and has.isVisible() and has.isEnabled() and any(one.isAncestorOf(has) for one in content)


def close_dialogs(frame: Frame, qtbot: QtBot) -> None:
    for dialog in frame.findChildren(QDialog):
        dialog.reject()
    frame.window().activateWindow()  # which a window manager would do
    qtbot.waitUntil(frame.window().isActiveWindow)


def buttons(frame: Frame) -> list[QAbstractButton]:
    """What can be pressed on this page; a menu would wait for its own answer."""
    order = (*reading_order(frame.pages), *reading_order(frame.bar))
    pressable = [one for one in order if isinstance(one, QAbstractButton) and one.isEnabled()]
    return [one for one in pressable if not (isinstance(one, QPushButton) and one.menu() is not None)]


def press(button: QAbstractButton, frame: Frame, qtbot: QtBot) -> None:
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    QTest.qWait(0)
    close_dialogs(frame, qtbot)
    settle(frame, qtbot)


def test_no_press_on_any_page_loses_the_focus(frame: Frame, qtbot: QtBot) -> None:
    for place in PLACES:
        frame.go(GoTo(place))
        settle(frame, qtbot)
        count, at = len(buttons(frame)), 0
        assert count
        while at < min(count, len(buttons(frame))):
            button = buttons(frame)[at]
            said = button.text()
            press(button, frame, qtbot)
            assert is_placed(frame), (place, said)
            if frame.flow.current is not place:
                frame.go(GoTo(place))
                settle(frame, qtbot)
            at += 1
    frame.close_down()


def on_screen(stop: QWidget) -> QRect:
    return QRect(stop.mapToGlobal(QPoint(0, 0)), stop.size())


def chain_after(first: QWidget) -> Iterator[QWidget]:
    stop = first.nextInFocusChain()
    while stop is not None and stop is not first:
        yield stop
        stop = stop.nextInFocusChain()


def test_tab_goes_as_one_reads_on_every_page(frame: Frame, qtbot: QtBot) -> None:
    for place in PLACES:
        frame.go(GoTo(place))
        settle(frame, qtbot)
        frame.focusNextPrevChild(True)
        (side,) = (one for one in frame.side.stops() if one.focusPolicy() & Qt.FocusPolicy.TabFocus)
        stops = [one for one in chain_after(side) if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isVisible()]
        assert not any(frame.side.isAncestorOf(one) for one in stops), place
        in_bar = [frame.bar.isAncestorOf(one) for one in stops]
        assert in_bar == sorted(in_bar), place
        for before, after in pairwise(stops[: in_bar.index(True)]):
            one, other = on_screen(before), on_screen(after)
            # Up again is only what stands further to the right: the next column.
            assert other.bottom() > one.top() or other.left() > one.left(), (place, before, after)
    frame.close_down()


def test_the_first_page_one_comes_to_begins_at_its_heading(frame: Frame, qtbot: QtBot) -> None:
    frame.pages.machine_page.take_focus()
    frame.go(Next())
    page = frame.pages.page(WizardStep.FOUND)
    has = QApplication.focusWidget()
    assert has is not None
    assert page.isAncestorOf(has)
    assert not has.focusPolicy() & Qt.FocusPolicy.TabFocus  # nothing that a key would press
    frame.close_down()


def test_what_could_not_be_pressed_for_a_while_has_the_focus_again(frame: Frame, qtbot: QtBot) -> None:
    frame.go(GoTo(WizardStep.FOUND))
    button = next(one for one in buttons(frame) if frame.pages.isAncestorOf(one))
    button.setFocus()
    button.setEnabled(False)
    heading = frame.pages.page(WizardStep.FOUND).findChild(PageHeader)
    assert heading is not None
    qtbot.waitUntil(lambda: heading.isAncestorOf(frame.pages.focused or frame))
    button.setEnabled(True)
    assert QApplication.focusWidget() is button
    frame.close_down()


def test_a_focus_that_somebody_chose_is_left_there(frame: Frame, qtbot: QtBot) -> None:
    frame.go(GoTo(WizardStep.FOUND))
    first, second, *_ = [one for one in buttons(frame) if frame.pages.isAncestorOf(one)]
    first.setFocus()
    first.hide()
    second.setFocus()
    QTest.qWait(0)
    assert QApplication.focusWidget() is second
    frame.side.row(WizardStep.FOUND).setFocus()
    QTest.qWait(0)
    assert frame.side.row(WizardStep.FOUND).hasFocus()
    frame.close_down()


def test_the_focus_follows_to_a_page_that_another_way_led_to(frame: Frame, qtbot: QtBot) -> None:
    """Not the blue button alone: a row of the side list keeps the focus only where it led to what is shown."""
    row = frame.side.row(WizardStep.FOUND)
    frame.go(GoTo(WizardStep.FOUND))
    row.setFocus()
    frame._press_blue()
    assert frame.flow.current is WizardStep.REPAIR
    assert is_placed(frame)
    (stop,) = (one for one in frame.side.stops() if one.focusPolicy() & Qt.FocusPolicy.TabFocus)
    assert stop is frame.side.row(WizardStep.REPAIR)
    stop.setFocus()
    stop.click()
    assert stop.hasFocus()
    frame.side.row(SideTool.GUIDES).setFocus()
    frame.go(Back())
    assert is_placed(frame)
    frame.close_down()


def test_the_arrows_bring_a_row_of_the_side_list_into_sight(frame: Frame, qtbot: QtBot) -> None:
    frame.resize(960, 400)
    QTest.qWait(0)
    seen = frame._beside.viewport()
    first, last = frame.side.row(WizardStep.MACHINE), frame.side.stops()[-1]
    first.setFocus()
    before = first.mapTo(seen, QPoint(0, 0)).y()
    QTest.keyClick(first, Qt.Key.Key_Up)
    assert last.hasFocus()
    assert seen.rect().contains(QRect(last.mapTo(seen, QPoint(0, 0)), last.size()))
    frame.go(GoTo(WizardStep.FOUND))  # a row that has the focus is left for what is shown, and not scrolled to
    QTest.keyClick(last, Qt.Key.Key_Down)
    assert 0 <= first.mapTo(seen, QPoint(0, 0)).y() <= before
    frame.close_down()
