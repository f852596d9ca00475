"""The table of checks that fills while they run: groups that fold, a column a device, cells that give their words way."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QStyle, QStyleOptionViewItem, QWidget

from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.verify_table import Column, TableRow
from gpuassist.session.checks import GROUP_TITLES, CheckGroup
from gpuassist.ui.pages.verify.rows import COLUMN_SAMPLES, Heading, cells_of, headings_of
from gpuassist.ui.theme import SMALL_POINTS, colours, mono, sans, set_look
from gpuassist.ui.widgets.buttons import paint_chevron
from gpuassist.ui.widgets.marks import paint_mark, paint_pill, pill_font, pill_size
from gpuassist.ui.widgets.rows import AFTER_ROLE, GLYPH_ROLE, RowsModel
from gpuassist.ui.widgets.table import CellDelegate, Table
from gpuassist.ui.wording import as_tip

_FOLD_ROLE = Qt.ItemDataRole.UserRole + 10
_INDENT = 22
_HEADING_PADDING = 8
_CIRCLE = 20
_PILL_PADDING = 4
_PADDING = 10  # of a cell
_FIRST_LEAST, _FIRST_MOST = 132, 270
# Pixels of a device's column that hold glyph and word, glyph and number, `GPU 15` above them with and without padding.
_WORDS_FROM, _NUMBER_FROM, _PADDED_FROM, _TITLE_FROM = 92, 58, 64, 46
_FIGURES = (2, 3)  # columns, where there is one device
_QUIET = frozenset({Mark.TODO, Mark.ABSENT})
Index = QModelIndex | QPersistentModelIndex


class ChecksModel(RowsModel):
    """Rows of checks whose headings change with the devices of a run."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(())
        self.setParent(parent)
        self.headings: tuple[Heading, ...] = ()
        self.room = 0
        self.table_rows: tuple[TableRow, ...] = ()

    def show(self, rows: Sequence[TableRow], columns: Sequence[Column], words: Words, at: float) -> None:
        headings = headings_of(columns, words) if columns else ()
        cells = cells_of(rows, columns, words, at) if columns else ()
        if headings != self.headings:
            self.beginResetModel()
            self.headings, self.table_rows = headings, tuple(rows)
            self._headings = ("",) * len(headings)
            self.rows = cells
            self.endResetModel()
            return
        self.table_rows = tuple(rows)
        self.set_rows(cells)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if orientation is Qt.Orientation.Horizontal and 0 <= section < len(self.headings):
            heading = self.headings[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return as_tip(heading.tip) or None
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return heading.words
            if role == Qt.ItemDataRole.TextAlignmentRole and section and self.room < _PADDED_FROM:
                return Qt.AlignmentFlag.AlignCenter
            if role == Qt.ItemDataRole.DisplayRole:
                return heading.words if self.room >= _WORDS_FROM else heading.title if self.room >= _TITLE_FROM else heading.number
        return super().headerData(section, orientation, role)

    def give(self, room: int) -> None:
        """So many pixels to each device, for what stands above it."""
        if room != self.room:
            self.room = room
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, max(0, len(self.headings) - 1))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid() or index.row() >= len(self.table_rows):
            return None
        row = self.table_rows[index.row()]
        if role == _FOLD_ROLE:
            return None if row.planned is not None else row.open
        if role == Qt.ItemDataRole.FontRole and row.planned is None and not index.column():
            return sans(bold=True)
        return super().data(index, role)


