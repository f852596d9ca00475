"""The right side of the repair page: the diff, what a new terminal finds before and after, and the changes made so far."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.plan import Receipt
from gpuassist.model.text import Text, text
from gpuassist.session.fix import CudaPlan
from gpuassist.session.repair_summary import TerminalRow, is_verbatim, receipt_words
from gpuassist.session.words import Words
from gpuassist.ui.palette import Mark
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import ElidedLabel, Rule
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.paragraphs import label, paragraph

_DIFF_HEIGHT = 320


class DiffCard(Card):
    """What changes in which file."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._diff = ""
        self._path = ElidedLabel("", "mono", self)
        self._copy = CopyButton(words, lambda: self._diff, self, title=words(text("Copy diff")))
        self.head.addWidget(self._path, 1)
        self.head.addWidget(self._copy)
        self._view = DiffView(words(text("What changes in the file")), self)
        self._view.setMaximumHeight(_DIFF_HEIGHT)
        self._nothing = paragraph("", "muted", self)
        self.body.addWidget(self._view)
        self.body.addWidget(self._nothing)

    @property
    def diff(self) -> str:
        """The diff as it is shown and copied."""
        return self._diff

    def show_plan(self, plan: CudaPlan) -> None:
        """The diff of a plan, or that there is none."""
        self._diff = plan.diff
        edit = plan.edit
        self._path.set_words(edit.path if edit.path == edit.target else f"{edit.path} → {edit.target}")
        self._view.set_diff(plan.diff)
        self._view.setVisible(bool(plan.diff))
        self._copy.setVisible(bool(plan.diff))
        nothing = text("The lines for this toolkit stand in the file already, and they come last: nothing has to be written.")
        self._nothing.setText(self._words(nothing))
        self._nothing.setVisible(not plan.diff)


class TerminalCard(Card):
    """What a new terminal finds, now and after: whole paths, cut in the middle only where there is no room."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._rows: tuple[TerminalRow, ...] = ()
        self._box: QWidget | None = None

    @property
    def rows(self) -> tuple[TerminalRow, ...]:
        """What it shows."""
        return self._rows

    def show_rows(self, rows: tuple[TerminalRow, ...], *, proved: bool) -> None:
        """Rows as planned, or as a real terminal answered."""
        self._rows = rows
        clear(self.body)
        self._box = QWidget(self)
        grid = QGridLayout(self._box)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        for column, stretch in ((1, 1), (2, 1)):
            grid.setColumnStretch(column, stretch)
        titles = (text("In a new terminal"), text("before"), text("now, proved")) if proved else _PLANNED
        for column, title in enumerate(titles):
            grid.addWidget(label(self._words(title), "small", self._box), 0, column)
        for place, row in enumerate(rows):
            self._add(grid, 1 + 2 * place, row)
        self.body.addWidget(self._box)

    def _add(self, grid: QGridLayout, at: int, row: TerminalRow) -> None:
        grid.addWidget(Rule(self._box), at, 0, 1, 3)
        grid.addWidget(label(row.name, "", self._box), at + 1, 0)
        grid.addWidget(self._cell(row.now), at + 1, 1)
        if row.same:
            pill = StatusPill(Mark.RIGHT, self._words(text("unchanged")), self._box)
            grid.addWidget(pill, at + 1, 2, Qt.AlignmentFlag.AlignLeft)
        else:
            grid.addWidget(self._cell(row.after), at + 1, 2)

    def _cell(self, found: Text) -> QWidget:
        words = self._words(found)
        return ElidedLabel(words, "mono", self._box) if is_verbatim(found) else paragraph(words, "small", self._box)


_PLANNED: tuple[Text, ...] = (text("In a new terminal"), text("now"), text("after"))


class HistoryCard(Card):
    """Every change that was made, newest first, each with its undo."""

    undo_wanted = Signal(object)  # Receipt

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Changes made so far")), parent=parent)
        self._words = words
        self._receipts: tuple[Receipt, ...] = ()
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.body.addLayout(self._list)
        self.hide()

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """What it shows."""
        return self._receipts

    def show_receipts(self, receipts: tuple[Receipt, ...]) -> None:
        """Shows these; without any the card is not there."""
        self._receipts = receipts
        clear(self._list)
        for place, receipt in enumerate(receipts):
            if place:
                self._list.addWidget(Rule(self))
            self._list.addWidget(ReceiptRow(self._words, receipt, self._undo_of(receipt), self))
        self.setVisible(bool(receipts))

    def _undo_of(self, receipt: Receipt) -> Callable[[], None]:
        return lambda: self.undo_wanted.emit(receipt)


class ReceiptRow(QWidget):
    """One change, and its undo while it stands."""

    def __init__(self, words: Words, receipt: Receipt, undo: Callable[[], None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        what, when = receipt_words(receipt)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(ElidedLabel(words(what), "strong", self))
        column.addWidget(label(words(when), "small", self))
        row.addLayout(column, 1)
        row.addWidget(ElidedLabel(receipt.id, "mono", self, align=Qt.AlignmentFlag.AlignRight))
        self._undo = undo
        self.button = small(words(text("Undo")), self)
        self.button.setVisible(not receipt.undone_at)
        self.button.clicked.connect(self._ask)
        row.addWidget(self.button)

    @Slot()
    def _ask(self) -> None:
        self._undo()
