"""What a snapshot shows and what to do about it: a card for each finding, the first thing to change first."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuassist.model.finding import Severity
from gpuassist.model.memory_story import SnapshotFinding
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.wording import sentence_case

MARKS = {Severity.PROBLEM: Mark.PROBLEM, Severity.WARNING: Mark.WARNING, Severity.INFO: Mark.INFO}


def first_words(findings: Sequence[SnapshotFinding], words: Words) -> tuple[Mark, str]:
    """What to change first, in a sentence or two; that nothing stands out where nothing does."""
    if not findings:
        return Mark.RIGHT, words(text("Nothing stands out: no out-of-memory error, no steady growth, little fragmentation."))
    first = findings[0]
    said = (words(one) for one in (first.title, first.change) if one.message)
    told = ""
    for one in said:
        ended = _ended(sentence_case(one), words)
        told = words(text("{sentences} {sentence}", sentences=told, sentence=ended)) if told else ended
    return MARKS[first.severity], told


def _ended(sentence: str, words: Words) -> str:
    return sentence if sentence.endswith((".", "。", "!", "?", ":")) else words(text("{done}.", done=sentence))


class FindingsPart(QScrollArea):
    """Scrolls where there are more than fit."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        inside = QWidget(self)
        inside.setObjectName("content")
        self._column = bare(QVBoxLayout(inside), 12)
        self.setWidget(inside)
        self.setAccessibleName(words(text("What to change")))

    def show_findings(self, findings: Sequence[SnapshotFinding]) -> None:
        clear(self._column)
        for one in findings:
            self._column.addWidget(self._finding(one))
        if not findings:
            self._column.addWidget(paragraph(first_words((), self._words)[1], "muted", self))
        self._column.addStretch(1)

    def _finding(self, finding: SnapshotFinding) -> QWidget:
        inside = QWidget(self)
        column = bare(QVBoxLayout(inside), 2)
        row = _Titled(MARKS[finding.severity], sentence_case(self._words(finding.title)), inside)
        column.addWidget(row)
        for said, role in ((finding.explanation, "muted"), (finding.change, "")):
            if said.message:
                column.addWidget(paragraph(sentence_case(self._words(said)), role, inside))
        inside.setAccessibleName(row.accessibleName())
        return inside


class _Titled(QWidget):
    def __init__(self, mark: Mark, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 8)
        row.addWidget(MarkIcon(mark, self), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(title, "strong", self), 1)
        self.setAccessibleName(title)
