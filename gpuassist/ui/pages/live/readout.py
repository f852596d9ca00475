"""The box beside the crosshair: all values of one moment of one GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import text, verbatim
from gpuassist.model.words import Words
from gpuassist.monitor.history import Series
from gpuassist.present.curves import series_name, series_value
from gpuassist.present.samples import clock, range_words, size
from gpuassist.ui.pages.live.lane import Lane, Moment
from gpuassist.ui.plots.colour_table import OVER, REST, series_colour
from gpuassist.ui.plots.plot_fonts import SMALL, lettering
from gpuassist.ui.theme import colours

_PADDING, _SWATCH, _GAP, _AWAY = 9, 9, 16, 14
_WIDEST_NAME = 190
_NEAR_PIXELS = 5
_WORTH_SAYING_BYTES = 1 << 20


class ReadoutRow(Struct, frozen=True):
    """A line: a colour's number where it has one, what it is, and what it was."""

    name: str
    value: str = ""
    colour: int | None = None
    strong: bool = False


def readout_rows(
    words: Words, lane: Lane, moment: Moment, *, place: int, time: str, name_of: Callable[[int], str]
) -> Iterator[ReadoutRow]:
    """What is said of a moment: when, how much was in use, by whom, the curves, and what happened just there."""
    yield ReadoutRow(time, lane.head.title.partition(" · ")[0], strong=True)
    if moment.used is None:
        yield ReadoutRow(words(text("no reading")))
    else:
        yield ReadoutRow(words(text("in use")), words(range_words(*moment.used)), strong=True)
        for pid, used in moment.processes:
            yield ReadoutRow(name_of(pid), words(size(int(used))), lane.colour_of(pid))
        if moment.rest >= _WORTH_SAYING_BYTES:
            rest = text("other / not attributed") if moment.processes else text("used")
            yield ReadoutRow(words(rest), words(size(int(moment.rest))), REST)
        if moment.over is not None:
            name, low, high = moment.over
            yield ReadoutRow(name, words(range_words(low, high)), OVER)
        for series, low, high in moment.figures:
            yield ReadoutRow(*_figure(words, series, low, high))
    for flag in lane.flags:
        at = lane.grid.place(flag.time)
        within = flag.until is not None and at - 1 <= place <= lane.grid.place(flag.until)
        if within or (flag.until is None and abs(at - place) <= _NEAR_PIXELS):
            yield ReadoutRow(flag.label)


def moment_words(since: float, until: float, epoch_of_zero: float) -> str:
    """`14:02:11`, or the stretch that is one pixel wide."""
    began = clock(epoch_of_zero + since, seconds=True)
    return began if until - since <= 1 else f"{began}–{clock(epoch_of_zero + until, seconds=True)}"


def _figure(words: Words, series: Series, low: float, high: float) -> tuple[str, str]:
    name = words(series_name(series, alone=True))
    if series in {Series.TORCH_ALLOCATED, Series.TORCH_RESERVED}:
        return name, words(range_words(low, high))
    least, most = words(series_value(series, low)), words(series_value(series, high))
    return name, most if least == most else words(text("{least} to {most}", least=verbatim(least), most=verbatim(most)))


class Readout(QWidget):
    """Stands beside the mouse and lets it through."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._around = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.rows: tuple[ReadoutRow, ...] = ()
        self.hide()

    def show_rows(self, rows: Sequence[ReadoutRow], at: QPoint) -> None:
        """These lines beside a place of the parent, wherever there is room."""
        if tuple(rows) != self.rows:
            self.rows = tuple(rows)
            self.update()
        strong, plain = lettering(SMALL, bold=True)[1], lettering(SMALL)[1]
        names = max(min(_WIDEST_NAME, strong.horizontalAdvance(row.name)) for row in rows)
        values = max(strong.horizontalAdvance(row.value) for row in rows)
        width = 2 * _PADDING + _SWATCH + 6 + names + (_GAP + values if values else 0)
        height = 2 * _PADDING + len(rows) * (plain.height() + 2)
        around = self._around.size()
        x = at.x() + _AWAY if at.x() + _AWAY + width <= around.width() else at.x() - _AWAY - width
        y = min(max(0, at.y() - height // 2), max(0, around.height() - height))
        self.setGeometry(max(0, x), y, width, height)
        if self.isHidden():
            self.show()
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        palette = colours()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.line), 1))
        painter.setBrush(QColor(palette.panel))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        line = lettering(SMALL)[1].height() + 2
        for place, row in enumerate(self.rows):
            room = QRectF(_PADDING, _PADDING + place * line, self.width() - 2 * _PADDING, line)
            if row.colour is not None:
                swatch = QRectF(room.left(), room.center().y() - _SWATCH / 2, _SWATCH, _SWATCH)
                painter.fillRect(swatch, QColor(series_colour(palette, row.colour)))
            font, metrics = lettering(SMALL, bold=row.strong)
            painter.setFont(font)
            if row.colour is not None:
                room.setLeft(room.left() + _SWATCH + 6)
            painter.setPen(QColor(palette.text))
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, row.value)
            room.setRight(room.right() - metrics.horizontalAdvance(row.value) - (_GAP / 2 if row.value else 0))
            painter.setPen(QColor(palette.text if row.strong else palette.muted))
            name = metrics.elidedText(row.name, Qt.TextElideMode.ElideMiddle, int(room.width()) + 1)
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
        painter.end()
