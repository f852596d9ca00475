"""What we found: the answer in the title, the chain, a card for each finding, what is fine and what could not be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import QPoint, QTimer, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.chain import Chain
from gpuassist.model.finding import Answer, Passed, Severity, Undetermined
from gpuassist.model.text import counted, joined, text
from gpuassist.present.chain import Alike, alike, caption
from gpuassist.present.marks import Mark
from gpuassist.present.past import explanation_of
from gpuassist.present.remedies import ShownRemedy, shown_together
from gpuassist.present.summary import found_figures, found_title
from gpuassist.session.navigation import Destination, Errand, GoTo, ToFinding, WayOn, WizardStep
from gpuassist.ui.leads import leads_of
from gpuassist.ui.page import Bar, Desk, Page, ReadAgain, new_action
from gpuassist.ui.pages.found_past import PastCard
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card, EmptyState
from gpuassist.ui.widgets.chain_view import ChainView
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.finding_card import FindingCard
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import SPACING, FlowLayout, add_layout, bare, clear, widgets_in
from gpuassist.ui.widgets.marks import StatusPill

if TYPE_CHECKING:
    from datetime import datetime

    from gpuassist.session.inspect import Inspection


class _Told(Struct, frozen=True):
    """All that a card says."""

    answer: Answer
    remedies: tuple[ShownRemedy, ...]
    leads: tuple[WayOn, ...]
    why: str


class FoundPage(Page):
    """The findings of the machine that was read."""

    STEP = WizardStep.FOUND

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._scroll = self.fill_with_scroll()
        self._chains = ChainCard(desk, self)
        self._cards = bare(QVBoxLayout(), 16)
        self._rest = Remainder(desk, self)
        self._scroll.content.addWidget(self._chains)
        add_layout(self._scroll.content, self._cards)
        self._scroll.content.addWidget(self._rest)
        self.past = PastCard(desk, self)  # last: it comes when the rest stands, and moves nothing
        self._scroll.content.addWidget(self.past)
        self._again = QAction(desk.words(text("Refresh")), self)
        self._again.triggered.connect(self._check_again)
        self.addAction(self._again)
        self._inspection: Inspection | None = None
        self._told: tuple[_Told, ...] | None = None
        self._nothing: EmptyState | None = None
        self._hand_on = new_action(self, desk.words(text("Report…")), self._make_report)

    def bar(self) -> Bar:
        return Bar((self._again, self._hand_on) if self._inspection is not None else (self._again,))

    def show_inspection(self, inspection: Inspection) -> None:
        words, now = self.desk.words, self.desk.session.world.clock.now()
        diagnosis, answers = inspection.diagnosis, inspection.answers
        self._inspection = inspection
        self._scroll.header.show_words(
            words(found_title(inspection.machine, diagnosis, answers)),
            words(joined(found_figures(diagnosis, answers, inspection.seconds))),
        )
        self._chains.show_chains(inspection.chains)
        remedies = shown_together(answers)
        self._show_told(
            tuple(
                _Told(one, shown, leads_of(one, inspection.machine), explanation_of(one, words, now))
                for one, shown in zip(answers, remedies, strict=True)
            ),
            now,
        )
        self._show_nothing_found(diagnosis.undetermined if all(one.severity is Severity.INFO for one in answers) else None)
        self._rest.show_rest(diagnosis.passed, diagnosis.undetermined)
        self.past.show_inspection(inspection)
        self.bar_changed.emit()

    def _show_told(self, told: tuple[_Told, ...], now: datetime) -> None:
        """A card each; those that say the same as before stay as they are, open or folded."""
        if told == self._told:
            return
        self._told = told
        self._nothing = None
        clear(self._cards)
        for place, one in enumerate(told):
            card = FindingCard(
                self.desk.words, one.answer, self, is_open=not place, remedies=one.remedies, now=now, leads=one.leads
            )
            card.asked.connect(self.asked)
            card.link_opened.connect(self.desk.asking.visit)
            self._cards.addWidget(card)

    def _show_nothing_found(self, undetermined: tuple[Undetermined, ...] | None) -> None:
        """What stands before the cards where none of them is of something that is wrong."""
        if undetermined is None:
            return
        if self._nothing is None:
            self._nothing = EmptyState(Mark.RIGHT, "", "", self)
            self._cards.insertWidget(0, self._nothing)
        mark, title = Mark.RIGHT, text("No problems")
        rest = text("Everything that was checked works together. Verify tests it with real computations.")
        if undetermined:
            mark, title = Mark.UNKNOWN, text("No problem found")
            rest = text(
                "Everything that could be checked is in order. What could not be determined is listed below, with the reason."
            )
        self._nothing.show_words(mark, self.desk.words(title), self.desk.words(rest))

    def shows(self, destination: Destination) -> bool:
        return destination == GoTo(self.STEP)

    def arrive(self, errand: Errand | None) -> None:
        card = next((one for one in self.cards() if isinstance(errand, ToFinding) and one.answer.id == errand.problem), None)
        if card is not None:
            card.set_open(True)
            QTimer.singleShot(0, card, lambda: self._reveal(card))  # once it is laid out

    def _reveal(self, card: FindingCard) -> None:
        """All of the card, or where it is too high for that what to do."""
        what, room, bar = card.what_to_do(), self._scroll.viewport(), self._scroll.verticalScrollBar()
        shown = card if card.height() <= room.height() else what
        bar.setValue(bar.value() + shown.mapTo(room, QPoint(0, -SPACING // 2)).y())
        for words in what.findChildren(QLabel)[:1]:
            words.setFocus()

    def cards(self) -> tuple[FindingCard, ...]:
        return tuple(widget for widget in widgets_in(self._cards) if isinstance(widget, FindingCard))

    @Slot()
    def _make_report(self) -> None:
        if self._inspection is not None:
            from gpuassist.ui.report_dialog import ReportDialog  # what a start need not wait for

            ReportDialog(self.desk, self._inspection, self).open()

    @Slot()
    def _check_again(self) -> None:
        self.asked.emit(ReadAgain())


class ChainCard(Card):
    """The chain, with a choice of the GPU where there are several."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = desk.words
        self._shown: tuple[Chain, ...] = ()
        self._chains: tuple[Alike, ...] = ()
        self._label = label(self._words(text("Compatibility chain for")), "muted", self)
        self._choice = DropDown(self)
        self._choice.setAccessibleName(self._words(text("GPU")))
        self._choice.currentIndexChanged.connect(self._choose)
        self.head.addWidget(self._label)
        self.head.addWidget(self._choice)
        self.head.addStretch(1)
        self.view = ChainView(self._words, self)
        self.body.addWidget(self.view)
        self.hide()

    def show_chains(self, chains: tuple[Chain, ...]) -> None:
        """Shows the chain of the first GPU, and offers those that are otherwise; where all are as before the chosen one stays."""
        if chains == self._shown:
            return
        self._shown = chains
        self._chains = alike(chains)
        self._choice.blockSignals(True)  # noqa: FBT003 -- Qt's own
        self._choice.clear()
        for one in self._chains:
            self._choice.addItem(self._words(caption(one)))
        self._choice.blockSignals(False)  # noqa: FBT003 -- Qt's own
        several = len(self._chains) > 1
        self._choice.setVisible(several)
        self._label.setVisible(several)
        self.setVisible(bool(chains))
        if chains:
            self.view.show_chain(chains[0])

    @Slot(int)
    def _choose(self, place: int) -> None:
        if 0 <= place < len(self._chains):
            self.view.show_chain(self._chains[place].chain)


