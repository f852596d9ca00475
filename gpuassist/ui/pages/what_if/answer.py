"""The what-if page's answer: the chains with the wish in place, the steps that make them hold, and what else there is to say."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.chain import Chain
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.chain import alike, caption
from gpuassist.ui.pace import InTurns
from gpuassist.ui.pace import Step as Turn
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.chain_view import ChainView
from gpuassist.ui.widgets.code import StepRow
from gpuassist.ui.widgets.keys import tab_stops, tab_through
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import SPACING, add_layout, bare, clear
from gpuassist.ui.widgets.own_command import said
from gpuassist.ui.wording import sentence_case


class AnswerCards(QWidget):
    """All of the answer, a card a turn; one that is asked for while another is being shown takes its place."""

    def __init__(self, words: Words, before: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before = before  # what Tab comes from
        self._outlook: Outlook | None = None
        self._turns = InTurns(self)
        self.chains = ChainsCard(words, "", self)
        self.blocked = WordsCard(words, words(text("What prevents it")), self)
        self.steps = StepsCard(words, self)
        self.after = ChainsCard(words, words(text("Result")), self)
        self.notes = WordsCard(words, words(text("Good to know")), self)
        self.unknown = WordsCard(words, words(text("Not known, and could change the answer")), self)
        column = bare(QVBoxLayout(self), SPACING)
        for card in (self.chains, self.blocked, self.steps, self.after, self.notes, self.unknown):
            column.addWidget(card)

    @property
    def busy(self) -> bool:
        return self._turns.busy

    def show_outlook(self, outlook: Outlook) -> None:
        """Shows this one, which may be what is shown."""
        if outlook == self._outlook:
            self.show()
            return
        self._outlook = outlook
        self._turns.begin(self._cards(outlook))
        self.show()

    def _cards(self, outlook: Outlook) -> Iterator[Turn]:
        yield lambda: self.chains.show_chains(outlook.before)
        yield lambda: self.blocked.show_words_of(outlook.blocked_by)
        yield from self.steps.show_steps(outlook.steps)
        yield lambda: self.after.show_chains(outlook.after if outlook.steps else ())
        yield lambda: self.notes.show_words_of(outlook.notes)
        yield lambda: self.unknown.show_words_of(outlook.undetermined)
        yield self._order_tab

    def _order_tab(self) -> None:
        tab_through((self._before, *(stop for card in (self.chains, self.steps, self.after) for stop in tab_stops(card))))


class ChainsCard(Card):
    """One picture a GPU; those that are equal share one. The pictures stay while their number does, and so does the focus."""

    def __init__(self, words: Words, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self._words = words
        self._views: list[tuple[QWidget, ChainView]] = []
        self._column = bare(QVBoxLayout(), 16)
        add_layout(self.body, self._column)
        self.hide()

    @property
    def views(self) -> tuple[ChainView, ...]:
        return tuple(view for _, view in self._views)

    def show_chains(self, chains: tuple[Chain, ...]) -> None:
        groups = alike(chains)
        if len(groups) != len(self._views):
            clear(self._column)
            self._views = [self._holder() for _ in groups]
        for (holder, view), group in zip(self._views, groups, strict=True):
            heading = holder.findChild(QWidget, "caption")
            if heading is not None:
                heading.setVisible(len(chains) > 1)
                heading.setProperty("text", self._words(caption(group)))
            view.show_chain(group.chain)
        self.setVisible(bool(chains))

    def _holder(self) -> tuple[QWidget, ChainView]:
        holder = QWidget(self)
        column = bare(QVBoxLayout(holder), 6)
        heading = label("", "muted", holder)
        heading.setObjectName("caption")
        view = ChainView(self._words, holder)
        column.addWidget(heading)
        column.addWidget(view)
        self._column.addWidget(holder)
        return holder, view


class StepsCard(Card):
    """The smallest change that makes all links hold."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Changes needed")), parent=parent)
        self._words = words
        self._shown: tuple[Step, ...] | None = ()  # none while they are being made
        self._column = bare(QVBoxLayout(), 12)
        add_layout(self.body, self._column)
        self.hide()

    def show_steps(self, steps: tuple[Step, ...]) -> Iterator[Turn]:
        """Shows these, a row a turn: one takes 5 ms. No card without any."""
        if steps != self._shown:
            self._shown = None
            clear(self._column)
            for number, step in enumerate(steps, start=1):
                yield lambda number=number, step=step: self._add(number, step)  # type: ignore[misc]
            self._shown = steps
        yield lambda: self.setVisible(bool(steps))

    def _add(self, number: int, step: Step) -> None:
        check = text("Check: {check}", check=step.check) if step.check is not None else None
        row = StepRow(self._words, step.text, check, self, commands=step.commands)
        row.show_number(number)
        self._column.addWidget(row)


class WordsCard(Card):
    """Sentences below a heading."""

    def __init__(self, words: Words, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self._words = words
        self._shown: tuple[Text, ...] = ()
        self.hide()

    def show_words_of(self, sentences: tuple[Text, ...]) -> None:
        if sentences != self._shown:
            self._shown = sentences
            clear(self.body)
            for one in sentences:
                self.body.addWidget(said(self._words, sentence_case(self._words(one)), "", self))
        self.setVisible(bool(sentences))
