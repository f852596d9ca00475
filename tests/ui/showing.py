"""Ways to show a widget as the window would, and to look at what can be seen of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TypeVar

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QTextDocument
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget
from pytestqt.qtbot import QtBot

from tests.ui.made import framed

AnyWidget = TypeVar("AnyWidget", bound=QWidget)
_NEAR = 48  # of 255 in each of red, green and blue


class Show:
    """Shows widgets, each in a window that stands until the test has ended."""

    def __init__(self, qtbot: QtBot) -> None:
        self._qtbot = qtbot
        self._frames: list[QWidget] = []

    def __call__(self, widget: AnyWidget, width: int = 600, height: int = 400) -> AnyWidget:
        """The widget, shown in this size."""
        frame = framed(self._qtbot)
        self._frames.append(frame)
        frame.resize(max(frame.width(), width), max(frame.height(), height))
        widget.setParent(frame)
        widget.resize(width, height)
        widget.show()
        frame.activateWindow()
        self._qtbot.waitUntil(frame.isActiveWindow)
        return widget


def words_in(widget: QWidget) -> list[str]:
    """Every label's words that can be seen, in the order they were made."""
    return [_plain(label) for label in widget.findChildren(QLabel) if label.isVisibleTo(widget) and label.text()]


def button_named(widget: QWidget, words: str) -> QAbstractButton:
    """The button with these words on it."""
    return next(button for button in widget.findChildren(QAbstractButton) if button.text() == words)


def ink_in(widget: QWidget, colour: str) -> int:
    """How many pixels the widget paints in exactly this colour."""
    image = widget.grab().toImage()
    wanted = QColor(colour).rgb()
    return sum(image.pixel(x, y) == wanted for x in range(image.width()) for y in range(image.height()))


def stroke_in(widget: QWidget, colour: str) -> int:
    """How many pixels come near this colour: in some fonts thin strokes and letters reach it nowhere, their edges being soft."""
    image, wanted = widget.grab().toImage(), QColor(colour)
    seen = (QColor(image.pixel(x, y)) for x in range(image.width()) for y in range(image.height()))
    return sum(_distance(one, wanted) < _NEAR for one in seen)


def _distance(one: QColor, other: QColor) -> int:
    return max(abs(one.red() - other.red()), abs(one.green() - other.green()), abs(one.blue() - other.blue()))


def overlapping(boxes: Iterable[QRect | QRectF]) -> list[tuple[QRect | QRectF, QRect | QRectF]]:
    """The pairs of boxes that cover each other."""
    as_floats = [QRectF(box) for box in boxes]
    return [(one, other) for one, other in combinations(as_floats, 2) if one.intersects(other)]


def _plain(label: QLabel) -> str:
    if label.textFormat() is not Qt.TextFormat.RichText:
        return label.text()
    document = QTextDocument()
    document.setHtml(label.text())
    return document.toPlainText()
