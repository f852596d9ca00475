"""Your machine: what was read, each fact with its source, and other machines to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from gpuassist.model.codec import encode_machine
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.session.environments import EnvironmentLine, environment_lines
from gpuassist.session.flow import Step
from gpuassist.session.overview import GpuCard, Line, gpu_cards, host_words, software_lines, title
from gpuassist.session.summary import joined, machine_figures
from gpuassist.ui.jobs import Control, Done, Failed
from gpuassist.ui.models.rows import Cell, Row, RowsModel
from gpuassist.ui.page import Bar, Desk, OpenExample, OpenRecording, Page, ReadAgain
from gpuassist.ui.palette import Mark
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, Notice
from gpuassist.ui.widgets.columns import Columns
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.table import Table

if TYPE_CHECKING:
    from gpuassist.session.inspect import Example, Inspection


class MachinePage(Page):
    """The first page; it is there before anything was read."""

    STEP = Step.MACHINE

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine: Machine | None = None
        self._scroll = self.fill_with_scroll()
        self._scroll.header.show_words(
            desk.words(text("Your machine")), desk.words(text("Reading it takes a moment; nothing is changed."))
        )
        self._strip = ProgressStrip(self)
        self._trouble = Notice(Mark.PROBLEM, "", self)
        self._trouble.hide()
        self._columns = Columns(self)
        self._host = Card(parent=self)
        self._host.hide()
        self._scroll.header.beside.addWidget(self._strip)
        for widget in (self._trouble, self._columns, self._host):
            self._scroll.content.addWidget(widget)
        self._again = self._action(desk.words(text("Read again")), self._read_again)
        self._open = self._action(desk.words(text("Open a recorded machine…")), self._ask_recording)
        self._open.setShortcut("Ctrl+O")
        self._examples = QAction(desk.words(text("Examples")), self)
        self._examples.setVisible(False)

    def bar(self) -> Bar:
        return Bar((self._again, self._open, self._examples), next_title=self.desk.words(text("See what we found")))

    def show_reading(self, words: str) -> None:
        """A machine is being read: says so, and what was read last."""
        self._trouble.hide()
        self._strip.begin(words)

    def show_progress(self, words: str) -> None:
        """What was read last."""
        self._strip.say(words)

    def show_failure(self, reason: str) -> None:
        """Nothing could be read; what is shown of the machine before stays."""
        self._strip.end()
        self._trouble.show_words(Mark.PROBLEM, reason)
        self._trouble.show()
        if self._machine is None:
            self._scroll.header.show_words(self.desk.words(text("Nothing could be read")), "")

    def show_inspection(self, inspection: Inspection) -> None:
        words = self.desk.session.words
        self._strip.end()
        self._machine = inspection.machine
        figures = machine_figures(inspection.seconds, recorded=inspection.recorded, title=inspection.title)
        self._scroll.header.show_words(words(title(inspection.machine)), words(figures))
        cards = [self._gpu_card(card) for card in gpu_cards(inspection.machine)]
        self._columns.set_widgets((*cards, self._software(inspection.machine), self._environments(inspection.machine)))
        self._show_host(inspection.machine)
        self._load_examples()

    def _action(self, words: str, slot: object) -> QAction:
        action = QAction(words, self)
        action.triggered.connect(slot)
        self.addAction(action)
        return action

    def _gpu_card(self, card: GpuCard) -> Card:
        words = self.desk.session.words
        made = Card(words(card.title), words(card.subtitle), self._columns, below=True)
        made.head.addWidget(StatusPill(Mark(card.status.value), words(card.state), made), 0, Qt.AlignmentFlag.AlignTop)
        made.body.addWidget(FactTable(words, self._rows(card.lines), made))
        made.body.addStretch(1)
        return made

    def _software(self, machine: Machine) -> Card:
        made = Card(self.desk.words(text("Driver and toolkits")), parent=self._columns)
        made.body.addWidget(FactTable(self.desk.session.words, self._rows(software_lines(machine)), made))
        made.body.addStretch(1)
        return made

    def _environments(self, machine: Machine) -> Card:
        words = self.desk.session.words
        made = Card(words(text("Python environments")), words(text("· read from files, nothing imported")), parent=self._columns)
        lines = environment_lines(machine)
        if not lines:
            made.body.addWidget(paragraph(words(text("None was found.")), "muted", made))
        else:
            headings = [words(heading) for heading in (text("Environment"), text("Python"), text("torch"), text("runs on"))]
            model = RowsModel(headings, [self._environment_row(line) for line in lines], made)
            table = Table(model, words(text("Python environments")), made)
            table.stretch(0)
            made.body.addWidget(table)
        made.body.addStretch(1)
        return made

    def _environment_row(self, line: EnvironmentLine) -> Row:
        words = self.desk.session.words
        mark = Mark(line.status.value) if line.has_torch else None
        return (
            Cell(line.name, after=line.manager, tip=line.prefix),
            Cell(words(line.python)),
            Cell(words(line.torch), quiet=not line.has_torch),
            Cell(words(line.runs_on), mark=mark, quiet=not line.has_torch),
        )

    def _rows(self, lines: tuple[Line, ...]) -> list[FactRow]:
        words = self.desk.session.words
        return [FactRow(words(one.label), words(one.value), one.source, one.strong, unknown=not one.known) for one in lines]

    def _show_host(self, machine: Machine) -> None:
        words = self.desk.session.words
        name, parts = host_words(machine.host, machine)
        fresh = Card(parent=self)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(label(words(name), "strong", fresh))
        row.addWidget(paragraph("· " + words(joined(parts)) if parts else "", "muted", fresh), 1)
        everything = small(words(text("Everything we read…")), fresh)
        everything.clicked.connect(self.show_everything)
        row.addWidget(everything)
        fresh.body.addLayout(row)
        self._scroll.content.replaceWidget(self._host, fresh)
        self._host.hide()
        self._host.deleteLater()
        self._host = fresh

    @Slot()
    def show_everything(self) -> None:
        """Opens the full list."""
        from gpuassist.ui.widgets.everything import Everything  # not needed before somebody asks

        if self._machine is not None:
            Everything(
                self.desk.session.words, encode_machine(self._machine, self.desk.session.words), self.desk.asking, self
            ).open()

    @Slot()
    def _read_again(self) -> None:
        self.asked.emit(ReadAgain())

    @Slot()
    def _ask_recording(self) -> None:
        kinds = f"{self.desk.words(text('Recorded machines'))} (*.json)"
        self.desk.asking.open_file(self, self.desk.words(text("Open a recorded machine")), kinds, self._open_recording)

    def _open_recording(self, path: str) -> None:
        self.asked.emit(OpenRecording(path))

    def _load_examples(self) -> None:
        if self._examples.menu() is None:
            self._examples.setMenu(QMenu(self))
            self.desk.jobs.start(self._read_examples, self).finished.connect(self._offer_examples)

    def _read_examples(self, control: Control) -> object:
        from gpuassist.session.inspect import examples

        return examples(self.desk.session)

    @Slot(object)
    def _offer_examples(self, result: Done | Failed) -> None:
        found: tuple[Example, ...] = result.value if isinstance(result, Done) else ()  # type: ignore[assignment]
        menu = self._examples.menu()
        for example in found:
            action = QAction(self.desk.words(example.title), self)
            action.setData(example.name)
            action.triggered.connect(self._open_example)
            menu.addAction(action)  # type: ignore[attr-defined]
        self._examples.setVisible(bool(found))
        self.bar_changed.emit()

    @Slot()
    def _open_example(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self.asked.emit(OpenExample(str(action.data())))
