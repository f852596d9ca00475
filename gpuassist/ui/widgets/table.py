"""A calm table: hairlines between rows, pills where cells carry a mark, copied as tab-separated text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolTip,
    QWidget,
)

from gpuassist.present.marks import Mark
from gpuassist.ui import clipboard
from gpuassist.ui.theme import colours, mono, sans
from gpuassist.ui.widgets.layouts import by_text
from gpuassist.ui.widgets.marks import paint_pill, pill_size
from gpuassist.ui.widgets.rows import AFTER_ROLE, MARK_ROLE, SHARE_ROLE, Cell
from gpuassist.ui.wording import as_tip

_PADDING = 10
_ROW_PADDING = 16
_HAIRLINE = 1
_SLACK = 4
_SHARE_ROOM = 7  # below the words of a cell that shows a share
_LEAST_COLUMN = 64
_SHARE_HEIGHT = 6
_LEAST_SHARE = 3.0  # pixels, so that the smallest share is seen


class CellDelegate(QStyledItemDelegate):
    """Paints a cell: its words and the quieter ones after, or a pill; and the hairline below."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        self.initStyleOption(option, index)
        painter.save()
        palette = colours()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(palette.accent_tint))
        if index.row() + 1 < index.model().rowCount():
            painter.setPen(QColor(palette.line))
            painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        mark, share = index.data(MARK_ROLE), index.data(SHARE_ROLE)
        if share is not None:
            paint_share(painter, QRectF(option.rect).adjusted(_PADDING, option.rect.height() - 9, -_PADDING, -6), float(share))
            option.rect.adjust(0, 0, 0, -_SHARE_ROOM)
        if mark:
            self._paint_pill(painter, option, Mark(mark))
        else:
            after = str(index.data(AFTER_ROLE) or "")
            room = option.rect.adjusted(_PADDING, 0, -_PADDING, 0)
            metrics = QFontMetrics(option.font)
            painter.setFont(option.font)
            painter.setPen(option.palette.color(option.palette.ColorRole.Text))
            words = metrics.elidedText(option.text, Qt.TextElideMode.ElideMiddle, room.width())
            painter.drawText(room, option.displayAlignment, words)
            used = metrics.horizontalAdvance(words + " ") if words else 0
            if after and used < room.width():
                painter.setPen(QColor(colours().muted))
                rest = metrics.elidedText(after, Qt.TextElideMode.ElideRight, room.width() - used)
                painter.drawText(room.adjusted(used, 0, 0, 0), option.displayAlignment, rest)
        painter.restore()

    def helpEvent(
        self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> bool:
        """What is cut stands whole in the tool tip, where the cell has no other."""
        if event.type() is QEvent.Type.ToolTip and index.isValid() and not index.data(Qt.ItemDataRole.ToolTipRole):
            QToolTip.showText(event.globalPos(), as_tip(self.cut_words(option, index)), view)
            return True
        return super().helpEvent(event, view, option, index)

    def cut_words(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> str:
        """All of a cell's words, if there is no room for them."""
        words = " ".join(filter(None, (str(index.data() or ""), str(index.data(AFTER_ROLE) or ""))))
        return words if self.sizeHint(option, index).width() > option.rect.width() + _SLACK else ""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        self.initStyleOption(option, index)
        if index.data(MARK_ROLE):
            size = pill_size(option.text)
        else:
            words = " ".join(filter(None, (option.text, str(index.data(AFTER_ROLE) or ""))))
            metrics = QFontMetrics(option.font)
            size = QSize(metrics.horizontalAdvance(words) + _SLACK, metrics.height())
        return QSize(size.width() + 2 * _PADDING, size.height() + _ROW_PADDING)

    def _paint_pill(self, painter: QPainter, option: QStyleOptionViewItem, mark: Mark) -> None:
        size = pill_size(option.text)
        room = QRectF(option.rect).adjusted(_PADDING, 0, -_PADDING, 0)
        width = min(float(size.width()), room.width())
        paint_pill(painter, QRectF(room.x(), room.center().y() - size.height() / 2, width, size.height()), mark, option.text)


class Table(QTableView):
    """A table that is as high as its rows, up to a dozen; then it scrolls."""

    def __init__(self, model: QAbstractItemModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gives_way: int | None = None
        self._samples: tuple[int, ...] = ()
        self._scrolls = False
        self._asked: dict[int, int] = {}  # what the cells of a column want, of which each resize would ask every cell
        self.rows_at_most = 12
        self.setModel(model)
        self.setAccessibleName(name)
        self.setItemDelegate(CellDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)  # Tab goes on to the next control; the arrows walk the cells
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.verticalHeader().hide()
        # One height for all rows: asked of every cell, a thousand rows would cost 200 ms a refresh.
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(pill_size("").height() + _ROW_PADDING // 2 + _HAIRLINE)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setStretchLastSection(True)  # first: it sizes the sections at once, and by their contents it would ask every cell
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for changed in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            changed.connect(self._fit)
        model.dataChanged.connect(self._forget_widths)

    def stretch(self, column: int) -> None:
        """Lets this column take the room that is left over."""
        self.horizontalHeader().setStretchLastSection(False)
        self.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)

    def size_like(self, samples: Sequence[Cell], gives_way: int) -> None:
        """Makes each column as wide as its sample or its heading, once: for rows that change all the time, since Qt would ask every
        cell for its size at every change. One column takes what is left over.
        """
        header = self.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        for place, sample in enumerate(samples):
            header.resizeSection(place, max(header.sectionSizeHint(place), _width_of(sample)))
        header.setSectionResizeMode(gives_way, QHeaderView.ResizeMode.Stretch)

    def spread(self, gives_way: int, samples: Sequence[Cell] = ()) -> None:
        """Shares what is left over among all columns; where there is too little, this one gives way first, then the others, down
        to their headings. What is still too wide is scrolled to. A column asks for no less than its sample.
        """
        self._gives_way, self._samples = gives_way, tuple(_width_of(sample) for sample in samples)
        self.horizontalHeader().setStretchLastSection(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def setColumnHidden(self, column: int, hide: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        """Those that stay share the room anew."""
        if hide != self.isColumnHidden(column):
            super().setColumnHidden(column, hide)
            self._share()

    def _share(self) -> None:
        if self._gives_way is None:
            return
        header, room = self.horizontalHeader(), self.viewport().width()
        shown = [place for place in range(header.count()) if not header.isSectionHidden(place)]
        headings = [header.sectionSizeHint(place) for place in shown]
        least = [max(by_text(_LEAST_COLUMN), heading) for heading in headings]
        asked = [max(self._width_asked(place), heading) for place, heading in zip(shown, headings, strict=True)]
        wanted = [max(pair) for pair in zip(asked, least, strict=True)]
        if sum(asked) <= room < sum(wanted):  # nothing is cut so that a column of short words has more than it needs
            wanted = least = asked
        widths = shared_widths(wanted, least, room, shown.index(self._gives_way))
        if self._samples and sum(wanted) < room:
            roomy = [max(width, self._samples[place]) for place, width in zip(shown, wanted, strict=True)]
            widths = shared_widths(roomy, wanted, room, shown.index(self._gives_way))
        for place, width in zip(shown, widths, strict=True):
            header.resizeSection(place, width)
        if self._scrolls != (sum(widths) > room):
            self._scrolls = not self._scrolls
            self.updateGeometry()  # the bar takes height of its own

    def _width_asked(self, column: int) -> int:
        if column not in self._asked:
            self._asked[column] = self.sizeHintForColumn(column)
        return self._asked[column]

    def changeEvent(self, event: QEvent) -> None:
        self._forget_widths()  # of letters of another size, or look
        super().changeEvent(event)

    def sizeHint(self) -> QSize:
        rows = min(self.model().rowCount(), self.rows_at_most)
        height = self.horizontalHeader().sizeHint().height() + rows * self.verticalHeader().defaultSectionSize()
        bar = self.horizontalScrollBar().sizeHint().height() if self._scrolls else 0
        return QSize(super().sizeHint().width(), height + 2 + bar)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            clipboard.copy(self.selected_text())
            return
        super().keyPressEvent(event)

    def selected_text(self) -> str:
        rows = sorted({index.row() for index in self.selectionModel().selectedIndexes()})
        return "\n".join("\t".join(self._cell_text(row, column) for column in range(self.model().columnCount())) for row in rows)

    def _cell_text(self, row: int, column: int) -> str:
        return str(self.model().index(row, column).data(Qt.ItemDataRole.AccessibleTextRole) or "")

    @Slot()
    def _forget_widths(self) -> None:
        self._asked.clear()

    @Slot()
    def _fit(self) -> None:
        self._forget_widths()
        self._share()
        self.updateGeometry()


def _width_of(sample: Cell) -> int:
    words = " ".join(filter(None, (sample.words, sample.after)))
    metrics = QFontMetrics(mono() if sample.mono else sans())
    inside = pill_size(words).width() if sample.mark is not None else metrics.horizontalAdvance(words)
    return inside + 2 * _PADDING + _SLACK


def shared_widths(wanted: Sequence[int], least: Sequence[int], room: int, gives_way: int) -> tuple[int, ...]:
    """The widths of columns in this room: what is left over is shared; what is missing is taken from the one that gives way, then
    from the widest: of long words a little less says as much, and short ones stay whole.
    """
    missing = sum(wanted) - room
    if missing <= 0:
        return tuple(width + -missing // max(1, len(wanted)) for width in wanted)
    widths = list(wanted)
    fair = max(least[gives_way], room // len(wanted))  # the one that gives way keeps as much as a column has where all are alike
    taken = max(0, min(missing, widths[gives_way] - fair))
    widths[gives_way] -= taken
    low, high = 0, max(widths)
    while low < high:  # for the widest that any of them may be
        middle = (low + high + 1) // 2
        fits = sum(_cut(widths, least, middle)) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return _cut(widths, least, low)


def _cut(widths: Sequence[int], least: Sequence[int], at_most: int) -> tuple[int, ...]:
    return tuple(max(low, min(width, at_most)) for width, low in zip(widths, least, strict=True))


def paint_share(painter: QPainter, rect: QRectF, share: float) -> None:
    """The whole in a quiet colour, and the share of it (0 to 1) from the left."""
    palette, round_ = colours(), rect.height() / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.line))
    painter.drawRoundedRect(rect, round_, round_)
    width = rect.width() * min(1.0, max(0.0, share))
    if share > 0:
        painter.setBrush(QColor(palette.series[0]))
        painter.drawRoundedRect(
            QRectF(rect.topLeft(), rect.bottomRight()).adjusted(0, 0, max(width, _LEAST_SHARE) - rect.width(), 0), round_, round_
        )
    painter.restore()


class ShareBar(QWidget):
    """The bar by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.share = 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_share(self, share: float) -> None:
        self.share = share
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, _SHARE_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, _SHARE_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_share(painter, QRectF(self.rect()), self.share)
        painter.end()
