"""A card's memory as a picture that adds up: the bar, what its colours mean, what was wanted, and what is not as it seems."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from gpuassist.model.memory_picture import MemoryPicture, PartKind
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.memory import as_plain_text, part_explained, part_name, short_size, wanted
from gpuassist.ui import clipboard
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours, sans
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import FlowLayout, add_layout, bare, clear
from gpuassist.ui.widgets.paintings import PaintedPicture

_SWATCH = 10
_HEIGHT = 40
_GAP = 2
_CORNER = 3.0
_LEAST = 4.0  # pixels of a part, so that the smallest is seen and can be pointed at
_FOCUS = 2
_DARK_INK, _LIGHT_INK = "#07090d", "#ffffff"
_MIDDLE = 0.18  # relative luminance from which on the dark one is read better


class MemoryBar(QWidget):
    """The whole picture; it grows in height where the legend does not fit into one line."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.strip = MemoryStrip(words, self)
        self._legend = QWidget(self)
        self._notes = bare(QVBoxLayout(), 4)
        self._column = bare(QVBoxLayout(self), 8)
        self._column.addWidget(self.strip)
        self._column.addWidget(self._legend)
        add_layout(self._column, self._notes)

    def show_picture(self, picture: MemoryPicture) -> None:
        self.strip.show_picture(picture)
        legend = _Legend(self._words, picture, self)
        self._column.replaceWidget(self._legend, legend)
        self._legend.hide()
        self._legend.deleteLater()
        self._legend = legend
        legend.show()
        clear(self._notes)
        for note in (wanted(picture), *picture.notes):
            self._notes.addWidget(paragraph(self._words(note), "muted", self))


class _Legend(QWidget):
    """What the colours mean, each with its size; it wraps."""

    def __init__(self, words: Words, picture: MemoryPicture, parent: QWidget) -> None:
        super().__init__(parent)
        flow = FlowLayout(self, gap=10)
        for place, part in enumerate(picture.parts):
            flow.addWidget(_Entry(picture, place, (words(part_name(part)), short_size(part.size_bytes)), self))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)


class _Entry(QWidget):
    """One part of the legend: its colour, name and size."""

    def __init__(self, picture: MemoryPicture, place: int, words: tuple[str, str], parent: QWidget) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 6)
        row.addWidget(_Swatch(picture, place, self), 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(label(words[0], "", self))
        row.addWidget(label(words[1], "strong", self))


class _Swatch(QWidget):
    """A square in a part's colour, asked anew at each paint so that it follows the theme."""

    def __init__(self, picture: MemoryPicture, place: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._picture, self._place = picture, place
        self.setFixedSize(QSize(_SWATCH, _SWATCH))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        palette = colours()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.line))
        painter.setBrush(part_colour(palette, self._picture, self._place))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        painter.end()


