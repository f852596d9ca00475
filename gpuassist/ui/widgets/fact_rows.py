"""Everything that was read as a tree of rows: what it is, its value, and where it was read."""

from __future__ import annotations

from msgspec import Struct
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from gpuassist.formats.visible import on_one_line
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.moments import minute
from gpuassist.present.overview import gibibytes
from gpuassist.present.record_labels import UNSHOWN, label_of
from gpuassist.ui.theme import colours, mono
from gpuassist.ui.wording import as_tip, sentence_case

Index = QModelIndex | QPersistentModelIndex


class Branch(Struct, frozen=True):
    """A row: `known` is false where `value` is the reason why there is none."""

    name: str
    value: str = ""
    source: str = ""
    known: bool = True
    children: tuple[Branch, ...] = ()


def branch(name: str, data: Json, words: Words, *, field: str = "") -> Branch:
    """The tree of a JSON value; a fact becomes one row, with what its value holds below it."""
    if isinstance(data, dict):
        return _branch_of_fact(name, data, words, field) if "value" in data else Branch(name, children=_children(data, words))
    if isinstance(data, list):
        if all(not isinstance(item, (dict, list)) for item in data):
            return Branch(name, ", ".join(_plain(item, words) for item in data) or "–")
        return Branch(name, children=tuple(branch(_title(item) or str(place + 1), item, words) for place, item in enumerate(data)))
    return Branch(name, _plain(data, words, field))


def _branch_of_fact(name: str, data: dict[str, Json], words: Words, field: str) -> Branch:
    if "reason" in data:
        return Branch(name, _plain(data["reason"], words), known=False)
    inner = branch(name, data["value"], words, field=field)
    value = inner.value if inner.value or inner.children else "–"
    return Branch(name, value, _plain(data.get("source"), words), children=inner.children)


def _children(data: dict[str, Json], words: Words) -> tuple[Branch, ...]:
    shown = ((key, value) for key, value in data.items() if key not in UNSHOWN)
    return tuple(branch(sentence_case(words(label_of(key))), value, words, field=key) for key, value in shown)


def _title(item: Json) -> str:
    for key in ("name", "path", "root", "pci_address", "prefix"):
        found = item.get(key) if isinstance(item, dict) else None
        found = found.get("value") if isinstance(found, dict) else found
        if isinstance(found, str) and found:
            return found
    return ""


def _plain(data: Json, words: Words, field: str = "") -> str:
    if isinstance(data, bool):
        return words(text("yes") if data else text("no"))
    if isinstance(data, int) and field.endswith("_bytes"):
        return words(gibibytes(data))
    if field == "wsl" and not data:
        return words(text("none"))
    if field == "taken_at":
        return minute(str(data))
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
