"""A step of an install as a card: what it does, its exact commands, what it needs, what it would change, and how it stands."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.install.records import StepRecord, StepState
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.solve import DryRun
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.install import change_lines, changes_title, remarks, requirer_in_words, state_in_words
from gpuassist.present.marks import Mark, mark_of
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.tips import as_tip
from gpuassist.ui.widgets.buttons import Tick, small
from gpuassist.ui.widgets.cards import Card, Notice, clear
from gpuassist.ui.widgets.code import CodeBlock, CommandBlock
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.paragraphs import label, paragraph, set_paragraph


class StepCard(Card):
    """`number` counts from 0; `home` is where its programs run, empty for a recorded machine."""

    look_wanted = Signal(int)

    def __init__(self, words: Words, step: Step, number: int, parent: QWidget | None = None, *, home: str) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.step = step
        self.number = number
        self.setAccessibleName(f"{number + 1}: {words(step.text)}")
        row = QHBoxLayout()
        row.setSpacing(10)
        self._number = label(str(number + 1), "muted", self)
        self._number.setFixedWidth(20)
        self._number.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._icon = MarkIcon(Mark.TODO, self)
        self._icon.hide()
        row.addWidget(self._number, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        row.addLayout(self._column, 1)
        self.body.addLayout(row)
        self.autostart: Tick | None = None
        self._fill(home)

    @property
    def mark(self) -> Mark | None:
        """How it stands; none before anything was done."""
        return None if self._icon.isHidden() else self._icon.mark

    @property
    def wants_autostart(self) -> bool:
        """Whether gpuassist shall open after the restart."""
        return self.autostart is not None and self.autostart.isChecked()

    def show_record(self, record: StepRecord) -> None:
        """How it stands on record."""
        mark = mark_of(record.state) if record.state is not StepState.WAITING else None
        self._icon.setVisible(mark is not None)
        self._number.setVisible(mark is None)
        if mark is not None:
            self._icon.set_mark(mark)
        words = state_in_words(record)
        self._state.setVisible(words is not None)
        if words is not None:
            set_paragraph(self._state, sentence_case(self._words(words)))
        self._details.setVisible(record.state is not StepState.DONE)

    def show_busy(self) -> None:
        """Something of it is under way."""
        self._icon.set_mark(Mark.BUSY)
        self._icon.show()
        self._number.hide()
        self._state.hide()

    def allow_look(self, why_not: str = "") -> None:
        """Whether it can be looked at now."""
        self.look.setEnabled(not why_not)
        self.look.setToolTip(as_tip(why_not))

    def show_looked(self, looked: DryRun) -> None:
        """What it would change."""
        clear(self._looked)
        self._add(self._words(changes_title(looked)), "strong")
        lines = change_lines(looked)
        if lines:
            self._looked.addWidget(CodeBlock(self._words, "\n".join(lines), self._words(text("What it would change")), self))
        for requirer in looked.requires:
            self._add(self._words(requirer_in_words(requirer)), "" if requirer.met_after else "strong")
        for warning in looked.warnings:
            self._looked.addWidget(Notice(Mark.WARNING, self._words(warning), self._details))
        for stop in looked.stops:
            self._looked.addWidget(Notice(Mark.PROBLEM, self._words(stop), self._details))
        if looked.stops:
            self._add(self._words(text("So it is not run.")), "muted")

    def _fill(self, home: str) -> None:
        words, step = self._words, self.step
        self._column.addWidget(paragraph(words(step.text), "strong", self))
        self._state = paragraph("", "muted", self)
        self._state.hide()
        self._column.addWidget(self._state)
        self._details = QWidget(self)
        column = QVBoxLayout(self._details)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        if step.commands:
            column.addWidget(CommandBlock(words, step.commands, words(text("Commands")), self._details))
        for remark in remarks(step, home):
            column.addWidget(paragraph(words(remark), "muted", self._details))
        if step.check is not None:
            check = text("To see that it worked: {check}", check=step.check)
            column.addWidget(paragraph(words(check), "muted", self._details))
        if step.kind is StepKind.REBOOT:
            self.autostart = Tick(
                words(text("Open gpuassist by itself after the restart, until the install is done")), self._details
            )
            column.addWidget(self.autostart)
        self._looked = QVBoxLayout()
        self._looked.setSpacing(8)
        column.addLayout(self._looked)
        self.look = small(words(text("Look what it would change")), self._details)
        self.look.clicked.connect(self._ask_to_look)
        self.look.setVisible(step.run is not None and bool(home))
        column.addWidget(self.look, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._details)

    def _add(self, words: str, role: str) -> None:
        self._looked.addWidget(paragraph(words, role, self._details))

    @Slot()
    def _ask_to_look(self) -> None:
        self.look_wanted.emit(self.number)
