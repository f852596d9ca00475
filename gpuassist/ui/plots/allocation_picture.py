"""Memory by who allocated it, over a recording, painted in one go: bands, reserved memory, marks, the cursor, what is compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.ui.palette import Palette
from gpuassist.ui.plots.allocation_scene import AllocationScene, PointedAt
from gpuassist.ui.plots.allocation_view import AllocationView, size_marks
from gpuassist.ui.plots.axes import HEADROOM
from gpuassist.ui.plots.colour_table import band_table
from gpuassist.ui.plots.lane_parts import draw_dashes
from gpuassist.ui.plots.plot_fonts import SMALL, lettering
from gpuassist.ui.plots.raster import FAINT_FROM, Numbers, paint, paint_lines
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.paintings import PaintedPicture

_BELOW, _ABOVE, _RIGHT, _BESIDE = 18, 18, 8, 6
_LINE = 2 * FAINT_FROM  # the number of torch's reserved memory, behind those of the bands
_LABEL_PADDING, _BETWEEN = 5, 4
_MARK_WIDTH, _MARK_HEIGHT = 84, 34


class PlotFlag(Struct, frozen=True):
    """Something that happened at a point, and whether it is bad."""

    point: int
    label: str
    bad: bool = False


class AllocationPicture(PaintedPicture):
    """Shows a scene as far as a view goes."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.scene: AllocationScene | None = None
        self.view: AllocationView | None = None
        self.flags: tuple[PlotFlag, ...] = ()
        self.capacity = 0  # of the card, where it is known
        self.cursor_at: PointedAt | None = None
        self.range: tuple[int, int] | None = None
        self.marked: int | None = None
        self.numbers: Numbers = np.zeros((0, 0), np.uint8)
        self._top = 1.0
        self._image: QImage | None = None
        self._pixels = np.zeros((0, 0), np.uint32)
        self._coloured: object = None
        self._stale = True

    # what it shows

    def show_scene(
        self, scene: AllocationScene, view: AllocationView, *, flags: Sequence[PlotFlag] = (), capacity: int = 0
    ) -> None:
        self.scene, self.view, self.flags, self.capacity = scene, view, tuple(flags), capacity
        # The line of the card's memory is shown where something comes near to it.
        near = capacity if capacity and scene.top > capacity / 2 else 0
        self._top = max(scene.top, near, 1) * HEADROOM
        self.cursor_at = self.range = self.marked = None
        self.redraw()

    def show_view(self, view: AllocationView) -> None:
        """The same on another axis."""
        self.view = view
        self.redraw()

    def show_marked(self, owner: int | None) -> None:
        """The owner whose band is set off from all others."""
        if owner != self.marked:
            self.marked = owner
            self.update()

    def show_range(self, chosen: tuple[int, int] | None) -> None:
        """The two points that are compared."""
        self.range = chosen
        self.update()

    def redraw(self) -> None:
        """What is shown changed."""
        self._stale = True
        self.update()

    # where it shows it

    def area(self) -> QRect:
        """Where the memory is drawn."""
        widest = max((lettering(SMALL)[1].horizontalAdvance(name) for _, name in size_marks(self._top, 4)), default=0)
        left = widest + 2 * _BESIDE
        return QRect(left, _ABOVE, max(16, self.width() - left - _RIGHT), max(16, self.height() - _ABOVE - _BELOW))

    def x_of(self, point: int) -> float:
        """Where a point begins; beyond the area where it is not in sight."""
        assert self.view is not None
        area = self.area()
        return area.left() + (self.view.axis.place(point) - self.view.left) / self.view.span * area.width()

    def y_of(self, size: float) -> float:
        area = self.area()
        return area.bottom() + 1 - size / self._top * area.height()

    def asked(self, at: QPointF) -> PointedAt | None:
        """What lies there."""
        area = self.area()
        if self.scene is None or not area.contains(at.toPoint()) or self._stale:
            return None
        column = int((at.x() - area.left()) * self.numbers.shape[1] / area.width())
        height = (area.bottom() + 1 - at.y()) / area.height() * self._top
        return self.scene.point_at_height(column, height)

    def sizeHint(self) -> QSize:
        return QSize(500, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 110)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stale = True

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        painter.fillRect(event.rect(), QColor(palette.panel))
        if self.scene is not None and self.view is not None:
            area = self.area()
            painter.setFont(lettering(SMALL)[0])
            self._draw_bands(painter, palette, area)
            self._draw_marks(painter, palette, area)
            self._draw_range(painter, palette, area)
            self._draw_flags(painter, palette, area)
            self._draw_cursor(painter, palette, area)
        painter.end()

    def _draw_bands(self, painter: QPainter, palette: Palette, area: QRect) -> None:
        assert self.scene is not None
        assert self.view is not None
        ratio = self.devicePixelRatioF()
        width, height = max(1, round(area.width() * ratio)), max(1, round(area.height() * ratio))
        if self._stale or self.numbers.shape != (height, width):
            self.numbers = paint(self.scene.columns(self.view, width), height, self._top)
            line = self.scene.reserved_columns()
            if line is not None:
                self.numbers[paint_lines((line,), height, self._top) > 0] = _LINE
            self._image, self._coloured, self._stale = None, None, False
        place = self.scene.owners.index(self.marked) if self.marked in self.scene.owners else None
        table = (*band_table(palette, self.scene.series, place), QColor(palette.text).rgb())
        if self._coloured != table:
            self._pixels = np.array(table, np.uint32)[self.numbers]
            self._image = QImage(self._pixels.data, width, height, 4 * width, QImage.Format.Format_RGB32)
            self._coloured = table
        assert self._image is not None
        painter.drawImage(QRectF(area), self._image)

    def _draw_marks(self, painter: QPainter, palette: Palette, area: QRect) -> None:
        assert self.view is not None
        line = QColor(palette.text)
        line.setAlphaF(0.13)
        middle = Qt.AlignmentFlag.AlignVCenter
        for size, name in size_marks(self._top, max(2, area.height() // _MARK_HEIGHT)):
            y = round(self.y_of(size))
            painter.fillRect(QRectF(area.left(), y, area.width(), 1), line)
            painter.setPen(QColor(palette.muted))
            painter.drawText(QRectF(0, y - 8, area.left() - _BESIDE, 16), Qt.AlignmentFlag.AlignRight | middle, name)
        for place, name in self.view.marks(max(1, area.width() // _MARK_WIDTH)):
            x = area.left() + (place - self.view.left) / self.view.span * area.width()
            painter.fillRect(QRectF(x, area.bottom() + 1, 1, 3), QColor(palette.muted))
            half = _MARK_WIDTH / 2
            left = min(max(0.0, x - half), self.width() - _MARK_WIDTH)
            painter.drawText(QRectF(left, area.bottom() + 3, _MARK_WIDTH, _BELOW - 3), Qt.AlignmentFlag.AlignCenter, name)
        if self.capacity and self.capacity <= self._top:
            draw_dashes(painter, QRectF(area), self.y_of(self.capacity), palette.problem)

    def _draw_range(self, painter: QPainter, palette: Palette, area: QRect) -> None:
        if self.range is None:
            return
        left, right = (min(max(float(area.left()), self.x_of(point)), area.right() + 1.0) for point in self.range)
        tint = QColor(palette.accent)
        tint.setAlphaF(0.2)
        painter.fillRect(QRectF(left, area.top(), max(1.0, right - left), area.height()), tint)
        for point, letter in zip(self.range, "AB", strict=True):
            x = self.x_of(point)
            if area.left() <= x <= area.right() + 1:
                painter.fillRect(QRectF(x, area.top(), 1, area.height()), QColor(palette.accent))
                box = QRectF(min(x, area.right() - 14.0), area.bottom() - 15, 14, 15)
                painter.fillRect(box, QColor(palette.accent))
                painter.setPen(QColor(palette.on_accent))
                painter.drawText(box, Qt.AlignmentFlag.AlignCenter, letter)

    def _draw_flags(self, painter: QPainter, palette: Palette, area: QRect) -> None:
        metrics = lettering(SMALL)[1]
        taken: list[tuple[float, float]] = []
        marks = [(flag, self.x_of(flag.point)) for flag in self.flags]
        for flag, x in marks:
            if not area.left() <= x <= area.right() + 1:
                continue
            painter.fillRect(
                QRectF(x, area.top() - 4, 1, area.height() + 4), QColor(palette.problem if flag.bad else palette.muted)
            )
            width = metrics.horizontalAdvance(flag.label) + 2 * _LABEL_PADDING
            left = min(x, self.width() - width - 1.0)
            if not flag.label or any(left < end and start < left + width for start, end in taken):
                continue
            taken.append((left, left + width + _BETWEEN))
            box = QRectF(left, 0, width, _ABOVE - 3)
            painter.fillRect(box, QColor(palette.problem_tint if flag.bad else palette.unknown_tint))
            painter.setPen(QColor(palette.problem if flag.bad else palette.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, flag.label)

    def _draw_cursor(self, painter: QPainter, palette: Palette, area: QRect) -> None:
        if self.hasFocus():
            painter.setPen(QColor(palette.accent))
            painter.drawRect(area.adjusted(-1, -1, 0, 0))
        at = self.cursor_at
        if at is None or self.scene is None:
            return
        x = self.x_of(at.point)
        if area.left() <= x <= area.right() + 1:
            painter.fillRect(QRectF(x, area.top(), 1, area.height()), QColor(palette.text))
            if at.owner is not None:
                y = self.y_of(self.scene.middle_of(at))
                painter.setBrush(QColor(palette.text))
                painter.setPen(QColor(palette.panel))
                painter.drawEllipse(QPointF(x, y), 3.5, 3.5)
