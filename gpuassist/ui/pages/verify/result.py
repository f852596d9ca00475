"""What a verification proves and what not: the sentence for each device, how fast it was, and what torch itself printed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.model.fact import Known
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.verdict import BAD, Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.verification import device_sentence, left_open, rate_words
from gpuassist.present.verify_table import Column
from gpuassist.session.checks import check_label
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import clear
from gpuassist.ui.widgets.rate_bars import RateBar, RateBars
from gpuassist.ui.wording import sentence_case
from gpuassist.verify.expectation import Expectation
from gpuassist.verify.runner import Level

_PROVES = text(
    "Each operation that passed ran as kernels of this torch on the device, and every element of every repetition lies within a "
    "bound that is derived for the operation and the format, not tuned. The reference is exact, or computed in fp64."
)
_QUICK_LEAVES = text("It does not test the memory for faults or the card for long-term stability: Full runs longer.")
_FULL_LEAVES = text("It does not test whether the card stays stable under days of load.")
_DEVICES_NAMED = 4  # with more of them, those that passed are counted
_FAILURES_NAMED = 3
_BARS_SHOWN = 12
_BYTES = "B/s"


class ProvesCard(Card):
    """What a pass means, and what it leaves open."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What this proves")), parent=parent)
        self._words = words
        self.sentences: tuple[str, ...] = ()
        self.show_level(Level.QUICK)

    def show_level(self, level: Level, result: Verification | None = None) -> None:
        """What this level leaves open, and what this run did not come to."""
        told = [_PROVES, *(left_open(result) if result is not None else ()), _FULL_LEAVES if level is Level.FULL else _QUICK_LEAVES]
        sentences = tuple(self._words(one) for one in told)
        if sentences == self.sentences:
            return
        self.sentences = sentences
        clear(self.body)
        for sentence in sentences:
            self.body.addWidget(paragraph(sentence, "muted", self))


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
        named = result.alone
        if len(named) > _DEVICES_NAMED:
            named = tuple(device for device in named if device.verdict is not Verdict.PASS)
        others = len(result.alone) - len(named)
        for device in (*named, *(one for one in result.together if one.verdict in BAD)):
            told.append(device_sentence(device, result.devices))
            self._add(mark_of(device.verdict), told[-1])
            for sentence in _failures(device):
                told.append(sentence)
                self.body.addWidget(paragraph(sentence_case(self._words(sentence)), "muted", self))
        if others:
            told.append(counted("{count} GPU passed.", "{count} GPUs passed.", others))
            self._add(Mark.RIGHT, told[-1])
        if result.devices:
            told.append(verdict_on_accelerators(result))
            self.body.addWidget(paragraph(self._words(told[-1]), "", self))
        for note in result.notes:
            told.append(note)
            self.body.addWidget(paragraph(self._words(note), "muted", self))
        self.sentences = tuple(self._words(sentence) for sentence in told)
        self.setVisible(bool(told))

    def _add(self, mark: Mark, sentence: Text) -> None:
        self.add_marked(mark, paragraph(self._words(sentence), "strong", self))


def _failures(device: DeviceVerdict) -> Iterator[Text]:
    """The first of what went wrong on a device, by name."""
    bad = [check for check in device.checks if check.verdict in BAD]
    for check in bad[:_FAILURES_NAMED]:
        reason = check.error or verbatim("")
        yield text("{check} ({format}): {reason}", check=check_label(check), format=check.dtype, reason=reason)
    if len(bad) > _FAILURES_NAMED:
        yield counted("and {count} more", "and {count} more", len(bad) - _FAILURES_NAMED)


class RatesCard(Card):
    """How fast each format was; beside what the device should reach, where that is known."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Speed")), parent=parent)
        self._words = words
        self._all: tuple[RateBar, ...] = ()
        self.bars = RateBars(words, words(text("Speed")), self)
        self.note = paragraph("", "muted", self)
        self.more = small("", self)
        self.more.clicked.connect(self._show_all)
        self.body.addWidget(self.bars)
        self.body.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.note)
        self.hide()

    def show_bars(self, bars: tuple[RateBar, ...]) -> None:
        """Hidden where nothing was measured; what is slower than it should be is said below."""
        self._all = bars
        self.bars.show_bars(bars[:_BARS_SHOWN])
        self.more.setText(self._words(text("Show all {count}", count=len(bars))))
        self.more.setVisible(len(bars) > _BARS_SHOWN)
        told = [f"{one.label}: {one.sentence}." for one in bars if one.low and one.sentence]
        if not any(one.expected > 0 for one in bars):
            told.append(self._words(text("The expected rate of this device is not known; the bars are relative to the fastest.")))
        self.note.setText("\n".join(told))
        self.note.setVisible(bool(told))
        self.setVisible(bool(bars))

    @Slot()
    def _show_all(self) -> None:
        self.bars.show_bars(self._all)
        self.more.hide()


def rate_bars(report: VerifyReport, columns: tuple[Column, ...], words: Words) -> tuple[RateBar, ...]:
    """A bar for each rate that was measured, formats together, those of several devices below one another."""
    result = report.verification
    known = {(one.device.device, one.check.name, one.check.dtype): one.expectation for one in report.rates}
    named = {column.device: words(column.title) for column in columns}
    for one in result.together:
        named[one.device] = ", ".join(dict.fromkeys(named.get(member, member) for member in one.members))
    found: dict[tuple[str, str], list[tuple[str, Check, float]]] = {}
    for device in result.devices:
        for check in device.checks:
            if isinstance(check.rate, Known) and check.verdict is Verdict.PASS:
                found.setdefault((check.name, check.dtype), []).append((device.device, check, check.rate.value))
    fastest: dict[str, float] = {}
    for measured in found.values():
        for _, check, rate in measured:
            fastest[check.rate_unit] = max(fastest.get(check.rate_unit, 0.0), rate)
    return tuple(
        _bar(
            RateBar(
                _bar_label(check, named.get(device, "") if len(result.alone) > 1 else "", words),
                rate,
                0.0,
                check.rate_unit,
                rate_words(check),
                scale=fastest[check.rate_unit],
            ),
            known.get((device, check.name, check.dtype)),
            words,
        )
        for measured in found.values()
        for device, check, rate in measured
    )


def _bar(bar: RateBar, expectation: Expectation | None, words: Words) -> RateBar:
    """Beside what the GPU should reach, where that is known."""
    if expectation is None or not isinstance(expectation.peak, Known):
        return bar
    peak = expectation.peak.value.rate
    return replace(bar, expected=peak, sentence=words(expectation.words), low=expectation.held_back)


def _bar_label(check: Check, device: str, words: Words) -> str:
    """`GPU 1 · Convolution fp16`; of what only moves bytes without the format that they are in."""
    what = sentence_case(words(check_label(check)))
    return " · ".join(filter(None, (device, what if check.rate_unit.endswith(_BYTES) else f"{what} {check.dtype}")))


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
