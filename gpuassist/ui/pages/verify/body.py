"""Below the controls: the table as it fills, the chosen check, why something failed and what to do, and what the run came to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QRectF, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.model.finding import Answer
from gpuassist.model.verdict import BAD
from gpuassist.model.words import Words
from gpuassist.present.remedies import shown_together
from gpuassist.present.verify_table import BAD_STANDINGS, STANDING_MARKS, STANDING_WORDS, Column, Standing, rows_of, worst
from gpuassist.session.checks import CheckGroup
from gpuassist.session.verify_progress import VerifyProgress
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.pages.verify.beside import EarlierRunsCard, LibrariesCard, ToolkitsCard
from gpuassist.ui.pages.verify.detail import DetailCard, Run
from gpuassist.ui.pages.verify.result import ProvesCard, RatesCard, ResultCard, TorchOutputCard, rate_bars
from gpuassist.ui.pages.verify.rows import GLYPHS
from gpuassist.ui.pages.verify.table import ChecksTable
from gpuassist.ui.theme import colours
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.finding_card import FindingCard
from gpuassist.ui.widgets.keys import tab_stops, tab_through
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import SPACING, FlowLayout, bare, by_text, clear, widgets_in
from gpuassist.ui.widgets.marks import paint_mark

_SIDE_WIDTH = 248
_GLYPH = 18
_ROWS = (7, 12)  # of the table, at least and at most, before it scrolls
_ABOVE_ROWS = 360  # pixels of a page: its title, the controls, and the head of what is below the table
_CARD_MARGINS = 44  # of the table's card, left and right of it, and a scroll bar


class VerifyBody(QWidget):
    """What is said of the run stands at the right where the table has room for its words beside it, else below the table."""

    asked = Signal(object)  # Destination
    link_opened = Signal(object)  # the address, a str
    revealed = Signal(object)  # a widget that the page shall scroll to

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._progress = VerifyProgress()
        self.shown = Run()
        self._chosen_groups: dict[CheckGroup, bool] = {}
        self._checks = Card(parent=self)
        self.table = ChecksTable(words, self._checks)
        self.table.folded.connect(self._fold)
        self.table.chosen.connect(self._show_detail)
        self.legend = _Legend(words, self._checks)
        self._checks.body.addWidget(self.table)
        self._checks.body.addWidget(self.legend)
        self.detail = DetailCard(words, self)
        self.detail.answer_wanted.connect(self.show_answer)
        self.answers = CauseCards(words, self)
        self.answers.asked.connect(self.asked)
        self.answers.link_opened.connect(self.link_opened)
        self.summary, self.rates = ResultCard(words, self), RatesCard(words, self)
        self.proves, self.output = ProvesCard(words, self), TorchOutputCard(words, self)
        self.toolkits, self.libraries = ToolkitsCard(words, self), LibrariesCard(words, self)
        self.earlier = EarlierRunsCard(words, self)
        self._column, self._side = QWidget(self), QWidget(self)
        self._left, self._right = bare(QVBoxLayout(self._column), SPACING), bare(QVBoxLayout(self._side), SPACING)
        self._left.addStretch(1)
        self._right.addStretch(1)
        self._side.setFixedWidth(by_text(_SIDE_WIDTH))
        self._row = bare(QHBoxLayout(self), SPACING)
        self._row.addWidget(self._column, 1)
        self._row.addWidget(self._side, 0)
        self._placed: tuple[bool, bool, bool] | None = (
            None  # whether the side stands beside, causes first, and what it proves there
        )
        self._height = 0
        self._showing = InTurns(self)  # what stands below the table, of a result
        self.clear()

    @property
    def shows(self) -> bool:
        """Whether a part of the result is still to come."""
        return self._showing.busy

    def clear(self) -> None:
        """Nothing runs, nothing was verified."""
        self._showing.drop()
        self._progress, self.shown, self._chosen_groups = VerifyProgress(), Run(), {}
        self._show_rows()
        self.answers.show_answers(())
        self._arrange()
        self.output.show_output("")
        self.rates.show_bars(())
        for card in (self.toolkits, self.libraries):
            card.hide()
        self.summary.hide()

    def show_progress(self, progress: VerifyProgress, columns: tuple[Column, ...], at: float) -> None:
        """How far a run is at this time."""
        self._progress, self.shown = progress, Run(columns, at)
        self._show_rows()

    def show_result(self, progress: VerifyProgress, report: VerifyReport, columns: tuple[Column, ...]) -> None:
        """What it came to: the table at once, then a card a turn; the first failed check is chosen unless the user chose one."""
        result = report.verification
        self._progress, self.shown = progress, Run(columns, 0.0, result)
        self._show_rows()
        self._choose_first_failure()
        self._showing.begin_later(self._cards(report, columns))

    def _cards(self, report: VerifyReport, columns: tuple[Column, ...]) -> Iterator[Step]:
        result = report.verification
        yield partial(self.answers.show_answers, tuple(dict.fromkeys(one.answer for one in result.explained)))
        yield partial(self.summary.show_result, result)
        yield lambda: self.rates.show_bars(rate_bars(report, columns, self._words))
        yield partial(self.toolkits.show_report, report)
        yield partial(self.libraries.show_report, report)
        yield partial(self.output.show_output, result.output)
        yield self._lead_tab

    @Slot(object)
    def show_answer(self, answer: Answer) -> None:
        """Opens an answer's card and goes to it."""
        card = self.answers.open(answer)
        if card is not None:
            self.revealed.emit(card)

    def fit(self, height: int) -> None:
        """A page of this height: where the chosen check stands below the table, its beginning can be seen too."""
        self._height = height
        least, most = _ROWS
        fitting = (height - _ABOVE_ROWS) // self.table.verticalHeader().defaultSectionSize()
        self.table.rows_at_most = most if self._placed is not None and self._placed[0] else min(most, max(least, fitting))
        self.table.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _show_rows(self) -> None:
        rows = rows_of(self._progress, self._chosen_groups)
        self.table.show_rows(rows, self.shown.columns, self.shown.at)
        self._checks.setVisible(bool(rows))
        self._arrange()
        self.legend.setVisible(bool(rows) and not self.table.says_words)
        self._show_detail()

    def _choose_first_failure(self) -> None:
        if self.table.chosen_row is not None:
            return
        for row in rows_of(self._progress, self._chosen_groups):
            bad = (place for place, lines in enumerate(row.lines, 1) if row.planned and worst(lines) in BAD_STANDINGS)
            column = next(bad, None)
            if column is not None:
                self.table.choose(row.key, column)
                self._show_detail()
                return

    @Slot(object, bool)
    def _fold(self, group: CheckGroup, is_open: bool) -> None:  # noqa: FBT001 -- Qt's own
        self._chosen_groups[group] = is_open
        self._show_rows()

    @Slot()
    def _show_detail(self) -> None:
        self.detail.show_row(self.table.chosen_row, self.table.chosen_device, self.shown)

    def _arrange(self) -> None:
        """Where a check failed, the table comes first; else a cause that is known does: of a driver that does not start."""
        has_rows = not self._checks.isHidden()
        beside = has_rows and self.width() >= self.table.wanted_width() + _CARD_MARGINS + by_text(_SIDE_WIDTH) + SPACING
        causes_first = not any(line.check is not None and line.check.verdict in BAD for line in self._progress.lines)
        runs = self.shown.result is None  # and nothing else stands at the side yet
        if (beside, causes_first, runs) == self._placed:
            return
        self._placed = beside, causes_first, runs
        head = (self.answers, self._checks) if causes_first else (self._checks, self.answers)
        about = (self.summary, self.rates)
        if beside:
            proves = (self.proves,)
            left = (*head, self.toolkits, self.earlier, *(() if runs else proves), self.libraries, self.output)
            right: tuple[QWidget, ...] = (self.detail, *about, *(proves if runs else ()))
        else:
            first = (*head, self.detail) if causes_first else (self._checks, self.detail, self.answers)
            left = (*first, *about, self.toolkits, self.earlier, self.proves, self.libraries, self.output)
            right = ()
        for layout, widgets in ((self._left, left), (self._right, right)):
            for place, widget in enumerate(widgets):
                layout.insertWidget(place, widget)
        self._side.setVisible(beside)
        self.fit(self._height)
        self._lead_tab()

    def _lead_tab(self) -> None:
        """Tab goes through the cards as they stand, the left column first."""
        cards = (*widgets_in(self._left), *widgets_in(self._right))
        tab_through((self, *(stop for card in cards for stop in tab_stops(card))))


