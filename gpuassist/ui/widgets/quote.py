"""A line quoted from a text, with its number; a click, or its button, leads there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpuassist.model.text import text
from gpuassist.session.words import Words
from gpuassist.ui.widgets.buttons import secondary
from gpuassist.ui.widgets.paragraphs import paragraph

_LONGEST = 400  # characters; a passage can be a whole block


class Quote(QWidget):
    """`line` counts from 1; `count` lines are quoted."""

    wanted = Signal(object)  # itself

    def __init__(self, words: Words, quoted: str, line: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        self.count = quoted.count("\n") + 1
        self.quoted = quoted
        shown = quoted if len(quoted) <= _LONGEST else quoted[:_LONGEST].rstrip() + " …"
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 6, 0, 6)
        row.setSpacing(16)
        row.addWidget(paragraph(shown.replace("`", "'"), "quote", self), 1)
        self._button: QPushButton = secondary(words(text("Line {number}", number=line)), self)
        self._button.setProperty("kind", "link")
        self._button.setAccessibleName(words(text("Show line {number}: {words}", number=line, words=shown)))
        self._button.clicked.connect(self._want)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(words(text("Show it in the text")))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._want()

    @Slot()
    def _want(self) -> None:
        self.wanted.emit(self)
