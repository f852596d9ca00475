"""One thing to do, as a card: what, the commands to copy, where to type them, and how to see that it worked."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.finding import Remedy
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines, copyable, where_to_type
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.paragraphs import paragraph


class RemedyCard(Card):
    """`number` is its place among several; 0 where it is the only one."""

    def __init__(self, words: Words, remedy: Remedy, number: int, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.remedy = remedy
        self.setAccessibleName(on_one_line(remedy.text))
        self.body.addWidget(paragraph(on_one_line(f"{number} · {remedy.text}" if number else remedy.text), "strong", self))
        lines = tuple(command_lines(remedy))
        if lines:
            self.body.addWidget(CommandBlock(words, lines, words(text("Commands")), self))
        where = where_to_type(remedy)
        if where is not None:
            self.body.addWidget(paragraph(words(where), "muted", self))
        if remedy.check:
            self.body.addWidget(
                paragraph(words(text("To see that it worked: {check}", check=copyable(remedy.check))), "muted", self)
            )
        self.body.addStretch(1)
