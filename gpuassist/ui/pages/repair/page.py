"""Repair: the toolkit that new shells use first, and beside it cleaning, choosing GPUs and every line of the start-up files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct
from PySide6.QtCore import Slot
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.record import ChangeRecord, ChangeStatus, records
from gpuassist.changes.restore import ConflictError
from gpuassist.changes.scope_find import ListedScope, list_scopes
from gpuassist.changes.undo import UndoPlan, left_out, plan_undo, undo
from gpuassist.model.finding import Severity
from gpuassist.model.old_environment import OldEnvironments
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import Destination, Errand, Marked, RepairPart, StepStatus, ToRepair, ToRepairPart, WizardStep
from gpuassist.session.old_environments import after_undo
from gpuassist.ui.jobs import Done, Failed, Latest
from gpuassist.ui.leads import repairable_version
from gpuassist.ui.page import Bar, Desk, Leave, Page, Wrote
from gpuassist.ui.pages.repair.history import HistoryCard, UndoCard
from gpuassist.ui.pages.repair.old_environments import OldEnvironmentsCard
from gpuassist.ui.pages.repair.others import CleanSection, DevicesSection
from gpuassist.ui.pages.repair.section import RepairSection
from gpuassist.ui.pages.repair.survey import LinesSection
from gpuassist.ui.pages.repair.toolkit import ToolkitSection
from gpuassist.ui.pages.repair.undo_all import UndoAllCourse
from gpuassist.ui.questions import Verbs
from gpuassist.ui.widgets.cards import Notice
from gpuassist.ui.widgets.progress import ProgressStrip
from gpuassist.ui.widgets.segments import Segments
from gpuassist.ui.wording import at_home, reason_of, sentence_case

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_PARTS = tuple(RepairPart)
TOOLKIT, CLEAN, DEVICES, LINES = range(len(_PARTS))
_WORST_FIRST = (Mark.BUSY, Mark.PROBLEM, Mark.UNKNOWN, Mark.RIGHT)


class _Listed(Struct, frozen=True):
    """The changes on record, and the records that are none of this user's changes with the reason."""

    records: tuple[ChangeRecord, ...]
    left_out: tuple[Text, ...] = ()


class _Scopes(Struct, frozen=True):
    """The scopes of this machine; `chosen` is one that the user asked for."""

    scopes: tuple[ListedScope, ...]
    chosen: str = ""


class _Undone(Struct, frozen=True):
    """A change that was taken back, and how."""

    taking: UndoPlan
    outcome: ChangeOutcome


