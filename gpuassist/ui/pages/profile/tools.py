"""Which profiler next: a question is chosen, and the tool stands below it with its lines to copy."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.profilers import NOTES, QUESTION_TITLES, state_words
from gpuassist.session.profiling.next_tool import ProfilerAdvice, ToolState
from gpuassist.ui.widgets.buttons import LongChoice
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock, CommandBlock
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear


class ToolsCard(Card):
    """Empty until it is told what this machine has."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Which profiler next?")), parent=parent)
        self._words = words
        self.advice: tuple[ProfilerAdvice, ...] = ()
        self.question = LongChoice(self)
        self.question.setAccessibleName(words(text("What you want to know")))
        self.question.currentIndexChanged.connect(self._show_chosen)
        self.body.addWidget(self.question)
        self._rows = bare(QVBoxLayout(), 8)
        add_layout(self.body, self._rows)
        self.hide()

    def show_advice(self, advice: tuple[ProfilerAdvice, ...]) -> None:
        """The same question stays chosen."""
        at = max(0, self.question.currentIndex())
        self.advice = advice
        self.question.blockSignals(True)  # noqa: FBT003 -- Qt's own signature
        self.question.clear()
        for one in advice:
            self.question.addItem(self._words(QUESTION_TITLES[one.question]))
        self.question.setCurrentIndex(min(at, len(advice) - 1))
        self.question.blockSignals(False)  # noqa: FBT003 -- Qt's own signature
        self._show_chosen()
        self.setVisible(bool(advice))

    @Slot()
    def _show_chosen(self) -> None:
        clear(self._rows)
        at = self.question.currentIndex()
        if not 0 <= at < len(self.advice):
            return
        one, words = self.advice[at], self._words
        self._add_words(words(state_words(one)))
        for obstacle in one.obstacles:
            self._rows.addWidget(_Obstacle(words(obstacle), self))
        if one.install:
            self._add_words(words(text("Install it first:")), "muted")
            self._rows.addWidget(CommandBlock(words, one.install, words(text("Commands that install it")), self))
        if one.code:
            self._add_words(words(text("In the program:")), "muted")
            self._rows.addWidget(CodeBlock(words, "\n".join(one.code), words(text("Lines for the program")), self))
        if one.commands:
            self._add_words(words(text("In a terminal:")), "muted")
            self._rows.addWidget(CommandBlock(words, one.commands, words(text("Commands")), self))
        if one.state is not ToolState.UNKNOWN or one.code:
            self._add_words(words(NOTES[one.question]), "muted")

    def _add_words(self, words: str, role: str = "") -> None:
        self._rows.addWidget(paragraph(words, role, self))


class _Obstacle(Card):
    """What this machine does not let the tool do."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.add_marked(Mark.WARNING, paragraph(words, "", self))
