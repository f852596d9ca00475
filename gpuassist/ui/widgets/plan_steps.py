"""The steps of a remedy that is a plan: what each does, its command lines to copy, and how to see that it worked."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.plan import Step
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.commands import copyable
from gpuassist.present.remedies import LETTERS, ShownRemedy
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.own_command import said


class PlanSteps(QWidget):
    """Those that are shown with this remedy, with where the ones before them stand, and what to know."""

    def __init__(self, words: Words, shown: ShownRemedy, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._column = bare(QVBoxLayout(self), 6)
        if shown.before is not None:
            self._column.addWidget(paragraph(on_one_line(words(shown.before)), "muted", self))
        for letter, step in zip(LETTERS, shown.steps, strict=False):
            self._add(letter, step)
        for note in shown.notes:
            self._column.addWidget(said(words, on_one_line(words(text("Note: {note}", note=note))), "muted", self))

    def _add(self, letter: str, step: Step) -> None:
        words = self._words
        self._column.addWidget(paragraph(on_one_line(f"{letter}) {words(step.text)}"), "", self))
        if step.commands:
            self._column.addWidget(CommandBlock(words, step.commands, words(text("Commands")), self))
        if step.check is not None:
            check = words(text("To see that it worked: {check}", check=copyable(words(step.check))))
            self._column.addWidget(said(words, check, "muted", self))
