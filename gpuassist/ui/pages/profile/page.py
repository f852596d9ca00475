"""Where a program's time goes: a file of a profiler opened or dropped, what to change first, a picture of the shares, the names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.fact import Fact
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.present.profile import entry_rows, gap_words, heading, in_plain_text, shown_part, shown_time
from gpuassist.session.navigation import Errand, SideTool, ToProfile
from gpuassist.session.profiling.next_tool import ProfilerAdvice, environment_of_programs, next_tools
from gpuassist.session.profiling.profile_file import CancelledError, ProfileAnswer, profile
from gpuassist.session.profiling.refusals import ProfileError
from gpuassist.session.verify import find_environments
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Control, Done, Failed, Job, Latest
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.profile.shares import SharesCard
from gpuassist.ui.pages.profile.tools import ToolsCard
from gpuassist.ui.pages.what_if.answer import WordsCard
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.finding_card import FindingCard
from gpuassist.ui.widgets.layouts import bare, clear, in_two_turns
from gpuassist.ui.widgets.progress import ProgressBar, ProgressStrip
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.model.environment import PythonEnvironment
    from gpuassist.model.finding import Answer
    from gpuassist.session.inspect import Inspection

_NAME = 4
_FULL = 1000
_KINDS = "*.json *.json.gz *.prof *.pstats *.sqlite *.svg *.html *.txt *.log"


class _SoFar(Struct, frozen=True):
    done: int
    of: int


class ProfilePage(Page):
    """Reads on a job, and in a child; what is shown stays until the next file was read."""

    STEP = SideTool.PROFILE

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        words = self.desk.words
        self.path = ""
        self.found: ProfileAnswer | None = None
        self._job: Job | None = None
        self._showing = InTurns(self)
        self._recorded: Fact[tuple[PythonEnvironment, ...]] | None = None
        self._looking = Latest(desk.jobs, self._show_tools, self)
        self.choose = new_action(self, words(text("Another file…")), self._choose_file, "Ctrl+O")
        self.copy = new_action(self, words(text("Copy the answer")), self._copy_answer, "Ctrl+Shift+C")
        self.cancel = new_action(self, words(text("Cancel")), self._cancel, "Esc")
        self._scroll = scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self.progress = ProgressBar(words(text("How much of the profile was read")), self)
        self.progress.hide()
        self._header.put_beside(self.progress)
        self.notice = Notice(Mark.INFO, "", self)
        self.notice.hide()
        self.instead = CommandBlock(words, (), words(text("Commands")), self)
        self.instead.hide()
        self.nothing = EmptyState(Mark.TODO, "", "", self, icon=desk.session.world.resources.read("icons/profile.svg"))
        self.nothing.buttons.addStretch(1)
        self.opens = small(words(text("Open a file…")), self)
        self.opens.clicked.connect(self._choose_file)
        self.nothing.buttons.addWidget(self.opens)
        self.nothing.buttons.addStretch(1)
        self._answer = QWidget(self)
        self.cards = bare(QVBoxLayout(self._answer), 16)
        self._unknown = WordsCard(words, words(text("What this file cannot tell")), self)
        self.tools = ToolsCard(words, self)
        for one in (self.notice, self.instead, self.nothing, self._answer, self._unknown, self.tools):
            scroll.content.addWidget(one)
        self._show_nothing()

    def bar(self) -> Bar:
        if self._job is not None:
            return Bar((self.cancel,))
        if self.found is None:
            return Bar((), self.desk.words(text("Read only: the file is read, and nothing in it is run.")))
        return Bar((self.choose, self.copy))

    @property
    def busy(self) -> bool:
        return self._job is not None or self._showing.busy

    def show_inspection(self, inspection: Inspection) -> None:
        self._recorded = inspection.machine.environments if inspection.recorded else None
        if self.tools.advice:
            self._look_for_tools()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToProfile) and errand.path:
            self.read(errand.path)
        if not self.tools.advice:
            self._look_for_tools()

    def left(self) -> ToProfile | None:
        return ToProfile(self.path) if self.path else None

    def close_down(self) -> None:
        self._cancel()
        self._looking.drop()

    # Reading

    def read(self, path: str) -> None:
        """The file at this path, in place of what is shown or being read."""
        self._cancel()
        self.path = path
        session = self.desk.session
        self._strip.begin(self.desk.words(text("Reading the profile…")))
        self.progress.show_done(0, 0)
        self.progress.show()

        def work(control: Control) -> ProfileAnswer:
            """Tells how far it is, and stops when it is asked to."""
            tell = control.tell
            return profile(session, path, on_progress=lambda done, of: tell(_SoFar(done, of)), cancelled=control.cancelled.is_set)

        self._job = self.desk.jobs.start(work, self)
        self._job.told.connect(self._show_progress)
        self._job.finished.connect(self._show_read)
        self.bar_changed.emit()

    @Slot()
    def _choose_file(self) -> None:
        words = self.desk.words
        kinds = f"{words(text('Profiles'))} ({_KINDS});;{words(text('All files'))} (*)"
        self.desk.asking.open_file(self, words(text("What a profiler left")), kinds, self.read)

    @Slot()
    def _cancel(self) -> None:
        if self._job is None:
            return
        job, self._job = self._job, None
        job.told.disconnect(self._show_progress)
        job.finished.disconnect(self._show_read)
        job.cancel()
        self._end_progress()
        self.path = self.found.path if self.found is not None else ""
        self.bar_changed.emit()

    @Slot(object)
    def _show_progress(self, told: object) -> None:
        if isinstance(told, _SoFar) and told.of:
            self.progress.show_done(_FULL * told.done // told.of, _FULL)

    @Slot(object)
    def _show_read(self, result: Done | Failed) -> None:
        self._job = None
        self._end_progress()
        if isinstance(result, Done) and isinstance(result.value, ProfileAnswer):
            self._show_answer(result.value)
        elif isinstance(result, Failed) and not isinstance(result.error, CancelledError):
            self._show_error(result.error)
        self.bar_changed.emit()

    def _end_progress(self) -> None:
        self._strip.end()
        self.progress.hide()

    def _show_error(self, error: Exception) -> None:
        lines = error.lines if isinstance(error, ProfileError) else ()
        self.path = self.found.path if self.found is not None else ""
        self.notice.tell(Mark.PROBLEM, sentence_case(reason_of(self.desk.words, error)))
        self.instead.set_lines(lines)
        self.instead.setVisible(bool(lines))

    # Showing

    def _show_answer(self, answer: ProfileAnswer) -> None:
        words = self.desk.words
        self.found = answer
        self.nothing.hide()
        self.notice.hide()
        self.instead.hide()
        self._header.show_words(words(text("Where time goes")), f"{answer.path} · {words(heading(answer))}")
        clear(self.cards)
        self._answer.show()
        self._scroll.verticalScrollBar().setValue(0)  # another file is read from its beginning
        self._showing.begin_later(self._cards_of(answer))

    def _cards_of(self, answer: ProfileAnswer) -> Iterator[Step]:
        words, add, parent = self.desk.words, self.cards.addWidget, self._answer
        if answer.answer is not None:
            yield from in_two_turns(partial(self._finding, answer.answer), add)
        for reading in answer.readings:
            if reading.shares:
                yield from in_two_turns(partial(SharesCard, words, reading, parent), add)
        yield from in_two_turns(lambda: NamesCard(self.desk, answer, parent), add)
        yield partial(self._unknown.show_words_of, gap_words(answer))

    def _finding(self, answer: Answer) -> FindingCard:
        card = FindingCard(self.desk.words, answer, self._answer)
        card.asked.connect(self.asked)
        card.link_opened.connect(self.desk.asking.visit)
        return card

    def _show_nothing(self) -> None:
        words = self.desk.words
        self.found = None
        self._answer.hide()
        self._unknown.show_words_of(())
        self._header.show_words(words(text("Where time goes")), words(text("What to change first, by what a profiler has seen")))
        rest = text(
            "Open or drop what a profiler left: a trace or table of torch.profiler, a file of cProfile, tables or the SQLite export"
            " of Nsight Systems, samples of py-spy (also its flame graph) or scalene, tables of line_profiler. If there is none"
            " yet, the card below has the commands."
        )
        self.nothing.show_words(Mark.TODO, words(text("No profile opened")), words(rest))

    @Slot()
    def _copy_answer(self) -> None:
        if self.found is not None:
            clipboard.copy(in_plain_text(self.found, self.desk.words))

    # Which profiler next

    def _look_for_tools(self) -> None:
        session, recorded = self.desk.session, self._recorded

        def look(_: Control) -> tuple[ProfilerAdvice, ...]:
            environments = recorded if recorded is not None else find_environments(session)
            return next_tools(session, environment_of_programs(environments), live=recorded is None)

        self._looking.ask(look)

    def _show_tools(self, result: Done | Failed) -> None:
        if isinstance(result, Done) and isinstance(result.value, tuple):
            self.tools.show_advice(result.value)


class NamesCard(Card):
    """What took longest, with its calls."""

    def __init__(self, desk: Desk, answer: ProfileAnswer, parent: QWidget | None = None) -> None:
        words = desk.words
        super().__init__(words(text("What took longest")), parent=parent)
        headings = (text("Share"), text("Own time"), text("Calls"), text("Kind"), text("Name"))
        self.model = RowsModel([words(one) for one in headings], _rows(desk, answer), self)
        self.table = Table(self.model, words(text("What took longest")), self)
        self.table.spread(_NAME)
        self.body.addWidget(self.table)


def _rows(desk: Desk, answer: ProfileAnswer) -> tuple[Row, ...]:
    words = desk.words
    made = list[Row]()
    for one in entry_rows(answer.readings):
        time = words(shown_time(one.seconds)) if one.seconds is not None else ""
        place = words(text("called from {place}", place=one.entry.place)) if one.entry.place else ""
        made.append(
            (
                Cell(words(shown_part(one.part)), right=True, share=min(1.0, one.part)),
                Cell(time, right=True),
                Cell(f"{one.entry.calls:,}", right=True),
                Cell(words(one.kind), quiet=True),
                Cell(one.entry.name, one.entry.place, mono=True, tip="\n".join(filter(None, (one.entry.name, place)))),
            )
        )
    return tuple(made)
