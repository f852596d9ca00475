"""The explain page's answer: a block for each problem, the most likely cause first; what else it could be; what was read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.finding import Answer, GuideLink
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import counted, labelled, text
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines
from gpuassist.present.explanation import (
    SURENESS_WORDS,
    Quotation,
    Sureness,
    accounts_shown,
    left_out,
    line_of,
    picture_of,
    places_of,
    quotes,
    sureness,
)
from gpuassist.present.listing import facts_read
from gpuassist.present.marks import MARK_WORDS, Mark
from gpuassist.present.past import explanation_of
from gpuassist.present.remedies import ShownRemedy, shown_together
from gpuassist.session.explain import Explanation, UnlikelyAnswer
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.pages.explain.remedies import Quote, RemedyCard
from gpuassist.ui.theme import mono
from gpuassist.ui.widgets.buttons import secondary, small
from gpuassist.ui.widgets.cards import Card, EmptyState, Well
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.finding_card import LinkButton
from gpuassist.ui.widgets.folds import Fold, Folds
from gpuassist.ui.widgets.labels import Hairline, label, paragraph
from gpuassist.ui.widgets.layouts import SPACING, TWO_FROM, Columns, FlowLayout, add_layout, bare, clear, widgets_in
from gpuassist.ui.widgets.marks import MarkIcon, StatusPill
from gpuassist.ui.widgets.memory_bar import MemoryBar
from gpuassist.ui.wording import sentence_case

# What stands below an explanation, folded: what was read, what else it could be, what the text contradicts, what is open.


def folds_of(words: Words, explanation: Explanation) -> tuple[Fold, ...]:
    """One for each kind of thing that there is."""
    folds: list[Fold] = []
    facts = sum(len(section.lines) for section in facts_read(explanation.machine))
    if facts:
        title = counted("1 fact was read in the text…", "{count} facts were read in the text…", facts)
        folds.append(Fold(words(title), partial(_fill_facts, words, explanation)))
    if explanation.accounts and (explanation.convicts or not explanation.known):
        title = text("What else the text says…")
        folds.append(Fold(words(title), partial(_fill_accounts, words, explanation)))
    if explanation.contradictions:
        count = len(explanation.contradictions)
        title = counted("The text contradicts itself in one thing…", "The text contradicts itself in {count} things…", count)
        folds.append(Fold(words(title), partial(_fill_contradictions, words, explanation)))
    if explanation.less_likely:
        count = len(explanation.less_likely)
        title = counted("1 other cause is less likely…", "{count} other causes are less likely…", count)
        folds.append(Fold(words(title), partial(_fill_doubts, words, explanation.less_likely)))
    if explanation.undetermined:
        title = counted(
            "1 thing could not be determined…", "{count} things could not be determined…", len(explanation.undetermined)
        )
        folds.append(Fold(words(title), partial(_fill_undetermined, words, explanation)))
    return tuple(folds)


def _fill_facts(words: Words, explanation: Explanation, card: Card) -> None:
    for section in facts_read(explanation.machine):
        card.body.addWidget(label(words(section.title), "strong", card))
        rows = [FactRow(words(one.label), words(one.value), one.source) for one in section.lines]
        card.body.addWidget(FactTable(words, rows, card, label_width=220))


def _fill_accounts(words: Words, explanation: Explanation, card: Card) -> None:
    for account in accounts_shown(explanation):
        if account.title.message:
            card.body.addWidget(label(words(account.title), "strong", card))
        for line in account.lines:
            card.body.addWidget(paragraph(words(line), "", card))


def _fill_doubts(words: Words, doubts: tuple[UnlikelyAnswer, ...], card: Card) -> None:
    rows = [FactRow(doubt.answer.title, sentence_case(words(doubt.reason)), doubt.answer.id) for doubt in doubts]
    card.body.addWidget(FactTable(words, rows, card, label_width=380))


def _fill_contradictions(words: Words, explanation: Explanation, card: Card) -> None:
    rows = [FactRow(words(one.fact), " / ".join(one.values), words(places_of(one))) for one in explanation.contradictions]
    card.body.addWidget(FactTable(words, rows, card, label_width=240))
    card.body.addWidget(paragraph(words(text("The first was used.")), "muted", card))


def _fill_undetermined(words: Words, explanation: Explanation, card: Card) -> None:
    rows = [FactRow(words(one.fact), words(one.reason), one.problem, unknown=True) for one in explanation.undetermined]
    card.body.addWidget(FactTable(words, rows, card, label_width=240))


_BESIDE_A_COMMAND = 140  # pixels of a card: its margins, the well's, and the button that copies
_SURENESS_MARKS = {Sureness.SURE: Mark.RIGHT, Sureness.LIKELY: Mark.INFO, Sureness.POSSIBLE: Mark.UNKNOWN}


class AnswerView(QWidget):
    """Shows an explanation, one block a turn of the event loop; one that says the same as that before is left as it stands."""

    quote_wanted = Signal(object)  # Quotation
    link_opened = Signal(object)  # the address, a str
    guide_wanted = Signal(object)  # its topic, a str

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._shown: object = None
        self._turns = InTurns(self)
        self._column = bare(QVBoxLayout(self), SPACING)

    @property
    def building(self) -> bool:
        return self._turns.busy

    def blocks(self) -> tuple[AnswerBlock, ...]:
        return tuple(widget for widget in widgets_in(self._column) if isinstance(widget, AnswerBlock))

    def show_explanation(self, explanation: Explanation | None) -> None:
        """Another answer; none at all for None."""
        content = None if explanation is None else _content(explanation)
        if content == self._shown:
            return
        self._shown = content
        self._turns.begin(self._steps(explanation))

    def _steps(self, explanation: Explanation | None) -> Iterator[Step]:
        yield partial(clear, self._column)
        if explanation is None:
            return
        yield partial(self._add_verdict, explanation)
        for place, (answer, remedies) in enumerate(zip(explanation.answers, shown_together(explanation.answers), strict=True)):
            yield partial(self._add_block, explanation, answer, remedies, is_first=not place)
            if not place:
                yield from self.blocks()[0].details()
        yield partial(self._add_rest, explanation)

    def _add_verdict(self, explanation: Explanation) -> None:
        words = self._words
        if not explanation.known:
            self._column.addWidget(_not_known(words, explanation, self))
            return
        self._column.addWidget(VerdictCard(words, explanation, self))
        picture = explanation.memory if not explanation.answers else None
        if not explanation.convicts and (picture is not None or accounts_shown(explanation)):
            card = Card(parent=self)
            if picture is not None:
                bar = MemoryBar(words, card)
                bar.show_picture(picture)
                card.body.addWidget(bar)
            _fill_accounts(words, explanation, card)
            self._column.addWidget(card)

    def _add_block(self, explanation: Explanation, answer: Answer, remedies: tuple[ShownRemedy, ...], *, is_first: bool) -> None:
        sure = sureness(explanation) if is_first else None
        shown = Shown(answer, remedies, quotes(explanation, answer), picture_of(explanation, answer), sure)
        block = AnswerBlock(self._words, shown, self, folds=not is_first)
        block.quote_wanted.connect(self.quote_wanted)
        block.link_opened.connect(self.link_opened)
        block.guide_wanted.connect(self.guide_wanted)
        self._column.addWidget(block)

    def _add_rest(self, explanation: Explanation) -> None:
        folds = folds_of(self._words, explanation)
        if folds:
            self._column.addWidget(Folds(folds, self, is_open=not explanation.known))


class VerdictCard(QWidget):
    """The answer in one line, and what it rests on."""

    def __init__(self, words: Words, explanation: Explanation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = bare(QVBoxLayout(self), 2)
        column.addWidget(paragraph(words(explanation.title), "heading", self))
        shortened = left_out(explanation)
        column.addWidget(
            paragraph(" ".join(words(one) for one in (explanation.basis.reason, shortened) if one is not None), "muted", self)
        )


class Shown(Struct, frozen=True):
    """What a block shows; `sure` of the first, where that can be said."""

    answer: Answer
    remedies: tuple[ShownRemedy, ...]
    quotations: tuple[Quotation, ...] = ()
    picture: MemoryPicture | None = None
    sure: Sureness | None = None


class AnswerBlock(QWidget):
    """One problem: what it is, the lines that show it, why, and a card for each thing to do. One that
    `folds` is its title alone, until it is opened.
    """

    quote_wanted = Signal(object)  # Quotation
    link_opened = Signal(object)  # the address, a str
    guide_wanted = Signal(object)  # its topic, a str

    def __init__(self, words: Words, shown: Shown, parent: QWidget | None = None, *, folds: bool) -> None:
        super().__init__(parent)
        self.answer = shown.answer
        self._shown = shown
        self._words = words
        self._why: QWidget | None = None
        self._details: QWidget | None = None
        self._remedies: Columns | None = None
        self._links: QWidget | None = None
        self._growing = InTurns(self)
        self._toggle: QPushButton | None = None
        mark = Mark(self.answer.severity.value)
        self.setAccessibleName(words(labelled(MARK_WORDS[mark], on_one_line(self.answer.title))))
        self._column = bare(QVBoxLayout(self), SPACING)
        self._card = Card(parent=self)
        self._column.addWidget(self._card)
        self._card.body.setSpacing(12)
        add_layout(self._card.body, self._head(mark, folds=folds))
        self._name_toggle()

    @property
    def is_open(self) -> bool:
        return self._details is not None and not self._details.isHidden()

    def quotes(self) -> tuple[Quote, ...]:
        return tuple(self.findChildren(Quote))

    def set_open(self, is_open: bool) -> None:  # noqa: FBT001 -- a setter
        if is_open and self._details is None:
            self._growing.begin(self.details())
        for part in (self._why, self._details, self._remedies, self._links):
            if part is not None:
                part.setVisible(is_open)
        self._name_toggle()

    def details(self) -> Iterator[Step]:
        """What makes everything below the title, a little a step."""
        yield self._make_details
        if self._shown.picture is not None:
            yield partial(self._add_picture, self._shown.picture)
        if self.answer.evidence:
            yield self._add_evidence
        count = len(self._shown.remedies)
        for number, remedy in enumerate(self._shown.remedies, start=1):
            yield partial(self._add_remedy, remedy, number if count > 1 else 0)
        if self.answer.links or self.answer.guides:
            yield self._add_links

    def _name_toggle(self) -> None:
        if self._toggle is not None:
            self._toggle.setText(self._words(text("Less") if self.is_open else text("Show")))
            self._toggle.setAccessibleName(f"{self._toggle.text()}: {on_one_line(self.answer.title)}")

    def _head(self, mark: Mark, *, folds: bool) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 14)
        row.addWidget(MarkIcon(mark, self._card), 0, Qt.AlignmentFlag.AlignTop)
        self._body = bare(QVBoxLayout(), 8)
        self._body.addWidget(paragraph(on_one_line(self.answer.title), "heading", self._card))
        add_layout(row, self._body, 1)
        sure = self._shown.sure
        if sure is not None:
            pill = StatusPill(_SURENESS_MARKS[sure], self._words(SURENESS_WORDS[sure]), self._card)
            row.addWidget(pill, 0, Qt.AlignmentFlag.AlignTop)
        if folds:
            self._toggle = small("", self._card)
            self._toggle.clicked.connect(self._flip)
            row.addWidget(self._toggle, 0, Qt.AlignmentFlag.AlignTop)
        return row

    def _make_details(self) -> None:
        self._why = paragraph(on_one_line(explanation_of(self.answer, self._words)), "", self._card)
        self._body.addWidget(self._why)
        self._details = QWidget(self._card)
        self._below = bare(QVBoxLayout(self._details), 12)
        self._card.body.addWidget(self._details)
        self._details.show()

    def _add_remedy(self, shown: ShownRemedy, number: int) -> None:
        if self._remedies is None:
            # How wide two columns of remedies have to be, so that no command is cut.
            longest = max((len(line) for remedy in self.answer.remedies for line in command_lines(remedy)), default=0)
            a_line = QFontMetrics(mono()).averageCharWidth() * longest
            self._remedies = Columns(self, two_from=max(TWO_FROM, 2 * (a_line + _BESIDE_A_COMMAND) + SPACING))
            self._remedies.expect(len(self.answer.remedies))
            self._column.addWidget(self._remedies)
        self._remedies.add(RemedyCard(self._words, shown, number, self._remedies))

    def _add_picture(self, picture: MemoryPicture) -> None:
        bar = MemoryBar(self._words, self._details)
        bar.show_picture(picture)
        self._below.addWidget(bar)

    def _add_evidence(self) -> None:
        well = Well(self._details)
        facts = [one for one in self.answer.evidence if not line_of(one)]
        for quotation in self._shown.quotations:
            quote = Quote(self._words, quotation, well)
            quote.wanted.connect(self.quote_wanted)
            _add_row(well, quote)
        if facts:
            rows = [FactRow(self._words(one.fact), self._words(one.value), one.source) for one in facts]
            _add_row(well, FactTable(self._words, rows, well, label_width=220))
        self._below.addWidget(well)

    def _add_links(self) -> None:
        self._links = links = QWidget(self)
        flow = FlowLayout(links)
        flow.addWidget(label(self._words(text("Read more")), "muted", links))
        for guide in self.answer.guides:
            flow.addWidget(self._guide(guide, links))
        for address in self.answer.links:
            button = LinkButton(address, links)
            button.opened.connect(self.link_opened)
            flow.addWidget(button)
        self._column.addWidget(links)

    def _guide(self, guide: GuideLink, parent: QWidget) -> QPushButton:
        button = secondary(guide.title, parent)
        button.setProperty("kind", "link")
        button.setAccessibleName(self._words(text("Guide: {title}", title=guide.title)))
        button.clicked.connect(partial(self.guide_wanted.emit, guide.topic))
        return button

    @Slot()
    def _flip(self) -> None:
        self.set_open(not self.is_open)


def _add_row(well: Well, row: QWidget) -> None:
    if well.body.count():
        well.body.addWidget(Hairline(well))
    well.body.addWidget(row)


def _content(explanation: Explanation) -> tuple[object, ...]:
    """All that can be seen of it."""
    one = explanation
    return (
        one.title,
        one.answers,
        one.less_likely,
        one.undetermined,
        one.machine,
        one.basis,
        one.known,
        one.rank,
        one.accounts,
        one.memory,
        left_out(one),
    )


def _not_known(words: Words, explanation: Explanation, parent: QWidget) -> EmptyState:
    if not explanation.paste.words.strip():
        why = text("It is a program, an archive or a picture. Paste or open the text that you see on the screen.")
    elif facts_read(explanation.machine):
        why = text("It contains no message that gpuassist knows. What could be read from it is shown below, and shows no problem.")
    else:
        why = text("It contains no message that gpuassist knows. More of it may help: the command, and everything it printed.")
    return EmptyState(Mark.UNKNOWN, words(explanation.title), words(why), parent)
