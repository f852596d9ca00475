"""The dialog with everything that was read: a tree of facts, and the same as JSON to copy or save."""

from __future__ import annotations

import json

from PySide6.QtCore import QSortFilterProxyModel, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QTreeView, QVBoxLayout, QWidget

from gpuassist.formats.visible import escaped
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.questions import AsksWhere
from gpuassist.ui.widgets.buttons import CopyButton, primary, secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.fact_rows import TreeModel, branch
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text, open_within
from gpuassist.ui.widgets.scroll_page import PageHeader
from gpuassist.ui.widgets.text_fields import TextLine

_WIDTH, _HEIGHT = 920, 640


class Everything(QDialog):
    """Shows the document that `gpuassist detect --json` prints."""

    def __init__(self, words: Words, document: dict[str, Json], asking: AsksWhere, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._asking = asking
        self.json = escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Everything we read")))
        open_within(self, by_text(_WIDTH), by_text(_HEIGHT))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        subtitle = words(text("Each fact with its source, or the reason why it is not known. Nothing here has left this machine."))
        layout.addWidget(PageHeader(self.windowTitle(), subtitle, self))
        card = Card(parent=self)
        headings = (words(text("Fact")), words(text("Value")), words(text("Source")))
        self.tree = FactTree(TreeModel(headings, branch("", document, words).children, self), self)
        self.search = TextLine(card)
        self.search.setPlaceholderText(words(text("Search facts, values and sources")))
        self.search.setAccessibleName(self.search.placeholderText())
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._find)
        find = QAction(self)
        find.setShortcut(QKeySequence.StandardKey.Find)
        find.triggered.connect(self._go_to_search)
        self.addAction(find)
        self._nothing = paragraph("", "muted", card)
        self._nothing.hide()
        card.body.addWidget(self.search)
        card.body.addWidget(self.tree, 1)
        card.body.addWidget(self._nothing, 0, Qt.AlignmentFlag.AlignTop)
        self.tree.setFocus()
        layout.addWidget(card, 1)
        add_layout(layout, self._buttons())

    def _buttons(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 8)
        copy = CopyButton(self._words, lambda: self.json, self, title=self._words(text("Copy as JSON")))
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

    @Slot(str)
    def _find(self, typed: str) -> None:
        found = self.tree.show_only(typed.strip())
        self.tree.setVisible(found)
        self._nothing.setVisible(not found)
        if not found:
            set_paragraph(self._nothing, self._words(text("Nothing that was read has “{words}” in it.", words=typed.strip())))

    @Slot()
    def _go_to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    @Slot()
    def _ask_where(self) -> None:
        self._asking.save_file(self, self._words(text("Save what was read")), "machine.json", self._save)

    def _save(self, path: str) -> None:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.json)
        except OSError as error:
            self._trouble.setText(self._words(text("Could not be saved: {reason}", reason=error.strerror or "")))
        else:
            self._trouble.setText(self._words(text("Saved as {path}", path=path)))


class FactTree(QTreeView):
    """The tree; copying takes the row that is current."""

    def __init__(self, model: TreeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._found = QSortFilterProxyModel(self)
        self._found.setRecursiveFilteringEnabled(True)
        self._found.setAutoAcceptChildRows(True)
        self._found.setFilterKeyColumn(-1)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._found.setSourceModel(model)
        self.setModel(self._found)
        self.setAccessibleName(self.window().windowTitle())
        self.setUniformRowHeights(True)
        self.setIndentation(16)
        self.ensurePolished()  # before any row is measured: they all get the height of the first
        self.setAnimated(False)
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.header().resizeSection(0, 290)
        self.header().resizeSection(1, 310)
        self.expandToDepth(0)

    def show_only(self, typed: str) -> bool:
        """Leaves what has these words in it, with all that is above and below; false where nothing has."""
        self._found.setFilterFixedString(typed)
        if typed:
            self.expandAll()
        else:
            self.collapseAll()
            self.expandToDepth(0)
        return self._found.rowCount() > 0

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            row = self.currentIndex()
            cells = (str(row.siblingAtColumn(column).data() or "") for column in range(3))
            clipboard.copy("\t".join(cells).strip())
            return
        super().keyPressEvent(event)
