"""What to do, as a card with the commands to copy and where to type them; and the lines of the text that it rests on."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines, copyable, where_to_type
from gpuassist.present.explanation import Quotation
from gpuassist.present.remedies import ShownRemedy
from gpuassist.ui.widgets.buttons import secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.own_command import said
from gpuassist.ui.widgets.plan_steps import PlanSteps


class RemedyCard(Card):
    """`number` is its place among several; 0 where it is the only one."""

    def __init__(self, words: Words, shown: ShownRemedy, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.remedy = remedy = shown.remedy
        self.setAccessibleName(on_one_line(remedy.text))
        self.body.addWidget(paragraph(on_one_line(f"{number} · {remedy.text}" if number else remedy.text), "strong", self))
        lines = tuple(command_lines(remedy)) if shown.is_one else ()
        if not shown.is_one or shown.notes:
            self.body.addWidget(PlanSteps(words, shown, self))
        if lines:
            self.body.addWidget(CommandBlock(words, lines, words(text("Commands")), self))
        where = where_to_type(remedy)
        if where is not None:
            self.body.addWidget(paragraph(words(where), "muted", self))
        if remedy.check and shown.is_one:
            check = words(text("To see that it worked: {check}", check=copyable(remedy.check)))
            self.body.addWidget(said(words, check, "muted", self))
        self.body.addStretch(1)


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
