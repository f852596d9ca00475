"""The shares of a profile as a picture: over the time where it is known, else as one bar; below it what its colours mean."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QWidget

from gpuassist.model.profile import ProfileReading, TimeKind
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.profile import BASIS_WORDS, kind_title, share_rows, shown_part, shown_time, summary_of
from gpuassist.ui import clipboard
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import FlowLayout, bare, by_text
from gpuassist.ui.widgets.paintings import PaintedPicture
from gpuassist.ui.wording import as_tip, sentence_case

_SWATCH = 10
_HEIGHT, _BAR_HEIGHT = 132, 32
_FRAME = 2.0
_SERIES = {
    TimeKind.KERNELS: 0,
    TimeKind.COMMUNICATION: 5,
    TimeKind.COPIES: 4,
    TimeKind.DATA: 1,
    TimeKind.WAITS: 7,
    TimeKind.LAUNCHES: 6,
    TimeKind.OPERATORS: 3,
    TimeKind.REST: 2,
}


def kind_colour(palette: Palette, kind: TimeKind) -> QColor:
    """The same in the picture and beside its name."""
    if kind is TimeKind.START:
        return QColor(palette.line)
    return QColor(palette.problem) if kind is TimeKind.PYTHON else QColor(palette.series[_SERIES[kind]])


class SharesCard(Card):
    """One reading: its picture, and each kind with its share and its time."""

    def __init__(self, words: Words, reading: ProfileReading, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Where the time goes")), parent=parent)
        self._words = words
        basis = words(text("{done}.", done=BASIS_WORDS[reading.basis]))
        self.body.addWidget(paragraph(sentence_case(basis), "muted", self))
        self.picture = SharePicture(words, reading, self)
        self.body.addWidget(self.picture)
        legend = QWidget(self)
        flow = FlowLayout(legend, gap=14)
        for row in share_rows(reading):
            time = words(shown_time(row.seconds)) if row.seconds is not None else ""
            flow.addWidget(_KindEntry(row.kind, words(row.title), f"{words(shown_part(row.part))}  {time}".strip(), legend))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        legend.setSizePolicy(policy)
        self.body.addWidget(legend)


class _KindEntry(QWidget):
    """A colour, what it is, and how much of it there is."""

    def __init__(self, kind: TimeKind, title: str, figure: str, parent: QWidget) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 6)
        row.addWidget(_KindSwatch(kind, self), 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(label(title, "", self))
        row.addWidget(label(figure, "strong", self))


class _KindSwatch(QWidget):
    """A square in a kind's colour, asked anew at each paint so that it follows the theme."""

    def __init__(self, kind: TimeKind, parent: QWidget) -> None:
        super().__init__(parent)
        self._kind = kind
        self.setFixedSize(QSize(_SWATCH, _SWATCH))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours().muted))
        painter.setBrush(kind_colour(colours(), self._kind))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
        painter.end()


class SharePicture(PaintedPicture):
    """Columns over time, each as high as the whole, or one bar; the arrow keys walk it, Ctrl+C copies the figures."""

    def __init__(self, words: Words, reading: ProfileReading, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._reading = words, reading
        self.at = -1
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        name = text("Shares over time") if reading.timeline else text("Shares of the time")
        self.setAccessibleName(words(name))
        self.setAccessibleDescription(words(summary_of(reading)))

    def sizeHint(self) -> QSize:
        return QSize(400, by_text(_HEIGHT if self._reading.timeline else _BAR_HEIGHT))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        room = QRectF(self.rect()).adjusted(_FRAME, _FRAME, -_FRAME, -_FRAME)
        painter.fillRect(room, QColor(palette.well))
        if self._reading.timeline:
            self._paint_columns(painter, room, palette)
        else:
            self._paint_bar(painter, room, palette)
        if self.hasFocus():
            painter.setPen(QPen(QColor(palette.accent), _FRAME))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_columns(self, painter: QPainter, room: QRectF, palette: Palette) -> None:
        """What the GPU does stands at the bottom, so that its gaps are seen."""
        width = room.width() / len(self._reading.timeline)
        for place, parts in enumerate(self._reading.timeline):
            bottom, left = room.bottom(), room.left() + place * width
            for share, part in zip(self._reading.shares, parts, strict=True):
                height = part * room.height()
                if height > 0:
                    painter.fillRect(QRectF(left, bottom - height, width + 0.5, height), kind_colour(palette, share.kind))
                bottom -= height
        if 0 <= self.at < len(self._reading.timeline):
            middle = room.left() + (self.at + 0.5) * width
            painter.setPen(QPen(QColor(palette.text), 1))
            painter.drawLine(QPointF(middle, room.top()), QPointF(middle, room.bottom()))

    def _paint_bar(self, painter: QPainter, room: QRectF, palette: Palette) -> None:
        left = room.left()
        for place, row in enumerate(share_rows(self._reading)):
            width = row.part * room.width()
            box = QRectF(left, room.top(), width, room.height())
            painter.fillRect(box, kind_colour(palette, row.kind))
            if place == self.at:
                painter.setPen(QPen(QColor(palette.text), _FRAME))
                painter.drawRect(box)
            left += width

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), as_tip(self.words_at(self._place_at(event.pos().x()))), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            clipboard.copy(self.accessibleDescription())
        elif event.key() in {Qt.Key.Key_Left, Qt.Key.Key_Right}:
            step = 1 if event.key() == Qt.Key.Key_Right else -1
            self.at = min(max(self.at + step, 0), self._count() - 1)
            where = QPoint(int(self.width() * (self.at + 0.5) / self._count()), self.height())
            QToolTip.showText(self.mapToGlobal(where), as_tip(self.words_at(self.at)), self)
            self.update()
        else:
            super().keyPressEvent(event)

    def words_at(self, place: int) -> str:
        """What a column, or a part of the bar, shows."""
        reading = self._reading
        if not reading.timeline:
            rows = share_rows(reading)
            row = rows[place] if 0 <= place < len(rows) else None
            return f"{self._words(row.title)}: {self._words(shown_part(row.part))}" if row is not None else ""
        if not 0 <= place < len(reading.timeline) or not reading.seconds:
            return ""
        begin = reading.seconds * place / len(reading.timeline)
        lines = [self._words(text("from {time} on", time=shown_time(begin)))]
        for share, part in zip(reading.shares, reading.timeline[place], strict=True):
            if part >= 0.005:
                lines.append(f"{self._words(kind_title(reading, share.kind))}: {self._words(shown_part(part))}")
        return "\n".join(lines)

    def _count(self) -> int:
        return max(1, len(self._reading.timeline) or len(share_rows(self._reading)))

    def _place_at(self, x: int) -> int:
        share = min(max((x - _FRAME) / max(1.0, self.width() - 2 * _FRAME), 0.0), 0.999999)
        if self._reading.timeline:
            return int(share * len(self._reading.timeline))
        before = 0.0
        for place, row in enumerate(share_rows(self._reading)):
            before += row.part
            if share < before:
                return place
        return -1
