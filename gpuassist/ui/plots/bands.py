"""The plot's own item: stacked use, the capacity line and the events, painted in one go. Imports pyqtgraph, so is imported late."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from msgspec import Struct
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from gpuassist.ui.palette import Palette
from gpuassist.ui.plots import raster
from gpuassist.ui.theme import SMALL_POINTS, colours, sans

HEADROOM = 1.06  # how far the axis goes over the capacity, so that its line and mark are seen whole
REST = -1  # the colour of use that no band explains
_SOLID, _FAINT = 0.72, 0.38
_LABEL_PADDING = 6


class Flag(Struct, frozen=True):
    """An event on the time line: when, what it says, and whether it is bad."""

    time: float
    label: str
    bad: bool = False


class Picture(Struct, frozen=True):
    """Everything that the item paints: `until` is the time of the right edge, `series` the place of each band's colour."""

    columns: raster.RasterColumns
    until: float
    window: float
    capacity: float
    series: tuple[int, ...]
    grid: tuple[float, ...] = ()
    flags: tuple[Flag, ...] = ()


class BandsItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph carries no types
    """Paints a `Picture` pixel by pixel: one column of the device for each column of the picture, without antialiasing."""

    def __init__(self) -> None:
        super().__init__()
        self.picture: Picture | None = None

    def show_picture(self, picture: Picture) -> None:
        if self.picture is None or (picture.window, picture.capacity) != (self.picture.window, self.picture.capacity):
            self.prepareGeometryChange()
        self.picture = picture
        self.update()

    def boundingRect(self) -> QRectF:
        """The whole window of time, up to just over the capacity."""
        if self.picture is None:
            return QRectF()
        return QRectF(-self.picture.window, 0, self.picture.window, self.picture.capacity * HEADROOM)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws grid, bands, capacity and events."""
        if self.picture is None:
            return
        frame = painter.worldTransform().mapRect(self.boundingRect())
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setClipRect(frame)
        _Brush(painter, frame, self.picture, colours()).draw()
        painter.restore()


class _Brush(Struct, frozen=True):
    """One paint: where on the device the picture goes and with what."""

    painter: QPainter
    frame: QRectF
    picture: Picture
    palette: Palette

    def draw(self) -> None:
        self._draw_bands()
        line = QColor(self.palette.text)
        line.setAlphaF(0.13)
        self.painter.setPen(QPen(line, 1))
        for value in self.picture.grid:
            self._line_across(value)
        self.painter.setPen(QPen(QColor(self.palette.problem), 1, Qt.PenStyle.DashLine))
        self._line_across(self.picture.capacity)
        # Newest first: where two labels would overlap, the older event keeps its line and loses its words.
        free = self.frame.right()
        # The font of the events' labels.
        self.painter.setFont(sans(SMALL_POINTS - 0.5, bold=True))
        for flag in sorted(self.picture.flags, key=lambda flag: flag.time, reverse=True):
            at = round(self.frame.right() + (flag.time - self.picture.until) / self.picture.window * self.frame.width())
            if self.frame.left() <= at <= self.frame.right():
                self.painter.setPen(QPen(QColor(self.palette.problem if flag.bad else self.palette.muted), 1))
                self.painter.drawLine(QPointF(at, self._y(self.picture.capacity)), QPointF(at, self.frame.bottom()))
                free = self._draw_label(flag, at, free)

    def _line_across(self, value: float) -> None:
        height = min(round(self._y(value)), round(self.frame.bottom()) - 1)
        self.painter.drawLine(QPointF(self.frame.left(), height), QPointF(self.frame.right(), height))

    def _draw_bands(self) -> None:
        columns = self.picture.columns
        if not len(columns.highs):
            return
        ratio = self.painter.device().devicePixelRatio()
        top = self._y(self.picture.capacity)
        # Whole pixels of the device: the history has no more cells than there are pixels, so none is narrower than one.
        ago = columns.since + columns.step * np.arange(len(columns.highs) + 1) - self.picture.until
        edges: raster.Places = np.rint((self.frame.right() + ago / self.picture.window * self.frame.width()) * ratio).astype(
            np.int64
        )
        numbers = raster.paint(
            raster.widened(columns, np.diff(edges)), max(1, round((self.frame.bottom() - top) * ratio)), self.picture.capacity
        )
        image = QImage(numbers.data, int(edges[-1] - edges[0]), numbers.shape[0], numbers.shape[1], QImage.Format.Format_Indexed8)
        image.setColorTable(color_table(self.palette, self.picture.series))
        image.setDevicePixelRatio(ratio)
        self.painter.drawImage(QPointF(edges[0] / ratio, top), image)

    def _draw_label(self, flag: Flag, at: int, free: float) -> float:
        metrics = QFontMetricsF(self.painter.font())
        width = metrics.horizontalAdvance(flag.label) + 2 * _LABEL_PADDING
        left = at if at + width <= self.frame.right() else at - width
        if left + width > free or left < self.frame.left():
            return free
        box = QRectF(left, round(self._y(self.picture.capacity)), width, metrics.height() + 2)
        self.painter.fillRect(box, QColor(self.palette.problem_tint if flag.bad else self.palette.unknown_tint))
        self.painter.setPen(QColor(self.palette.problem if flag.bad else self.palette.muted))
        self.painter.drawText(box, Qt.AlignmentFlag.AlignCenter, flag.label)
        return left - _LABEL_PADDING

    def _y(self, value: float) -> float:
        return self.frame.bottom() - value / (self.picture.capacity * HEADROOM) * self.frame.height()


def color_table(palette: Palette, series: tuple[int, ...]) -> list[int]:
    """What the numbers of `raster.paint` look like: the topmost band first, the unexplained rest last, the same again fainter."""
    panel = QColor(palette.panel)
    table = [panel.rgb()] * (raster.FAINT_FROM * 2)
    for place, number in enumerate((*reversed(series), REST), start=1):
        colour = QColor(series_colour(palette, number))
        table[place] = _mixed(colour, panel, _SOLID)
        table[place + raster.FAINT_FROM] = _mixed(colour, panel, _FAINT)
    return table


def series_colour(palette: Palette, number: int) -> str:
    """The colour of a band; the third of the palette is grey and kept for what no band explains."""
    coloured = (*palette.series[:2], *palette.series[3:])
    return palette.series[2] if number == REST else coloured[number % len(coloured)]


def _mixed(colour: QColor, panel: QColor, share: float) -> int:
    parts = ((colour.red(), panel.red()), (colour.green(), panel.green()), (colour.blue(), panel.blue()))
    red, green, blue = (round(own * share + other * (1 - share)) for own, other in parts)
    return QColor(red, green, blue).rgb()
