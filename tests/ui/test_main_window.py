"""The window itself: there at once, in its own colours, and where it was the last time."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.ui.first_paint import FirstPaint
from gpuassist.ui.main_window import MainWindow
from gpuassist.ui.palette import DARK, LIGHT, Palette

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to a smallest size


def made(qtbot: QtBot, palette: Palette = LIGHT) -> MainWindow:
    """A window that is not shown yet."""
    window = MainWindow(FirstPaint(ENGLISH, palette, reading="Reading your machine…"))
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_first_paint_has_the_grounds_of_the_frame(qtbot: QtBot, palette: Palette) -> None:
    window = made(qtbot, palette)
    image = window.grab().toImage()
    assert image.pixelColor(5, 300) == QColor(palette.side)
    assert image.pixelColor(240, 300) == QColor(palette.background)


def test_the_first_paint_says_what_comes(qtbot: QtBot) -> None:
    window = made(qtbot)
    image = window.grab().toImage()
    title = {image.pixel(x, y) for x in range(256, 420) for y in range(20, 110)}
    assert len(title) > 5


def test_the_first_paint_is_told_once_and_after_it(qtbot: QtBot) -> None:
    window = made(qtbot)
    told: list[bool] = []
    window.painted.connect(lambda: told.append(window.isVisible()))
    with qtbot.waitSignal(window.painted):
        window.show()
    window.update()
    with qtbot.waitExposed(window):
        window.repaint()
    assert told == [True]


def test_the_frame_takes_the_place_of_the_first_paint(qtbot: QtBot) -> None:
    window = made(qtbot)
    frame = QLabel("the frame")
    window.furnish(frame)
    assert window.centralWidget() is frame
    assert frame.window() is window


def test_what_is_typed_before_the_frame_is_there_reaches_it(qtbot: QtBot) -> None:
    window = made(qtbot)
    window.show()
    for key, modifier in ((Qt.Key.Key_6, Qt.KeyboardModifier.ControlModifier), (Qt.Key.Key_N, Qt.KeyboardModifier.NoModifier)):
        QTest.keyClick(window, key, modifier)
    line = QLineEdit()
    action = QAction(line)
    action.setShortcut("Ctrl+6")
    action.triggered.connect(line.setFocus)
    line.addAction(action)
    window.furnish(line)
    assert line.text() == "n"


def test_the_place_is_remembered(qtbot: QtBot) -> None:
    first, second = made(qtbot), made(qtbot)
    first.resize(760, 640)  # the offscreen platform's screen is 800 wide and high
    first.move(30, 40)
    second.restore(first.geometry_words())
    assert second.size() == QSize(760, 640)
    assert (second.x(), second.y()) == (30, 40)


@pytest.mark.parametrize("words", ["", "no base 64!", "AAAA", "größer"])
def test_a_damaged_place_is_ignored(qtbot: QtBot, words: str) -> None:
    window = made(qtbot)
    before = window.size()
    window.restore(words)
    assert window.size() == before


@pytest.mark.parametrize("screen", [(960, 540), (1366, 768), (1024, 700), (1280, 800), (3840, 2160)])
def test_it_fits_the_screen(qtbot: QtBot, screen: tuple[int, int]) -> None:
    window, room = made(qtbot), QRect(100, 24, *screen)  # beside a panel
    window.resize(4000, 3000)
    window.move(screen[0], screen[1])
    window.fit_into(room)
    assert room.contains(window.frameGeometry())
    assert window.height() < screen[1], "its title bar has room as well"


def test_a_window_that_fits_stays_as_it_is(qtbot: QtBot) -> None:
    window = made(qtbot)
    window.resize(1000, 600)
    window.move(50, 60)
    window.fit_into(QRect(0, 0, 1280, 800))
    assert (window.x(), window.y(), window.size()) == (50, 60, QSize(1000, 600))


def test_the_place_on_a_larger_screen_is_brought_back(qtbot: QtBot) -> None:
    first, second = made(qtbot), made(qtbot)
    first.resize(1900, 1200)
    second.restore(first.geometry_words())
    assert second.screen().availableGeometry().contains(second.geometry())


def test_closing_is_told(qtbot: QtBot) -> None:
    window = made(qtbot)
    with qtbot.waitSignal(window.closing):
        window.close()


def test_it_never_gets_too_small_for_its_pages(qtbot: QtBot) -> None:
    window = made(qtbot)
    window.resize(100, 100)
    assert (window.width(), window.height()) == (760, 440)
