"""Help: the keys, and what gpuassist does and never does."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent, QWindow
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.session.navigation import TITLES
from gpuassist.ui.shortcuts import SHORTCUTS
from gpuassist.ui.widgets.buttons import primary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import MARGIN, add_layout, bare, by_text, open_within
from gpuassist.ui.widgets.scroll_page import ScrollPage

_WIDTH, _HEIGHT = 640, 600
PROMISES: tuple[Text, ...] = (
    text("gpuassist never needs root and never runs a root command: it shows such steps for you to copy."),
    text("It never loses a byte of your files: preview, backup, a test in a new shell, and undo at any time."),
    text("It never guesses: it says what it does not know, and why."),
    text("It uses the network only when you ask for it: a link, an install, a Prometheus server, another machine."),
)


def open_help(words: Words, over: QWidget) -> None:
    """Opens Help, or brings the one to the front that is open."""
    shown = over.findChild(Help)
    if shown is not None and shown.isVisible():  # one that was closed goes in the next turn of the event loop
        shown.raise_()
        shown.activateWindow()
    else:
        # Not modal: Qt drops the keys of a window that a modal one blocks, which gets them until the desktop has shown this one.
        Help(words, over).show()


class Help(QDialog):
    """The keys, and what gpuassist does and never does; one can go on in the window while it is read."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Help")))
        open_within(self, by_text(_WIDTH), by_text(_HEIGHT))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 20)
        layout.setSpacing(16)
        page = ScrollPage(self)
        page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # the arrows scroll it
        page.header.show_words(self.windowTitle(), words(text("Read, diagnose, repair, verify, watch: one page each.")))
        promises = Card(words(text("What you can rely on")), parent=self)
        for promise in PROMISES:
            promises.body.addWidget(paragraph(words(promise), "", promises))
        page.content.addWidget(promises)
        page.content.addWidget(self._keys(words))
        layout.addWidget(page, 1)
        done = primary(words(text("Close")), self)
        done.clicked.connect(self.accept)
        row = bare(QHBoxLayout())
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.addStretch(1)
        row.addWidget(done)
        add_layout(layout, row)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        below = self._below()
        if below is not None and not self.isActiveWindow():
            below.installEventFilter(self)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        below = self._below()
        if event.type() is QEvent.Type.ActivationChange and self.isActiveWindow() and below is not None:
            below.removeEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Of the window below, until the desktop gives the keys to this one: Escape is for what was opened last."""
        types = {QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress}
        if not isinstance(event, QKeyEvent) or event.type() not in types or event.key() != Qt.Key.Key_Escape:
            return False
        event.accept()  # so that no page takes it for a key of its own
        if event.type() is QEvent.Type.KeyPress:
            self.reject()
        return True

    def _below(self) -> QWindow | None:
        parent = self.parentWidget()
        return parent.window().windowHandle() if parent is not None else None

    def _keys(self, words: Words) -> Card:
        """Those that work everywhere first, then those of each page, in the order of the side list."""
        card = Card(words(text("Keys")), parent=self)
        for place in (None, *TITLES):
            rows = [FactRow(one.shown, words(one.does)) for one in SHORTCUTS if one.place is place]
            if rows and place is not None:
                card.body.addWidget(label(words(TITLES[place]), "strong", card))
            if rows:
                card.body.addWidget(FactTable(words, rows, card))
        return card
