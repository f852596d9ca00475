"""A row at the foot of the side list: an icon, its words, and the key that does the same."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import SMALL_POINTS, colours, mono, sans

_HEIGHT, _LEAST_HEIGHT, _LEAST_WIDTH = 34, 26, 200
_ICON, _LEFT, _WORDS_FROM, _RIGHT = 18, 11, 40, 8
_CORNER, _CHIP_CORNER = 8, 5


class FootButton(QPushButton):
    """Painted as the rows above it are."""

    def __init__(self, words: str, icon: bytes, parent: QWidget | None = None, *, key: str = "") -> None:
        super().__init__(words, parent)
        self._svg, self._key = icon, key
        self._icon = QSvgRenderer(self)
        self._ink = ""
        self.setToolTip(key)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def sizeHint(self) -> QSize:
        return QSize(self._width(), max(_HEIGHT, QFontMetrics(sans()).height() + 14))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self._width(), _LEAST_WIDTH), max(_LEAST_HEIGHT, QFontMetrics(sans()).height() + 6))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words that are cut stand whole in the tool tip."""
        cut = self.text() if self._width() > self.width() else ""
        self.setToolTip(" · ".join(filter(None, (cut, self._key))))

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.accent), 1.6) if self.hasFocus() else QPen(Qt.PenStyle.NoPen))
        painter.setBrush(QColor(palette.unknown_tint) if self.underMouse() or self.isDown() else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), _CORNER, _CORNER)
        if self._ink != palette.text:
            self._ink = palette.text
            self._icon.load(QByteArray(self._svg.replace(b"currentColor", palette.text.encode("ascii"))))
        self._icon.render(painter, QRectF(_LEFT, (self.height() - _ICON) / 2, _ICON, _ICON))
        painter.setFont(sans())
        painter.setPen(QColor(palette.text))
        room = self.rect().adjusted(_WORDS_FROM, 0, -_RIGHT - self._chip_width(), 0)
        words = QFontMetrics(sans()).elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        if self._key:
            self._paint_chip(painter, palette)
        painter.end()

    def _paint_chip(self, painter: QPainter, palette: Palette) -> None:
        width, height = self._chip_width() - 6, QFontMetrics(mono(SMALL_POINTS)).height() + 4
        chip = QRectF(self.width() - _RIGHT - width, (self.height() - height) / 2, width, height)
        painter.setPen(QPen(QColor(palette.line), 1))
        painter.setBrush(QColor(palette.panel))
        painter.drawRoundedRect(chip, _CHIP_CORNER, _CHIP_CORNER)
        painter.setFont(mono(SMALL_POINTS))
        painter.setPen(QColor(palette.muted))
        painter.drawText(chip, Qt.AlignmentFlag.AlignCenter, self._key)

    def _chip_width(self) -> int:
        return QFontMetrics(mono(SMALL_POINTS)).horizontalAdvance(self._key) + 18 if self._key else 0

    def _width(self) -> int:
        return _WORDS_FROM + QFontMetrics(sans()).horizontalAdvance(self.text()) + self._chip_width() + _RIGHT
