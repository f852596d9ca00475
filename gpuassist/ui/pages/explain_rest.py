"""What stands below an explanation, folded: what was read, what else it could be, what the text contradicts, what is open."""

from __future__ import annotations

from functools import partial

from gpuassist.model.text import counted, text
from gpuassist.model.words import Words
from gpuassist.present.explanation import places_of
from gpuassist.present.listing import facts_read
from gpuassist.session.explain import Doubt, Explanation
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.folds import Fold
from gpuassist.ui.widgets.paragraphs import label, paragraph


def folds_of(words: Words, explanation: Explanation) -> tuple[Fold, ...]:
    """One for each kind of thing that there is."""
    folds: list[Fold] = []
    facts = sum(len(section.lines) for section in facts_read(explanation.machine))
    if facts:
        title = counted("1 fact was read in the text…", "{count} facts were read in the text…", facts)
        folds.append(Fold(words(title), partial(_fill_facts, words, explanation)))
    if explanation.contradictions:
        count = len(explanation.contradictions)
        title = counted("The text contradicts itself in one thing…", "The text contradicts itself in {count} things…", count)
        folds.append(Fold(words(title), partial(_fill_contradictions, words, explanation)))
    if explanation.less_likely:
        count = len(explanation.less_likely)
        title = counted("1 other cause is less likely…", "{count} other causes are less likely…", count)
        folds.append(Fold(words(title), partial(_fill_doubts, words, explanation.less_likely)))
    if explanation.undetermined:
        title = counted("1 could not be determined…", "{count} could not be determined…", len(explanation.undetermined))
        folds.append(Fold(words(title), partial(_fill_undetermined, words, explanation)))
    return tuple(folds)


def _fill_facts(words: Words, explanation: Explanation, card: Card) -> None:
    for section in facts_read(explanation.machine):
        card.body.addWidget(label(words(section.title), "strong", card))
        rows = [FactRow(words(one.label), words(one.value), one.source) for one in section.lines]
        card.body.addWidget(FactTable(words, rows, card, label_width=220))


def _fill_doubts(words: Words, doubts: tuple[Doubt, ...], card: Card) -> None:
    rows = [FactRow(doubt.answer.title, sentence_case(words(doubt.reason)), doubt.answer.id) for doubt in doubts]
    card.body.addWidget(FactTable(words, rows, card, label_width=380))


def _fill_contradictions(words: Words, explanation: Explanation, card: Card) -> None:
    rows = [FactRow(words(one.fact), " / ".join(one.values), words(places_of(one))) for one in explanation.contradictions]
    card.body.addWidget(FactTable(words, rows, card, label_width=240))
    card.body.addWidget(paragraph(words(text("The first was taken.")), "muted", card))


def _fill_undetermined(words: Words, explanation: Explanation, card: Card) -> None:
    rows = [FactRow(words(one.fact), words(one.reason), one.problem, unknown=True) for one in explanation.undetermined]
    card.body.addWidget(FactTable(words, rows, card, label_width=240))
