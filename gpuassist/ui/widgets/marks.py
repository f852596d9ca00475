"""Status as glyph, word and tint: painted, so that it looks the same in every font."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimerEvent
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.present.marks import Mark
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours, is_calm, sans
from gpuassist.ui.widgets.paintings import PaintedWords

_STROKES: dict[Mark, tuple[tuple[tuple[float, float], ...], ...]] = {
    # in units of the circle's diameter
    Mark.RIGHT: (((0.31, 0.52), (0.44, 0.65), (0.69, 0.37)),),
    Mark.WARNING: (((0.5, 0.28), (0.5, 0.56)), ((0.5, 0.71), (0.5, 0.715))),
    Mark.PROBLEM: (((0.35, 0.35), (0.65, 0.65)), ((0.65, 0.35), (0.35, 0.65))),
    Mark.INFO: (((0.5, 0.46), (0.5, 0.72)), ((0.5, 0.29), (0.5, 0.295))),
    Mark.ABSENT: (((0.36, 0.5), (0.64, 0.5)),),
    Mark.BUSY: (((0.3, 0.5), (0.305, 0.5)), ((0.5, 0.5), (0.505, 0.5)), ((0.7, 0.5), (0.705, 0.5))),
    Mark.TODO: (((0.5, 0.5), (0.505, 0.5)),),
}
# Of what has no mark of its own, but must not be told from others by its words alone.
HUNG = "hung"
ERROR = "error"
_OTHER_STROKES = {HUNG: (((0.41, 0.33), (0.41, 0.67)), ((0.59, 0.33), (0.59, 0.67))), ERROR: _STROKES[Mark.WARNING]}
_TURN_MILLISECONDS = 80
_TURN_DEGREES = 30


def paint_mark(painter: QPainter, rect: QRectF, mark: Mark, palette: Palette, *, turn: int = 0, glyph: str = "") -> None:
    """A tinted circle with the mark's glyph in it; `turn` is how far the busy one has turned, in degrees."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if mark is Mark.TODO:
        ink = QColor(palette.muted)
        ink.setAlphaF(0.55)
        painter.setPen(QPen(ink, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(rect.adjusted(1, 1, -1, -1))
    elif mark is Mark.BUSY:
        inner = rect.adjusted(2.5, 2.5, -2.5, -2.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(palette.line), 2))
        painter.drawEllipse(inner)
        pen = QPen(QColor(palette.accent), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(inner, -turn * 16, 100 * 16)
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.tint(mark)))
        painter.drawEllipse(rect)
        paint_glyph(painter, rect, mark, QColor(palette.ink(mark)), glyph=glyph)
    painter.restore()


def paint_tick(painter: QPainter, rect: QRectF, palette: Palette) -> None:
    """A tick that says that something is done, and nothing about how it came out."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.unknown_tint))
    painter.drawEllipse(rect)
    paint_glyph(painter, rect, Mark.RIGHT, QColor(palette.muted))
    painter.restore()


def paint_glyph(painter: QPainter, rect: QRectF, mark: Mark, ink: QColor, *, glyph: str = "") -> None:
    """The glyph alone, as it sits in the circle `rect`; the mark's own, or the one named."""
    if mark is Mark.UNKNOWN:
        font = sans(bold=True)
        font.setPixelSize(max(6, round(rect.height() * 0.62)))
        font.setWeight(QFont.Weight.Bold)
        painter.setFont(font)
        painter.setPen(ink)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, "?")
        return
    pen = QPen(ink, max(1.4, rect.width() * 0.095))
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for stroke in _OTHER_STROKES[glyph] if glyph else _STROKES.get(mark, ()):
        painter.drawPolyline([QPointF(rect.x() + x * rect.width(), rect.y() + y * rect.height()) for x, y in stroke])


class MarkIcon(QWidget):
    """One mark, 20 pixels wide unless told; the busy one turns while it can be seen."""

    def __init__(self, mark: Mark, parent: QWidget | None = None, *, size: int = 20) -> None:
        super().__init__(parent)
        self.mark = mark
        self._size = size
        self._turn = 0
        self._timer = 0
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def set_mark(self, mark: Mark) -> None:
        self.mark = mark
        self._turn_or_rest()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._size, self._size)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_mark(painter, QRectF(self.rect()), self.mark, colours(), turn=self._turn)
        painter.end()

    def showEvent(self, event: QShowEvent) -> None:
        self._turn_or_rest()

    def hideEvent(self, event: QHideEvent) -> None:
        self._turn_or_rest()

    def timerEvent(self, event: QTimerEvent) -> None:
        if is_calm():
            return
        self._turn = (self._turn + _TURN_DEGREES) % 360
        self.update()

    def _turn_or_rest(self) -> None:
        turning = self.mark is Mark.BUSY and self.isVisible()
        if turning and not self._timer:
            self._timer = self.startTimer(_TURN_MILLISECONDS)
        elif not turning and self._timer:
            self.killTimer(self._timer)
            self._timer = 0


class StatusPill(PaintedWords):
    """Glyph and word on the status's tint; read aloud as the word."""

    def __init__(self, mark: Mark, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mark, self.glyph = mark, ""
        self.words = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_status(mark, words)

    def show_status(self, mark: Mark, words: str, glyph: str = "") -> None:
        self.mark, self.words, self.glyph = mark, words, glyph
        self.setAccessibleName(words)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return pill_size(self.words)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_pill(painter, QRectF(self.rect()), self.mark, self.words, glyph=self.glyph)
        painter.end()


def pill_size(words: str) -> QSize:
    metrics = _pill_metrics()
    return QSize(metrics.horizontalAdvance(words) + 40, metrics.height() + 8)


def paint_pill(painter: QPainter, rect: QRectF, mark: Mark, words: str, *, glyph: str = "") -> None:
    """A pill that fills `rect`; a word that does not fit is elided."""
    palette = colours()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.tint(mark)))
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
    ink = QColor(palette.ink(mark))
    size = min(18.0, rect.height())
    paint_glyph(painter, QRectF(rect.x() + 6, rect.center().y() - size / 2, size, size), mark, ink, glyph=glyph)
    painter.setFont(pill_font())
    painter.setPen(ink)
    room = rect.adjusted(29, 0, -8, 0)
    elided = _pill_metrics().elidedText(words, Qt.TextElideMode.ElideRight, int(room.width()) + 1)
    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
    painter.restore()


def pill_font() -> QFont:
    return sans(9.75, bold=True)


def _pill_metrics() -> QFontMetrics:
    return QFontMetrics(pill_font())
