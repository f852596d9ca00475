"""Measured rates beside what the device should reach: a bar a format and device, painted, with the figure at its end."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.theme import colours, mono, sans
from gpuassist.ui.widgets.paintings import PaintedPicture
from gpuassist.ui.wording import as_tip

_ROW, _LINE = 36, 20
_BAR = 10
_SIGN = 8  # from the beginning of a bar
_GAP = 10
_LEAST_WIDTH = 120
_LEAST_SHARE = 3.0  # pixels, so that the smallest is seen
_FULL = 1.0  # of what it should reach; bars end there, and those that reach more are as long


class RateBar(Struct, frozen=True):
    """A rate: of what, the figure in `unit`, what it should be (0: not known), the figure as it is told (`rate`), and what to say
    of it; `low` where that is a finding.

    `scale` is what a bar of full length stands for where no expectation is known.
    """

    label: str
    measured: float
    expected: float
    unit: str
    rate: str
    sentence: str = ""
    low: bool = False
    scale: float = 0.0

    @property
    def share(self) -> float:
        """How long its bar is: of what it should reach, or of the scale."""
        whole = self.expected or self.scale
        return max(0.0, self.measured / whole) if whole > 0 else 0.0

    @property
    def figure(self) -> Text:
        """`70 %` of what it should be, or the rate itself."""
        if self.expected <= 0:
            return verbatim(self.rate)
        percent = self.share * 100
        if 0 < percent < 1:
            return text("< {percent} %", percent=1)
        return text("{percent} %", percent=f"{percent:.0f}")

    def in_words(self, words: Words) -> str:
        """All of it in a line."""
        rate = self.rate
        if self.expected > 0:
            rate = f"{rate} / {self.expected:.3g} {self.unit} = {words(self.figure)}"
        return ": ".join(filter(None, (self.label, rate, self.sentence)))


class RateBars(PaintedPicture):
    """One row a rate; the arrow keys walk them, Ctrl+C copies all."""

    def __init__(self, words: Words, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.bars: tuple[RateBar, ...] = ()
        self.at = -1
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bars(self, bars: Sequence[RateBar]) -> None:
        self.bars, self.at = tuple(bars), -1
        self.setAccessibleDescription("\n".join(one.in_words(self._words) for one in self.bars))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(220, max(1, len(self.bars)) * _ROW)

    def minimumSizeHint(self) -> QSize:
        return QSize(_LEAST_WIDTH, self.sizeHint().height())

    def box(self, place: int) -> QRectF:
        """Where the whole of a bar stands; its share begins at the left of it."""
        widest = max((self._figure_width(one) for one in self.bars), default=0)
        return QRectF(0, place * _ROW + _LINE + 1, max(_BAR, self.width() - widest - _GAP), _BAR)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for place, one in enumerate(self.bars):
            self._paint(painter, place, one)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours().accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            row = QRectF(0, max(0, self.at) * _ROW, self.width(), _ROW if self.at >= 0 else self.height())
            painter.drawRoundedRect(row.adjusted(1, 1, -1, -1), 4, 4)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = event.pos().y() // _ROW
            if 0 <= place < len(self.bars):
                QToolTip.showText(event.globalPos(), as_tip(self.bars[place].in_words(self._words)), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            clipboard.copy(self.accessibleDescription())
        elif event.key() in {Qt.Key.Key_Up, Qt.Key.Key_Down} and self.bars:
            self.at = min(max(self.at + (1 if event.key() == Qt.Key.Key_Down else -1), 0), len(self.bars) - 1)
            where = self.mapToGlobal(self.box(self.at).bottomLeft().toPoint())
            QToolTip.showText(where, as_tip(self.bars[self.at].in_words(self._words)), self)
            self.update()
        else:
            super().keyPressEvent(event)

    def _figure_width(self, one: RateBar) -> int:
        return QFontMetrics(mono()).horizontalAdvance(self._words(one.figure))

    def _paint(self, painter: QPainter, place: int, one: RateBar) -> None:
        palette, box = colours(), self.box(place)
        beside = QRectF(box.right(), box.center().y() - _LINE / 2, self.width() - box.right(), _LINE)
        painter.setFont(mono())
        painter.setPen(QColor(palette.text if one.expected > 0 else palette.muted))
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._words(one.figure))
        room = QRectF(0, place * _ROW, self.width(), _LINE)
        painter.setFont(sans())
        painter.setPen(QColor(palette.text))
        label = QFontMetrics(sans()).elidedText(one.label, Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.line))
        painter.drawRoundedRect(box, 3, 3)
        if one.measured > 0:
            width = max(_LEAST_SHARE, box.width() * min(_FULL, one.share))
            painter.setBrush(QColor(palette.warning if one.low else palette.right if one.expected > 0 else palette.series[0]))
            painter.drawRoundedRect(QRectF(box.x(), box.y(), min(width, box.width()), box.height()), 3, 3)
        if one.low:  # told apart without its colour too: in the bar, or where that is too short for it beside it
            inside = box.width() * min(_FULL, one.share) >= 2 * _SIGN
            painter.setPen(QPen(QColor(palette.panel if inside else palette.warning), 1.6))
            middle = box.x() + _SIGN
            painter.drawLine(QPointF(middle, box.y() + 2), QPointF(middle, box.y() + 5))
            painter.drawPoint(QPointF(middle, box.y() + 8))