class MemoryStrip(PaintedPicture):
    """Painted across its whole width; the arrow keys go from part to part, Ctrl+C copies the figures."""

    chosen = Signal(int)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._picture: MemoryPicture | None = None
        self.at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words(text("The card's memory")))

    def show_picture(self, picture: MemoryPicture) -> None:
        self._picture = picture
        self.at = -1
        self.setAccessibleDescription(as_plain_text(picture, self._words))
        self.update()

    def boxes(self) -> tuple[QRectF, ...]:
        if self._picture is None:
            return ()
        sizes = [part.size_bytes for part in self._picture.parts]
        room = max(0.0, self.width() - 2 * _FOCUS - _GAP * (len(sizes) - 1))
        left = float(_FOCUS)
        found = []
        # Widths that fill the room: by share, but none under the least one while there is room for that.
        least = min(_LEAST, room / len(sizes)) if sizes else 0.0
        total = sum(sizes)
        spare = room - least * len(sizes)
        for width in [least + spare * size / total for size in sizes]:
            found.append(QRectF(left, _FOCUS, width, self.height() - 2 * _FOCUS))
            left += width + _GAP
        return tuple(found)

    def words_of(self, place: int) -> str:
        assert self._picture is not None
        part = self._picture.parts[place]
        name, size = self._words(part_name(part)), short_size(part.size_bytes)
        return f"{name}: {size}\n{self._words(part_explained(part))}"

    def copy(self) -> None:
        clipboard.copy(self.accessibleDescription())

    def sizeHint(self) -> QSize:
        return QSize(400, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, _HEIGHT)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._tell(event.globalPos(), self._place_at(event.pos()))
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Right} and self._picture is not None:
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            count = len(self._picture.parts)
            self.at = min(max(self.at + step, 0), count - 1)
            self.chosen.emit(self.at)
            self._tell(self.mapToGlobal(self.boxes()[self.at].bottomLeft().toPoint()), self.at)
            self.update()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = popups.menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._words(text("Copy the figures"))).triggered.connect(self.copy)
        menu.popup(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._picture is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(sans(bold=True))
        palette = colours()
        for place, (box, part) in enumerate(zip(self.boxes(), self._picture.parts, strict=True)):
            colour = part_colour(palette, self._picture, place)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(box, _CORNER, _CORNER)
            if part.kind is PartKind.UNUSED:  # in pieces: told apart without its colour too
                painter.setBrush(QBrush(ink_on(colour, 0.16), Qt.BrushStyle.BDiagPattern))
                painter.drawRoundedRect(box, _CORNER, _CORNER)
            words = short_size(part.size_bytes)
            if QFontMetricsF(painter.font()).horizontalAdvance(words) + 16 <= box.width():
                painter.setPen(ink_on(colour))
                painter.drawText(box.adjusted(10, 0, -6, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
            if place == self.at and self.hasFocus():
                _paint_frame(painter, box, palette)
        if self.hasFocus() and self.at < 0:
            _paint_frame(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), palette)
        painter.end()

    def _place_at(self, point: QPoint) -> int:
        return next((place for place, box in enumerate(self.boxes()) if box.adjusted(0, 0, _GAP, 0).contains(point)), -1)

    def _tell(self, where: QPoint, place: int) -> None:
        if place < 0:
            QToolTip.hideText()
        else:
            QToolTip.showText(where, self.words_of(place), self, self.boxes()[place].toRect())


def part_colour(palette: Palette, picture: MemoryPicture, place: int) -> QColor:
    """The colour of a part; each further process has another one."""
    part = picture.parts[place]
    blue, orange, grey = palette.series[:3]
    if part.kind is PartKind.PROCESS:
        before = sum(1 for one in picture.parts[:place] if one.kind is PartKind.PROCESS)
        return QColor((orange, *palette.series[3:])[before % (len(palette.series) - 2)])
    by_kind = {
        PartKind.ALLOCATED: QColor(blue),
        PartKind.WORKSPACE: QColor(palette.series[6]),
        PartKind.PRIVATE_POOLS: QColor(palette.series[7]),
        PartKind.UNUSED: _mixed(blue, palette.panel, 0.55),
        PartKind.CACHED: _mixed(blue, palette.panel, 0.4),
        PartKind.CONTEXT: _mixed(grey, palette.text, 0.7),
        PartKind.DESKTOP: _mixed(orange, palette.panel, 0.6),
        PartKind.OTHERS: QColor(orange),
        PartKind.REST: QColor(grey),
        PartKind.USED: _mixed(grey, palette.panel, 0.7),
        PartKind.UNACCOUNTED: QColor(palette.line),
        PartKind.FREE: _mixed(palette.right, palette.panel, 0.22),
    }
    return by_kind[part.kind]


def _paint_frame(painter: QPainter, box: QRectF, palette: Palette) -> None:
    painter.setPen(QPen(QColor(palette.text), _FOCUS))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, _CORNER, _CORNER)


def _mixed(colour: str, other: str, share: float) -> QColor:
    one, two = QColor(colour), QColor(other)
    pairs = ((one.redF(), two.redF()), (one.greenF(), two.greenF()), (one.blueF(), two.blueF()))
    red, green, blue = (share * left + (1 - share) * right for left, right in pairs)
    return QColor.fromRgbF(red, green, blue)


def ink_on(colour: QColor, strength: float = 1.0) -> QColor:
    """The ink of ours that is read better on a colour."""
    ink = QColor(_DARK_INK if _luminance(colour) > _MIDDLE else _LIGHT_INK)
    ink.setAlphaF(strength)
    return ink


def _luminance(colour: QColor) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
