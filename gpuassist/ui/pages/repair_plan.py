"""The left card of the repair page: the toolkit, the steps, each line of the start-up file with its tick, and LD_LIBRARY_PATH."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.plan import StepKind
from gpuassist.model.text import Text, text
from gpuassist.session.fix import CudaPlan, LdLibraryPath, LoaderChoice, ShellLine
from gpuassist.session.repair_summary import Offer, edit_summary, line_context, line_name
from gpuassist.session.words import Words
from gpuassist.ui.palette import Mark
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.buttons import Choice, Tick
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.labels import ElidedLabel, Rule
from gpuassist.ui.widgets.paragraphs import paragraph, set_paragraph
from gpuassist.ui.widgets.step_row import StepRow

_INDENT = 26  # of what belongs to a tick, under its words


class PlanCard(Card):
    """What will be done, and what of it the user chooses. Emits what was chosen; a new plan comes back."""

    toolkit_chosen = Signal(object)  # str: the version wished for
    lines_chosen = Signal(object)  # tuple[int, ...]: the first line of each statement to retire
    loader_chosen = Signal(object)  # LdLibraryPath

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Plan")), parent=parent)
        self._words = words
        self._offers: tuple[Offer, ...] = ()
        self._lines: tuple[LineRow, ...] = ()
        self.loader: LoaderRow | None = None
        self._toolkit = Choice(self)
        self._toolkit.setAccessibleName(words(text("Toolkit")))
        self._toolkit.setSizeAdjustPolicy(Choice.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._toolkit.activated.connect(self._choose_toolkit)
        self._steps = QVBoxLayout()
        self._steps.setSpacing(10)
        self._choices = QVBoxLayout()
        self._choices.setSpacing(12)
        self.body.addWidget(self._toolkit)
        self.body.addSpacing(4)
        self.body.addLayout(self._steps)
        self.body.addLayout(self._choices)
        self.body.addStretch(1)

    @property
    def lines(self) -> tuple[LineRow, ...]:
        """The rows of the lines, in the order of the file."""
        return self._lines

    def show_offers(self, offers: tuple[Offer, ...], chosen: str) -> None:
        """The toolkits to choose from; none is shown as chosen where `chosen` is none of them."""
        self._offers = offers
        self._toolkit.clear()
        for offer in offers:
            self._toolkit.addItem(self._words(offer.words))
        self._toolkit.setCurrentIndex(next((place for place, offer in enumerate(offers) if _meant(offer, chosen)), -1))
        self._toolkit.setPlaceholderText(self._words(text("Choose an installed toolkit")))
        self._toolkit.setVisible(bool(offers))

    def show_plan(self, plan: CudaPlan) -> None:
        """The steps and choices of a plan; rows of lines that are the same stay, and with them the keyboard's focus."""
        self._head(text("Plan"))
        clear(self._steps)
        for place, row in enumerate(self._step_rows(plan)):
            self._steps.addWidget(row)
            row.show_number(place + 1)
        if self.loader is not None and _untick(plan.lines) == _untick([row.line for row in self._lines]):
            self.loader.show_choice(plan.loader)
            return
        clear(self._choices)
        self._choices.addWidget(Rule(self))
        self._lines = tuple(LineRow(self._words, line, self) for line in plan.lines)
        for line_row in self._lines:
            line_row.tick.toggled.connect(self._choose_lines)
            self._choices.addWidget(line_row)
        self.loader = LoaderRow(self._words, plan.loader, self)
        self.loader.tick.toggled.connect(self._choose_loader)
        self._choices.addWidget(self.loader)

    def forget_plan(self) -> None:
        """Nothing is planned."""
        self._lines, self.loader = (), None
        self._head(text("Toolkit for new shells"))
        clear(self._steps)
        clear(self._choices)

    def mark_steps(self, marks: Sequence[Mark]) -> None:
        """How the first steps went."""
        for place, mark in enumerate(marks):
            item = self._steps.itemAt(place)
            row = item.widget() if item is not None else None
            if isinstance(row, StepRow):
                row.show_mark(mark)

    def freeze(self) -> None:
        """What is being applied is no longer chosen."""
        for line_row in self._lines:
            line_row.tick.setEnabled(False)
        if self.loader is not None:
            self.loader.tick.setEnabled(False)
            self.loader = None  # so that the next plan makes new rows

    def _head(self, title: Text) -> None:
        if self.title is not None:
            self.title.setText(self._words(title))

    def _step_rows(self, plan: CudaPlan) -> list[StepRow]:
        edit = next(step for step in plan.plan.steps if step.kind is StepKind.EDIT)
        rows = [StepRow(self._words, edit.text, edit_summary(plan), self)]
        proof = text("A real one is started and asked which nvcc it finds")
        rows.append(StepRow(self._words, text("Prove it in a new terminal"), proof, self))
        shells = [step for step in plan.plan.steps if step.kind is StepKind.NEW_SHELL]
        rows.extend(StepRow(self._words, step.text, None, self, commands=step.commands) for step in shells)
        return rows

    @Slot(int)
    def _choose_toolkit(self, place: int) -> None:
        self.toolkit_chosen.emit(self._offers[place].version)

    @Slot(bool)
    def _choose_lines(self, _ticked: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        self.lines_chosen.emit(tuple(row.line.line for row in self._lines if row.tick.isChecked()))

    @Slot(bool)
    def _choose_loader(self, ticked: bool) -> None:  # noqa: FBT001 -- Qt's own signature
        self.loader_chosen.emit(LdLibraryPath.ON if ticked else LdLibraryPath.OFF)


class LineRow(QWidget):
    """A statement of the start-up file: its tick, what it does, in what it stands, and why it is ticked or not."""

    def __init__(self, words: Words, line: ShellLine, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = line
        self.tick = Tick(self)
        self.tick.setText(words(line_name(line)))
        self.tick.setChecked(line.ticked)
        self.tick.setEnabled(line.tickable)
        self.tick.setToolTip(line.text)
        inner = _under_tick(self, self.tick)
        inner.addWidget(ElidedLabel(" ".join(line.text.split()), "mono", self))
        for sentence in (*line.does, *line_context(line), line.why):
            inner.addWidget(paragraph(sentence_case(words(sentence)), "small", self))


class LoaderRow(QWidget):
    """Whether the toolkit's libraries go on LD_LIBRARY_PATH, and the reason of that choice."""

    def __init__(self, words: Words, choice: LoaderChoice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.tick = Tick(self)
        self.tick.setText(words(text("Put its libraries on LD_LIBRARY_PATH")))
        self.tick.setChecked(choice.on)
        self._reason = paragraph("", "small", self)
        _under_tick(self, self.tick).addWidget(self._reason)
        self.show_choice(choice)

    def show_choice(self, choice: LoaderChoice) -> None:
        """The reason of another choice."""
        set_paragraph(self._reason, sentence_case(self._words(choice.reason)))


def _under_tick(row: QWidget, tick: Tick) -> QVBoxLayout:
    column = QVBoxLayout(row)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(2)
    column.addWidget(tick)
    inner = QVBoxLayout()
    inner.setContentsMargins(_INDENT, 0, 0, 0)
    inner.setSpacing(2)
    column.addLayout(inner)
    return inner


def _meant(offer: Offer, version: str) -> bool:
    return bool(version) and (offer.version == version or offer.version.startswith(version + "."))


def _untick(lines: Iterable[ShellLine]) -> tuple[ShellLine, ...]:
    return tuple(replace(line, ticked=False) for line in lines)
