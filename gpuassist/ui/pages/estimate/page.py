"""Will it fit: a model, how it is to be run, and the answer, anew with every choice."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.context import Session
from gpuassist.model.estimate import AttentionKernel, CardRoom, EstimateSetting, FitAnswer, Lever, ModelShape
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.estimate import (
    PART_NAMES,
    amount,
    error_words,
    largest_words,
    model_words,
    plain_text,
    range_words,
    sentence_of,
    smallest_words,
    turns_words,
)
from gpuassist.present.marks import Mark
from gpuassist.session.estimate.answer import answer_fit, cards_of
from gpuassist.session.estimate.source import shape_of
from gpuassist.session.estimate.tracer import as_it_was_made, interpreter_for, is_traceable, trace
from gpuassist.session.navigation import Errand, SideTool, ToEstimate
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Control, Done, Failed, Latest
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.estimate.fit_bar import FitRow, part_row
from gpuassist.ui.pages.estimate.form import EstimateForm
from gpuassist.ui.pages.estimate.levers import LeversCard
from gpuassist.ui.pages.what_if.answer import WordsCard
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import SPACING, add_layout, bare, clear
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PAUSE_MILLISECONDS = 150
_KINDS = "config.json, *.safetensors (*.json *.safetensors)"
_MOST_ROWS = 8  # GPUs that are drawn


class _Question(Struct, frozen=True):
    model: str
    setting: EstimateSetting
    cards: tuple[CardRoom, ...]
    traced: ModelShape | None = None


# What a counted step depends on, but for the batch, with which it grows.
_Step = tuple[str, int, AttentionKernel]


def _step_of(model: str, setting: EstimateSetting) -> _Step:
    return model, setting.sequence, setting.attention


class EstimatePage(Page):
    """Reckons on a job whenever something is chosen; runs code of the user's only when the button for that is pressed."""

    STEP = SideTool.ESTIMATE

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        words = desk.words
        self._cards: tuple[CardRoom, ...] = ()
        self._traced: tuple[_Step, ModelShape] | None = None
        self.answer: FitAnswer | None = None
        self._showing = InTurns(self)  # what stands below its first sentence
        self._asking = Latest(desk.jobs, self._show_settled, self, pause_milliseconds=_PAUSE_MILLISECONDS)
        self._tracing = Latest(desk.jobs, self._show_traced, self)
        self._reset = new_action(self, words(text("Reset")), self._start_over, "Ctrl+L")
        self._copy = new_action(self, words(text("Copy the answer")), self._copy_answer, "Ctrl+Shift+C")
        self.count = new_action(self, words(text("Run this code and count one step")), self._count_step)
        self.stop = new_action(self, words(text("Stop counting")), self._stop_counting)
        new_action(self, words(text("Name another model")), self._focus_model, "Ctrl+F")
        new_action(self, words(text("Choose a file…")), self._choose_file, "Ctrl+O")
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self.form = EstimateForm(words, self)
        self.form.changed.connect(self._ask)
        self.form.browse.connect(self._choose_file)
        self.trouble = Notice(Mark.PROBLEM, "", self.form)
        self.form.show_below_model(self.trouble)
        icon = desk.session.world.resources.read("icons/estimate.svg")
        self._nothing = EmptyState(Mark.TODO, words(_WHICH), words(_HOW), self, icon=icon)
        self.cards = CardsCard(words, self)
        self.levers = LeversCard(words, self)
        self.levers.asked.connect(self._apply)
        self.parts = PartsCard(words, self)
        self.notes = WordsCard(words, words(text("Good to know")), self)
        for one in (self.form, self._nothing, self.cards, self.levers, self.parts, self.notes):
            scroll.content.addWidget(one)
        self._show_nothing()

    def bar(self) -> Bar:
        note = self.desk.words(text("From the config alone: no download, no GPU used."))
        if self._tracing.busy:
            return Bar((self._reset,), self.desk.words(text("Your code runs without a GPU.")), self.stop)
        if self._waits_for_code():
            return Bar((self._reset, self._copy), primary=self.count)  # what that does stands on the page
        return Bar((self._reset, self._copy), note)

    @property
    def busy(self) -> bool:
        return self._asking.busy or self._tracing.busy or self._showing.busy

    def show_inspection(self, inspection: Inspection) -> None:
        self._cards = cards_of(self.desk.session, inspection.machine)
        self._ask()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToEstimate) and (errand.model or errand.setting is not None):
            self.form.show_question(errand.model, errand.setting)

    def left(self) -> ToEstimate:
        return ToEstimate(self.form.model.text(), self.form.setting)

    def under_way(self) -> Text | None:
        return text("a step of your model that is being counted") if self._tracing.busy else None

    def close_down(self) -> None:
        self._asking.drop()
        self._tracing.drop()

    # Asking

    @Slot()
    def _ask(self) -> None:
        model = self.form.model.text().strip()
        if not model or self._waits_for_code():
            self._asking.drop()
            self._show_nothing()
            return
        traced = self._traced[1] if self._traced is not None and is_traceable(model) else None
        question, session = _Question(model, self.form.setting, self._cards, traced), self.desk.session
        self._asking.ask(lambda _: _answered(session, question))
        self.bar_changed.emit()

    def _waits_for_code(self) -> bool:
        model = self.form.model.text().strip()
        return is_traceable(model) and (self._traced is None or self._traced[0] != _step_of(model, self.form.setting))

    @Slot()
    def _count_step(self) -> None:
        model, setting, session = self.form.model.text().strip(), self.form.setting, self.desk.session
        self._strip.begin(self.desk.words(text("Counting one step…")))
        step = _step_of(model, setting)
        self._tracing.ask(lambda control: (step, _traced_shape(session, model, setting, control)))
        self.bar_changed.emit()

    @Slot()
    def _stop_counting(self) -> None:
        self._tracing.drop()
        self._strip.end()
        self.bar_changed.emit()

    def _show_traced(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_trouble(reason_of(self.desk.words, result.error))
        elif isinstance(result.value, tuple):
            self._traced = result.value
            self._ask()
        self.bar_changed.emit()

    @Slot(object)
    def _apply(self, lever: Lever) -> None:
        self.form.show_question(self.form.model.text(), lever.setting)

    @Slot()
    def _choose_file(self) -> None:
        title = self.desk.words(text("The config or the weights of a model"))
        self.desk.asking.open_file(self, title, _KINDS, lambda path: self.arrive(ToEstimate(path)))

    @Slot()
    def _focus_model(self) -> None:
        self.form.model.setFocus()
        self.form.model.selectAll()

    @Slot()
    def _start_over(self) -> None:
        self._traced = None
        self._tracing.drop()
        self._strip.end()
        self.form.show_question("", EstimateSetting())

    @Slot()
    def _copy_answer(self) -> None:
        if self.answer is not None:
            clipboard.copy(plain_text(self.answer, self.desk.words))

    # Showing

    def _show_settled(self, result: Done | Failed) -> None:
        if isinstance(result, Failed):
            self._show_trouble(reason_of(self.desk.words, result.error))
        elif isinstance(result.value, FitAnswer):
            self._show_answer(result.value)

    def _show_answer(self, answer: FitAnswer) -> None:
        words = self.desk.words
        self.answer = answer
        below = text("{model}; {range}", model=model_words(answer), range=range_words(answer))
        self._header.show_words(words(sentence_of(answer)), words(below))
        self._nothing.hide()
        self.trouble.hide()
        self._copy.setEnabled(True)
        self.bar_changed.emit()
        self._showing.begin(self._cards_of(answer))

    def _cards_of(self, answer: FitAnswer) -> Iterator[Step]:
        yield partial(self.cards.show_answer, answer)
        yield partial(self.levers.show_answer, answer)
        yield partial(self.parts.show_answer, answer)
        said = (largest_words(answer), smallest_words(answer), turns_words(answer), *answer.estimate.notes, *answer.notes)
        yield partial(self.notes.show_words_of, tuple(one for one in said if one is not None))

    def _show_trouble(self, reason: str) -> None:
        self._show_nothing()
        self._nothing.hide()
        self.trouble.show_words(Mark.PROBLEM, sentence_case(reason))
        self.trouble.show()

    def _show_nothing(self) -> None:
        words = self.desk.words
        self.answer = None
        self._showing.drop()
        self._header.show_words(words(text("Will it fit?")), words(text("What a model takes of a GPU, before it is run.")))
        title, rest = (_CODE, _RUNS) if self._waits_for_code() else (_WHICH, _HOW)
        self._nothing.show_words(Mark.TODO, words(title), words(rest))
        self._nothing.show()
        for one in (self.trouble, self.cards, self.levers, self.parts):
            one.hide()
        self.notes.show_words_of(())
        self._copy.setEnabled(False)
        self.bar_changed.emit()


_WHICH, _HOW = (
    text("Which model?"),
    text("Type its size or numbers, or drop its config.json anywhere on the window. Nothing is fetched."),
)
_CODE, _RUNS = (
    text("This is code"),
    text("To be counted it is run, by the interpreter that verifying would take, without a GPU and nearly without memory."),
)


def _answered(session: Session, question: _Question) -> FitAnswer:
    shape, setting = question.traced, question.setting
    if shape is None:
        shape = shape_of(session.world.files, question.model)
    else:
        setting = as_it_was_made(shape, setting)
    return answer_fit(session, shape, setting, question.cards)


def _traced_shape(session: Session, model: str, setting: EstimateSetting, control: Control) -> ModelShape:
    place = model.rpartition(":")[0] or model
    directory = os.path.dirname(os.path.abspath(place)) if place.endswith(".py") else os.path.expanduser("~")
    python = interpreter_for(session, "")
    return trace(session, model, setting, python=python, directory=directory, cancelled=control.cancelled.is_set)


class CardsCard(Card):
    """A bar for each GPU."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Where it would run")), parent=parent)
        self._words = words
        self.rows = bare(QVBoxLayout(), SPACING)
        add_layout(self.body, self.rows)

    def show_answer(self, answer: FitAnswer) -> None:
        clear(self.rows)
        for one in answer.cards[:_MOST_ROWS]:
            self.rows.addWidget(FitRow(self._words, one, answer.estimate, self))
        if len(answer.cards) > _MOST_ROWS:
            more = text("and {count} more GPUs", count=len(answer.cards) - _MOST_ROWS)
            self.rows.addWidget(paragraph(self._words(more), "muted", self))
        self.setVisible(bool(answer.cards))


class PartsCard(Card):
    """Each part with its colour, size, and how far off it may be."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What it takes")), parent=parent)
        self._words = words
        self.rows = bare(QVBoxLayout(), 6)
        add_layout(self.body, self.rows)

    def show_answer(self, answer: FitAnswer) -> None:
        clear(self.rows)
        for part in answer.estimate.parts:
            said = (self._words(PART_NAMES[part.kind]), amount(part.size_bytes), self._words(error_words(part)))
            self.rows.addWidget(part_row(part.kind, said, self))
        self.show()
