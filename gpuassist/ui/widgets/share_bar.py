"""How much of a whole something takes: a thin bar, in a cell of a table or by itself."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.ui.theme import colours

_HEIGHT = 6
_LEAST = 3.0  # pixels, so that the smallest share is seen


def paint_share(painter: QPainter, rect: QRectF, share: float) -> None:
    """The whole in a quiet colour, and the share of it (0 to 1) from the left."""
    palette, round_ = colours(), rect.height() / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.line))
    painter.drawRoundedRect(rect, round_, round_)
    width = rect.width() * min(1.0, max(0.0, share))
    if share > 0:
        painter.setBrush(QColor(palette.series[0]))
        painter.drawRoundedRect(
            QRectF(rect.topLeft(), rect.bottomRight()).adjusted(0, 0, max(width, _LEAST) - rect.width(), 0), round_, round_
        )
    painter.restore()


class ShareBar(QWidget):
    """The bar by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def share(self) -> float:
        """What it shows, 0 to 1."""
        return self._share

    def show_share(self, share: float) -> None:
        """Shows another share."""
        self._share = share
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_share(painter, QRectF(self.rect()), self._share)
        painter.end()
