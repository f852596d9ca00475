"""The dialog with everything that was read: a tree of facts, and the same as JSON to copy or save."""

from __future__ import annotations

import json

from msgspec import Struct
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QHBoxLayout, QHeaderView, QTreeView, QVBoxLayout, QWidget

from gpuassist.formats.visible import escaped, on_one_line
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.ui import clipboard
from gpuassist.ui.dialogs import Asking
from gpuassist.ui.theme import colours, mono
from gpuassist.ui.widgets.buttons import CopyButton, primary, secondary
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import bare
from gpuassist.ui.widgets.scroll_page import PageHeader
from gpuassist.ui.wording import as_tip

Index = QModelIndex | QPersistentModelIndex


class Everything(QDialog):
    """Shows the document that `gpuassist detect --json` prints."""

    def __init__(self, words: Words, document: dict[str, Json], asking: Asking, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._asking = asking
        self.json = escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(words(text("Everything we read")))
        self.resize(920, 640)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        subtitle = words(text("Each fact with its source, or the reason why it is not known. Nothing here has left this machine."))
        layout.addWidget(PageHeader(self.windowTitle(), subtitle, self))
        card = Card(parent=self)
        headings = (words(text("Fact")), words(text("Value")), words(text("Source")))
        self.tree = FactTree(TreeModel(headings, branch("", document).children, self), self)
        card.body.addWidget(self.tree)
        layout.addWidget(card, 1)
        layout.addLayout(self._buttons())

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


class Branch(Struct, frozen=True):
    """A row: `known` is false where `value` is the reason why there is none."""

    name: str
    value: str = ""
    source: str = ""
    known: bool = True
    children: tuple[Branch, ...] = ()


def branch(name: str, data: Json) -> Branch:
    """The tree of a JSON value; a fact becomes one row, with what its value holds below it."""
    if isinstance(data, dict):
        return _branch_of_fact(name, data) if "value" in data else Branch(name, children=_children(data))
    if isinstance(data, list):
        if all(not isinstance(item, (dict, list)) for item in data):
            return Branch(name, ", ".join(map(_plain, data)) or "–")
        return Branch(name, children=tuple(branch(_title(item) or str(place), item) for place, item in enumerate(data)))
    return Branch(name, _plain(data))


def _branch_of_fact(name: str, data: dict[str, Json]) -> Branch:
    if "reason" in data:
        return Branch(name, _plain(data["reason"]), known=False)
    inner = branch(name, data["value"])
    value = inner.value if inner.value or inner.children else "–"
    return Branch(name, value, _plain(data.get("source")), children=inner.children)


def _children(data: dict[str, Json]) -> tuple[Branch, ...]:
    return tuple(branch(key.replace("_", " "), value) for key, value in data.items())


def _title(item: Json) -> str:
    for key in ("name", "path", "root", "pci_address", "prefix"):
        found = item.get(key) if isinstance(item, dict) else None
        found = found.get("value") if isinstance(found, dict) else found
        if isinstance(found, str) and found:
            return found
    return ""


def _plain(data: Json) -> str:
    if isinstance(data, bool):
        return "yes" if data else "no"
    return "" if data is None else str(data)


class TreeModel(QAbstractItemModel):
    """Three columns: name, value, source."""

    def __init__(self, headings: tuple[str, str, str], roots: tuple[Branch, ...], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headings = headings
        self._roots = roots
        # Qt keeps only an address in an index, so parents and places are looked up by identity of the branch.
        self._above: dict[int, tuple[Branch | None, int]] = {}
        self._kept: dict[int, Branch] = {}
        self._note(None, roots)

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 -- Qt's own default
        children = self._children_of(parent)
        if not (0 <= row < len(children) and 0 <= column < 3):
            return QModelIndex()
        return self.createIndex(row, column, id(children[row]))

    def parent(self, child: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008 -- Qt's own default
        if not child.isValid():
            return QModelIndex()
        above, _ = self._above[child.internalId()]
        if above is None:
            return QModelIndex()
        return self.createIndex(self._above[id(above)][1], 0, id(above))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- Qt's own default
        return 0 if parent.column() > 0 else len(self._children_of(parent))

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- Qt's own default
        return 3

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and 0 <= section < 3:
            return self._headings[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        row = self._kept[index.internalId()]
        words = on_one_line((row.name, row.value, row.source)[index.column()])
        if role == Qt.ItemDataRole.DisplayRole:
            return words
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_tip(words)
        if role == Qt.ItemDataRole.FontRole and index.column() == 2:
            return mono()
        if role == Qt.ItemDataRole.ForegroundRole and (index.column() != 1 or not row.known):
            return QColor(colours().muted)
        return None

    def _children_of(self, parent: Index) -> tuple[Branch, ...]:
        return self._kept[parent.internalId()].children if parent.isValid() else self._roots

    def _note(self, above: Branch | None, children: tuple[Branch, ...]) -> None:
        for place, child in enumerate(children):
            self._above[id(child)] = (above, place)
            self._kept[id(child)] = child
            self._note(child, child.children)
