"""The what-if page's answer: the chains with the wish in place, the steps that make them hold, and what else there is to say."""

from __future__ import annotations

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.chain import Chain
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, text
from gpuassist.session.what_if_words import alike, caption
from gpuassist.session.words import Words
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.chain_view import ChainView
from gpuassist.ui.widgets.paragraphs import label, paragraph
from gpuassist.ui.widgets.step_row import StepRow


class ChainsCard(Card):
    """One picture a GPU; those that are equal share one. The pictures stay while their number does, and so does the focus."""

    def __init__(self, words: Words, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self._words = words
        self._views: list[tuple[QWidget, ChainView]] = []
        self._column = QVBoxLayout()
        self._column.setSpacing(16)
        self.body.addLayout(self._column)

    @property
    def views(self) -> tuple[ChainView, ...]:
        """The pictures."""
        return tuple(view for _, view in self._views)

    def show_chains(self, chains: tuple[Chain, ...]) -> None:
        """Shows these; no card without any."""
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
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
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
        super().__init__(words(text("What makes it fit")), parent=parent)
        self._words = words
        self._shown: tuple[Step, ...] = ()
        self._column = QVBoxLayout()
        self._column.setSpacing(12)
        self.body.addLayout(self._column)

    def show_steps(self, steps: tuple[Step, ...]) -> None:
        """Shows these; no card without any."""
        if steps != self._shown:
            self._shown = steps
            clear(self._column)
            for number, step in enumerate(steps, start=1):
                check = text("Check: {check}", check=step.check) if step.check is not None else None
                row = StepRow(self._words, step.text, check, self, commands=step.commands)
                row.show_number(number)
                self._column.addWidget(row)
        self.setVisible(bool(steps))


class WordsCard(Card):
    """Sentences below a heading."""

    def __init__(self, words: Words, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self._words = words

    def show_words_of(self, sentences: tuple[Text, ...]) -> None:
        """Shows these; no card without any."""
        clear(self.body)
        for one in sentences:
            self.body.addWidget(paragraph(sentence_case(self._words(one)), "", self))
        self.setVisible(bool(sentences))
