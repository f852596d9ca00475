"""Terms on this page: each with one sentence, and a way to its entry; for whoever has no mouse, or wants to read them at once."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gpuassist.knowledge.terms import Term
from gpuassist.model.text import sentence, text
from gpuassist.model.words import Words
from gpuassist.session.navigation import GoTo, SideTool, ToTerm
from gpuassist.session.terms import Glossary
from gpuassist.ui.theme import sans
from gpuassist.ui.widgets.buttons import primary, small
from gpuassist.ui.widgets.keys import press_focused
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, open_within

_LETTERS_WIDE, _LINES_HIGH = 84, 24
_PADDING = QSize(20, 18)  # as the style sheet has it, and a little air
_KEY = Qt.ItemDataRole.UserRole


class TermPanel(QDialog):
    """A list of terms; Enter or a double click opens the entry of one. `wanted` carries where to go."""

    wanted = Signal(object)  # Destination

    def __init__(self, terms: Sequence[Term], glossary: Glossary, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Terms on this page")))
        metrics = QFontMetrics(sans())
        self._room = metrics.averageCharWidth() * _LETTERS_WIDE
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(label(self.windowTitle(), "heading", self))
        self.list = QListWidget(self)
        self.list.setObjectName("topics")
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.windowTitle())
        self.list.itemActivated.connect(self._open)
        for one in terms:
            self._add(one.key, f"{glossary.title(one.key)}\n{words(sentence(one.short))}", metrics)
        none = paragraph(words(text("No word on this page is in the glossary.")), "muted", self)
        none.setVisible(not terms)
        layout.addWidget(none)
        self.list.setVisible(bool(terms))
        layout.addWidget(self.list, 1)
        row = bare(QHBoxLayout(), 8)
        every = small(words(text("All terms")), self)
        every.clicked.connect(self._open_all)
        self._read = primary(words(text("Read more")), self)
        self._read.setEnabled(bool(terms))
        self._read.clicked.connect(self._open_current)
        row.addWidget(every)
        row.addStretch(1)
        row.addWidget(self._read)
        add_layout(layout, row)
        wanted = sum(self.list.item(place).sizeHint().height() for place in range(self.list.count()))
        open_within(self, self._room + 90, min(wanted, metrics.height() * _LINES_HIGH) + 170)
        if terms:
            self.list.setCurrentRow(0)
            self.list.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter} and self.list.hasFocus():
            self._open_current()
        elif not press_focused(self, event):
            super().keyPressEvent(event)

    def _add(self, key: str, shown: str, metrics: QFontMetrics) -> None:
        item = QListWidgetItem(shown, self.list)
        item.setData(_KEY, key)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        height = metrics.boundingRect(0, 0, self._room - _PADDING.width(), 1000, int(flags), shown).height()
        item.setSizeHint(QSize(self._room, height + _PADDING.height()))

    @Slot(object)
    def _open(self, item: QListWidgetItem) -> None:
        self.wanted.emit(ToTerm(str(item.data(_KEY))))
        self.accept()

    @Slot()
    def _open_current(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self._open(item)

    @Slot()
    def _open_all(self) -> None:
        self.wanted.emit(GoTo(SideTool.GUIDES))
        self.accept()
