"""Many GPUs in one table: a row each, what is read of all of them beside each other, and all of the chosen one below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.model.chain import Status
from gpuassist.model.text import counted, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.overview import FIGURES, CardRow, GpuCard
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import Hairline, label
from gpuassist.ui.widgets.layouts import add_layout, bare
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table

TABLE_FROM = 3  # GPUs; fewer are cards, on which everything is seen at once
_NAME = 1


class GpuTable(Card):
    """The first that is not ready is chosen, or else the first."""

    def __init__(self, words: Words, cards: Sequence[GpuCard], parent: QWidget | None = None) -> None:
        super().__init__(words(counted("one GPU", "{count} GPUs", len(cards))), parent=parent)
        self._words, self._cards = words, tuple(cards)
        headings = [words(one) for one in (text("GPU"), text("Name"), text("State"), *FIGURES)]
        model = RowsModel(headings, [self._row(card) for card in cards], self)
        self.table = Table(model, words(text("GPUs")), self)
        self.table.setSelectionMode(Table.SelectionMode.SingleSelection)
        self.table.rows_at_most = 16
        self.table.spread(_NAME)
        self.body.addWidget(self.table)
        self.body.addWidget(Hairline(self))
        self._name = label("", "strong", self)
        self._place = label("", "muted", self)
        self._pill = StatusPill(Mark.UNKNOWN, "", self)
        head = bare(QHBoxLayout(), 8)
        head.addWidget(self._name)
        head.addWidget(self._place)
        head.addStretch(1)
        head.addWidget(self._pill, 0, Qt.AlignmentFlag.AlignTop)
        add_layout(self.body, head)
        self.facts = FactTable(words, (), self)
        self.body.addWidget(self.facts)
        self.table.selectionModel().currentRowChanged.connect(self._show)
        self.table.selectRow(next((row for row, card in enumerate(cards) if card.status is not Status.RIGHT), 0))

    @Slot(QModelIndex, QModelIndex)
    def _show(self, now: QModelIndex, _before: QModelIndex) -> None:
        card = self._cards[now.row()]
        words = self._words
        self._name.setText(words(card.title))
        self._place.setText(words(card.subtitle))
        self._pill.show_status(Mark(card.status.value), words(card.state))
        self.facts.set_rows(fact_rows(words, card.lines))

    def _row(self, card: GpuCard) -> Row:
        words = self._words
        return (
            Cell("–" if card.index is None else str(card.index)),
            Cell(words(card.title), tip=words(card.subtitle)),
            Cell(words(card.state), mark=Mark(card.status.value)),
            *(self._figure(one) for one in card.figures),
        )

    def _figure(self, figure: CardRow) -> Cell:
        """What is not known has its reason in the tip, and below once its GPU is chosen."""
        said = self._words(figure.value)
        return Cell(said, tip=figure.source) if figure.known else Cell("–", quiet=True, tip=said)


def fact_rows(words: Words, lines: Sequence[CardRow]) -> list[FactRow]:
    """Rows as a table of facts has them."""
    return [FactRow(words(one.label), words(one.value), one.source, one.strong, unknown=not one.known) for one in lines]
