"""A unified diff as people read it: line numbers, what goes in red, what comes in green, and long lines scrolled to, not cut."""

from __future__ import annotations

from enum import Enum
from math import ceil

from msgspec import Struct
from PySide6.QtCore import QEvent, QRect, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QFontMetricsF, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit, QWidget

from gpuassist.formats.visible import visible
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.code import make_read_only
from gpuassist.ui.widgets.text_fields import TextArea

_HUNK = lazy_regex(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")

_AROUND = 8  # lines and scroll bar


class DiffSign(str, Enum):
    """What happens to a line."""

    SAME = " "
    GONE = "-"
    NEW = "+"
    SKIP = "@"


class DiffLine(Struct, frozen=True):
    """A line with its number: that of the old file where it goes, else that of the new one; none where lines are left out."""

    sign: DiffSign
    number: int
    words: str


def read_diff(diff: str) -> tuple[DiffLine, ...]:
    """The lines of a unified diff of one file; its two header lines are left out."""
    lines: list[DiffLine] = []
    old = new = 0
    for line in diff.removesuffix("\n").split("\n"):  # and at nothing else: a line may hold form feeds and carriage returns
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = int(hunk[1]), int(hunk[2])
            if lines:
                lines.append(DiffLine(DiffSign.SKIP, 0, "⋯"))
        elif old or new:
            if line.startswith("-"):
                found = DiffLine(DiffSign.GONE, old, line[1:])
            elif line.startswith("+"):
                found = DiffLine(DiffSign.NEW, new, line[1:])
            elif line.startswith("\\"):
                found = DiffLine(DiffSign.SKIP, 0, line)
            else:
                found = DiffLine(DiffSign.SAME, new, line[1:])
            lines.append(found)
            old += found.sign in {DiffSign.SAME, DiffSign.GONE}
            new += found.sign in {DiffSign.SAME, DiffSign.NEW}
    return tuple(lines)


class DiffView(TextArea):
    """Shows a unified diff, read-only; copying takes the lines without signs and numbers."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines: tuple[DiffLine, ...] = ()
        make_read_only(self, name)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.document().setDocumentMargin(0)
        self._gutter = _Gutter(self)
        self.updateRequest.connect(self._follow)

    def set_diff(self, diff: str) -> None:
        self.lines = read_diff(diff)
        self.setPlainText("\n".join(visible(line.words) for line in self.lines))
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self._colour()
        self.updateGeometry()

    def fit(self, at_most: int) -> None:
        """Makes it as high as its lines, and its scroll bar, up to this."""
        bar = self.horizontalScrollBar().sizeHint().height()
        # Each line is laid out in whole pixels, rounded up.
        lines = len(self.lines) * ceil(QFontMetricsF(self.font()).lineSpacing())
        self.setFixedHeight(min(at_most, lines + bar + _AROUND))

    def sizeHint(self) -> QSize:
        return QSize(480, max(6, len(self.lines)) * QFontMetrics(self.font()).lineSpacing() + 24)

    def minimumSizeHint(self) -> QSize:
        return QSize(160, 96)

    def gutter_width(self) -> int:
        """How wide the column of signs and numbers is."""
        digits = len(str(max((line.number for line in self.lines), default=1)))
        return QFontMetrics(self.font()).horizontalAdvance("0" * (digits + 1)) + 24

    def paint_gutter(self, painter: QPainter) -> None:
        """Signs and numbers beside the lines that can be seen."""
        palette = colours()
        painter.setFont(self.font())
        block = self.firstVisibleBlock()
        while block.isValid() and block.blockNumber() < len(self.lines):
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > self.viewport().height():
                break
            room = QRect(0, round(box.top()), self._gutter.width(), round(box.height()))
            line = self.lines[block.blockNumber()]
            tint = _tint(line, palette)
            if tint:
                painter.fillRect(room, QColor(tint))
            painter.setPen(QColor(palette.muted))
            if line.number:
                number = f"{line.sign.value.strip()}{line.number}"
                painter.drawText(room.adjusted(0, 0, -14, 0), Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
            block = block.next()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange:
            self._colour()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room = self.contentsRect()
        self._gutter.setGeometry(QRect(room.left(), room.top(), self.gutter_width(), room.height()))

    def _colour(self) -> None:
        palette = colours()
        numbered = enumerate(self.lines)
        self.setExtraSelections([self._selection(place, line, palette) for place, line in numbered if _tint(line, palette)])

    def _selection(self, place: int, line: DiffLine, palette: Palette) -> QTextEdit.ExtraSelection:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(self.document().findBlockByNumber(place))
        selection.format.setBackground(QColor(_tint(line, palette)))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)  # noqa: FBT003 -- Qt's value, no flag of ours
        return selection

    @Slot(object, object)
    def _follow(self, room: QRect, down: int) -> None:
        if down:
            self._gutter.scroll(0, down)
        else:
            self._gutter.update(0, room.y(), self._gutter.width(), room.height())


class _Gutter(QWidget):
    def __init__(self, view: DiffView) -> None:
        super().__init__(view)
        self._view = view

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._view.paint_gutter(painter)
        painter.end()


def _tint(line: DiffLine, palette: Palette) -> str:
    return {DiffSign.GONE: palette.problem_tint, DiffSign.NEW: palette.right_tint}.get(line.sign, "")
