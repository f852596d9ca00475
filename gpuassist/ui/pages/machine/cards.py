"""The cards of the first page: one for each GPU, or many of them in a table, the software, the Python environments, the host."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, joined, text
from gpuassist.model.words import Words
from gpuassist.present.environments import EnvironmentLine, environment_lines
from gpuassist.present.marks import Mark
from gpuassist.present.overview import CardRow, GpuCard, gpu_cards, host_words, software_lines
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.pages.machine.gpu_table import TABLE_FROM, GpuTable, fact_rows
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactTable
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import SPACING, Columns, add_layout, bare
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table


class ShownFacts(Struct, frozen=True):
    """All that the cards show of a machine: one that was read again is most often the same."""

    gpus: tuple[GpuCard, ...]
    software: tuple[CardRow, ...]
    environments: tuple[EnvironmentLine, ...]
    host: tuple[Text, tuple[Text, ...]]

    @classmethod
    def of(cls, machine: Machine) -> ShownFacts:
        host, parts = host_words(machine.host, machine)
        software, environments = tuple(software_lines(machine)), tuple(environment_lines(machine))
        return cls(tuple(gpu_cards(machine)), software, environments, (host, tuple(parts)))


class MachineCards(QWidget):
    """Everything below the title."""

    everything_wanted = Signal()

    def __init__(self, words: Words, facts: ShownFacts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.facts = facts
        column = bare(QVBoxLayout(self), SPACING)
        self.columns = Columns(self)
        column.addWidget(self.columns)
        self.building = InTurns(self)
        self.building.begin(self._steps(column))

    def _steps(self, column: QVBoxLayout) -> Iterator[Step]:
        # All at once they take 80 ms, a card 10 to 20 (measured, with the first layout and paint of each).
        cards = self.facts.gpus
        single = cards if len(cards) < TABLE_FROM else ()
        self.columns.expect(len(single) + 2)
        for card in single:
            yield lambda card=card: self.columns.add(self._gpu_card(card))  # type: ignore[misc]
        yield lambda: self.columns.add(self._software())
        yield lambda: self.columns.add(self._environments())
        if not single and cards:
            yield lambda: column.addWidget(GpuTable(self._words, cards, self))
        yield lambda: column.addWidget(self._host())

    def _gpu_card(self, card: GpuCard) -> Card:
        words = self._words
        made = Card(words(card.title), words(card.subtitle), self.columns, below=True)
        made.head.addWidget(StatusPill(Mark(card.status.value), words(card.state), made), 0, Qt.AlignmentFlag.AlignTop)
        made.body.addWidget(FactTable(words, fact_rows(words, card.lines), made))
        made.body.addStretch(1)
        return made

    def _software(self) -> Card:
        made = Card(self._words(text("Driver and toolkits")), parent=self.columns)
        made.body.addWidget(FactTable(self._words, fact_rows(self._words, self.facts.software), made))
        made.body.addStretch(1)
        return made

    def _environments(self) -> Card:
        words = self._words
        made = Card(words(text("Python environments")), words(text("· read from files, nothing imported")), parent=self.columns)
        lines = self.facts.environments
        if not lines:
            made.body.addWidget(paragraph(words(text("None was found.")), "muted", made))
        else:
            headings = [words(heading) for heading in (text("Environment"), text("Python"), text("torch"), text("Works on"))]
            model = RowsModel(headings, [self._environment_row(line) for line in lines], made)
            table = Table(model, words(text("Python environments")), made)
            table.spread(gives_way=0)
            made.body.addWidget(table)
        made.body.addStretch(1)
        return made

    def _environment_row(self, line: EnvironmentLine) -> Row:
        words = self._words
        mark = Mark(line.status.value) if line.has_torch else None
        return (
            Cell(line.name, after=line.manager, tip=line.prefix),
            Cell(words(line.python)),
            Cell(words(line.torch), quiet=not line.has_torch),
            Cell(words(line.runs_on), mark=mark, quiet=not line.has_torch),
        )

    def _host(self) -> Card:
        words = self._words
        name, parts = self.facts.host
        made = Card(parent=self)
        row = bare(QHBoxLayout(), 8)
        row.addWidget(label(words(name), "strong", made))
        row.addWidget(paragraph("· " + words(joined(parts)) if parts else "", "muted", made), 1)
        everything = small(words(text("Everything we read…")), made)
        everything.clicked.connect(self.everything_wanted)
        row.addWidget(everything)
        add_layout(made.body, row)
        return made
