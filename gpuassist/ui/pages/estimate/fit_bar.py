"""A GPU's memory with what a model would take of it: what others hold, each part, what stays free, and what goes beyond its end."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from gpuassist.model.estimate import CardAnswer, Estimate, EstimatePart
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.estimate import FIT_MARKS, PART_NAMES, amount, beyond_words, card_words
from gpuassist.ui import clipboard
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours, sans
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.memory_bar import ink_on
from gpuassist.ui.widgets.paintings import PaintedPicture
from gpuassist.ui.wording import as_tip

_HEIGHT, _GAP, _EDGE, _LEAST, _CORNER = 34, 2, 2, 4.0, 3.0
_HELD, _FREE = text("held by others"), text("free")
_SERIES = {
    EstimatePart.PARAMETERS: 0,
    EstimatePart.GRADIENTS: 3,
    EstimatePart.OPTIMIZER: 1,
    EstimatePart.ACTIVATIONS: 4,
    EstimatePart.PASSING: 5,
    EstimatePart.KV_CACHE: 6,
    EstimatePart.CONTEXT: 2,
}


class FitRow(QWidget):
    """A GPU: whether it fits there, its name and memory, and the bar."""

    def __init__(self, words: Words, answer: CardAnswer, found: Estimate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = bare(QVBoxLayout(self), 6)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(MarkIcon(FIT_MARKS[answer.fits], self), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(paragraph(words(card_words(answer)), "", self), 1)
        add_layout(column, row)
        if answer.card.obstacle is not None:
            return
        self.bar = FitBar(words, answer, found, self)
        column.addWidget(self.bar)
        beyond = beyond_words(answer, found)
        if beyond is not None:
            column.addWidget(paragraph(words(beyond), "muted", self))


class FitBar(PaintedPicture):
    """Painted across its whole width; the arrow keys go from part to part, Ctrl+C copies the figures."""

    def __init__(self, words: Words, answer: CardAnswer, found: Estimate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._whole = words, answer.card.total_bytes
        self.at = -1
        self._parts: list[tuple[EstimatePart | None, Text, int]] = [(None, _HELD, answer.card.held_bytes)]
        self._parts += [(part.kind, PART_NAMES[part.kind], part.size_bytes) for part in found.parts]
        self._parts.append((None, _FREE, max(0, answer.card.room_bytes - found.total_bytes)))
        self._parts = [one for one in self._parts if one[2] > 0]
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(words(text("Memory of {name}", name=answer.card.name)))
        self.setAccessibleDescription("\n".join(self.words_of(place) for place in range(len(self._parts))))

    def words_of(self, place: int) -> str:
        _, name, size = self._parts[place]
        return f"{self._words(name)}: {amount(size)}"

    def sizeHint(self) -> QSize:
        return QSize(400, by_text(_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, by_text(_HEIGHT))

    def boxes(self) -> tuple[QRectF, ...]:
        """Where each part is: the longer of the card and what is wanted of it is the whole width."""
        room = max(1.0, self.width() - 2 * _EDGE - _GAP * (len(self._parts) - 1))
        total = sum(size for *_, size in self._parts)
        least = min(_LEAST, room / len(self._parts))
        spare, left, found = room - least * len(self._parts), float(_EDGE), []
        for *_, size in self._parts:
            width = least + spare * size / total
            found.append(QRectF(left, _EDGE, width, self.height() - 2 * _EDGE))
            left += width + _GAP
        return tuple(found)

    def end(self) -> float:
        """Where the card ends; the width of the picture where all of it fits."""
        total = sum(size for *_, size in self._parts)
        return self.width() * min(1.0, self._whole / max(1, total))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = next((place for place, box in enumerate(self.boxes()) if box.contains(event.pos())), -1)
            self._tell(event.globalPos(), place)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            clipboard.copy(self.accessibleDescription())
        elif event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            self.at = min(max(self.at + step, 0), len(self._parts) - 1)
            self._tell(self.mapToGlobal(self.boxes()[self.at].bottomLeft().toPoint()), self.at)
            self.update()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(sans(bold=True))
        for place, (box, (kind, name, size)) in enumerate(zip(self.boxes(), self._parts, strict=True)):
            colour = part_colour(palette, kind, free=name == _FREE)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRoundedRect(box, _CORNER, _CORNER)
            words = amount(size)
            if QFontMetricsF(painter.font()).horizontalAdvance(words) + 14 <= box.width():
                painter.setPen(ink_on(colour))
                painter.drawText(box.adjusted(8, 0, -4, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
            if place == self.at and self.hasFocus():
                _frame(painter, box, palette)
        if self.end() < self.width():
            painter.setPen(QPen(QColor(palette.problem), 3, Qt.PenStyle.DashLine))
            painter.drawLine(QPoint(round(self.end()), 0), QPoint(round(self.end()), self.height()))
        if self.hasFocus() and self.at < 0:
            _frame(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), palette)
        painter.end()

    def _tell(self, where: QPoint, place: int) -> None:
        if place < 0:
            QToolTip.hideText()
        else:
            QToolTip.showText(where, as_tip(self.words_of(place)), self)


class Swatch(QWidget):
    """The colour of a part, asked anew at each paint so that it follows the theme."""

    def __init__(self, kind: EstimatePart, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = kind
        self.setFixedSize(QSize(10, 10))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        painter.setPen(QColor(palette.line))
        painter.setBrush(part_colour(palette, self._kind))
        painter.drawRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5))
        painter.end()


def part_row(kind: EstimatePart, words: tuple[str, str, str], parent: QWidget) -> QWidget:
    """A line of the legend: colour, name, size, and how far off it may be."""
    inside = QWidget(parent)
    row = bare(QHBoxLayout(inside), 8)
    row.addWidget(Swatch(kind, inside))
    name = label(words[0], "", inside)
    name.setMinimumWidth(by_text(170))
    row.addWidget(name)
    size = label(words[1], "strong", inside)
    size.setMinimumWidth(by_text(80))
    row.addWidget(size)
    row.addWidget(paragraph(words[2], "muted", inside), 1)
    inside.setAccessibleName(f"{words[0]}: {words[1]}, {words[2]}")
    return inside


def part_colour(palette: Palette, kind: EstimatePart | None, *, free: bool = False) -> QColor:
    """That of a part; grey of what others hold."""
    if free:
        return _mixed(palette.right, palette.panel, 0.22)
    if kind is None:
        return _mixed(palette.series[2], palette.text, 0.7)
    if kind is EstimatePart.MARGIN:
        return QColor(palette.line)
    return QColor(palette.series[_SERIES[kind] % len(palette.series)])


def _mixed(colour: str, other: str, share: float) -> QColor:
    one, two = QColor(colour), QColor(other)
    pairs = ((one.redF(), two.redF()), (one.greenF(), two.greenF()), (one.blueF(), two.blueF()))
    red, green, blue = (share * left + (1 - share) * right for left, right in pairs)
    return QColor.fromRgbF(red, green, blue)


def _frame(painter: QPainter, box: QRectF, palette: Palette) -> None:
    painter.setPen(QPen(QColor(palette.text), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, _CORNER, _CORNER)
