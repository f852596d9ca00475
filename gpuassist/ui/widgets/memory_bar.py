"""A card's memory as a picture that adds up: the bar, what its colours mean, what was wanted, and what is not as it seems."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.words import Words
from gpuassist.present.memory import part_name, short_size, wanted
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.cards import clear
from gpuassist.ui.widgets.flow_layout import FlowLayout
from gpuassist.ui.widgets.memory_strip import MemoryStrip, part_colour
from gpuassist.ui.widgets.paragraphs import label, paragraph

_SWATCH = 10


class MemoryBar(QWidget):
    """The whole picture; it grows in height where the legend does not fit into one line."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.strip = MemoryStrip(words, self)
        self._legend = QWidget(self)
        self._notes = QVBoxLayout()
        self._notes.setSpacing(4)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.strip)
        self._column.addWidget(self._legend)
        self._column.addLayout(self._notes)

    def show_picture(self, picture: MemoryPicture) -> None:
        """Shows this from now on."""
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
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
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
