"""What stands beside the checks of a run: earlier ones of this machine, the toolkits, and which libraries were loaded."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.model.verdict import BAD
from gpuassist.model.words import Words
from gpuassist.present.earlier_verifications import earlier_line
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.toolkit_checks import toolkit_line
from gpuassist.session.verification_differences import Change, Difference
from gpuassist.session.verifications import KeptVerification
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.folds import Fold, Folds
from gpuassist.ui.widgets.labels import ElidedLabel, label, paragraph
from gpuassist.ui.widgets.layouts import bare, clear
from gpuassist.ui.wording import sentence_case

_SHOWN_FIRST = 5
_MARKS = {  # worst first
    Change.BROKEN: Mark.PROBLEM,
    Change.DEVICE_GONE: Mark.WARNING,
    Change.SLOWER: Mark.WARNING,
    Change.MENDED: Mark.RIGHT,
    Change.FASTER: Mark.INFO,
    Change.DEVICE_NEW: Mark.INFO,
}


class EarlierRunsCard(Card):
    """The last verifications, newest first, and what is otherwise than in them."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Earlier verifications of this machine")), parent=parent)
        self._words = words
        self._kept: tuple[KeptVerification, ...] = ()
        self._differences: tuple[Difference, ...] = ()
        self.sentences: tuple[str, ...] = ()
        self.more = small(words(text("Show all")), self)
        self.more.clicked.connect(self._show_all)
        self.hide()

    def show_kept(self, kept: tuple[KeptVerification, ...], differences: tuple[Difference, ...] = ()) -> None:
        """Hidden where there are none."""
        if (kept, differences) != (self._kept, self._differences):
            self._kept, self._differences = kept, differences
            self._fill(_SHOWN_FIRST)
        self.setVisible(bool(kept))

    def _fill(self, count: int) -> None:
        self.body.removeWidget(self.more)
        clear(self.body)
        told = []
        for one in sorted(self._differences, key=lambda one: [*_MARKS].index(one.change)):
            told.append(sentence_case(self._words(one.words)))
            self.add_marked(_MARKS[one.change], paragraph(told[-1], "strong", self))
        for kept in self._kept[:count]:
            line = earlier_line(kept)
            told.append(f"{line.when}: {self._words(line.verdict)}, {self._words(line.about)}")
            box = QWidget(self)
            row = bare(QHBoxLayout(box), 10)
            row.addWidget(label(line.when, "muted", box))
            row.addWidget(label(self._words(line.verdict), "strong", box))
            row.addWidget(ElidedLabel(self._words(line.about), "muted", box, elide=Qt.TextElideMode.ElideRight), 1)
            box.setAccessibleName(told[-1])
            self.add_marked(line.mark, box)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.more.setVisible(len(self._kept) > count)
        self.sentences = tuple(told)

    @Slot()
    def _show_all(self) -> None:
        self._fill(len(self._kept))


class ToolkitsCard(Card):
    """What came of each nvcc with each host compiler for each GPU; what was printed of a failure is folded."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Toolkits")), parent=parent)
        self._words = words
        self.sentences: tuple[str, ...] = ()
        self.hide()

    def show_report(self, report: VerifyReport) -> None:
        """Hidden where none was tried: a quick run leaves them out."""
        clear(self.body)
        told = []
        for check in report.toolkits:
            told.append(self._words(toolkit_line(check)))  # nvcc is written small, at the beginning too
            self.add_marked(mark_of(check.verdict), paragraph(told[-1], "", self))
            if check.said.strip() and check.verdict in BAD:
                fold = Fold(self._words(text("What was printed")), partial(_fill_said, self._words, check.said))
                self.body.addWidget(Folds((fold,), self))
        self.sentences = tuple(told)
        self.setVisible(bool(told))


class LibrariesCard(Card):
    """What cannot be right of the libraries that were loaded; and, folded, which file each of them is and why."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Libraries")), parent=parent)
        self._words = words
        self.sentences: tuple[str, ...] = ()
        self.hide()

    def show_report(self, report: VerifyReport) -> None:
        """Hidden where nothing is known of them."""
        clear(self.body)
        result = report.verification
        faults = (*(fault.text for fault in result.library_faults), *report.without_variables)
        self.sentences = tuple(map(self._words, faults))  # they begin with the names of libraries, in their own spelling
        for sentence in self.sentences:
            self.add_marked(Mark.WARNING, paragraph(sentence, "", self))
        if result.libraries:
            rows = [
                FactRow(f"{one.name} {one.version}".strip(), f"{one.path} ({self._words(one.why)})") for one in result.libraries
            ]
            fold = Fold(self._words(text("Loaded libraries")), partial(_fill_libraries, self._words, rows))
            self.body.addWidget(Folds((fold,), self))
        self.setVisible(bool(self.sentences or result.libraries))


def _fill_said(words: Words, said: str, card: Card) -> None:
    card.body.addWidget(CodeBlock(words, said.strip(), words(text("What was printed")), card))


def _fill_libraries(words: Words, rows: Sequence[FactRow], card: Card) -> None:
    card.body.addWidget(FactTable(words, rows, card, label_width=170))
