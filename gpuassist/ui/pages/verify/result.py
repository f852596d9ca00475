"""What a verification proves and what not: a row for each check, the sentence for each device, and what torch itself printed."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.verdict import Check, Verdict, Verification
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.verification import VERDICT_WORDS, device_sentence, measured, rate_words
from gpuassist.session.verify import CheckLine, CheckState, VerifyProgress, check_label, verdict_on_accelerators
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.rows import Cell, Row
from gpuassist.ui.wording import sentence_case
from gpuassist.verify.runner import Level

_PROVES = text(
    "Each operation ran as kernels of this torch on the device, and its result lies within a bound that is derived for the "
    "operation and the format, not tuned. The reference is computed in fp64."
)
_QUICK_LEAVES = text(
    "It does not prove that the memory is free of faults, nor that the card holds out for hours: Full looks longer."
)
_FULL_LEAVES = text("It does not prove that the card holds out under days of load.")
HEADINGS = (text("Check"), text("format"), text("device"), text("result"), text("error of bound"), text("rate"))
# As wide as the columns are made, whatever comes.
COLUMN_SAMPLES = (
    Cell("Functions of each element"),
    Cell("int64"),
    Cell("cuda:0"),
    Cell("skipped", mark=Mark.ABSENT),
    Cell("8.8e-08 of 8.8e-08", mono=True),
    Cell("88.8 TFLOP/s", mono=True),
)
_STATE_WORDS = {CheckState.WAITING: text("waiting"), CheckState.RUNNING: text("running…"), CheckState.LEFT: text("not run")}


class ProvesCard(Card):
    """What it means when everything is right."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What this proves")), parent=parent)
        self._words = words
        self.body.addWidget(paragraph(words(_PROVES), "muted", self))
        self._leaves = paragraph("", "muted", self)
        self.body.addWidget(self._leaves)
        self.show_level(Level.QUICK)

    def show_level(self, level: Level) -> None:
        """What this depth leaves open."""
        set_paragraph(self._leaves, self._words(_FULL_LEAVES if level is Level.FULL else _QUICK_LEAVES))


class ResultCard(Card):
    """The verdict of each device, and of the accelerators as a whole."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Result")), parent=parent)
        self._words = words
        self.sentences: tuple[str, ...] = ()
        self.hide()

    def show_result(self, result: Verification) -> None:
        clear(self.body)
        told: list[Text] = []
        for device in result.devices:
            told.append(device_sentence(device))
            self._add(MarkIcon(mark_of(device.verdict), self), told[-1], device.name)
            wrong = [check for check in device.checks if check.verdict in {Verdict.FAIL, Verdict.HUNG} and check.error is not None]
            add_failures = [
                text(
                    "{check} ({format}): {reason}", check=check_label(check), format=check.dtype, reason=check.error or verbatim("")
                )
                for check in wrong
            ]
            for sentence in add_failures:
                self.body.addWidget(paragraph(sentence_case(self._words(sentence)), "muted", self))
            told.extend(add_failures)
        if result.devices:
            told.append(verdict_on_accelerators(result))
            self.body.addWidget(paragraph(self._words(told[-1]), "", self))
        self.sentences = tuple(self._words(sentence) for sentence in told)
        self.setVisible(bool(told))

    def _add(self, icon: MarkIcon, sentence: Text, name: str) -> None:
        box = QWidget(self)
        row = bare(QHBoxLayout(box), 8)
        row.addWidget(icon)
        row.addWidget(paragraph(self._words(sentence), "strong", box), 1)
        self.body.addWidget(box)
        self.body.addWidget(label(name, "small", self))


class TorchOutputCard(Card):
    """What the user's torch wrote on its own standard output and error: behind a button."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._show_words = words(text("Show what torch printed"))
        self._hide_words = words(text("Hide what torch printed"))
        self.toggle = small(self._show_words, self)
        self.toggle.clicked.connect(self._flip)
        self.head.addWidget(self.toggle)
        self.head.addStretch(1)
        self.block = CodeBlock(words, "", words(text("What torch printed")), self)
        self.block.hide()
        self.body.addWidget(self.block)
        self.hide()

    def show_output(self, output: str) -> None:
        """Nothing is shown where nothing was printed."""
        self.block.set_content(output.rstrip())
        self.block.hide()
        self.toggle.setText(self._show_words)
        self.setVisible(bool(output.strip()))

    @Slot()
    def _flip(self) -> None:
        shown = self.block.isHidden()
        self.block.setVisible(shown)
        self.toggle.setText(self._hide_words if shown else self._show_words)


def check_rows(progress: VerifyProgress, words: Words) -> tuple[Row, ...]:
    return tuple(_row(line, words) for line in progress.lines)


def _row(line: CheckLine, words: Words) -> Row:
    label = words(check_label(line.planned))
    why = words(line.check.error) if line.check is not None and line.check.error is not None else ""
    head = (
        Cell(label[:1].upper() + label[1:], after=why, tip=why),
        Cell(line.planned.dtype, quiet=True),
        Cell(line.device, quiet=True),
    )
    if line.check is None:
        return (*head, Cell(words(_STATE_WORDS[line.state]), quiet=True), Cell(""), Cell(""))
    return (*head, *_result(line.check, words))


def _result(check: Check, words: Words) -> Row:
    mark, verdict = mark_of(check.verdict), VERDICT_WORDS[check.verdict]
    distance = measured(check)
    return (
        Cell(words(verdict), mark=mark),
        Cell(words(distance) if distance is not None else "", mono=True, quiet=True),
        Cell(rate_words(check), mono=True),
    )
