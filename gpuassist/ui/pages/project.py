"""A project's folder: whether its files run on this machine, the smallest change of them with its diff, and the steps beside it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.undo import undo
from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.project import LinkState, ProjectChange, ProjectCheck, ProjectOutlook
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.project import CHECK_MARKS, CHECK_TITLES, in_plain_text, place_words, verdict_of
from gpuassist.session.navigation import Errand, SideTool, ToProject
from gpuassist.session.project import plan_project_change, project_outlook
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.pace import InTurns, Step
from gpuassist.ui.page import Bar, Desk, Page, Wrote, new_action
from gpuassist.ui.pages.what_if.answer import StepsCard, WordsCard
from gpuassist.ui.widgets.buttons import CopyButton, small
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import add_layout, bare, clear
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.wording import reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_DIFF_HEIGHT = 320
_TITLE_WIDTH = 96
_MARKS = {True: Mark.RIGHT, False: Mark.PROBLEM, None: Mark.UNKNOWN}


class ProjectPage(Page):
    """Judges on a job; writes only when the button is pressed, on record, and takes that back on another press."""

    STEP = SideTool.PROJECT

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine: Machine | None = None
        self._recorded, self._host = False, ""
        self.directory = ""
        self.outlook: ProjectOutlook | None = None
        self._showing = InTurns(self)
        self.carried: ChangeOutcome | None = None
        self._judging = Latest(desk.jobs, self._show_judged, self)
        self._changing = Latest(desk.jobs, self._show_changed, self)
        words = self.desk.words
        self.choose = new_action(self, words(text("Another folder…")), self._choose_folder, "Ctrl+O")
        self.again = new_action(self, words(text("Refresh")), self._look_again)
        self.copy = new_action(self, words(text("Copy the answer")), self._copy_answer, "Ctrl+Shift+C")
        self.write = new_action(self, words(text("Write this change")), self._write)
        self.undo = new_action(self, words(text("Undo this change")), self._undo)
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._strip = ProgressStrip(self)
        self._header.put_beside(self._strip)
        self._nothing = EmptyState(Mark.TODO, "", "", self, icon=desk.session.world.resources.read("icons/project.svg"))
        self._nothing.buttons.addStretch(1)
        opens = small(words(text("Choose a folder…")), self)
        opens.clicked.connect(self._choose_folder)
        self._nothing.buttons.addWidget(opens)
        self._nothing.buttons.addStretch(1)
        self.notice = Notice(Mark.INFO, "", self)
        self.wrong = ChecksCard(words, words(text("What does not work, or is not known")), self)
        self.holds = ChecksCard(words, words(text("What works")), self)
        self.changes = bare(QVBoxLayout(), 16)
        self._changes = QWidget(self)
        self._changes.setLayout(self.changes)
        self.steps = StepsCard(words, self)
        self._notes = WordsCard(words, words(text("Good to know")), self)
        for one in (self._nothing, self.notice, self.wrong, self._changes, self.steps, self.holds, self._notes):
            scroll.content.addWidget(one)
        self._show_nothing()

    def bar(self) -> Bar:
        if self.outlook is None:
            return Bar((), self.desk.words(text("Read only: nothing in the project is run or changed.")))
        left = (self.choose, self.again, self.copy)
        if self.carried is not None and self.carried.receipts:
            return Bar(left, "", self.undo)
        note = text("Nothing is written until you confirm.")
        if self._recorded:
            note = text("Checked against the recorded machine: nothing can be written.")
            if self._host:
                note = text("Checked against {host}: nothing can be written from here.", host=self._host)
        primary = self.write if self.outlook.changes and not self._recorded and self.carried is None else None
        return Bar(left, self.desk.words(note), primary)

    @property
    def busy(self) -> bool:
        return self._judging.busy or self._changing.busy or self._showing.busy

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._recorded, self._host = inspection.machine, inspection.recorded, inspection.host
        if self.directory and self.carried is None:
            self._judge()
        elif not self.directory:
            self._show_nothing()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToProject) and errand.directory and not self._changing.busy:
            self.directory, self.carried = errand.directory, None
            self._judge()

    def under_way(self) -> Text | None:
        return text("a change of your files") if self._changing.busy else None

    def left(self) -> ToProject | None:
        return ToProject(self.directory) if self.directory else None

    def close_down(self) -> None:
        self._judging.drop()
        self._changing.drop()

    # Looking

    @Slot()
    def _choose_folder(self) -> None:
        title = self.desk.words(text("The folder of a project"))
        self.desk.asking.open_directory(self, title, lambda path: self.arrive(ToProject(path)))

    @Slot()
    def _look_again(self) -> None:
        if not self._changing.busy:
            self.carried = None
            self._judge()

    def _judge(self) -> None:
        session, machine, directory = self.desk.session, self._machine, self.directory
        if machine is None:
            return
        self._strip.begin(self.desk.words(text("Reading the project…")))
        self._judging.ask(lambda _: project_outlook(session, machine, directory))

    def _show_judged(self, result: Done | Failed) -> None:
        self._strip.end()
        if isinstance(result, Failed):
            self._show_nothing()
            self._tell(Mark.PROBLEM, reason_of(self.desk.words, result.error))
        elif isinstance(result.value, ProjectOutlook):
            self._show_outlook(result.value)
        self.bar_changed.emit()

    def _show_outlook(self, outlook: ProjectOutlook) -> None:
        words, before = self.desk.words, self.outlook
        self.outlook = outlook
        self._nothing.hide()
        self._header.show_words(words(text("A project’s folder")), outlook.directory)
        if self.carried is None:
            self._tell(_MARKS[outlook.fits], words(verdict_of(outlook)))
        if outlook != before:
            self._showing.begin(self._cards(outlook))

    def _cards(self, outlook: ProjectOutlook) -> Iterator[Step]:
        yield from self.wrong.show_checks(tuple(one for one in outlook.checks if one.state is not LinkState.HOLDS))
        yield partial(clear, self.changes)
        for change in outlook.changes:
            yield partial(self._add_change, change)
        yield partial(self._changes.setVisible, bool(outlook.changes))
        yield from self.steps.show_steps(outlook.steps)
        yield from self.holds.show_checks(tuple(one for one in outlook.checks if one.state is LinkState.HOLDS))
        yield partial(self._notes.show_words_of, outlook.notes)

    def _add_change(self, change: ProjectChange) -> None:
        self.changes.addWidget(ChangeCard(self.desk.words, change, self))

    def _show_nothing(self) -> None:
        words = self.desk.words
        self.outlook = None
        self._showing.drop()
        self._header.show_words(words(text("A project’s folder")), words(text("Will its files run on this machine?")))
        title, mark = text("Which project?"), Mark.TODO
        rest = text("Choose a folder, or drop one anywhere on the window. Its files are read, and nothing in them is run.")
        if self._machine is None:
            title, rest, mark = text("One moment"), text("The machine is being read."), Mark.BUSY
        self._nothing.show_words(mark, words(title), words(rest))
        self._nothing.show()
        self._changes.hide()
        self.steps.hide()
        self.notice.hide()
        self.wrong.hide()
        self.holds.hide()
        self._notes.show_words_of(())
        self.bar_changed.emit()

    def _tell(self, mark: Mark, words: str) -> None:
        self.notice.tell(mark, sentence_case(words))

    @Slot()
    def _copy_answer(self) -> None:
        if self.outlook is not None:
            clipboard.copy(in_plain_text(self.outlook, self.desk.words))

    # Writing

    @Slot()
    def _write(self) -> None:
        session, machine, outlook = self.desk.session, self._machine, self.outlook
        if machine is None or outlook is None or self._recorded or self.busy:
            return
        self._strip.begin(self.desk.words(text("Writing…")))
        self._changing.ask(lambda _: _written(session, machine, outlook))

    @Slot()
    def _undo(self) -> None:
        session, carried = self.desk.session, self.carried
        if carried is None or carried.receipt is None or self.busy:
            return
        change = carried.receipt.change
        self._strip.begin(self.desk.words(text("Undoing…")))
        self._changing.ask(lambda _: undo(session.world, change))

    def _show_changed(self, result: Done | Failed) -> None:
        self._strip.end()
        words = self.desk.words
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, reason_of(words, result.error))
        elif isinstance(result.value, ChangeOutcome):
            carried = result.value
            undone = self.carried is not None
            self.carried = None if undone and carried.wrote else carried
            said = "\n".join(sentence_case(words(one)) for one in (carried.outcome.text, *carried.notes))
            if self.carried is None:
                self._judge()
            else:
                self._tell(Mark.RIGHT if carried.wrote else Mark.PROBLEM, said)
        self.asked.emit(Wrote())
        self.bar_changed.emit()


def _written(session: Session, machine: Machine, outlook: ProjectOutlook) -> ChangeOutcome:
    return carry_out(session.world, plan_project_change(session, machine, outlook))


class ChecksCard(Card):
    """Each link, with its mark, and the line that asks for it."""

    def __init__(self, words: Words, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent=parent)
        self._words = words
        self._shown: tuple[ProjectCheck, ...] | None = ()  # none while they are being made
        self._rows = bare(QVBoxLayout(), 10)
        add_layout(self.body, self._rows)
        self.hide()

    def show_checks(self, checks: tuple[ProjectCheck, ...]) -> Iterator[Step]:
        """Shows these, a row a turn; no card without any."""
        if checks != self._shown:
            self._shown = None
            clear(self._rows)
            for one in checks:
                yield partial(self._add, one)
            self._shown = checks
        yield partial(self.setVisible, bool(checks))

    def _add(self, check: ProjectCheck) -> None:
        self._rows.addWidget(self._row(check))

    def _row(self, check: ProjectCheck) -> QWidget:
        words, inside = self._words, QWidget(self)
        row = bare(QHBoxLayout(inside), 10)
        row.addWidget(MarkIcon(CHECK_MARKS[check.state], inside), 0, Qt.AlignmentFlag.AlignTop)
        title = label(words(CHECK_TITLES[check.id]), "strong", inside)
        title.setMinimumWidth(max(_TITLE_WIDTH, title.minimumSizeHint().width()))  # never less than its longest word
        row.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
        column = bare(QVBoxLayout(), 2)
        said = words(check.text)  # one that begins with a package's name keeps that as it is
        column.addWidget(paragraph(said if check.text.message.startswith("{") else sentence_case(said), "", inside))
        place = place_words(check)
        if place is not None:
            column.addWidget(label(words(place), "muted", inside))
        add_layout(row, column, 1)
        inside.setAccessibleName(f"{title.text()}: {words(check.text)}")
        return inside


class ChangeCard(Card):
    """One file with its diff, what that does, and what it may break."""

    def __init__(self, words: Words, change: ProjectChange, parent: QWidget | None = None) -> None:
        super().__init__(words(text("The smallest change of {file}", file=change.file)), parent=parent)
        self.change = change
        self.head.addWidget(CopyButton(words, lambda: change.diff, self, title=words(text("Copy diff"))))
        self.body.addWidget(paragraph(words(change.text), "", self))
        self.view = DiffView(words(text("What changes in {path}", path=change.file)), self)
        self.view.set_diff(change.diff)
        self.view.fit(_DIFF_HEIGHT)
        self.body.addWidget(self.view)
        for one in change.may_break:
            self.body.addWidget(paragraph(words(text("May break: {what}", what=one)), "muted", self))
