"""The table of processes with what narrows it, sums it up and acts on its rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QStyleOptionViewItem, QWidget

from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, ProcessKind
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.process_table import GROUPING_WORDS, Grouping, LiveRow, OnGpu, table_rows
from gpuassist.present.samples import gpu_label
from gpuassist.ui import clipboard
from gpuassist.ui.pages.live.process_snapshot import RECORD_SECONDS
from gpuassist.ui.pages.live.processes import COLOUR_ROLE, COLUMNS, NAMES, ProcessesModel, RowFigures
from gpuassist.ui.plots.colour_table import series_colour
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets import popups
from gpuassist.ui.widgets.buttons import DropDown
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel, label
from gpuassist.ui.widgets.layouts import by_text
from gpuassist.ui.widgets.rows import Cell
from gpuassist.ui.widgets.table import CellDelegate, Table
from gpuassist.ui.widgets.text_fields import TextLine

_SWATCH = 9
_LEAST_FILTER, _FILTER_WIDTH = 100, 190
_LEAST_NAME = 180
_ARROW_ROOM = 40  # of a heading, beside its words


class ProcessDelegate(CellDelegate):
    """Puts the process's colour in the plot before its name."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        number = index.data(COLOUR_ROLE) if index.column() == 0 else None
        super().paint(painter, option, index)
        if number is not None:
            middle = option.rect.center().y()
            swatch = QRectF(option.rect.left() + 1, middle - _SWATCH / 2, 4, _SWATCH + 2)
            painter.fillRect(swatch, QColor(series_colour(colours(), int(number))))


class ProcessCard(Card):
    """Emits what is wished for of a row; what is filtered and grouped by it knows itself."""

    changed = Signal()  # other rows are wanted
    mark_wanted = Signal(object)  # int, a process; None for none
    stop_wanted = Signal(object)  # OnGpu
    snapshot_wanted = Signal(object, object)  # int, a process; float, for how many seconds its allocations are recorded before
    holders_wanted = Signal(object)  # int, a process
    gpu_wanted = Signal(object)  # int

    def __init__(self, words: Words, model: ProcessesModel, parent: QWidget | None = None, *, live: bool = True) -> None:
        super().__init__(parent=parent)
        self._words, self.model = words, model
        self.is_live = live  # else they ran when it was recorded, perhaps on another machine
        self.outer.setContentsMargins(20, 8, 20, 8)
        self.outer.setSpacing(4)
        self.head.addWidget(label(words(text("Processes")), "strong", self))
        self._sums = ElidedLabel("", "muted", self)
        self._counts = (0, 0)
        self.head.addWidget(self._sums, 1)
        self.kind = DropDown(self)
        for title, kind in (
            (text("compute and graphics"), None),
            (text("compute only"), ProcessKind.COMPUTE),
            (text("graphics only"), ProcessKind.GRAPHICS),
        ):
            self.kind.addItem(words(title), kind.value if kind is not None else None)
        self.kind.setAccessibleName(words(text("Kind of processes")))
        self.grouping = DropDown(self)
        for grouping, title in GROUPING_WORDS.items():
            self.grouping.addItem(words(title), grouping.value)
        self.grouping.setAccessibleName(words(text("Group processes by")))
        self.filter = WordFilter(self)
        self.filter.setPlaceholderText(words(text("Filter by word")))
        self.filter.setAccessibleName(words(text("Filter the processes by word")))
        self.filter.setToolTip(self.filter.accessibleName())
        self.filter.setClearButtonEnabled(True)
        self.filter.setMinimumWidth(by_text(_LEAST_FILTER))
        self.filter.setMaximumWidth(by_text(_FILTER_WIDTH))
        self.head.addWidget(self.filter, 2)
        for widget in (self.kind, self.grouping):
            self.head.addWidget(widget)
        self.filter.textChanged.connect(self.changed)
        self.kind.activated.connect(self.changed)
        self.grouping.activated.connect(self.changed)
        self._fitted: tuple[tuple[bool, ...], int] | None = None
        self.body.addWidget(self._make_table())

    @property
    def chosen(self) -> LiveRow | None:
        row = self.table.currentIndex().row()
        return self.model.live[row] if 0 <= row < len(self.model.live) else None

    @property
    def shows_means(self) -> bool:
        """Whether there is room for them; they are work, and nobody would see it."""
        header = self.table.horizontalHeader()
        return any(not header.isSectionHidden(NAMES.index(name)) for name in ("mean", "gpu-mean"))

    def show_gpus(self, gpus: Sequence[GpuSample], figures: RowFigures) -> None:
        """The processes of these GPUs, as far as they are asked for."""
        grouping = Grouping(self.grouping.currentData())
        kind = self.kind.currentData()
        rows = table_rows(gpus, wanted=self.filter.text(), grouping=grouping)
        if kind is not None:
            rows = tuple(row for row in (_of_kind(row, kind) for row in rows) if row.parts)
        self.model.show_processes(rows, figures)
        self._fit_columns()
        self._counts = (
            len({part.process.pid for row in rows for part in row.parts}),
            len({process.pid for gpu in gpus for process in value_or(gpu.processes, ())}),
        )

    def show_missing(self, why: tuple[Text, ...]) -> None:
        """Why processes are missing; else how many are left by the filter."""
        shown, there = self._counts
        said = self._words(text("{shown} of {count}", shown=shown, count=there)) if shown != there else ""
        if why:
            said = "; ".join(map(self._words, why))
        elif not there:
            said = self._words(text("none"))
        if said != self._sums.words:
            self._sums.set_words(said)

    def menu_for(self, row: LiveRow) -> QMenu:
        """What can be done with a row."""
        menu, single = popups.menu(self), row.single
        self._add(menu, text("Copy the row"), lambda: clipboard.copy(self.table.selected_text()), "Ctrl+C")
        if single is None:
            return menu
        process = single.process
        command = value_or(process.command, "")
        self._add(menu, text("Copy the command"), lambda: clipboard.copy(command)).setEnabled(bool(command))
        self._add(menu, text("Copy the PID"), lambda: clipboard.copy(str(process.pid)))
        menu.addSeparator()
        marked = self.model.marked == process.pid
        title = text("Unmark in the plot") if marked else text("Mark in the plot")
        self._add(menu, title, lambda: self.mark_wanted.emit(None if marked else process.pid), "M")
        self._add(menu, text("Show only GPU {index}", index=gpu_label(single.gpu)), lambda: self.gpu_wanted.emit(single.gpu))
        if not self.is_live:
            return menu
        self._add(menu, text("Show under “GPU processes”"), lambda: self.holders_wanted.emit(process.pid), "Enter")
        menu.addSeparator()
        if isinstance(process.torch, Known):
            self._add(menu, text("Memory snapshot…"), lambda: self.snapshot_wanted.emit(process.pid, 0.0))
            record = text("Memory snapshot after {seconds} s of recording…", seconds=round(RECORD_SECONDS))
            self._add(menu, record, lambda: self.snapshot_wanted.emit(process.pid, RECORD_SECONDS))
        self._add(menu, text("Stop process…"), lambda: self.stop_wanted.emit(single), "Del")
        return menu

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def _make_table(self) -> Table:
        table, words = RowTable(self), self._words
        self.table = table
        table.setItemDelegate(ProcessDelegate(table))
        table.rows_at_most = 8
        header = table.horizontalHeader()
        header.setSectionsClickable(True)
        header.sectionClicked.connect(self._sort)
        table.size_like([Cell(one if isinstance(one, str) else words(one)) for one in (column.sample for column in COLUMNS)], 0)
        for place, column in enumerate(COLUMNS):
            title = table.fontMetrics().horizontalAdvance(words(column.title))
            header.resizeSection(place, max(header.sectionSize(place), title + _ARROW_ROOM))
        self._widths = [header.sectionSize(place) for place in range(len(COLUMNS))]
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._open_menu)
        return table

    def _add(self, menu: QMenu, title: Text, does: object, keys: str = "") -> QAction:
        action = menu.addAction(self._words(title))
        if keys:
            action.setShortcut(keys)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # told here, and met by the table
        action.triggered.connect(does)
        return action

    def _fit_columns(self) -> None:
        """Leaves away what nobody tells, and what there is no room for."""
        told, width = self.model.told_columns(), self.table.viewport().width()
        if (told, width) == self._fitted:
            return
        self._fitted = (told, width)
        header = self.table.horizontalHeader()
        shown = [place for place in range(len(COLUMNS)) if told[place]]
        room = width - _LEAST_NAME
        while len(shown) > 2 and sum(self._widths[place] for place in shown[1:]) > room:
            shown.remove(max(shown, key=lambda place: COLUMNS[place].gives_way))
        for place in range(len(COLUMNS)):
            header.setSectionHidden(place, place not in shown)

    @Slot(int)
    def _sort(self, column: int) -> None:
        self.model.sort_by(column)
        self.changed.emit()

    @Slot(QPoint)
    def _open_menu(self, at: QPoint) -> None:
        row = self.table.indexAt(at).row()
        if 0 <= row < len(self.model.live):
            menu = self.menu_for(self.model.live[row])
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(self.table.viewport().mapToGlobal(at))