class CauseCards(QWidget):
    """A card for each cause that is known of what failed: the first open, the others a line each."""

    asked = Signal(object)  # Destination
    link_opened = Signal(object)  # the address, a str

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._column = bare(QVBoxLayout(self), SPACING)
        self.cards: tuple[FindingCard, ...] = ()

    def show_answers(self, answers: tuple[Answer, ...]) -> None:
        clear(self._column)
        told = zip(answers, shown_together(answers), strict=True)
        self.cards = tuple(
            FindingCard(self._words, answer, self, is_open=not place, remedies=remedies)
            for place, (answer, remedies) in enumerate(told)
        )
        for card in self.cards:
            card.asked.connect(self.asked)
            card.link_opened.connect(self.link_opened)
            self._column.addWidget(card)
        self.setVisible(bool(answers))

    def open(self, answer: Answer) -> FindingCard | None:
        """Opens the card of an answer."""
        card = next((card for card in self.cards if card.answer == answer), None)
        if card is not None:
            card.set_open(True)
        return card


class _Legend(QWidget):
    """What the glyphs say, where the table has no room for their words."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        flow = FlowLayout(self, gap=14)
        for one in Standing:
            entry = QWidget(self)
            row = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight, entry), 5)
            row.addWidget(_Glyph(one, entry))
            row.addWidget(label(words(STANDING_WORDS[one]), "small", entry))
            flow.addWidget(entry)
        self.hide()


class _Glyph(QWidget):
    """As the table paints it, still."""

    def __init__(self, state: Standing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.setFixedSize(_GLYPH, _GLYPH)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_mark(painter, QRectF(self.rect()), STANDING_MARKS[self._state], colours(), glyph=GLYPHS.get(self._state, ""))
        painter.end()
