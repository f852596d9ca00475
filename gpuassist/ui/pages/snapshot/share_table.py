"""Who holds the memory, or whose grew: a row a line of the program, with the whole stacks of the one that is chosen beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QStyleOptionViewItem, QVBoxLayout, QWidget

from gpuassist.formats.size import shown_size
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import Words
from gpuassist.present.memory_snapshot import place_words
from gpuassist.present.snapshot_page import NO_STACK_KEPT, change_words, frame_name, line_use
from gpuassist.session.snapshot_owners import OwnerLine
from gpuassist.ui.plots.colour_table import REST, series_colour
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.code import CodeText
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import CellDelegate, Table

ROWS_AT_MOST = 300
_BESIDE_FROM = 560  # narrower, the stacks stand below
_ALL_FROM = 860
_LEAST_ROWS = 3


class HeldRow(Struct, frozen=True):
    """A line with what it held, or held before and holds now; `colour` is that of its band. No owner: in another snapshot alone."""

    line: OwnerLine
    held: int
    blocks: int | None = None
    before: int | None = None
    owner: int | None = None
    colour: int | None = None


StacksOf = Callable[[HeldRow], str]


class ShareTable(QWidget):
    """Emits the owner of the row that is chosen; none where it is no owner of what is shown."""

    owner_chosen = Signal(object)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.rows: tuple[HeldRow, ...] = ()
        self._stacks_of: StacksOf = lambda _: ""
        self._shows = self._compares = False
        self.model = RowsModel([words(one) for one in _HEADINGS], parent=self)
        self.table = LowTable(self.model, words(text("Memory by who allocated it")), self)
        self.table.setItemDelegate(_SwatchDelegate(self))
        self.table.spread(0, [Cell(one) for one in ("model.py:1234 forward · activations", "+1000.00 MiB", "10,000", *_SIZES)])
        self.table.selectionModel().currentRowChanged.connect(self._choose)
        self.about = ElidedLabel("", "muted", self)
        self.stack_title = ElidedLabel("", "strong", self)
        self.stack = StackText("", words(text("Whole stacks")), self)
        self.stack.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.copy = CopyButton(words, self._content, self)
        self._beside = QWidget(self)
        column, head = bare(QVBoxLayout(self._beside), 4), bare(QHBoxLayout(), 8)
        head.addWidget(self.stack_title, 1)
        head.addWidget(self.copy)
        add_layout(column, head)
        column.addWidget(self.stack, 1)
        outer = bare(QVBoxLayout(self), 4)
        outer.addWidget(self.about)
        self._row = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight), 16)
        self._row.addWidget(self.table, 3)
        self._row.addWidget(self._beside, 2)
        add_layout(outer, self._row, 1)

    def show_rows(self, about: Text, rows: Sequence[HeldRow], stacks_of: StacksOf, *, compares: bool) -> None:
        """What is shown, and where the stacks of a row are asked for; a row that is still there stays chosen, unless what grew is
        told after what was held, or the other way round: then what is most comes into sight.
        """
        chosen = self.chosen if compares == self._compares else None
        self._compares = compares
        self.rows, self._stacks_of = tuple(rows[:ROWS_AT_MOST]), stacks_of
        most = max((abs(_weight(row)) for row in self.rows), default=0)
        self._shows = True
        with self.table.at_once():
            self.model.set_rows([self._cells(row, most) for row in self.rows])
            # What it was before and how much it grew say what it is now, where there is no room for all three.
            roomy = self.width() >= by_text(_ALL_FROM)
            self.table.show_only((_COMPARED if roomy else _COMPARED[:3]) if compares else _HELD)
        left = len(rows) - len(self.rows)
        more = self._words(counted("{count} more line", "{count} more lines", left)) if left > 0 else ""
        self.about.set_words(" · ".join(filter(None, (self._words(about), more))))
        line = chosen.line if chosen is not None else None
        place = next((place for place, row in enumerate(self.rows) if row.line == line), 0)
        self.table.setCurrentIndex(self.model.index(place, 0))
        self._shows = False
        self._show_stacks()

    def choose_owner(self, owner: int | None) -> None:
        """The row of an owner, if it has one; tells nobody."""
        place = next((place for place, row in enumerate(self.rows) if row.owner == owner), None)
        if place is not None and owner is not None:
            self._shows = True
            self.table.setCurrentIndex(self.model.index(place, 0))
            self.table.scrollTo(self.model.index(place, 0))
            self._shows = False
            self._show_stacks()

    @property
    def chosen(self) -> HeldRow | None:
        place = self.table.currentIndex().row()
        return self.rows[place] if 0 <= place < len(self.rows) else None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        below = self.width() < by_text(_BESIDE_FROM)
        self._row.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _cells(self, row: HeldRow, most: int) -> Row:
        weight = _weight(row)
        share = abs(weight) / most if most else 0.0
        frame = row.line.frame
        name = self._words(NO_STACK_KEPT) if frame is None else frame_name(frame)
        tip = f"{frame.file}:{frame.line}" if frame is not None and frame.file else ""
        return (
            Cell(name, self._words(line_use(row.line)), tip=tip),
            Cell(shown_size(row.held) if row.before is None else change_words(weight), right=True, share=share),
            Cell("" if row.blocks is None else f"{row.blocks:,}", right=True, quiet=True),
            Cell("" if row.before is None else shown_size(row.before), right=True, quiet=True),
            Cell(shown_size(row.held), right=True, quiet=True),
        )

    def _content(self) -> str:
        return self.stack.toPlainText()

    def _show_stacks(self) -> None:
        row = self.chosen
        self._beside.setVisible(row is not None)
        if row is not None:
            self.stack_title.set_words(self._words(place_words(row.line.frame)))
            self.stack.set_content(self._stacks_of(row))

    @Slot()
    def _choose(self) -> None:
        if not self._shows:
            self._show_stacks()
            row = self.chosen
            self.owner_chosen.emit(row.owner if row is not None else None)


class StackText(CodeText):
    """Scrolls, however low it is and however few its lines are."""

    def _show(self, content: str) -> None:
        super()._show(content)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.fontMetrics().height() * _LEAST_ROWS)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()


class LowTable(Table):
    """As high as there is room for: three rows are enough, the others scroll."""

    def __init__(self, model: RowsModel, name: str, parent: QWidget) -> None:
        super().__init__(model, name, parent)
        self.rows_model = model
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Rows and columns change, and the room is shared once, afterwards: each time every cell in sight is asked for its size."""
        gives_way, self._gives_way = self._gives_way, None
        try:
            yield
        finally:
            self._gives_way = gives_way
            self._share()

    def show_only(self, columns: tuple[int, ...]) -> None:
        """Hides all others."""
        for column in range(self.model().columnCount()):
            self.setColumnHidden(column, column not in columns)

    def minimumSizeHint(self) -> QSize:
        rows = _LEAST_ROWS * self.verticalHeader().defaultSectionSize()
        return QSize(120, self.horizontalHeader().sizeHint().height() + rows)


class _SwatchDelegate(CellDelegate):
    """Puts the colour in the plot before a line's name."""

    def __init__(self, shares: ShareTable) -> None:
        super().__init__(shares)
        self._shares = shares

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().paint(painter, option, index)
        row = self._shares.rows[index.row()] if index.row() < len(self._shares.rows) else None
        if index.column() == 0 and row is not None and row.owner is not None:
            colour = series_colour(colours(), REST if row.colour is None else row.colour)
            painter.fillRect(QRectF(option.rect.left() + 1, option.rect.center().y() - 6, 4, 13), QColor(colour))


_HELD, _COMPARED = (0, 1, 2), (0, 1, 3, 4)
_SIZES = ("1000.00 MiB", "1000.00 MiB")
_HEADINGS = (text("Line"), text("Memory"), text("Blocks"), text("Before"), text("After"))


def _weight(row: HeldRow) -> int:
    return row.held if row.before is None else row.held - row.before