class Remainder(QWidget):
    """Checked and fine, as pills; and what could not be determined, with its reasons behind a button."""

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = desk.words
        self._shown: tuple[object, ...] = ()
        column = bare(QVBoxLayout(self), 12)
        self._fine = QWidget(self)
        self._flow = FlowLayout(self._fine)
        column.addWidget(self._fine)
        self._toggle: QPushButton = small("", self)
        self._toggle.clicked.connect(self._flip)
        row = QHBoxLayout()
        row.addWidget(self._toggle)
        row.addStretch(1)
        add_layout(column, row)
        self.open_card = Card(parent=self)
        self.table = FactTable(self._words, (), self.open_card, label_width=240)
        self.open_card.body.addWidget(self.table)
        self.open_card.hide()
        column.addWidget(self.open_card)

    def show_rest(self, passed: tuple[Passed, ...], undetermined: tuple[Undetermined, ...]) -> None:
        """Shows what else there is to say; where that is the same as before, its table stays open."""
        if (passed, undetermined) == self._shown:
            return
        self._shown = (passed, undetermined)
        clear(self._flow)
        if passed:
            self._flow.addWidget(label(self._words(text("Checked and fine:")), "muted", self._fine))
        for one in passed:
            self._flow.addWidget(StatusPill(Mark.RIGHT, self._words(one.check), self._fine))
        self._fine.setVisible(bool(passed))
        self._toggle.setText(
            self._words(counted("1 thing could not be determined…", "{count} things could not be determined…", len(undetermined)))
        )
        self._toggle.setVisible(bool(undetermined))
        self.table.set_rows(
            [FactRow(self._words(one.fact), self._words(one.reason), one.problem, unknown=True) for one in undetermined]
        )
        self.open_card.hide()

    @Slot()
    def _flip(self) -> None:
        self.open_card.setVisible(self.open_card.isHidden())
