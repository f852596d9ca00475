"""The chosen check in whole: how it stands, its figures, what torch said of a failure; or what a group came to on each device."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QPushButton, QWidget

from gpuassist.model.fact import Known
from gpuassist.model.finding import Answer
from gpuassist.model.text import text
from gpuassist.model.verdict import BAD, Check, Verification
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.verification import rate_words
from gpuassist.present.verify_table import STANDING_MARKS, STANDING_WORDS, Column, TableRow, counts, standing, worst
from gpuassist.session.checks import GROUP_TITLES, check_label
from gpuassist.session.failed_checks import words_of
from gpuassist.session.verify_progress import CheckLine
from gpuassist.ui.pages.verify.rows import GLYPHS, state_words, together
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.facts import FactRow, FactTable
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.marks import StatusPill
from gpuassist.ui.wording import sentence_case

_LABEL_WIDTH = 104


class Run(Struct, frozen=True):
    """What is shown of a run: its devices, the time of the clock that it is followed by, and its result once it has one."""

    columns: tuple[Column, ...] = ()
    at: float = 0.0
    result: Verification | None = None


class DetailCard(Card):
    """Shows a row of the table, or one cell of it; hidden until something is chosen."""

    answer_wanted = Signal(object)  # Answer

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        self._answer: Answer | None = None
        self._shown: object = None
        self.name = paragraph("", "heading", self)
        self.state = StatusPill(Mark.TODO, "", self)
        self.head.addWidget(self.name, 1, Qt.AlignmentFlag.AlignVCenter)
        self.head.addWidget(self.state, 0, Qt.AlignmentFlag.AlignTop)
        self._where = label("", "small", self)
        self._why = paragraph("", "", self)
        self._cause = paragraph("", "strong", self)
        self.to_answer: QPushButton = small(words(text("What to do")), self)
        self.to_answer.clicked.connect(self._ask)
        self.toggle: QPushButton = small("", self)
        self.toggle.clicked.connect(self._flip)
        self.said = CodeBlock(words, "", words(text("What torch said")), self)
        self.figures = FactTable(words, (), self, label_width=_LABEL_WIDTH)
        for widget in (self._where, self._why, self._cause):
            self.body.addWidget(widget)
        for button in (self.to_answer, self.toggle):
            self.body.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        self.body.addWidget(self.said)
        self.body.addWidget(self.figures)
        self.hide()

    def show_row(self, row: TableRow | None, device: str, run: Run) -> None:
        """The cell of a device; without one, or for a group, all that is of the row."""
        columns, at, result = run.columns, run.at, run.result
        if row is None:
            self._shown = None
            self.hide()
            return
        place = next((place for place, one in enumerate(columns) if one.device == device), None)
        one = row.lines[place][0] if place is not None and row.planned is not None and row.lines[place] else None
        content = (row, device, columns, None if one is None else state_words(one, self._words, at), result is None)
        if content == self._shown:
            return
        self._shown = content
        if one is not None and place is not None:
            where = together(row, columns, self._words) or " · ".join(
                filter(None, (self._words(columns[place].title), columns[place].name))
            )
            self._where.setText(where)
            self._where.setToolTip(self._words(columns[place].tip))
            self._show_line(one, at, result)
        else:
            self._show_all(row, columns, at)
        self.show()

    def _show_line(self, line: CheckLine, at: float, result: Verification | None) -> None:
        words, state, check = self._words, standing(line), line.check
        self._name(words(check_label(line.planned)), line.planned.dtype)
        self.state.show_status(STANDING_MARKS[state], state_words(line, words, at), GLYPHS.get(state, ""))
        self.state.show()
        self._where.show()
        said = words_of(check) if check is not None else ""
        self._answer = result.answer_to(said) if result is not None else None
        self._show_failure(check, said)
        self.figures.set_rows(tuple(_figures(check, words)) if check is not None else ())
        self.figures.setVisible(bool(self.figures.rows))

    def _show_failure(self, check: Check | None, said: str) -> None:
        words = self._words
        set_paragraph(self._why, sentence_case(words(check.error)) if check is not None and check.error is not None else "")
        self._why.setVisible(check is not None and check.error is not None)
        known = self._answer is not None
        set_paragraph(self._cause, self._answer.title if self._answer is not None else "")
        self._cause.setVisible(known)
        self.to_answer.setVisible(known)
        more = check is not None and (check.verdict in BAD or bool(check.said)) and "\n" in said.strip()
        self.said.set_content(said.strip() if more else "")
        self.said.hide()
        self.toggle.setText(words(_SHOW_ALL))
        self.toggle.setVisible(more)

    def _show_all(self, row: TableRow, columns: tuple[Column, ...], at: float) -> None:
        """A group, or a check on all devices."""
        words = self._words
        if row.planned is not None:
            self._name(words(check_label(row.planned)), row.planned.dtype)
        else:
            self._name(words(GROUP_TITLES[row.group]), "")
        self._answer = None
        self._show_failure(None, "")
        self._where.hide()
        state = worst(line for lines in row.lines for line in lines)
        self.state.setVisible(state is not None)
        if state is not None:
            self.state.show_status(STANDING_MARKS[state], words(STANDING_WORDS[state]), GLYPHS.get(state, ""))
        told = [
            FactRow(words(one.title), words(counts(lines)) if row.planned is None else _in_short(lines[0], words, at))
            for one, lines in zip(columns, row.lines, strict=True)
            if lines
        ]
        self.figures.set_rows(told)
        self.figures.show()

    def _name(self, name: str, dtype: str) -> None:
        set_paragraph(self.name, " · ".join(filter(None, (sentence_case(name), dtype))))
        self.setAccessibleName(self.name.accessibleName())

    @Slot()
    def _flip(self) -> None:
        shown = self.said.isHidden()
        self.said.setVisible(shown)
        self.toggle.setText(self._words(_HIDE_ALL if shown else _SHOW_ALL))

    @Slot()
    def _ask(self) -> None:
        if self._answer is not None:
            self.answer_wanted.emit(self._answer)


def _in_short(line: CheckLine, words: Words, at: float) -> str:
    """A check on one of several devices."""
    told = [state_words(line, words, at)]
    if line.check is not None:
        told += [rate_words(line.check), words(line.check.error) if line.check.error is not None else ""]
    return " · ".join(filter(None, told))


def _figures(check: Check, words: Words) -> Iterator[FactRow]:
    for name, fact in ((text("largest error"), check.max_abs_error), (text("allowed error"), check.tolerance)):
        if isinstance(fact, Known):
            value = words(_EXACT) if not fact.value and isinstance(check.tolerance, Known) and not check.tolerance.value else ""
            yield FactRow(words(name), value or f"{fact.value:.3g}")
    if isinstance(check.compared, Known):
        yield FactRow(words(text("compared")), words(text("{count:,} elements", count=check.compared.value)))
    if rate_words(check):
        yield FactRow(words(text("rate")), rate_words(check))
    if isinstance(check.seconds, Known) and check.seconds.value > 0:
        seconds = check.seconds.value
        yield FactRow(words(text("time")), f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms")
    for note, said in check.notes:
        yield FactRow(note.replace("_", " "), said)


_EXACT = text("0: every element must be exact")
_SHOW_ALL = text("Show all that torch said")
_HIDE_ALL = text("Hide what torch said")
