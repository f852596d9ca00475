"""Help: the keys, and what gpuassist does and never does."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.widgets.buttons import primary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import bare, by_text
from gpuassist.ui.widgets.scroll_page import PageHeader, ScrollWhole

_WIDTH, _BESIDE = 560, 40
KEYS: tuple[tuple[str, Text], ...] = (
    ("Alt+Left", text("the previous page")),
    ("Alt+Right", text("the next page")),
    ("Ctrl+1 … Ctrl+0", text("a page of the side list")),
    ("Ctrl+R", text("read the machine again")),
    ("Ctrl+O", text("open a recorded machine")),
    ("Ctrl+Return", text("the blue button")),
    ("F5", text("GPU processes: refresh")),
    ("Space", text("Live memory: pause or resume")),
    ("+ … -", text("Live memory: zoom in or out")),
    ("Left … Right", text("Live memory: back and forward in time")),
    ("Home … End", text("Live memory: to the beginning or to now")),
    ("0 … 9", text("Live memory: one GPU, by its index")),
    ("A", text("Live memory: all GPUs")),
    ("M", text("Live memory: mark the chosen process in the plot")),
    ("Ctrl+C", text("copy what is selected or focused")),
    ("Shift+F1 … ?", text("what the terms on this page mean")),
    ("F1", text("this help")),
)
PROMISES: tuple[Text, ...] = (
    text("gpuassist never needs root and never runs a root command: it shows such steps for you to copy."),
    text("It never loses a byte of your files: preview, backup, a test in a new shell, and undo at any time."),
    text("It never guesses: it says what it does not know, and why."),
    text("It uses no network unless you open a link."),
)


class Help(QDialog):
    """The keys, and what gpuassist does and never does."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Help")))
        self.resize(_WIDTH, _WIDTH)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(PageHeader(self.windowTitle(), words(text("Read, diagnose, repair, verify, watch: one page each.")), self))
        promises = Card(words(text("What you can rely on")), parent=self)
        for promise in PROMISES:
            promises.body.addWidget(paragraph(words(promise), "", promises))
        keys = Card(words(text("Keys")), parent=self)
        keys.body.addWidget(FactTable(words, [FactRow(key, words(what)) for key, what in KEYS], keys))
        inside = QWidget(self)
        inside.setObjectName("content")
        column = bare(QVBoxLayout(inside), 16)
        for card in (promises, keys):
            column.addWidget(card)
        column.addStretch(1)
        self._inside = inside
        self._scroll = ScrollWhole(inside, self)
        layout.addWidget(self._scroll, 1)
        done = primary(words(text("Close")), self)
        done.clicked.connect(self.accept)
        layout.addWidget(done, 0, Qt.AlignmentFlag.AlignRight)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        lacking = self._inside.heightForWidth(self._scroll.viewport().width()) - self._scroll.viewport().height()
        room = self.screen().availableGeometry().size() - QSize(_BESIDE, _BESIDE)
        self.resize(QSize(by_text(_WIDTH), self.height() + max(0, lacking)).boundedTo(room))