class WordFilter(TextLine):
    """Escape takes the word away, and is the page's where there is none."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


class RowTable(Table):
    """Meets the keys that the menu of its rows tells."""

    def __init__(self, card: ProcessCard) -> None:
        super().__init__(card.model, card._words(text("Processes on the GPUs")), card)
        self._card = card
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)

    def minimumSizeHint(self) -> QSize:
        """One row, and it scrolls: the plots need the room more."""
        rows = min(self.model().rowCount(), 1) * self.verticalHeader().defaultSectionSize()
        return QSize(super().minimumSizeHint().width(), self.horizontalHeader().sizeHint().height() + rows)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row, key, card = self._card.chosen, event.key(), self._card
        single = row.single if row is not None else None
        runs = single is not None and card.is_live
        if single is not None and key == Qt.Key.Key_M:
            card.mark_wanted.emit(None if card.model.marked == single.process.pid else single.process.pid)
        elif single is not None and runs and key == Qt.Key.Key_Delete:
            card.stop_wanted.emit(single)
        elif single is not None and runs and key in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            card.holders_wanted.emit(single.process.pid)
        elif key in {Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Left, Qt.Key.Key_Right} or (
            event.text() and event.text() in "+-=0123456789aA"
        ):
            event.ignore()  # those of the page
        else:
            super().keyPressEvent(event)


def _of_kind(row: LiveRow, kind: str) -> LiveRow:
    def fits(part: OnGpu) -> bool:
        own = value_or(part.process.kind, None)
        return own is not None and (own is ProcessKind.BOTH or own.value == kind)

    return LiveRow(row.key, row.title, tuple(filter(fits, row.parts)))
