"""What is painted can be read: the ink of every word that stands in the window, measured in its pixels, in both looks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.session.navigation import GoTo, SideTool, WizardStep
from gpuassist.ui.page import Desk
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.paintings import PaintedWords
from tests.translations import RESOURCES
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.showing import Show

PLACES = (WizardStep.MACHINE, WizardStep.FOUND, SideTool.EXPLAIN, SideTool.WHAT_IF)  # each kind of widget
_LEAST = 4.5  # WCAG 2.2, text
_THIN = 0.8  # of that: strokes thinner than a pixel are softer than their ink


def in_words(widget: QWidget) -> str:
    """What can be read of it."""
    if isinstance(widget, PaintedWords):
        return widget.accessibleName()
    if isinstance(widget, QLabel | QAbstractButton):
        return widget.text()
    if isinstance(widget, QComboBox):
        return widget.currentText()
    return widget.text() or widget.placeholderText() if isinstance(widget, QLineEdit) else ""


def pixels(image: QImage) -> np.ndarray:
    """Red, green and blue of each pixel, from 0 to 1."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    data = np.frombuffer(plain.constBits(), np.uint8).reshape(plain.height(), plain.bytesPerLine() // 4, 4)
    return data[:, : plain.width(), 2::-1] / 255


def luminances(colours: np.ndarray) -> np.ndarray:
    """WCAG 2.2, relative luminance."""
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))


def contrast_in(light: np.ndarray) -> float:
    """Of the ink that stands out most from the ground, which most pixels have."""
    values, counts = np.unique(light.round(4), return_counts=True)
    ground = values[counts.argmax()]
    return float(max((max(one, ground) + 0.05) / (min(one, ground) + 0.05) for one in (values[0], values[-1])))


def faint(window: QWidget) -> Iterator[str]:
    """Words of the window that do not stand out from their ground."""
    seen = luminances(pixels(window.grab().toImage()))
    for widget in window.findChildren(QWidget):
        words = in_words(widget)
        if not words or not widget.isVisible() or not widget.isEnabled():
            continue
        room = widget.visibleRegion().boundingRect().translated(widget.mapTo(window, QPoint(0, 0)))
        room &= QRect(0, 0, window.width(), window.height())
        if room.width() < 8 or room.height() < widget.height() // 2 + 4:
            continue
        found = contrast_in(seen[room.top() : room.bottom() + 1, room.left() : room.right() + 1])
        if found < _LEAST * _THIN:
            yield f"{found:.1f} {type(widget).__name__} {words[:40]!r}"


def test_every_word_can_be_read(desk: Desk, show: Show, qtbot: QtBot, each_look: Theme) -> None:
    frame = Frames(desk, show, qtbot)(str(RESOURCES / "machines" / f"{TOO_OLD}.json"))
    found = {}
    for place in PLACES:
        frame.go(GoTo(place))
        page = frame.pages.page(frame.flow.current)
        qtbot.waitUntil(lambda page=page: not getattr(page, "busy", False))  # type: ignore[misc]
        found[place.value] = list(faint(frame))
    frame.close_down()
    assert {place: said for place, said in found.items() if said} == {}


def test_faint_words_are_found(show: Show) -> None:
    label = show(QLabel("Hardly to be seen"), 200, 40)
    label.window().setStyleSheet("QWidget { background: #ffffff } QLabel { color: #999999 }")
    assert len(list(faint(label.window()))) == 1