class RepairPage(Page):
    """Changes a file only when Apply is pressed; the history below holds every change and its undo."""

    STEP = WizardStep.REPAIR
    MARKS = True

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._recorded = False
        self._project = ""  # the directory that the user named
        self._undoing = False  # whether a change is being taken back, and not only looked at
        self._taking: UndoPlan | None = None
        self._taken: _Undone | None = None
        self.undoing = Latest(desk.jobs, self._show_undoing, self)
        self.looking = Latest(desk.jobs, self._show_still_old, self)
        self.listing = Latest(desk.jobs, self._show_listed, self)
        self.scoping = Latest(desk.jobs, self._show_scopes, self)
        words = self.words = at_home(desk.words, desk.session.world.surroundings.home)
        scroll = self._scroll = self.fill_with_scroll()
        self._header = scroll.header
        titles = [words(title) for title in (text("Toolkit"), text("Clean up"), text("Devices"), text("Lines"))]
        self.segments = Segments(titles, words(text("What to repair")), self)
        self.notice = Notice(Mark.INFO, "", self)
        self.notice.hide()
        self.toolkit = ToolkitSection(self.desk, self)
        self.clean = CleanSection(self.desk, self)
        self.devices = DevicesSection(self.desk, self)
        self.lines = LinesSection(self.desk, self)
        self._sections: tuple[RepairSection, ...] = (self.toolkit, self.clean, self.devices)
        self.undo = UndoCard(words, self)
        self.still_old = OldEnvironmentsCard(words, self)
        self.history = HistoryCard(words, self.desk.session.world.surroundings.home, self)
        self._strip = ProgressStrip(self)
        self._strip.setMaximumHeight(20)
        top = (self.segments, self.notice, self.still_old, self.undo)
        for widget in (*top, *self._sections, self.lines, self.history, self._strip):
            scroll.content.addWidget(widget)
        for place in range(len(titles)):
            self._shortcut(place)
        self.segments.chosen.connect(self._show_place)
        for section in self._sections:
            section.changed.connect(self._refresh)
            section.asked.connect(self.asked)
            section.made.connect(self._after_made)
            section.undo_wanted.connect(self._ask_to_undo)
            section.card.all_lines_wanted.connect(self._show_lines)
        self.lines.changed.connect(self._refresh)
        self.lines.lines_chosen.connect(self.toolkit.choose_lines)
        for scoped in (self.toolkit, self.devices):
            scoped.project_wanted.connect(self._ask_for_project)
        self.history.undo_wanted.connect(self._ask_to_undo)
        self.undo_all = UndoAllCourse(self.desk, self)
        self.history.undo_all_wanted.connect(self._look_at_everything)
        self.undo_all.changed.connect(self._show_looking)
        self.undo_all.wrote.connect(self._read_again)
        self.undo_all.trouble.connect(self._show_no_overview)
        self.undo_all.left.connect(lambda: self.asked.emit(Leave()))
        self.still_old.look_wanted.connect(self._look_for_old)
        self.undo.agreed.connect(self._agree)
        self.undo.declined.connect(self._decline)
        self.undo.take_out_wanted.connect(self._look_without_block)
        self._show_place(TOOLKIT)

    @property
    def busy(self) -> bool:
        works = (self.undoing, self.looking, self.undo_all, self.listing, self.scoping, self.lines.reading)
        return any(work.busy for work in works) or any(section.busy for section in self._sections)

    def under_way(self) -> Text | None:
        changes = self.undoing.busy or self.undo_all.busy or any(section.changing.busy for section in self._sections)
        return text("a change of your files") if changes else None

    def bar(self) -> Bar:
        section = self.toolkit if self.segments.place == LINES else self._sections[self.segments.place]
        return section.bar()

    def show_inspection(self, inspection: Inspection) -> None:
        if inspection.recorded or self._recorded:
            self.notice.hide()
            self._forget_undo()
            self.toolkit.forget_choice()
        self._recorded = inspection.recorded
        for section in self._sections:
            section.host = inspection.host
            section.show_machine(inspection.machine, recorded=inspection.recorded)
        self.lines.show_machine(inspection.machine, recorded=inspection.recorded)
        troubled = any(answer.severity is Severity.PROBLEM for answer in inspection.answers)
        self.toolkit.suggest(repairable_version(inspection.answers), troubled=troubled)
        marks = [section.mark for section in self._sections if section.mark is not None]
        if marks:  # of a result that is still shown
            self._mark(min(marks, key=_WORST_FIRST.index))
        self._look_around()

    def show_reading(self, words: str) -> None:
        super().show_reading(words)
        for section in self._sections:
            section.wait() if words else section.go_on()
        self.lines.wait() if words else self.lines.go_on()
        self._refresh()

    def shows(self, destination: Destination) -> bool:
        if isinstance(destination, ToRepair):
            here = self.segments.place == TOOLKIT and not self.toolkit.settled
            return here and self.toolkit.cuda.version == destination.version
        if isinstance(destination, ToRepairPart):
            place = _PARTS.index(destination.part)
            return self.segments.place == place and (place == LINES or not self._sections[place].settled)
        return super().shows(destination)

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToRepair):
            self.segments.choose(TOOLKIT)
            self.toolkit.leave_scope()
            self.toolkit.open_for(errand.version)
        elif isinstance(errand, ToRepairPart):
            self.segments.choose(_PARTS.index(errand.part))
        self._look_around()
        if self.segments.place == LINES:
            self.lines.arrive()

    def _look_around(self) -> None:
        """The changes on record and the scopes, as they are now; of a recorded machine there are none."""
        self._list()
        if self._recorded:
            self.scoping.drop()
            self._show_scopes(Done(_Scopes(())))
        else:
            session, project = self.desk.session, self._project
            self.scoping.ask(lambda _: _Scopes(list_scopes(session, project)))

    def close_down(self) -> None:
        for work in (self.undoing, self.looking, self.listing, self.scoping):
            work.drop()
        self.undo_all.close_down()
        for section in self._sections:
            section.close_down()
        self.lines.close_down()

    def _shortcut(self, place: int) -> None:
        action = QAction(self)
        action.setShortcut(QKeySequence(f"Alt+{place + 1}"))
        action.triggered.connect(lambda: self.segments.choose(place))
        self.addAction(action)
        self.segments.button(place).setToolTip(f"Alt+{place + 1}")

    @Slot(int)
    def _show_place(self, place: int) -> None:
        self.notice.hide()  # it was said of what was done on the tab before
        for number, section in enumerate((*self._sections, self.lines)):
            section.setVisible(number == place)
        if place == LINES:
            self.lines.arrive()
        else:
            self._sections[place].arrive()
        self._refresh()

    @Slot()
    def _show_lines(self) -> None:
        self.segments.choose(LINES)

    @Slot()
    def _refresh(self) -> None:
        self.lines.show_repair(self.toolkit.repair)
        header = self.lines.header if self.segments.place == LINES else self._sections[self.segments.place].header
        self._header.show_words(*header)
        self.bar_changed.emit()

    # What was changed, and taking it back

    @Slot()
    def _after_made(self) -> None:
        if self.segments.place == LINES:
            self.segments.choose(TOOLKIT)
        self.notice.hide()  # what it said of the change before
        self._forget_undo()
        self._read_again()

    def _read_again(self) -> None:
        """Something was written, or may have been: nothing that was read before is shown as if it held."""
        self._list()
        self.asked.emit(Wrote())

    def _mark(self, mark: Mark) -> None:
        self.asked.emit(Marked(self.STEP, StepStatus(mark.value)))

    def _list(self) -> None:
        session = self.desk.session
        if self._recorded:
            self.listing.drop()
            self.history.show_records(())
        else:
            self.listing.ask(lambda _: _Listed(records(session.world), left_out(session.world)))

    @Slot(str)
    def _ask_to_undo(self, change: str) -> None:
        session = self.desk.session
        self.undo.hide()
        self._forget_undo()
        self._strip.begin(self.words(text("Checking how it can be undone…")))
        self.undoing.ask(lambda _: plan_undo(session.world, change))

    @Slot(str)
    def _look_without_block(self, change: str) -> None:
        """What goes with the block is shown before it goes."""
        session = self.desk.session
        self._strip.begin(self.words(text("Checking how it can be undone…")))
        self.undoing.ask(lambda _: plan_undo(session.world, change, take_out=True))

    def _show_undoing(self, result: Done | Failed) -> None:
        self._strip.end()
        tried, self._undoing = self._undoing, False
        if isinstance(result, Failed):
            reason = reason_of(self.words, result.error)
            if isinstance(result.error, ConflictError):
                self.notice.hide()
                self.undo.show_conflict(
                    reason, result.error.three_way, take_out=result.error.change if result.error.in_block else ""
                )
                self._scroll.ensureWidgetVisible(self.undo)
            else:
                self._tell(Mark.PROBLEM, sentence_case(reason))
            self._list()
            if tried:
                self._read_again()
        elif isinstance(result.value, UndoPlan):
            self._confirm_undo(result.value)
        elif isinstance(result.value, _Undone):
            undone = result.value.outcome
            self._taken = result.value
            self._look_for_old()
            for section in self._sections:
                if section.receipt is not None and section.receipt.change == undone.receipts[0].change:
                    section.forget_result()
            self._mark(Mark.TODO)
            self._tell(Mark.RIGHT, sentence_case(self.words(undone.outcome.text)))
            self._read_again()

    def _confirm_undo(self, taking: UndoPlan) -> None:
        self._taking = taking
        if any(file.edited for file in taking.files):
            self.undo.show_plan(taking)
            self._scroll.ensureWidgetVisible(self.undo)
            return
        words = self.words
        question = words(text("Undo this change?"))
        verbs = Verbs(words(text("Undo")), words(text("Keep")))
        self.desk.asking.confirm(self, question, words(text("{way}.", way=taking.way)), self._agree, verbs=verbs)

    @Slot()
    def _agree(self) -> None:
        if self._taking is None:
            return
        session, taking = self.desk.session, self._taking
        self._taking, self._undoing = None, True
        self.undo.hide()
        self._strip.begin(self.words(text("Undoing…")))
        self.undoing.ask(lambda _: _Undone(taking, undo(session.world, taking.receipt.change, take_out=taking.take_out)))

    @Slot()
    def _look_for_old(self) -> None:
        session, taken = self.desk.session, self._taken
        if taken is not None:
            self.looking.ask(lambda _: after_undo(session, (taken.taking,), taken.outcome.receipts[0].undone_at))

    def _show_still_old(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) and isinstance(result.value, OldEnvironments) else None
        self.still_old.show_found(found if found is not None and (found.programs or found.notes) else None)

    def _forget_undo(self) -> None:
        self.looking.drop()
        self._taken = None
        self.still_old.show_found(None)

    @Slot()
    def _look_at_everything(self) -> None:
        self.undo.hide()
        self.undo_all.begin()

    @Slot()
    def _show_looking(self) -> None:
        if self.undo_all.busy:
            self._strip.begin(self.words(text("Checking how everything can be undone…")))
        else:
            self._strip.end()

    @Slot(str)
    def _show_no_overview(self, reason: str) -> None:
        self._tell(Mark.PROBLEM, sentence_case(reason))

    @Slot()
    def _decline(self) -> None:
        self._taking = None
        self.undo.hide()
        self.notice.hide()

    def _show_listed(self, result: Done | Failed) -> None:
        listed = result.value if isinstance(result, Done) and isinstance(result.value, _Listed) else _Listed(())
        self.history.show_records(listed.records)
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, sentence_case(reason_of(self.words, result.error)))
            return
        if listed.left_out:
            self._tell(Mark.WARNING, "\n".join(sentence_case(self.words(note)) for note in listed.left_out))
        standing = {one.receipt.change for one in listed.records if all(file.standing is ChangeStatus.STANDS for file in one.files)}
        for section in self._sections:
            if section.receipt is not None and section.receipt.change not in standing:  # taken back from elsewhere
                section.forget_result()
                section.expire()

    def _tell(self, mark: Mark, words: str) -> None:
        self.notice.tell(mark, words)

    # Scopes

    def _show_scopes(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) and isinstance(result.value, _Scopes) else _Scopes(())
        shown = self.devices if self.segments.place == DEVICES else self.toolkit
        for section in (self.toolkit, self.devices):
            section.show_scopes(found.scopes, found.chosen if section is shown else "")
        self.devices.show_held()

    @Slot()
    def _ask_for_project(self) -> None:
        self.desk.asking.open_directory(self, self.words(text("The project's directory")), self._open_project)

    def _open_project(self, place: str) -> None:
        session, project = self.desk.session, os.path.abspath(place)
        self._project = project
        self.scoping.ask(lambda _: _Scopes(list_scopes(session, project), f"envrc:{project}"))
