"""The page that stands in the window's place after a fault of our own: what happened, and what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui.widgets.buttons import CopyButton, primary, secondary
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import MARGIN, FlowLayout, add_layout, bare, by_text
from gpuassist.ui.widgets.scroll_page import ScrollWhole

_WIDEST = 640


class FaultPage(QWidget):
    """Says it in words; the details are there to be copied, and in the log."""

    restart_wanted = Signal()
    go_on_wanted = Signal()

    def __init__(self, words: Words, trace: str, log: str, *, can_go_on: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.trace = trace
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = bare(QVBoxLayout(), 12)
        self.head = label(words(text("Something went wrong inside gpuassist")), "title", self)
        said = text(
            "This is a fault of gpuassist, not of your machine. What the window shows may be out of date: restart it, and it"
            " opens on the same page."
        )
        column.addWidget(self.head)
        column.addWidget(paragraph(words(said), "", self))
        lines = (text("In one line: {fault}", fault=_last_line(trace)), text("The log is in {path}.", path=log))
        self.said = "\n".join(map(words, lines))
        for line in self.said.splitlines():
            column.addWidget(paragraph(line, "muted", self))
        column.addSpacing(8)
        column.addWidget(self._buttons(words, can_go_on=can_go_on))
        middle = QWidget(self)
        middle.setMaximumWidth(by_text(_WIDEST))
        middle.setLayout(column)
        across = bare(QHBoxLayout(), 0)
        across.addStretch(1)
        across.addWidget(middle, 100)
        across.addStretch(1)
        inside = QWidget()
        inside.setObjectName("content")
        whole = QVBoxLayout(inside)
        whole.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
        whole.addStretch(1)
        add_layout(whole, across)
        whole.addStretch(2)
        bare(QVBoxLayout(self)).addWidget(ScrollWhole(inside, self))

    def _buttons(self, words: Words, *, can_go_on: bool) -> QWidget:
        buttons = QWidget(self)
        row = FlowLayout(buttons)
        self.restart = primary(words(text("Restart the window")), self)
        self.restart.clicked.connect(self.restart_wanted)
        self.copy = CopyButton(words, lambda: self.trace, self, title=words(text("Copy the details")))
        row.addWidget(self.restart)
        self.on: QPushButton | None = None
        if can_go_on:
            self.on = secondary(words(text("Continue without a restart")), self)
            self.on.clicked.connect(self.go_on_wanted)
            row.addWidget(self.on)
        row.addWidget(self.copy)
        return buttons


def _last_line(trace: str) -> str:
    return next((line for line in reversed(trace.splitlines()) if line.strip()), "")[:300]
