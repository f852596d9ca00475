"""The icon of a page, large and quiet, for a place where nothing is yet."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.ui.theme import colours

_SIZE = 36


class PageIcon(QWidget):
    """In the palette's quiet colour."""

    def __init__(self, svg: bytes, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._svg = svg
        self._drawing = QSvgRenderer(self)
        self._ink = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(_SIZE, _SIZE)

    def paintEvent(self, event: QPaintEvent) -> None:
        ink = colours().muted
        if ink != self._ink:
            self._ink = ink
            self._drawing.load(QByteArray(self._svg.replace(b"currentColor", ink.encode("ascii"))))
        painter = QPainter(self)
        self._drawing.render(painter, QRectF(self.rect()))
        painter.end()
