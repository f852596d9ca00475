"""A line quoted from a text, with its number; a click, or its button, leads there."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.explanation import Quotation
from gpuassist.ui.widgets.buttons import secondary
from gpuassist.ui.widgets.paragraphs import paragraph


class Quote(QWidget):
    """The beginning of what is quoted."""

    wanted = Signal(object)  # Quotation

    def __init__(self, words: Words, quotation: Quotation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.quotation = quotation
        shown, line = quotation.words, quotation.line
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 2, 0, 2)
        row.setSpacing(16)
        said = paragraph(shown.replace("`", "'"), "quote", self)
        said.setContentsMargins(0, 4, 0, 4)  # the first line on one height with the button
        row.addWidget(said, 1, Qt.AlignmentFlag.AlignTop)
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
        self.wanted.emit(self.quotation)
