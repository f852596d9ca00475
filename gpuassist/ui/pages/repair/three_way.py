"""What cannot be merged: what was changed since, what undo would change, and the lines that both do."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.restore import ThreeWay
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.undo import meeting_words
from gpuassist.shellfiles.diff import unified
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import bare

DIFF_HEIGHT = 240


class ThreeWayView(QWidget):
    """Shows all three; nothing can be done in it."""

    def __init__(self, words: Words, three: ThreeWay, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = bare(QVBoxLayout(self), 10)
        column.addWidget(paragraph(words(text("What was changed in {path} since:", path=three.path)), "muted", self))
        column.addWidget(diff_view(words, unified(three.path, three.written, three.now), self))
        column.addWidget(paragraph(words(text("What undo would change in the file as gpuassist wrote it:")), "muted", self))
        column.addWidget(diff_view(words, unified(three.path, three.written, three.wanted), self))
        for meeting in three.meetings:
            column.addWidget(paragraph(words(text("Both change line {line}:", line=meeting.line)), "muted", self))
            column.addWidget(CodeBlock(words, meeting_words(meeting), words(text("The lines that both change")), self))


def diff_view(words: Words, diff: str, parent: QWidget) -> DiffView:
    """What undo changes, as high as it is, up to a height."""
    view = DiffView(words(text("What undo changes")), parent)
    view.set_diff(diff)
    view.fit(DIFF_HEIGHT)
    return view
