"""The proof of a repair: what every way of starting a shell finds since, and a kernel for each GPU."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.changes.kernels import KernelProof, told
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.changes import ShellsAlike, alike, slow_words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import Hairline, label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.wording import sentence_case
from gpuassist.verify.kernel import KernelVerdict

_TITLE = text("Every way of starting a shell")
_TITLE_BEFORE = text("Shells while the change was in effect")


class ShellsCard(Card):
    """What changed in shells that are started in different ways, those together in which the same did."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(_TITLE), parent=parent)
        self._words = words
        self._rows = bare(QVBoxLayout(), 8)
        add_layout(self.body, self._rows)

    def show_applied(self, applied: ChangeOutcome) -> None:
        """What came of a change, also of one that was taken back since; nothing where none was made."""
        clear(self._rows)
        if self.title is not None:
            self.title.setText(self._words(_TITLE if applied.rolled_back is None else _TITLE_BEFORE))
        for place, group in enumerate(alike(applied.shells)):
            if place:
                self._rows.addWidget(Hairline(self))
            self._rows.addWidget(_AlikeRow(self._words, group, self))
        slow = slow_words(applied)
        if slow is not None:
            self._rows.addWidget(Hairline(self))
            self._rows.addWidget(paragraph(self._words(slow), "small", self))
        self.setVisible(bool(applied.shells))


class _AlikeRow(QWidget):
    def __init__(self, words: Words, group: ShellsAlike, parent: QWidget) -> None:
        super().__init__(parent)
        row = bare(QHBoxLayout(self), 12)
        names = tuple(paragraph(sentence_case(words(shell)), "", self) for shell in group.shells)
        said = tuple(paragraph(words(one), "small", self) for one in group.differences or (text("unchanged"),))
        for part, lines in ((2, names), (3, said)):
            column = bare(QVBoxLayout(), 3)
            for line in lines:
                column.addWidget(line)
            column.addStretch(1)
            add_layout(row, column, part)


class KernelsCard(Card):
    """A kernel for each architecture: being compiled, with a way to stop; then what came of each."""

    explain_wanted = Signal(str)  # what the compiler or the kernel's program said
    cancel_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("A kernel for each GPU")), parent=parent)
        self._words = words
        self._doing = label("", "muted", self)
        self._icon = MarkIcon(Mark.BUSY, self)
        self.cancel = small(words(text("Cancel")), self)
        self.cancel.clicked.connect(self._cancel)
        self._busy = QWidget(self)
        row = bare(QHBoxLayout(self._busy), 8)
        row.addWidget(self._icon)
        row.addWidget(self._doing, 1)
        row.addWidget(self.cancel)
        self._rows = bare(QVBoxLayout(), 8)
        self.body.addWidget(self._busy)
        add_layout(self.body, self._rows)

    def begin(self) -> None:
        clear(self._rows)
        self.say(text("compiling a kernel"))
        self.cancel.setEnabled(True)
        self._busy.show()
        self.show()

    def say(self, doing: Text) -> None:
        self._doing.setText(sentence_case(self._words(doing)) + "…")

    def show_proofs(self, proofs: tuple[KernelProof, ...]) -> None:
        """What came of each; that it was cancelled where nothing did."""
        self._busy.hide()
        for place, proof in enumerate(proofs):
            if place:
                self._rows.addWidget(Hairline(self))
            self._rows.addWidget(KernelRow(self._words, proof, self))
        if not proofs:
            self._rows.addWidget(paragraph(self._words(text("Cancelled; nothing was compiled.")), "muted", self))

    def show_trouble(self, reason: str) -> None:
        self._busy.hide()
        self._rows.addWidget(paragraph(sentence_case(reason), "", self))

    @Slot()
    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self.say(text("stopping"))
        self.cancel_wanted.emit()


class KernelRow(QWidget):
    """One architecture; where it failed, the command, what was said, and the way to its explanation."""

    def __init__(self, words: Words, proof: KernelProof, parent: KernelsCard) -> None:
        super().__init__(parent)
        if proof.check.verdict is KernelVerdict.CANCELLED:
            self.mark = Mark.UNKNOWN
        else:
            self.mark = Mark.RIGHT if proof.check.passed else Mark.PROBLEM
        self.explain: QPushButton | None = None
        self._said = proof.check.said
        self._card = parent
        grid = bare(QGridLayout(self))
        grid.setHorizontalSpacing(10)
        grid.setColumnStretch(1, 1)
        grid.addWidget(MarkIcon(self.mark, self), 0, 0, Qt.AlignmentFlag.AlignTop)
        said = paragraph("", "", self)
        set_paragraph(said, sentence_case(words(told(proof))))
        grid.addWidget(said, 0, 1)
        if self.mark is Mark.PROBLEM and self._said:
            shown = f"$ {' '.join(proof.check.command)}\n{self._said}"
            grid.addWidget(CodeBlock(words, shown, words(text("Compiler output")), self), 1, 1)
            self.explain = small(words(text("Explain this message")), self)
            self.explain.clicked.connect(self._explain)
            grid.addWidget(self.explain, 2, 1, Qt.AlignmentFlag.AlignLeft)

    @Slot()
    def _explain(self) -> None:
        self._card.explain_wanted.emit(self._said)
