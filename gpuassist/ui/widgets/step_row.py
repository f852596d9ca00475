"""A step of a plan as a row: its number or how it went, what it does, and its commands to copy."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.marks import MarkIcon


class StepRow(QWidget):
    """A step: its number or how it went, what it does, one line below it, and commands to copy."""

    def __init__(
        self, words: Words, title: Text, detail: Text | None, parent: QWidget | None = None, *, commands: tuple[str, ...] = ()
    ) -> None:
        super().__init__(parent)
        grid = bare(QGridLayout(self))
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self._number = label("", "muted", self)
        self._number.setFixedWidth(20)
        self._number.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._icon = MarkIcon(Mark.TODO, self)
        self._icon.hide()
        grid.addWidget(self._number, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(paragraph(words(title), "", self), 0, 1)
        if detail is not None:
            grid.addWidget(paragraph(words(detail), "small", self), 1, 1)
        if commands:
            grid.addWidget(CommandBlock(words, commands, words(text("Commands")), self), 2, 1)

    @property
    def mark(self) -> Mark | None:
        return None if self._icon.isHidden() else self._icon.mark

    def show_number(self, number: int) -> None:
        self._number.setText(str(number))

    def show_mark(self, mark: Mark) -> None:
        self._icon.set_mark(mark)
        self._icon.show()
        self._number.hide()
