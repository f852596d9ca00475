"""The changes made so far, each with its files and what still stands of it; and how one is taken back, or why it cannot be."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.changes.record import ChangeRecord, ChangeStatus
from gpuassist.changes.restore import ThreeWay
from gpuassist.changes.undo import UndoPlan
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import change_words, file_words, stands
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.undo import diff_of
from gpuassist.ui.pages.repair.three_way import ThreeWayView, diff_view
from gpuassist.ui.widgets.buttons import primary, secondary, small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import ElidedLabel, Hairline, label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.wording import sentence_case

DELETE_DATA = text("Delete gpuassist's own data…")


class HistoryCard(Card):
    """Every change that was made, newest first, each with its files and its undo."""

    undo_wanted = Signal(str)  # the id of the change
    undo_all_wanted = Signal()

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Changes made so far")), parent=parent)
        self._words = words
        self.undo_all = small("", self)
        self.undo_all.clicked.connect(self.undo_all_wanted)
        self.head.addWidget(self.undo_all)
        self._home = home
        self.records: tuple[ChangeRecord, ...] = ()
        self._list = bare(QVBoxLayout(), 10)
        add_layout(self.body, self._list)
        self.hide()

    def show_records(self, records: tuple[ChangeRecord, ...]) -> None:
        """Shows these; without any the card is not there."""
        self.records = records
        clear(self._list)
        for place, record in enumerate(records):
            if place:
                self._list.addWidget(Hairline(self))
            row = ChangeRow(self._words, record, self, home=self._home)
            row.undo_wanted.connect(self.undo_wanted)
            self._list.addWidget(row)
        any_stands = any(stands(record) for record in records)
        self.undo_all.setText(self._words(text("Undo all…") if any_stands else DELETE_DATA))
        self.setVisible(bool(records))


class ChangeRow(QWidget):
    """One change: what for, when, each file with how it stands there, and its undo while there is anything of it."""

    undo_wanted = Signal(str)

    def __init__(self, words: Words, record: ChangeRecord, parent: QWidget | None = None, *, home: str = "") -> None:
        super().__init__(parent)
        what, when = change_words(record)
        self._change = record.receipt.change
        grid = bare(QGridLayout(self))
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(0, 1)
        grid.addWidget(ElidedLabel(words(what), "strong", self), 0, 0)
        grid.addWidget(label(f"{words(when)}  ·  {record.receipt.change}", "small", self), 1, 0)
        self.button = small(words(text("Undo")), self)
        self.button.setAccessibleName(words(text("Undo {change}", change=record.receipt.change)))
        self.button.setVisible(stands(record))
        self.button.clicked.connect(self._ask)
        grid.addWidget(self.button, 0, 1, 2, 1, Qt.AlignmentFlag.AlignTop)
        for place, file in enumerate(record.files):
            path, state = file_words(file, home)
            row = bare(QHBoxLayout(), 12)
            row.addWidget(ElidedLabel(path, "mono", self), 1)
            mark = Mark.WARNING if file.edited and file.standing is ChangeStatus.STANDS else mark_of(file.standing)
            row.addWidget(StatusPill(mark, words(state), self))
            add_layout(grid, row, 2 + place, 0, 1, 2)

    @Slot()
    def _ask(self) -> None:
        self.undo_wanted.emit(self._change)


class UndoCard(Card):
    """How a change would be taken back whose files were edited since; or where somebody changed the same lines."""

    agreed = Signal()
    declined = Signal()
    take_out_wanted = Signal(str)  # the id of the change

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Undo the change")), parent=parent)
        self._words = words
        self._content = bare(QVBoxLayout(), 10)
        add_layout(self.body, self._content)
        self.agree: QPushButton = primary(words(text("Undo like this")), self)
        self.leave: QPushButton = secondary(words(text("Keep everything as it is")), self)
        self.agree.clicked.connect(self.agreed)
        self.leave.clicked.connect(self.declined)
        self.take_out: QPushButton = primary(words(text("Remove the block…")), self)
        self.take_out.clicked.connect(self._ask_to_take_out)
        self._conflicting = ""
        row = QHBoxLayout()
        row.addWidget(self.agree)
        row.addWidget(self.take_out)
        row.addWidget(self.leave)
        row.addStretch(1)
        add_layout(self.body, row)
        self.hide()

    def show_plan(self, taking: UndoPlan) -> None:
        """What would be done to each file, edited parts kept."""
        clear(self._content)
        for file in taking.files:
            self._say(sentence_case(self._words(file.way)))
            diff = diff_of(file)
            if diff:
                self._content.addWidget(diff_view(self._words, diff, self))
        self.agree.show()
        self.take_out.hide()
        self._appear()

    def show_conflict(self, reason: str, three: ThreeWay, *, take_out: str = "") -> None:
        """The three-way diff: nothing is done; where they meet in the block of `take_out` alone, that change's can be taken out."""
        clear(self._content)
        self._conflicting = take_out
        self._say(sentence_case(reason))
        self._content.addWidget(ThreeWayView(self._words, three, self))
        if take_out:
            self._say_small(text("Undo changed nothing. gpuassist's own lines can be removed together with what was edited there."))
        else:
            self._say_small(text("Undo changed nothing. Please change these lines by hand, then undo the rest here."))
        self.agree.hide()
        self.take_out.setVisible(bool(take_out))
        self._appear()

    @Slot()
    def _ask_to_take_out(self) -> None:
        self.take_out_wanted.emit(self._conflicting)

    def _appear(self) -> None:
        self.show()
        (self.leave if self.agree.isHidden() else self.agree).setFocus()

    def _say(self, words: str) -> None:
        self._content.addWidget(paragraph(words, "", self))

    def _say_small(self, words: Text) -> None:
        self._content.addWidget(paragraph(self._words(words), "muted", self))
