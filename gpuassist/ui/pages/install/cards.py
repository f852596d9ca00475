"""The install page's cards: a step with its exact commands and how it stands, the ways to choose from, and earlier installs."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from gpuassist.install.records import Install, StepRecord, StepState
from gpuassist.model.outlook import WayPlan
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.solve import DryRun
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.install import (
    WAYS,
    change_lines,
    changes_title,
    install_in_words,
    remarks,
    requirer_in_words,
    state_in_words,
)
from gpuassist.present.marks import Mark, mark_of
from gpuassist.ui.widgets.buttons import Tick, small
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.code import CodeBlock, CommandBlock
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, by_text, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.own_command import said
from gpuassist.ui.wording import as_tip, sentence_case

_SHOWN_AT_MOST = 5
_INDENT = 22  # below the words of a radio button


class StepCard(Card):
    """`number` counts from 0; `home` is where its programs run, empty for a recorded machine."""

    look_wanted = Signal(int)

    def __init__(self, words: Words, step: Step, number: int, parent: QWidget | None = None, *, home: str) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.step = step
        self.number = number
        self.setAccessibleName(f"{number + 1}: {words(step.text)}")
        row = bare(QHBoxLayout(), 10)
        self._number = label(str(number + 1), "muted", self)
        self._number.setFixedWidth(by_text(20))
        self._number.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._icon = MarkIcon(Mark.TODO, self)
        self._icon.hide()
        row.addWidget(self._number, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._column = bare(QVBoxLayout(), 8)
        add_layout(row, self._column, 1)
        add_layout(self.body, row)
        self.autostart: Tick | None = None
        self._fill(home)

    @property
    def mark(self) -> Mark | None:
        return None if self._icon.isHidden() else self._icon.mark

    @property
    def wants_autostart(self) -> bool:
        """Whether gpuassist shall open after the restart."""
        return self.autostart is not None and self.autostart.isChecked()

    def show_record(self, record: StepRecord) -> None:
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
        self._icon.set_mark(Mark.BUSY)
        self._icon.show()
        self._number.hide()
        self._state.hide()

    def allow_look(self, why_not: str = "") -> None:
        self.look.setEnabled(not why_not)
        self.look.setToolTip(as_tip(why_not))

    def show_looked(self, looked: DryRun) -> None:
        clear(self._looked)
        self._add(self._words(changes_title(looked)), "strong")
        lines = change_lines(looked)
        if lines:
            self._looked.addWidget(CodeBlock(self._words, "\n".join(lines), self._words(text("Changes it would make")), self))
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
        column = bare(QVBoxLayout(self._details), 8)
        if step.commands:
            column.addWidget(CommandBlock(words, step.commands, words(text("Commands")), self._details))
        for remark in remarks(step, home):
            column.addWidget(paragraph(words(remark), "muted", self._details))
        if step.check is not None:
            check = text("To see that it worked: {check}", check=step.check)
            column.addWidget(said(words, words(check), "muted", self._details))
        if step.kind is StepKind.REBOOT:
            self.autostart = Tick(
                words(text("Open gpuassist automatically after the restart, until the install is done")), self._details
            )
            column.addWidget(self.autostart)
        self._looked = bare(QVBoxLayout(), 8)
        add_layout(column, self._looked)
        self.look = small(words(text("Preview changes")), self._details)
        self.look.clicked.connect(self._ask_to_look)
        self.look.setVisible(step.run is not None and bool(home))
        column.addWidget(self.look, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addWidget(self._details)

    def _add(self, words: str, role: str) -> None:
        self._looked.addWidget(paragraph(words, role, self._details))

    @Slot()
    def _ask_to_look(self) -> None:
        self.look_wanted.emit(self.number)


class WaysCard(Card):
    """Emits `chosen` with the place of the way that the user wants."""

    chosen = Signal(int)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Ways to install it")), words(text("the safest first")), parent)
        self._words = words
        self._ways: tuple[WayPlan, ...] = ()
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self._choose)
        self._rows = bare(QVBoxLayout(), 12)
        add_layout(self.body, self._rows)
        self.hide()

    def button(self, place: int) -> QRadioButton:
        button = self._group.button(place)
        assert isinstance(button, QRadioButton)
        return button

    def show_ways(self, ways: tuple[WayPlan, ...]) -> None:
        """Offers these, the first of them chosen; no card where there is no choice."""
        if ways != self._ways:
            self._ways = ways
            for button in self._group.buttons():
                self._group.removeButton(button)
            clear(self._rows)
            for place, way in enumerate(ways):
                self._rows.addWidget(self._row(place, way))
        if ways:
            self.button(0).setChecked(True)
        self.setVisible(len(ways) > 1)

    def _row(self, place: int, way: WayPlan) -> QWidget:
        inside = QWidget(self)
        column = bare(QVBoxLayout(inside), 2)
        button = QRadioButton(self._words(WAYS[way.way]), inside)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button, place)
        column.addWidget(button)
        for one in (way.text, *way.notes):
            line = paragraph(sentence_case(self._words(one)), "muted", inside)
            line.setContentsMargins(_INDENT, 0, 0, 0)
            column.addWidget(line)
        return inside

    @Slot(int)
    def _choose(self, place: int) -> None:
        self.chosen.emit(place)


class EarlierCard(Card):
    """The installs of which something stands that gpuassist did; emits `back_wanted` with the id of one."""

    back_wanted = Signal(object)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Earlier installs")), parent=parent)
        self._words = words
        self._shown: tuple[Install, ...] = ()
        self._rows = bare(QVBoxLayout(), 8)
        add_layout(self.body, self._rows)
        self.hide()

    def show_installs(self, installs: tuple[Install, ...]) -> None:
        shown = installs[:_SHOWN_AT_MOST]
        if shown != self._shown:
            self._shown = shown
            clear(self._rows)
            for one in shown:
                self._rows.addWidget(self._row(one))
        self.setVisible(bool(shown))

    def _row(self, install: Install) -> QWidget:
        said = self._words(install_in_words(install))
        inside = QWidget(self)
        row = bare(QHBoxLayout(inside))
        row.addWidget(paragraph(said, "", inside), 1)
        back = small(self._words(text("Undo install…")), inside)
        back.setAccessibleName(f"{back.text()}: {said}")
        back.setProperty("install", install.id)
        back.clicked.connect(self._ask)
        row.addWidget(back)
        return inside

    @Slot()
    def _ask(self) -> None:
        button = self.sender()
        if button is not None:
            self.back_wanted.emit(button.property("install"))
