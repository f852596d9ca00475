"""How the segments of a device lie: a picture of them, what it shows in words, and who owns the block that is pointed at."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpuassist.model.text import Text, joined, text
from gpuassist.model.words import Words
from gpuassist.present.snapshot_page import address_meant, allocation_words, fragmentation_words, segment_words
from gpuassist.session.opened_snapshot import DeviceLook
from gpuassist.session.snapshot_owners import row_at_address
from gpuassist.ui.palette import Palette
from gpuassist.ui.plots.segment_raster import AWAITING, BEGINS, FULL, NOTHING, SegmentMap, SegmentRow
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.labels import ElidedLabel, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.paintings import PaintedPicture
from gpuassist.ui.widgets.text_fields import HintedLine

_LINE, _GAP = 9, 2  # pixels of a row of the picture, and between two


class SegmentPicture(PaintedPicture):
    """The arrow keys go from block to block, the mouse points at one."""

    pointed = Signal(object)  # SegmentRow, or None

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.map: SegmentMap | None = None
        self.offset: float | None = None
        self._numbers = np.zeros((0, 0), np.uint8)
        self._pixels = np.zeros((0, 0), np.uint32)
        self._image: QImage | None = None
        self._table: object = None

    def show_map(self, shown: SegmentMap) -> None:
        self.map, self.offset, self._image = shown, None, None
        self._numbers = np.zeros((0, 0), np.uint8)
        self.update()

    @property
    def rows(self) -> int:
        return max(1, self.height() // (_LINE + _GAP))

    def sizeHint(self) -> QSize:
        return QSize(400, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 4 * (_LINE + _GAP))

    def point_at(self, offset: float | None) -> None:
        """What lies there, in bytes from the beginning."""
        self.offset = offset
        self.update()
        self.pointed.emit(self.map.at(offset) if self.map is not None and offset is not None else None)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.point_at(self._offset_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self.hasFocus():
            self.point_at(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key
        steps = {key.Key_Right: 1, key.Key_Left: -1, key.Key_PageDown: 100, key.Key_PageUp: -100, key.Key_Home: -(1 << 40)}
        step = steps.get(key(event.key()))
        if step is None or self.map is None:
            super().keyPressEvent(event)
            return
        self.point_at(self.map.next_start(self.offset, step) if self.offset is not None else self.map.next_start(0.0, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._image = None

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        painter.fillRect(self.rect(), QColor(palette.panel))
        if self.map is not None and self.map.total:
            self._draw(painter, palette, self.map)
        painter.end()

    def _draw(self, painter: QPainter, palette: Palette, shown: SegmentMap) -> None:
        width = max(1, self.width())
        if self._numbers.shape != (self.rows, width):
            self._numbers, self._table = shown.paint(width, self.rows), None
        table = _table(palette)
        if self._table != table or self._image is None:
            self._pixels = np.array(table, np.uint32)[self._numbers]
            self._image = QImage(self._pixels.data, width, self.rows, 4 * width, QImage.Format.Format_RGB32)
            self._table = table
        for row in range(self.rows):
            painter.drawImage(QRectF(0, row * (_LINE + _GAP), width, _LINE), self._image, QRectF(0, row, width, 1))
        if self.offset is not None:
            pixel = int(self.offset / shown.total * width * self.rows)
            x, y = pixel % width, pixel // width * (_LINE + _GAP)
            painter.setPen(QColor(palette.text))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(x - 2, y - 1, 4, _LINE + 1))
        if self.hasFocus():
            painter.setPen(QColor(palette.accent))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _offset_at(self, at: QPointF) -> float | None:
        if self.map is None or not self.rect().contains(at.toPoint()):
            return None
        row = min(int(at.y() // (_LINE + _GAP)), self.rows - 1)
        return (row * self.width() + at.x()) / (self.width() * self.rows) * self.map.total


def _table(palette: Palette) -> tuple[int, ...]:
    free, used = QColor(palette.unknown_tint), QColor(palette.series[0])
    table = [_mixed(used, free, level / FULL) for level in range(FULL + 1)] + [0, 0, 0]
    table[AWAITING], table[BEGINS] = QColor(palette.series[1]).rgb(), QColor(palette.text).rgb()
    table[NOTHING] = QColor(palette.panel).rgb()
    return tuple(table)


def _mixed(one: QColor, other: QColor, share: float) -> int:
    parts = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
    red, green, blue = (round(mine * share + yours * (1 - share)) for mine, yours in parts)
    return QColor(red, green, blue).rgb()


class SegmentsPart(QWidget):
    """The picture, what is to be seen in it, and a field for an address."""

    owner_chosen = Signal(object)  # an owner's number

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._look: DeviceLook | None = None
        self.summary = paragraph("", "muted", self)
        self.picture = SegmentPicture(words(text("Segments of the allocator")), self)
        self.said = ElidedLabel("", "", self)
        self.address = HintedLine(words(text("Who owns this address? 0x…")), self)
        self.address.setAccessibleName(words(text("Who owns this address?")))
        self.address.returnPressed.connect(self._find)
        self.picture.pointed.connect(self._say)
        row = bare(QHBoxLayout(), 12)
        row.addWidget(self.said, 2)
        row.addWidget(self.address, 1)
        column = bare(QVBoxLayout(self), 6)
        column.addWidget(self.summary)
        column.addWidget(self.picture, 1)
        add_layout(column, row)

    def show_look(self, look: DeviceLook) -> None:
        self._look = look
        told = self._words(joined(fragmentation_words(look.story.fragmentation)))
        set_paragraph(self.summary, told)
        self.picture.show_map(SegmentMap(look.opened.snapshot, look.story.device))
        self.picture.setAccessibleDescription(told.replace("`", ""))
        self._say(None)

    def _say(self, row: SegmentRow | None) -> None:
        look = self._look
        said: Text = _LEGEND
        if row is not None and look is not None:
            said = segment_words(look, row.segment, row.block)
        self.said.set_words(self._words(said))

    def _find(self) -> None:
        look, meant = self._look, address_meant(self.address.text())
        if look is None:
            return
        row = row_at_address(look.story, meant, look.story.events) if meant is not None else None
        if row is None:
            said = (
                text("No allocation of this snapshot lies there.") if meant is not None else text("An address looks like 0x7f2c…")
            )
            self.said.set_words(self._words(said))
            return
        self.said.set_words(self._words(allocation_words(look, row)))
        self.owner_chosen.emit(int(look.timeline.lives.owned_by[row]))


_LEGEND = text("blue is in use, grey free, and a line begins each segment")
