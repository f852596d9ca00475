"""Every line of the start-up files that touches a variable that matters, in a table; the chosen one in full, with its choice."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QModelIndex, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.changes.plan import ChangePlan
from gpuassist.detect.startup.line import SurveyLine
from gpuassist.detect.startup.survey import Survey, survey
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.present.changes import shortened
from gpuassist.present.marks import Mark
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.repair.choices import LineChoiceRow
from gpuassist.ui.pages.repair.panel import DiffCard
from gpuassist.ui.widgets.cards import Card, EmptyState
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import SPACING, add_layout, bare, clear
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table
from gpuassist.ui.wording import reason_of, sentence_case

# One line of the start-up files in full: what it does, whether it holds and why, in what it stands, and what becomes of it.


class LineCard(Card):
    """The rows of the same line stay while only its choice changes, and with them the keyboard's focus."""

    chosen = Signal(object)  # LineChoice

    def __init__(self, words: Words, home: str, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Line")), parent=parent)
        self._words = words
        self._home = home
        self._shown: tuple[SurveyLine, tuple[object, ...]] | None = None
        self.row: LineChoiceRow | None = None
        self._content = bare(QVBoxLayout(), 6)
        add_layout(self.body, self._content)
        self.hide()

    def show_line(self, line: SurveyLine, planned: ShellLine | None, *, planned_any: bool = True) -> None:
        """A line, and what the toolkit's plan makes of it; none where that has nothing to do with it."""
        if planned is None:
            offered: tuple[object, ...] = (planned_any,)
        else:
            offered = (planned.file, planned.line, planned.tickable, planned.new_text, planned.why)
        key = (line, offered)
        if self._shown == key and self.row is not None and planned is not None:
            self.row.show_choice(planned.choice)
            self.show()
            return
        self._shown = key
        clear(self._content)
        self.row = None
        if self.title is not None:
            self.title.setText(f"{shortened(line.file, self._home)}:{line.line}")
        name = self._words(text("The line"))
        self._content.addWidget(CodeBlock(self._words, line.text, name, self))
        said = [*line.contribution, line.effect]
        if line.wins:
            said.append(text("this line wins for {variables}", variables=listed(line.wins)))
        if line.read_by:
            said.append(text("its file is read by {place}", place=line.read_by))
        if line.inside and "inside" not in {name for name, _ in line.why.parameters}:
            said.append(text("inside `{inside}`", inside=line.inside.strip()))
        for sentence in said:
            self._content.addWidget(paragraph(sentence_case(self._words(sentence)), "", self))
        self._add_choice(line, planned, planned_any=planned_any)
        self.show()

    def _add_choice(self, line: SurveyLine, planned: ShellLine | None, *, planned_any: bool) -> None:
        if planned is not None and (planned.tickable or planned.instead):
            self.row = LineChoiceRow(self._words, planned, self)
            self.row.chosen.connect(self._choose)
            self._content.addWidget(self.row)
            self._say(planned.why)
        elif planned is not None:
            self._say(planned.why)
        else:
            self._say(line.why)
            if line.changeable and not planned_any:
                self._say(text("What to do with it depends on the toolkit: choose one under Toolkit first."))

    def _say(self, words: Text) -> None:
        self._content.addWidget(paragraph(sentence_case(self._words(words)), "small", self))

    @Slot()
    def _choose(self) -> None:
        if self.row is not None:
            self.chosen.emit(self.row.line_choice)


_HEADINGS = (text("Place"), text("Line"), text("What it does"), text("In effect"), text("Owner"), text("Action"))
_ALL_COLUMNS_FROM = 800
_LINE, _DOES = 1, 2
_STATES = {True: (Mark.RIGHT, text("yes")), False: (Mark.TODO, text("no"))}
_BECOMES = {Choice.KEEP: text("stays"), Choice.COMMENT_OUT: text("commented out"), Choice.REPLACE: text("replaced")}

Place = tuple[str, int]


class LinesSection(QWidget):
    """Reads the files on a job; what is chosen for a line is a choice of the toolkit's plan, whose diff stands below."""

    changed = Signal()
    lines_chosen = Signal(object)  # tuple[LineChoice, ...]

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = desk
        self._home = desk.session.world.surroundings.home
        self._machine: Machine | None = None
        self._recorded = False
        self._waits = False  # for the machine to be read again after a change
        self.survey: Survey | None = None
        self._planned: tuple[ShellLine, ...] = ()
        self.reading = Latest(desk.jobs, self._show_read, self)
        self.header = (desk.words(text("Lines of your start-up files")), "")
        words = self.desk.words
        self._strip = ProgressStrip(self, keeps_room=False)
        self._strip.setMaximumHeight(20)
        self.nothing = EmptyState(Mark.INFO, "", "", self)
        self.nothing.hide()
        self._card = Card(parent=self)
        self.model = RowsModel([words(heading) for heading in _HEADINGS], (), self)
        self.table = Table(self.model, words(text("Lines of the start-up files")), self._card)
        self.table.spread(_LINE)
        self.table.selectionModel().currentRowChanged.connect(self._show_line)
        self._card.body.addWidget(self.table)
        self._card.hide()
        self.line = LineCard(words, self._home, self)
        self.line.chosen.connect(self._choose)
        self.diff = DiffCard(words, self._home, self)
        self.diff.hide()
        self._notes = Card(words(text("Good to know")), parent=self)
        self._notes.hide()
        column = bare(QVBoxLayout(self), SPACING)
        for widget in (self.nothing, self._card, self.line, self.diff, self._notes, self._strip):
            column.addWidget(widget)
        column.addStretch(1)

    def show_machine(self, machine: Machine, *, recorded: bool) -> None:
        """Another machine, or the same one read again: its files are read when the table is next shown."""
        self._machine, self._recorded = machine, recorded
        self._waits, self.survey = False, None
        self._strip.end()
        if self.isVisible():
            self.read()

    def wait(self) -> None:
        """Something was written: what is shown was read before, and the machine is being read again."""
        self._waits, self.survey = True, None
        self.reading.drop()
        for widget in (self._card, self.line, self.diff, self.nothing, self._notes):
            widget.hide()
        self._strip.begin(self.desk.words(text("Reading your machine again after the change…")))

    def go_on(self) -> None:
        """The machine could not be read again; the files can be all the same."""
        if self._waits:
            self._waits = False
            self._strip.end()
            if self.isVisible():
                self.arrive()

    def arrive(self) -> None:
        if self.survey is None and not self.reading.busy and not self._waits:
            self.read()

    def read(self) -> None:
        session, machine, recorded = self.desk.session, self._machine, self._recorded
        self._strip.begin(self.desk.words(text("Reading the start-up files and starting a new terminal…")))
        wanted = machine if recorded else None  # a new terminal is asked anew: the files may have been changed since
        self.reading.ask(lambda _: survey(session, wanted, recorded=recorded))

    def show_repair(self, repair: ChangePlan | None) -> None:
        """What the toolkit's plan does to the lines; none where none is planned, or it is for another scope."""
        plan = repair if repair is not None and repair.cuda is not None else None
        self._planned = plan.lines if plan is not None else ()
        self.diff.setVisible(plan is not None and not self._waits)
        if plan is not None:
            self.diff.show_plan(plan, text("No file is changed by what is chosen."))
        self._fill()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.table.setColumnHidden(_DOES, self.width() < _ALL_COLUMNS_FROM)  # the line below the table says it in full

    def close_down(self) -> None:
        self.reading.drop()

    def _show_read(self, result: Done | Failed) -> None:
        words = self.desk.words
        self._strip.end()
        if isinstance(result, Failed):
            self._card.hide()
            reason = sentence_case(reason_of(self.desk.words, result.error))
            self.nothing.show_words(Mark.PROBLEM, words(text("The start-up files cannot be read")), reason)
            self.nothing.show()
        elif isinstance(result.value, Survey):
            self.survey = result.value
            words = self.desk.words
            shell = shortened(result.value.shell, self._home) or words(text("the shell"))
            order = text("Start-up files of {shell}, in the order in which a new terminal reads them.", shell=shell)
            self.header = (self.header[0], words(order))
            self._card.setVisible(bool(result.value.lines))
            self.nothing.setVisible(not result.value.lines)
            if not result.value.lines:
                about = text("Nothing in them sets PATH, CUDA_HOME or another variable that matters here.")
                self.nothing.show_words(Mark.RIGHT, words(text("No line affects CUDA")), words(about))
            clear(self._notes.body)
            unread = [text("{file} is not read: {reason}", file=one.path, reason=one.reason) for one in result.value.unread]
            for note in (*result.value.notes, *unread):
                self._notes.body.addWidget(paragraph(sentence_case(words(note)), "muted", self._notes))
            self._notes.setVisible(bool(result.value.notes or unread))
            self._fill()
            if result.value.lines:
                self.table.selectRow(0)
        self.changed.emit()

    def _fill(self) -> None:
        if self.survey is None:
            return
        planned = self._by_place()
        self.model.set_rows([self._row(line, planned) for line in self.survey.lines])
        self._show_line(self.table.currentIndex())

    def _row(self, line: SurveyLine, planned: Mapping[Place, ShellLine]) -> Row:
        words = self.desk.words
        first = (line.text.splitlines() or [""])[0].strip()
        does = "; ".join(sentence_case(words(one)) for one in line.contribution)
        mark, state = Mark.UNKNOWN, text("not known")
        if isinstance(line.in_effect, Known):
            mark, state = _STATES[line.in_effect.value]
        ours = planned.get((line.file, line.line))
        becomes: Text = _BECOMES[ours.choice] if ours is not None else text("stays")
        return (
            Cell(f"{shortened(line.file, self._home)}:{line.line}", mono=True, tip=line.file),
            Cell(first, mono=True, tip=line.text),
            Cell(does, tip=does),
            Cell(words(state), mark=mark, tip=sentence_case(words(line.effect))),
            Cell(line.owner, quiet=True),
            Cell(words(becomes), quiet=ours is None or ours.choice is Choice.KEEP),
        )

    def _by_place(self) -> dict[Place, ShellLine]:
        return {(line.file, line.line): line for line in self._planned}

    @Slot(QModelIndex)
    def _show_line(self, index: QModelIndex) -> None:
        lines = self.survey.lines if self.survey is not None else ()
        if not 0 <= index.row() < len(lines):
            self.line.hide()
            return
        line = lines[index.row()]
        self.line.show_line(line, self._by_place().get((line.file, line.line)), planned_any=bool(self._planned))

    @Slot(object)
    def _choose(self, chosen: LineChoice) -> None:
        others = [
            LineChoice(line.file, line.line, line.choice)
            for line in self._planned
            if line.choice is not Choice.KEEP and (line.file, line.line) != (chosen.file, chosen.line)
        ]
        self.lines_chosen.emit((*others, *((chosen,) if chosen.choice is not Choice.KEEP else ())))
