"""One GPU's lane, painted in one go: its figures, its memory by process, the curves below it, what happened, and the crosshair.

A lane has no widgets inside: eight lanes of labels and axes cost 15 ms a second in layouts and style sheets, painted ones two.
Only what changed is painted again, and text least of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.ui.palette import Palette
from gpuassist.ui.plots.axes import HEADROOM, memory_marks
from gpuassist.ui.plots.colour_table import OVER, band_table, line_table, series_colour
from gpuassist.ui.plots.lane_parts import CurveLook, Flag, Head, draw_dashes, fitting
from gpuassist.ui.plots.plot_fonts import FIGURES, SMALL, TITLE, lettering
from gpuassist.ui.plots.strip import Strip
from gpuassist.ui.plots.time_grid import TimeGrid
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.marks import paint_pill, pill_size
from gpuassist.ui.widgets.paintings import PaintedPicture

_MANY_MARKS, _FEW_MARKS, _LOW = 4, 2, 110  # a lane lower than this has no room for more
_LEFT, _LEFT_NARROW, _NARROW = 38, 30, 300
_RIGHT = 6
AXIS_HEIGHT = 18
_HEAD = 22
_LEAST_CURVE, _MOST_CURVE, _CURVES_SHARE = 14, 64, 0.55
_TITLED_CURVE, _SCALED_CURVE = 20, 30
_LEAST_MEMORY = 28
_LABEL_PADDING = 6
_LABELS_FROM = 60  # a plot lower than this has lines alone
_PEAK_FROM = 90
_NAMES_FROM = 14
_BETWEEN = 4
_TIME_LABEL = 74
_STRIPE = 3


class LanePlot(PaintedPicture):
    """Shows what it is told; `show_grid` comes last and has everything that is out of date painted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.head = Head("")
        self.capacity = float(1 << 33)
        self.grid = TimeGrid(60.0, 0.0, 1)
        self.series: tuple[int, ...] = ()
        self.flags: tuple[Flag, ...] = ()
        self.peak = 0.0
        self.newest: float | None = None  # when it last had a reading
        self.memory, self.torch, self.over = Strip(), Strip(opaque=False), Strip(opaque=False)
        self.curves: list[Strip] = []
        self.curve_looks: tuple[CurveLook, ...] = ()
        self.has_torch = self.has_over = False
        self.shows_time = True
        self.time_marks: tuple[tuple[int, str], ...] = ()
        self._marked: int | None = None
        self._cursor: int | None = None
        self._selection: tuple[int, int] | None = None
        self._cursor_head: Head | None = None
        self._tables: tuple[object, list[int], list[int]] | None = None
        self._curve_table: list[int] = []
        self.left = _LEFT  # where the plot begins, behind the marks of its memory
        self._plot, self._memory = QRect(), QRectF()
        self._curves: list[QRectF] = []
        self._divide()

    # what it shows

    def show_head(self, head: Head) -> None:
        if head != self.head:
            self.head = head
            self.update(self._head_rect())

    def show_capacity(self, capacity: float) -> None:
        if capacity != self.capacity:
            self.capacity = capacity
            self.memory.forget()
            self.torch.forget()
            self.over.forget()
            self.update()

    def show_curves(self, looks: tuple[CurveLook, ...]) -> None:
        """As many of these as there is room for have a strip."""
        if len(looks) != len(self.curve_looks):
            self.curves = [Strip() for _ in looks]
            for strip in (self.memory, self.torch, self.over):
                strip.forget()
        if looks != self.curve_looks:
            self.curve_looks = looks
            self._divide()

    def show_time_axis(self, *, shown: bool) -> None:
        if shown != self.shows_time:
            self.shows_time = shown
            self._divide()

    def show_marked(self, place: int | None) -> None:
        """The band that is set off from all others."""
        if place != self._marked:
            self._marked = place
            self.update()

    def show_cursor(self, place: int | None, head: Head | None = None) -> None:
        """The crosshair, in pixels of the grid, and the figures of that moment."""
        if (place, head) == (self._cursor, self._cursor_head):
            return
        for at in {self._cursor, place} - {None}:
            assert at is not None
            x = round(self.x_of(at))
            self.update(QRect(x - 1, _HEAD, 3, self._plot.height()))
        if head != self._cursor_head:
            self.update(self._head_rect())
        self._cursor, self._cursor_head = place, head

    def show_selection(self, first: int | None, last: int | None) -> None:
        """The stretch that is being chosen, in pixels of the grid."""
        selection = None if first is None or last is None else (first, last)
        if selection != self._selection:
            self._selection = selection
            self.show_grid()

    def show_grid(self, first: int = 0) -> None:
        """What was painted into the strips is shown now: all, or what lies from a pixel of the grid on."""
        if first <= 0:
            self.update(self._plot.adjusted(-_RIGHT, 0, _RIGHT, AXIS_HEIGHT))
        else:
            left = int(self.x_of(first)) - 1
            self.update(QRect(left, _HEAD, self.width() - left, self._plot.height()))

    # where it shows it

    @property
    def columns_wanted(self) -> int:
        """How many pixels of the device wide the plot is."""
        return max(16, round((self.width() - self.left - _RIGHT) * self.devicePixelRatioF()))

    @property
    def shows_peak(self) -> bool:
        """Whether there is room for the line of the greatest use."""
        return self._memory.height() >= _PEAK_FROM

    @property
    def curves_shown(self) -> int:
        """How many of the curves there is room for."""
        return len(self._curves)

    def memory_rect(self) -> QRectF:
        """Where the memory is drawn, its headroom too."""
        return self._memory

    def curve_rect(self, place: int) -> QRectF:
        return self._curves[place]

    def rows(self, rect: QRectF, headroom: float = 1.0) -> int:
        """How many pixels of the device high a strip is."""
        return max(1, round(rect.height() / headroom * self.devicePixelRatioF()))

    def x_of(self, place: float) -> float:
        """Where a pixel of the grid is in the widget."""
        return self.left + place / self.devicePixelRatioF()

    def place_at(self, x: float) -> int | None:
        """The pixel of the grid there; none where the plot is not."""
        if not self.left <= x < self.width() - _RIGHT:
            return None
        return min(self.grid.width - 1, int((x - self.left) * self.devicePixelRatioF()))

    def minimumSizeHint(self) -> QSize:
        return QSize(110, _HEAD + _LEAST_MEMORY)

    def sizeHint(self) -> QSize:
        return QSize(400, 160)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._divide()

    def _head_rect(self) -> QRect:
        return QRect(0, 0, self.width(), _HEAD)

    def _divide(self) -> None:
        """Divides the room among the memory, as many of the curves as there is room for, and the time."""
        below = AXIS_HEIGHT + _BETWEEN if self.shows_time else _BETWEEN
        self.left = _LEFT if self.width() >= _NARROW else _LEFT_NARROW
        width, height = max(1, self.width() - self.left - _RIGHT), max(1, self.height() - _HEAD - below)
        self._plot = QRect(self.left, _HEAD, width, height)
        room = height * _CURVES_SHARE
        # One without its title can be told only where it is the only one.
        fits = int(room // (_TITLED_CURVE + _BETWEEN)) or int(room >= _LEAST_CURVE + _BETWEEN)
        count = min(len(self.curve_looks), fits)
        each = int(min(_MOST_CURVE, room / count - _BETWEEN)) if count else 0
        self._memory = QRectF(self.left, _HEAD, width, height - count * (each + _BETWEEN))
        top = self._memory.bottom() + _BETWEEN
        self._curves = [QRectF(self.left, top + place * (each + _BETWEEN), width, each) for place in range(count)]
        self.update()

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        palette, parts = colours(), list(cast("Iterable[QRect]", event.region()))
        painter.fillRect(event.rect(), QColor(palette.panel))
        if any(part.top() < _HEAD for part in parts):
            self._draw_head(painter, palette)
        if any(part.bottom() >= _HEAD for part in parts):
            painter.setFont(lettering(SMALL)[0])
            self._draw_memory(painter, palette, parts)
            for place in range(self.curves_shown):
                self._draw_curve(painter, palette, parts, place)
            if self.shows_time and any(part.bottom() > self._plot.bottom() for part in parts):
                self._draw_time(painter, palette)
            if self._selection is not None:
                left, right = map(self.x_of, self._selection)
                tint = QColor(palette.accent)
                tint.setAlphaF(0.2)
                painter.fillRect(QRectF(left, _HEAD, right - left, self._plot.height()), tint)
            if self._cursor is not None:
                x = round(self.x_of(self._cursor))
                painter.fillRect(x, _HEAD, 1, self._plot.height(), QColor(palette.text))
        painter.end()

    def _draw_head(self, painter: QPainter, palette: Palette) -> None:
        shown = self._cursor_head or self.head
        bold, metrics = lettering(TITLE, bold=True)
        plain, narrow = lettering(FIGURES)
        room = QRectF(0, 0, self.width() - _RIGHT, _HEAD)
        whole = shown.title if self.width() >= _NARROW else shown.title.partition(" · ")[0]
        title = metrics.elidedText(whole, Qt.TextElideMode.ElideRight, int(room.width() * 0.55))
        painter.setFont(bold)
        painter.setPen(QColor(palette.text))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, title)
        room.setLeft(metrics.horizontalAdvance(title) + 10)
        if shown.trouble:
            width = min(pill_size(shown.trouble).width(), room.width())
            if width > 40:
                paint_pill(painter, QRectF(room.left(), 1, width, _HEAD - 3), shown.mark, shown.trouble)
            room.setLeft(room.left() + width + 10)
        figures = fitting(shown.figures, shown.short, narrow, int(room.width()))
        if figures:
            ink = QColor(palette.text if self._cursor_head is not None else palette.muted)
            ink.setAlphaF(0.45 if shown.stale else 1.0)
            painter.setFont(plain)
            painter.setPen(ink)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, figures)

    def _draw_memory(self, painter: QPainter, palette: Palette, parts: Sequence[QRect]) -> None:
        area = self.memory_rect()
        # Whole pixels of the device: a picture that is scaled costs ten times as much.
        high = self.rows(area, HEADROOM) / self.devicePixelRatioF()
        inside = QRectF(area.x(), area.bottom() - high, area.width(), high)
        made_of = (palette, self.series, self._marked)
        if self._tables is None or self._tables[0] != made_of:
            torch = line_table(palette, (palette.text,), opaque=False)
            self._tables = (made_of, band_table(palette, self.series, self._marked), torch)
            self.over.colour(line_table(palette, (series_colour(palette, OVER),), opaque=False))
        self.memory.colour(self._tables[1])
        self.memory.draw(painter, inside, parts)
        self._draw_silence(painter, palette, inside)
        line = QColor(palette.text)
        line.setAlphaF(0.13)
        marks = memory_marks(self.capacity, _FEW_MARKS if area.height() < _LOW else _MANY_MARKS)
        # Where two of them would be cut they are left away.
        names_too = area.height() >= _NAMES_FROM and any(
            part.left() < self.left - _RIGHT and part.bottom() > _HEAD for part in parts
        )
        for value, name in marks:
            y = min(round(self._y(value)), round(area.bottom()) - 1)
            if value < self.capacity:
                painter.fillRect(QRectF(area.left(), y, area.width(), 1), line)
            if names_too and (area.height() >= _LABELS_FROM or value in {0, self.capacity}):
                painter.setPen(QColor(palette.muted))
                box = QRectF(0, max(y - 8, _HEAD - 1), self.left - 6, 16)  # not into the figures
                painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, name)
        draw_dashes(painter, area, self._y(self.capacity), palette.problem)
        if self.peak > 0 and self.shows_peak:
            draw_dashes(painter, area, self._y(self.peak), palette.muted, dash=1)
        if self.has_torch:
            self.torch.colour(self._tables[2])
            self.torch.draw(painter, inside, parts)
        if self.has_over:
            self.over.draw(painter, inside, parts)
        painter.setClipRect(area.adjusted(0, 0, 1, 0))
        self._draw_flags(painter, palette, area)
        painter.setClipping(False)

    def _draw_silence(self, painter: QPainter, palette: Palette, inside: QRectF) -> None:
        """From the last reading to the right edge, where that is long ago."""
        if self.newest is None:
            return
        place = self.grid.place(self.newest)
        if place < self.grid.width - 2:
            tint = QColor(palette.line)
            tint.setAlphaF(0.5)
            left = max(inside.left(), self.x_of(place + 1))
            painter.fillRect(QRectF(left, inside.top(), inside.right() - left, inside.height()), tint)

    def _draw_flags(self, painter: QPainter, palette: Palette, area: QRectF) -> None:
        labelled = area.height() >= _LABELS_FROM
        metrics = lettering(SMALL)[1]
        taken: list[tuple[float, float]] = []
        top = round(self._y(self.capacity))
        for flag in self.flags:
            if flag.until is not None:
                left, right = (self.x_of(self.grid.place(time)) for time in (flag.time, flag.until))
                painter.fillRect(QRectF(left, area.top(), max(2.0, right - left), _STRIPE), QColor(palette.warning))
        marks = [(flag, round(self.x_of(self.grid.place(flag.time)))) for flag in self.flags if flag.until is None]
        marks = sorted((mark for mark in marks if area.left() <= mark[1] <= area.right()), key=lambda mark: (mark[0].bad, mark[1]))
        for flag, x in marks:
            painter.fillRect(QRectF(x, top, 1, area.bottom() - top), QColor(palette.problem if flag.bad else palette.muted))
        # The bad ones and the newest find room first.
        for flag, x in reversed(marks):
            painter.setPen(QColor(palette.problem if flag.bad else palette.muted))
            width = metrics.horizontalAdvance(flag.label) + 2 * _LABEL_PADDING
            left = x if x + width <= area.right() else x - width
            if not labelled or left < area.left() or any(left < end and start < left + width for start, end in taken):
                continue
            taken.append((left, left + width + _BETWEEN))
            box = QRectF(left, top, width, metrics.height() + 2)
            painter.fillRect(box, QColor(palette.problem_tint if flag.bad else palette.unknown_tint))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, flag.label)

    def _draw_curve(self, painter: QPainter, palette: Palette, parts: Sequence[QRect], place: int) -> None:
        area, look = self.curve_rect(place), self.curve_looks[place]
        ink = [series_colour(palette, number) for number in (0, 1, 2)]
        if not self._curve_table or self._curve_table[0] != QColor(palette.panel).rgb():
            self._curve_table = line_table(palette, tuple(ink), opaque=True)
        self.curves[place].colour(self._curve_table)
        self.curves[place].draw(painter, area, parts)
        line = QColor(palette.text)
        line.setAlphaF(0.13)
        painter.fillRect(QRectF(area.left(), area.bottom() - 1, area.width(), 1), line)
        if look.limit and look.limit <= look.top:
            draw_dashes(painter, area, area.bottom() - look.limit / look.top * area.height(), palette.problem)
        painter.setPen(QColor(palette.muted))
        if area.height() >= _SCALED_CURVE:
            box = QRectF(0, area.top() - 2, self.left - 6, 16)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, look.scale)
        if area.height() < _TITLED_CURVE:
            return
        metrics = lettering(SMALL)[1]
        title = metrics.elidedText(look.title, Qt.TextElideMode.ElideRight, int(area.width()) - 8)
        box = QRectF(area.left() + 4, area.top(), metrics.horizontalAdvance(title) + 4, metrics.height())
        veil = QColor(palette.panel)
        veil.setAlphaF(0.72)
        painter.fillRect(box, veil)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, title)

    def _draw_time(self, painter: QPainter, palette: Palette) -> None:
        painter.setPen(QColor(palette.muted))
        top = self._plot.bottom() + 1
        metrics = lettering(SMALL)[1]
        for place, name in self.time_marks:
            x, half = self.x_of(place), metrics.horizontalAdvance(name) / 2
            x = min(max(x, self.left - _RIGHT + half), self.width() - half)
            painter.drawText(QRectF(x - half, top, 2 * half + 1, AXIS_HEIGHT), Qt.AlignmentFlag.AlignCenter, name)

    @property
    def time_marks_at_most(self) -> int:
        return max(1, (self.width() - self.left) // _TIME_LABEL)

    def _y(self, value: float) -> float:
        area = self.memory_rect()
        return area.bottom() - value / (self.capacity * HEADROOM) * area.height()
