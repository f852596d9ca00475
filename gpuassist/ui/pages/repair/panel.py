"""The right side of a repair: the diffs, lines for doing it by hand, before and after, the proof, and what is good to know."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.model.plan import FileEdit
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import ONLY_NEW, result_notes, run_notes, shortened, unchanged_words
from gpuassist.present.marks import Mark
from gpuassist.present.toolkit_change import TerminalRow, expected_rows, is_verbatim, proved_rows
from gpuassist.ui.pages.repair.proof import KernelsCard, ShellsCard
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import ElidedLabel, Hairline, label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import SPACING, add_layout, bare, clear
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.wording import sentence_case

_DIFF_HEIGHT = 320
_PLANNED: tuple[Text, ...] = (text("In a new terminal"), text("Now"), text("After"))


class PlanPanel(QWidget):
    """Shows a plan, and then what came of it."""

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.diff = DiffCard(words, home, self)
        self.by_hand = Card(words(text("To paste yourself")), parent=self)
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
        column = bare(QVBoxLayout(self), SPACING)
        for card in (self.shells, self.kernels, self.diff, self.by_hand, self.terminal, self.paste, self._notes):
            column.addWidget(card)
        self._noted: tuple[Text, ...] = ()
        self._notes.hide()
        self._forget_proof()

    def show_plan(self, repair: ChangePlan) -> None:
        self._forget_proof()
        self.diff.show_plan(repair, unchanged_words(repair))
        if repair.cuda is not None:
            self.terminal.show_rows(expected_rows(repair), proved=False)
        self.terminal.setVisible(repair.cuda is not None)
        by_hand = repair.by_hand or text("Put these lines at the end of one of your start-up files:")
        set_paragraph(self._by_hand_about, self._words(by_hand))
        self.block.set_lines(repair.block.split("\n"))
        self.by_hand.setVisible(repair.obstacle is not None and bool(repair.block))
        self.paste_lines.set_lines(repair.paste)
        self.paste.setVisible(bool(repair.paste))
        self.show_notes((*repair.plan.notes, *run_notes(repair)))

    def show_carried(self, repair: ChangePlan, carried: ChangeOutcome) -> None:
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


class DiffCard(Card):
    """What changes in which files, each with its own view."""

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words, self._home = words, home
        self.diff = ""
        self.files: tuple[FileDiff, ...] = ()
        self._box = bare(QVBoxLayout(), 12)
        add_layout(self.body, self._box)
        self._nothing = paragraph("", "muted", self)
        self.body.addWidget(self._nothing)

    def show_plan(self, plan: ChangePlan, nothing: Text) -> None:
        """The diff of a plan, or the words that there is none."""
        self.diff = plan.diff
        changed = [(step.edit, step.diff) for step in plan.plan.steps if step.edit is not None and step.diff]
        if [edit.path for edit, _ in changed] != [file.path for file in self.files]:
            clear(self._box)
            self.files = tuple(FileDiff(self._words, edit, self._home, self) for edit, _ in changed)
            for file in self.files:
                self._box.addWidget(file)
        for file, (_, diff) in zip(self.files, changed, strict=True):
            file.show_diff(diff)
        set_paragraph(self._nothing, self._words(nothing))
        self._nothing.setVisible(not plan.diff)


class FileDiff(QWidget):
    """One file: its path, where that leads, and what changes in it."""

    def __init__(self, words: Words, edit: FileEdit, home: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = edit.path
        self._diff = ""
        path, target = shortened(edit.path, home), shortened(edit.target, home)
        shown = path if path == target else f"{path} → {target}"
        head = bare(QHBoxLayout(), 8)
        head.addWidget(ElidedLabel(shown, "mono", self), 1)
        head.addWidget(CopyButton(words, lambda: self._diff, self, title=words(text("Copy diff"))))
        self.view = DiffView(words(text("What changes in {path}", path=edit.path)), self)
        column = bare(QVBoxLayout(self), 8)
        add_layout(column, head)
        column.addWidget(self.view)

    def show_diff(self, diff: str) -> None:
        if diff != self._diff:
            self._diff = diff
            self.view.set_diff(diff)
            self.view.fit(_DIFF_HEIGHT)


class TerminalCard(Card):
    """What a new terminal finds, now and after: whole paths, cut in the middle only where there is no room."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self.rows: tuple[TerminalRow, ...] = ()
        self._proved = False
        self._box: QWidget | None = None

    def show_rows(self, rows: tuple[TerminalRow, ...], *, proved: bool) -> None:
        """Rows as planned, or as a real terminal answered."""
        if (rows, proved) == (self.rows, self._proved):
            return
        self.rows, self._proved = rows, proved
        clear(self.body)
        self._box = QWidget(self)
        grid = bare(QGridLayout(self._box))
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        for column, stretch in ((1, 1), (2, 1)):
            grid.setColumnStretch(column, stretch)
        titles = (text("In a new terminal"), text("Before"), text("Now, tested")) if proved else _PLANNED
        for column, title in enumerate(titles):
            grid.addWidget(label(self._words(title), "small", self._box), 0, column)
        for place, row in enumerate(rows):
            self._add(grid, 1 + 2 * place, row)
        self.body.addWidget(self._box)

    def _add(self, grid: QGridLayout, at: int, row: TerminalRow) -> None:
        grid.addWidget(Hairline(self._box), at, 0, 1, 3)
        grid.addWidget(label(row.name, "", self._box), at + 1, 0)
        grid.addWidget(self._cell(row.now), at + 1, 1)
        if row.same:
            pill = StatusPill(Mark.RIGHT, self._words(text("unchanged")), self._box)
            grid.addWidget(pill, at + 1, 2, Qt.AlignmentFlag.AlignLeft)
        else:
            grid.addWidget(self._cell(row.after), at + 1, 2)

    def _cell(self, found: Text) -> QWidget:
        words = self._words(found)
        if not is_verbatim(found):
            return paragraph(words, "small", self._box)
        # Of two paths the ends differ: /usr/…/nvcc stood before and after.
        return ElidedLabel(words, "mono", self._box, elide=Qt.TextElideMode.ElideLeft)
