"""The thresholds of the live page: one line, read as the command line reads `--alert`, and a word on what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.monitor.alerts import Threshold, ThresholdError
from gpuassist.session.thresholds import read_thresholds, thresholds_words
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.text_fields import TextLine


class AlertsEdit(QWidget):
    """Says `changed` with all thresholds, once they can be read."""

    changed = Signal(object)  # tuple[Threshold, ...]

    def __init__(self, words: Words, thresholds: Sequence[Threshold], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._set = tuple(thresholds)
        name = words(text("Alert me at"))
        self.line = TextLine(thresholds_words(thresholds), self)
        self.line.setPlaceholderText("memory 90%; temperature 85; gpu0: idle 10")
        self.line.setAccessibleName(name)
        self.line.editingFinished.connect(self._read)
        self.button = small(words(text("Set")), self)
        self.button.clicked.connect(self._read)
        self._trouble = paragraph("", "muted", self)
        self._trouble.hide()
        row = bare(QHBoxLayout(), 8)
        row.addWidget(label(name, "", self))
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        column = bare(QVBoxLayout(self), 4)
        add_layout(column, row)
        column.addWidget(self._trouble)

    def show_trouble(self, words: str) -> None:
        """Also why nothing can be shown on the desktop; empty where all is well."""
        set_paragraph(self._trouble, words)
        self._trouble.setVisible(bool(words))

    @Slot()
    def _read(self) -> None:
        try:
            found = read_thresholds(self.line.text())
        except ThresholdError as error:
            self.show_trouble(self._words(error.reason))
            return
        self.show_trouble("")
        if found != self._set:
            self._set = found
            self.changed.emit(found)
