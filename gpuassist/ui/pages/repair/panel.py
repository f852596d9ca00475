"""The right side of a repair: the diffs, lines for doing it by hand, before and after, the proof, and what is good to know."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import ONLY_NEW, result_notes, run_notes, unchanged_words
from gpuassist.present.toolkit_change import expected_rows, proved_rows
from gpuassist.ui.pages.repair.proof import KernelsCard, ShellsCard
from gpuassist.ui.pages.repair.result import DiffCard, TerminalCard
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.paragraphs import paragraph, set_paragraph
from gpuassist.ui.widgets.scroll_page import SPACING


class PlanPanel(QWidget):
    """Shows a plan, and then what came of it."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.diff = DiffCard(words, self)
        self.by_hand = Card(words(text("To paste by hand")), parent=self)
        self._by_hand_about = paragraph("", "muted", self.by_hand)
        self.block = CommandBlock(words, (), words(text("Lines for the start-up file")), self.by_hand)
        self.terminal = TerminalCard(words, self)
        self.shells = ShellsCard(words, self)
        self.kernels = KernelsCard(words, self)
        self.paste = Card(words(text("Terminals that are open")), parent=self)
        self.paste_lines = CommandBlock(words, (), words(text("Lines for a terminal that is open")), self.paste)
        self._notes = Card(words(text("Good to know")), parent=self)
        self.by_hand.body.addWidget(self._by_hand_about)
        self.by_hand.body.addWidget(self.block)
        self.paste.body.addWidget(paragraph(words(ONLY_NEW), "muted", self.paste))
        self.paste.body.addWidget(self.paste_lines)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACING)
        for card in (self.shells, self.kernels, self.diff, self.by_hand, self.terminal, self.paste, self._notes):
            column.addWidget(card)
        self._noted: tuple[Text, ...] = ()
        self._notes.hide()
        self._forget_proof()

    def show_plan(self, repair: ChangePlan) -> None:
        """A plan, before anything is done."""
        self._forget_proof()
        self.diff.show_plan(repair, unchanged_words(repair))
        if repair.cuda is not None:
            self.terminal.show_rows(expected_rows(repair), proved=False)
        self.terminal.setVisible(repair.cuda is not None)
        by_hand = repair.by_hand or text("These are the lines, to put at the end of a start-up file of yours:")
        set_paragraph(self._by_hand_about, self._words(by_hand))
        self.block.set_lines(repair.block.split("\n"))
        self.by_hand.setVisible(repair.obstacle is not None and bool(repair.block))
        self.paste_lines.set_lines(repair.paste)
        self.paste.setVisible(bool(repair.paste))
        self.show_notes((*repair.plan.notes, *run_notes(repair)))

    def show_carried(self, repair: ChangePlan, carried: ChangeOutcome) -> None:
        """What came of it."""
        taken_back = carried.rolled_back is not None
        if repair.cuda is not None and carried.proof is not None:
            self.terminal.show_rows(proved_rows(repair, carried), proved=True)
            self.terminal.setVisible(not taken_back)  # what a terminal found of it holds no more
            self.shells.show_applied(carried)
        if not carried.wrote:
            self.by_hand.setVisible(bool(self.block.content) and not taken_back)
            self.paste.hide()
        self.show_notes((*result_notes(carried), *repair.plan.notes))

    def show_notes(self, notes: tuple[Text, ...]) -> None:
        """What should be known."""
        if notes == self._noted:
            return
        self._noted = notes
        clear(self._notes.body)
        for note in notes:
            self._notes.body.addWidget(paragraph(sentence_case(self._words(note)), "muted", self._notes))
        self._notes.setVisible(bool(notes))

    def _forget_proof(self) -> None:
        self.shells.hide()
        self.kernels.hide()
