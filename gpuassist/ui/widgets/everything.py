"""The dialog with everything that was read: a tree of facts, and the same as JSON to copy or save."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QTreeView, QVBoxLayout, QWidget

from gpuassist.formats.visible import escaped
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.dialogs import Asking
from gpuassist.ui.models.tree import TreeModel, branch
from gpuassist.ui.widgets.buttons import CopyButton, primary, secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.paragraphs import label
from gpuassist.ui.widgets.scroll_page import PageHeader


class Everything(QDialog):
    """Shows the document that `gpuassist detect --json` prints."""

    def __init__(self, words: Words, document: dict[str, Json], asking: Asking, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._asking = asking
        self._json = escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Everything we read")))
        self.resize(920, 640)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        subtitle = words(text("Each fact with where it was read, or why it is not known. Nothing here has left this machine."))
        layout.addWidget(PageHeader(self.windowTitle(), subtitle, self))
        card = Card(parent=self)
        headings = (words(text("Fact")), words(text("Value")), words(text("Source")))
        self.tree = FactTree(TreeModel(headings, branch("", document).children, self), self)
        card.body.addWidget(self.tree)
        layout.addWidget(card, 1)
        layout.addLayout(self._buttons())

    @property
    def json(self) -> str:
        """The document as it is copied and saved."""
        return self._json

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        copy = CopyButton(self._words, lambda: self._json, self, title=self._words(text("Copy as JSON")))
        copy.setProperty("compact", None)
        save = secondary(self._words(text("Save…")), self)
        save.clicked.connect(self._ask_where)
        self._trouble = label("", "muted", self)
        done = primary(self._words(text("Close")), self)
        done.clicked.connect(self.accept)
        done.setDefault(True)
        row.addWidget(copy)
        row.addWidget(save)
        row.addWidget(self._trouble, 1)
        row.addWidget(done)
        return row

    @Slot()
    def _ask_where(self) -> None:
        self._asking.save_file(self, self._words(text("Save what was read")), "machine.json", self._save)

    def _save(self, path: str) -> None:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._json)
        except OSError as error:
            self._trouble.setText(self._words(text("Could not be saved: {reason}", reason=error.strerror or "")))
        else:
            self._trouble.setText(self._words(text("Saved as {path}", path=path)))


class FactTree(QTreeView):
    """The tree; copying takes the row that is current."""

    def __init__(self, model: TreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setAccessibleName(self.window().windowTitle())
        self.setUniformRowHeights(True)
        self.setAnimated(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.header().resizeSection(0, 250)
        self.header().resizeSection(1, 340)
        self.expandToDepth(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            row = self.currentIndex()
            cells = (str(row.siblingAtColumn(column).data() or "") for column in range(3))
            clipboard.copy("\t".join(cells).strip())
            return
        super().keyPressEvent(event)
