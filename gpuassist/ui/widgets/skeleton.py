"""The outline of what a page is about to show: as the window's first paint has it, so that nothing blinks when the page comes."""

from __future__ import annotations

from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.ui.first_paint import outlines
from gpuassist.ui.theme import colours

_LEAST_HEIGHT = 340  # two rows of cards


class Skeleton(QWidget):
    """Two columns of empty cards; it says nothing, what is being done stands beside the page's title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(_LEAST_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        for rectangle, colour in outlines(colours(), (0, 0, self.width(), self.height())):
            painter.fillRect(*rectangle, QColor(colour))
        painter.end()
