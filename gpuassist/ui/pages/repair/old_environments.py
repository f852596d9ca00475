"""Which programs still have the environment of before, how each is restarted, and the lines that help to be copied."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.old_environment import OldEnvironments, OldProgram
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.old_environments import about, headline, how, label, limits
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.labels import Hairline, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.wording import sentence_case


class OldEnvironmentsCard(Card):
    """A row for each program that has to be restarted; not there where nobody looked."""

    look_wanted = Signal()  # once more: something was restarted meanwhile

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Programs that are already running")), parent=parent)
        self._words = words
        self.found: OldEnvironments | None = None
        self.again: QPushButton = small(words(text("Refresh")), self)
        self.again.clicked.connect(self._ask)
        self.head.addWidget(self.again)
        self._rows = bare(QVBoxLayout(), 10)
        add_layout(self.body, self._rows)
        self.hide()

    def show_found(self, found: OldEnvironments | None) -> None:
        """All of them, or that there are none; nothing where nobody looked."""
        self.found = found
        self.again.setEnabled(True)
        clear(self._rows)
        self.setVisible(found is not None)
        if found is None:
            return
        if found.programs or not found.notes:
            self._rows.addWidget(paragraph(self._words(headline(found)), "" if found.programs else "muted", self))
        for one in found.programs:
            self._rows.addWidget(Hairline(self))
            self._rows.addWidget(OldProgramRow(self._words, one, self))
        for note in found.notes:
            self._rows.addWidget(paragraph(sentence_case(self._words(note)), "muted", self))
        if found.programs:
            self._rows.addWidget(Hairline(self))
            self._rows.addWidget(paragraph(self._words(limits(found)), "small", self))

    @Slot()
    def _ask(self) -> None:
        self.again.setEnabled(False)
        self.look_wanted.emit()


class OldProgramRow(QWidget):
    """One program: which it is, what it holds and what runs in it, what to do, and lines to copy."""

    def __init__(self, words: Words, one: OldProgram, parent: QWidget) -> None:
        super().__init__(parent)
        grid = bare(QGridLayout(self))
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        grid.addWidget(MarkIcon(Mark.WARNING, self), 0, 0, Qt.AlignmentFlag.AlignTop)
        named = words(label(one))
        said = (
            (named if named.startswith(one.name) else sentence_case(named), "strong"),  # tmux is written so
            (sentence_case(words(about(one))), "small"),
            (words(how(one)), ""),
        )
        for row, (line, look) in enumerate(said):
            grid.addWidget(paragraph(line, look, self), row, 1)
        if one.commands:
            name = words(text("Lines for {program}", program=one.name))
            grid.addWidget(CommandBlock(words, one.commands, name, self), len(said), 1)
