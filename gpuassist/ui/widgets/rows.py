"""A table of frozen cells: the model behind every table of the window, testable without one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import force_setattr
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from gpuassist.formats.visible import on_one_line
from gpuassist.present.marks import Mark
from gpuassist.ui.theme import colours, mono
from gpuassist.ui.wording import as_tip

Index = QModelIndex | QPersistentModelIndex

MARK_ROLE = Qt.ItemDataRole.UserRole + 1
AFTER_ROLE = Qt.ItemDataRole.UserRole + 2
SHARE_ROLE = Qt.ItemDataRole.UserRole + 3
GLYPH_ROLE = Qt.ItemDataRole.UserRole + 4


class Cell(Struct, frozen=True):
    """One cell: `mark` makes it a pill, `after` is added in a quieter colour, `right` aligns numbers, `share` of 1 draws a bar.

    `glyph` stands in a pill in place of its mark's own.
    """

    words: str
    after: str = ""
    mark: Mark | None = None
    mono: bool = False
    quiet: bool = False
    right: bool = False
    tip: str = ""
    share: float | None = None
    glyph: str = ""

    def __post_init__(self) -> None:
        # Nearly all are printable as they are, and a thousand rows of fresh cells have to be made within a frame.
        if not self.words.isprintable():
            force_setattr(self, "words", on_one_line(self.words))
        if not self.after.isprintable():
            force_setattr(self, "after", on_one_line(self.after))
        if not self.tip.isprintable():
            force_setattr(self, "tip", on_one_line(self.tip))


Row = tuple[Cell, ...]


class RowsModel(QAbstractTableModel):
    """Rows of cells under headings; setting new rows tells views of the cells that changed, and of no others."""

    def __init__(self, headings: Sequence[str], rows: Sequence[Row] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._headings = tuple(headings)
        self.rows: tuple[Row, ...] = tuple(rows)

    def set_rows(self, rows: Sequence[Row]) -> None:
        new = tuple(rows)
        old, common = self.rows, min(len(self.rows), len(new))
        if len(new) < len(old):
            self.beginRemoveRows(QModelIndex(), len(new), len(old) - 1)
            self.rows = old[: len(new)]
            self.endRemoveRows()
        self.rows = new[:common]
        self._tell_changes(old[:common], new[:common])
        if len(new) > len(old):
            self.beginInsertRows(QModelIndex(), len(old), len(new) - 1)
            self.rows = new
            self.endInsertRows()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- Qt's own default
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 -- Qt's own default
        return 0 if parent.isValid() else len(self._headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._headings):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._headings[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(bool(self.rows) and self.rows[0][section].right)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        cell = self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.words
        if role == MARK_ROLE:
            return cell.mark.value if cell.mark is not None else None  # Qt would turn the enum into its text anyway
        if role == AFTER_ROLE:
            return cell.after
        if role == SHARE_ROLE:
            return cell.share
        if role == GLYPH_ROLE:
            return cell.glyph
        return _look(cell, role)

    def _tell_changes(self, old: tuple[Row, ...], new: tuple[Row, ...]) -> None:
        # One signal for neighbours that changed in the same columns: views do work for each, whatever its size.
        changes = [(place, span) for place, span in enumerate(map(_changed, old, new)) if span]
        start = 0
        for end in range(1, len(changes) + 1):
            if end == len(changes) or (changes[end][0], changes[end][1]) != (changes[end - 1][0] + 1, changes[start][1]):
                first, last = changes[start][1][0], changes[start][1][-1]
                self.dataChanged.emit(self.index(changes[start][0], first), self.index(changes[end - 1][0], last))
                start = end


def _changed(before: Row, after: Row) -> tuple[int, ...]:
    """The first and the last column that differ; nothing where none does."""
    if before is after:
        return ()
    columns = [column for column, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    return (columns[0], columns[-1]) if columns else ()


def _look(cell: Cell, role: int) -> object:
    if role == Qt.ItemDataRole.FontRole:
        return mono() if cell.mono else None
    if role == Qt.ItemDataRole.ForegroundRole:
        return QColor(colours().muted) if cell.quiet else None
    if role == Qt.ItemDataRole.TextAlignmentRole:
        return _alignment(cell.right)
    if role == Qt.ItemDataRole.ToolTipRole:
        return as_tip(cell.tip) or None
    if role == Qt.ItemDataRole.AccessibleTextRole:
        return f"{cell.words} {cell.after}".strip()
    return None


# Made once: every cell is asked for its alignment several times a layout, and two flags together take 20 µs.
_AT_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def _alignment(right: bool) -> Qt.AlignmentFlag:  # noqa: FBT001 -- private, and the word is the argument
    return _AT_RIGHT if right else _AT_LEFT
