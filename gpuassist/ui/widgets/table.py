"""A calm table: hairlines between rows, pills where cells carry a mark, copied as tab-separated text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from gpuassist.present.marks import Mark
from gpuassist.ui import clipboard
from gpuassist.ui.theme import colours, mono, sans
from gpuassist.ui.widgets.marks import paint_pill, pill_size
from gpuassist.ui.widgets.rows import AFTER_ROLE, MARK_ROLE, SHARE_ROLE, Cell

_PADDING = 10
_ROW_PADDING = 16
_HAIRLINE = 1
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

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        self.initStyleOption(option, index)
        if index.data(MARK_ROLE):
            size = pill_size(option.text)
        else:
            words = " ".join(filter(None, (option.text, str(index.data(AFTER_ROLE) or ""))))
            metrics = QFontMetrics(option.font)
            size = QSize(metrics.horizontalAdvance(words) + 4, metrics.height())
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
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        for changed in (model.rowsInserted, model.rowsRemoved, model.modelReset):
            changed.connect(self._fit)

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
            words = " ".join(filter(None, (sample.words, sample.after)))
            inside = (
                pill_size(words).width()
                if sample.mark is not None
                else QFontMetrics(mono() if sample.mono else sans()).horizontalAdvance(words)
            )
            header.resizeSection(place, max(header.sectionSizeHint(place), inside + 2 * _PADDING + 4))
        header.setSectionResizeMode(gives_way, QHeaderView.ResizeMode.Stretch)

    def spread(self, gives_way: int) -> None:
        """Shares what is left over among all columns; where there is too little, this one gives way."""
        self._gives_way = gives_way
        self.horizontalHeader().setStretchLastSection(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _share(self) -> None:
        if self._gives_way is None:
            return
        header = self.horizontalHeader()
        widths = [max(self.sizeHintForColumn(place), header.sectionSizeHint(place)) for place in range(header.count())]
        left = self.viewport().width() - sum(widths)
        if left < 0:
            widths[self._gives_way] = max(_LEAST_COLUMN, widths[self._gives_way] + left)
        share = max(0, left) // max(1, len(widths))
        for place, width in enumerate(widths):
            header.resizeSection(place, width + share)

    def sizeHint(self) -> QSize:
        rows = min(self.model().rowCount(), self.rows_at_most)
        height = self.horizontalHeader().sizeHint().height() + rows * self.verticalHeader().defaultSectionSize()
        return QSize(super().sizeHint().width(), height + 2)

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
    def _fit(self) -> None:
        self._share()
        self.updateGeometry()


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