class ChecksDelegate(CellDelegate):
    """Paints a group's heading with its arrow, checks below it further in, and a glyph alone where no word fits."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        if index.column() in _FIGURES:
            self._paint_figure(painter, option, index)
            return
        if index.column():
            super().paint(painter, option, index)
            return
        whole, inner = option.rect, QStyleOptionViewItem(option)
        inner.rect = whole.adjusted(_INDENT, 0, 0, 0)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(whole, QColor(colours().accent_tint))
        super().paint(painter, inner, index)
        if index.row() + 1 < index.model().rowCount():
            painter.save()
            painter.setPen(QColor(colours().line))
            painter.drawLine(whole.bottomLeft(), whole.bottomRight())
            painter.restore()
        is_open = index.data(_FOLD_ROLE)
        if is_open is not None:
            painter.save()
            painter.translate(whole.left() + 14, whole.center().y())
            painter.rotate(0 if is_open else -90)
            paint_chevron(painter, QRectF(-5, -4, 10, 8))
            painter.restore()

    def _paint_figure(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """A reason takes the room of both figures, which are empty then: each of the two cells paints its part of it."""
        first, last = (index.model().index(index.row(), column) for column in _FIGURES)
        if not last.isValid() or first.data() or last.data() or not first.data(AFTER_ROLE):
            super().paint(painter, option, index)
            return
        table, whole = self.parent(), QStyleOptionViewItem(option)
        assert isinstance(table, ChecksTable)
        whole.rect = table.visualRect(first).united(table.visualRect(last))
        painter.save()
        painter.setClipRect(option.rect)
        super().paint(painter, whole, first)
        painter.restore()

    def _paint_pill(self, painter: QPainter, option: QStyleOptionViewItem, mark: Mark) -> None:
        glyph = str(option.index.data(GLYPH_ROLE) or "")
        room = QRectF(option.rect).adjusted(_PILL_PADDING, 0, -_PILL_PADDING, 0)
        if option.rect.width() < _WORDS_FROM:
            self._paint_glyph(painter, option, mark, glyph)
            return
        size = pill_size(option.text)
        rect = QRectF(room.x(), room.center().y() - size.height() / 2, min(float(size.width()), room.width()), size.height())
        if mark not in _QUIET:
            paint_pill(painter, rect, mark, option.text, glyph=glyph)
            return
        circle = QRectF(rect.x() + 5, rect.center().y() - _CIRCLE / 2, _CIRCLE, _CIRCLE)
        paint_mark(painter, circle, mark, colours())
        painter.setFont(pill_font())
        painter.setPen(QColor(colours().muted))
        words = QFontMetrics(pill_font()).elidedText(option.text, Qt.TextElideMode.ElideRight, int(room.width()) - 29)
        painter.drawText(room.adjusted(29, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)

    def _paint_glyph(self, painter: QPainter, option: QStyleOptionViewItem, mark: Mark, glyph: str) -> None:
        """Alone, or with how many checks of a group it stands for."""
        count, rect = str(option.index.data(AFTER_ROLE) or ""), QRectF(option.rect)
        left = rect.x() + (_HEADING_PADDING if rect.width() >= _NUMBER_FROM else (rect.width() - _CIRCLE) / 2)
        circle = QRectF(left, rect.center().y() - _CIRCLE / 2, _CIRCLE, _CIRCLE)
        paint_mark(painter, circle, mark, colours(), glyph=glyph)
        if rect.width() >= _NUMBER_FROM:
            painter.setFont(sans(SMALL_POINTS))
            painter.setPen(QColor(colours().muted if mark in _QUIET else colours().ink(mark)))
            painter.drawText(rect.adjusted(circle.right() - rect.x() + 3, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, count)


class ChecksTable(Table):
    """Left and Right fold a group, Enter or a click on its heading turns it; the chosen cell stays chosen while rows come."""

    folded = Signal(object, bool)  # the group, and whether it is open now
    chosen = Signal()
    _shows = True  # Qt resizes a table and chooses a cell before this one is made
    _devices: tuple[str, ...] = ()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        self._checks = ChecksModel()
        super().__init__(self._checks, words(text("Checks")), parent)
        self._checks.setParent(self)
        self._words = words
        self._shows = False
        self.setItemDelegate(ChecksDelegate(self))
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.horizontalHeader().setStretchLastSection(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)  # by their contents it would ask every cell
        self.horizontalHeader().setMinimumSectionSize(_CIRCLE)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.clicked.connect(self._click)

    def show_rows(self, rows: Sequence[TableRow], columns: Sequence[Column], at: float) -> None:
        """What there is at this time; the chosen cell is chosen again wherever it stands now."""
        kept, place = self.chosen_key, self.currentIndex().column()
        devices = tuple(column.device for column in columns)
        self._shows = True
        self._checks.show(rows, columns, self._words, at)
        if devices != self._devices:
            self._devices = devices
            by = QAbstractItemView.SelectionBehavior
            self.setSelectionBehavior(by.SelectItems if len(devices) > 1 else by.SelectRows)
            self._share()
        if kept is not None:
            self.choose(kept, place)
        self._shows = False

    @property
    def chosen_row(self) -> TableRow | None:
        """The row of the chosen cell."""
        row = self.currentIndex().row()
        return self._checks.table_rows[row] if 0 <= row < len(self._checks.table_rows) else None

    @property
    def chosen_key(self) -> object:
        row = self.chosen_row
        return row.key if row is not None else None

    @property
    def chosen_device(self) -> str:
        """The device of the chosen cell; the only one where there is one, none in the column of names."""
        if len(self._devices) == 1:
            return self._devices[0]
        place = self.currentIndex().column() - 1
        return self._devices[place] if 0 <= place < len(self._devices) else ""

    def choose(self, key: object, column: int = 0) -> bool:
        """Chooses a cell by what its row is; whether it is there."""
        row = next((place for place, one in enumerate(self._checks.table_rows) if one.key == key), None)
        if row is None:
            return False
        self.setCurrentIndex(self._checks.index(row, max(0, column)))
        return True

    @property
    def says_words(self) -> bool:
        """Whether the columns of devices are wide enough for more than a glyph."""
        return len(self._devices) <= 1 or self.columnWidth(1) >= _WORDS_FROM

    def wanted_width(self) -> int:
        """What it takes to say everything."""
        if len(self._devices) <= 1:
            return sum(self._widths())
        return _FIRST_MOST + _WORDS_FROM * len(self._devices)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.chosen_row
        if row is not None and row.planned is None:
            if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
                self._fold(row.group, is_open=not row.open)
                return
            in_first = not self.currentIndex().column() or len(self._devices) == 1
            if in_first and event.key() == (Qt.Key.Key_Left if row.open else Qt.Key.Key_Right):
                self._fold(row.group, is_open=not row.open)
                return
        super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Dragging chooses nothing else."""

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if not self._shows:
            self.chosen.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _click(self, index: QModelIndex) -> None:
        row = self._checks.table_rows[index.row()]
        if row.planned is None:
            self._fold(row.group, is_open=not row.open)

    def _fold(self, group: CheckGroup, *, is_open: bool) -> None:
        self.folded.emit(group, is_open)

    def _share(self) -> None:
        """Names give way first, then the words of the cells."""
        if not self._devices:
            return
        header, room = self.horizontalHeader(), self.viewport().width()
        count = len(self._devices)
        if count == 1:
            widths = self._widths()
            widths[0] = max(_FIRST_LEAST, room - sum(widths[1:]))
        else:
            each = max(_CIRCLE, min(2 * _WORDS_FROM, (room - _FIRST_MOST) // count))
            widths = [max(_FIRST_LEAST, room - each * count), *[each] * count]
        self._checks.give(widths[1])
        set_look(header, "tight", "yes" if widths[1] < _PADDED_FROM else "no")
        for place, width in enumerate(widths):
            header.resizeSection(place, width)

    def _widths(self) -> list[int]:
        """Of the figures of one device; the first has room for every group with its count."""
        bold = QFontMetrics(sans(bold=True))
        found = [
            _INDENT + 2 * _PADDING + max(bold.horizontalAdvance(f"{self._words(title)} 88") for title in GROUP_TITLES.values())
        ]
        for sample in COLUMN_SAMPLES:
            metrics = QFontMetrics(mono() if sample.mono else sans())
            inside = pill_size(sample.words).width() if sample.mark is not None else metrics.horizontalAdvance(sample.words) + 14
            found.append(inside + 2 * _PILL_PADDING)
        return found
