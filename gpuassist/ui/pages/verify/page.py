"""Verify: tensor operations in the user's own torch, each check as it is done, what it proves, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpuassist.formats.visible import escaped
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Severity
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, listed, text
from gpuassist.model.verdict import Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.commands import copyable_lines
from gpuassist.present.marks import Mark
from gpuassist.present.verification import errors_to_explain, report_headline, verification_error
from gpuassist.present.verification_document import verification_document
from gpuassist.present.verify_table import Column, column_of, progress_words, stack_words
from gpuassist.session.navigation import Errand, Marked, StepStatus, ToExplainText, ToVerify, WizardStep
from gpuassist.session.proof_words import verdict_on_accelerators
from gpuassist.session.verifications import kept
from gpuassist.session.verify import failures, interpreter_at, rests_on
from gpuassist.session.verify_progress import VerifyProgress, conclude, follow
from gpuassist.session.verify_report import VerifyReport
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Done, Failed, Job, Latest
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.verify.body import VerifyBody
from gpuassist.ui.pages.verify.card import CardAction, CardSubject
from gpuassist.ui.pages.verify.next_step import NextStep, before_a_run, next_step
from gpuassist.ui.pages.verify.wishes import VerifyWishes
from gpuassist.ui.pages.verify.work import Ran, ran
from gpuassist.ui.widgets.cards import EmptyState, Notice
from gpuassist.ui.wording import reason_of, sentence_case
from gpuassist.verify.protocol import Event, Started
from gpuassist.verify.runner import Level
from gpuassist.verify.toolkits import ToolkitBegun, ToolkitCheck, ToolkitEvent

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_TICK_MILLISECONDS = 1000
_PAINT_MILLISECONDS = 80  # eight devices report thousands of events in a few seconds


class _Asked(Struct, frozen=True):
    """What the run was started for, and the facts that it rests on."""

    devices: tuple[str, ...] = ("all",)
    level: Level = Level.QUICK
    rests_on: tuple[object, ...] = ()


class VerifyPage(Page):
    """Runs one verification at a time, in a process of its own that cannot hang this window."""

    STEP, MARKS = WizardStep.VERIFY, True

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine = Machine()
        self._recorded, self._changed, self._troubled, self._host = False, False, False, ""
        self._job: Job | None = None
        self._asked, self._progress = _Asked(), VerifyProgress()
        self._columns: tuple[Column, ...] = ()
        self._result: Verification | None = None
        self._report = VerifyReport(Verification("", (), ()))  # with what stands beside it
        self._next: NextStep | None = None
        self._toolkit: ToolkitBegun | None = None  # the check of a toolkit that runs
        self._looking = Latest(desk.jobs, self._show_interpreter, self)
        self._recalling = Latest(desk.jobs, self._show_earlier, self)
        self._saving = Latest(desk.jobs, self._show_saved, self)
        self._save = new_action(self, desk.words(text("Save as JSON")), self._ask_where, "Ctrl+S")
        self._copy = new_action(self, desk.words(text("Copy the result")), self._copy_result, "Ctrl+Shift+C")
        self._card = CardAction(desk, self, self._tell, beside=self._save)
        self._explain = new_action(self, desk.words(text("Explain the error")), self._ask_why)
        self._act = new_action(self, "", self._go_on)
        self._ticks = self._timer(_TICK_MILLISECONDS, self._show_progress)
        self._paint = self._timer(_PAINT_MILLISECONDS, self._show_progress)
        self._paint.setSingleShot(True)
        self._scroll = self.fill_with_scroll()
        self._header = self._scroll.header
        self._wishes = VerifyWishes(desk.words, self)
        self._wishes.start_wanted.connect(self.start)
        self._wishes.cancel_wanted.connect(self.cancel)
        self._wishes.changed.connect(self._show_wishes)
        self._wishes.interpreter_wanted.connect(self._ask_interpreter)
        self._wishes.file_wanted.connect(self._ask_image)
        self._notice = Notice(Mark.INFO, "", self)
        self._notice.hide()
        self._empty = EmptyState(Mark.TODO, "", "", self, icon=desk.session.world.resources.read("icons/verify.svg"))
        self.body = VerifyBody(desk.words, self)
        self.body.asked.connect(self.asked)
        self.body.link_opened.connect(desk.asking.visit)
        self.body.revealed.connect(self._reveal)
        for widget in (self._wishes, self._notice, self._empty, self.body):
            self._scroll.content.addWidget(widget)
        self._show_idle()

    def bar(self) -> Bar:
        result, primary = self._result, self._act if self._act.text() else None
        if result is None:
            return Bar(primary=primary, inside=self._wishes.leads)
        unexplained = not result.cancelled and any(result.answer_to(words) is None for words in failures(result))
        left = (self._card.saving, self._copy, *((self._explain,) if unexplained else ()))
        return Bar(left, primary=primary)

    def show_inspection(self, inspection: Inspection) -> None:
        self._troubled = any(answer.severity is Severity.PROBLEM for answer in inspection.answers)
        self._machine, self._recorded, self._host = inspection.machine, inspection.recorded, inspection.host
        self._wishes.show_machine(inspection.machine)
        if self._job is not None:
            self.asked.emit(Marked(self.STEP, StepStatus.BUSY))
        elif self._result is not None and not self._recorded and self._rests_as_before(self._result):
            self._show_mark(self._result)
        else:
            self._show_idle(changed=self._result is not None and not self._recorded)
            self._recall()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToVerify) and self._job is None:
            self._look_at(errand.interpreter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.body.fit(self.height())

    def close_down(self) -> None:
        for work in (self._looking, self._saving, self._recalling):
            work.drop()
        self._ticks.stop()
        self._paint.stop()
        if self._job is not None:
            self._job.cancel()

    def under_way(self) -> Text | None:
        return text("a verification") if self._job is not None else None

    @property
    def progress(self) -> VerifyProgress:
        """The checks as they stand."""
        return self._progress

    @property
    def result(self) -> Verification | None:
        """What the last run came to."""
        return self._result

    @Slot()
    def start(self) -> None:
        wished = self._wishes.request
        if self._job is not None or self._recorded or wished is None:
            return
        request = replace(wished, terminal=value_or(self._machine.shell.new_terminal, None), machine=self._machine)
        self._forget_result()
        self._recalling.drop()
        self._scroll.verticalScrollBar().setValue(0)
        self._asked = _Asked(request.devices, request.level, rests_on(self._machine, request.interpreter))
        self._progress = VerifyProgress(since=self._now())
        session, machine = self.desk.session, self._machine
        self._job = self.desk.jobs.start(lambda control: ran(session, request, machine, control), self)
        self._job.told.connect(self._take)
        self._job.finished.connect(self._end)
        self._ticks.start()
        self.asked.emit(Marked(self.STEP, StepStatus.BUSY))
        self._show_purpose()
        self._show_progress()
        words = self.desk.words
        waiting = text("torch is being imported in a separate process; the first time after an installation takes longer.")
        self._empty.show_words(Mark.BUSY, words(text("Starting")), words(waiting))

    @Slot()
    def cancel(self) -> None:
        """Ends the run; what is done already stays."""
        if self._job is not None:
            self._job.cancel()

    # What is shown

    def _show_idle(self, *, changed: bool = False) -> None:
        """Nothing is verified; `changed` where something was, before what it rests on changed."""
        self._forget_result()
        self._changed = changed
        self._wishes.show_idle()
        self._show_wishes()
        self._show_purpose()

    def _show_purpose(self) -> None:
        """What stands above where nothing is told yet: a title of the run before would speak of this one."""
        below = text("Runs in your own environment, in a separate process that cannot freeze this window")
        self._header.show_words(self.desk.words(text("Verify with real computations")), self.desk.words(below))

    @Slot()
    def _show_wishes(self) -> None:
        wishes, words = self._wishes, self.desk.words
        wishes.start.setEnabled(wishes.request is not None and not self._recorded)
        wishes.show_lead(leads=self._result is None and not self._troubled)
        if self._result is None and self._job is None:
            lacking = isinstance(self._machine.environments, Known) and wishes.lacks_environment
            state = {"recorded": self._recorded, "changed": self._changed, "troubled": self._troubled}
            empty = before_a_run(lacking=lacking, host=self._host, **state)
            self._empty.show_words(empty.mark, words(empty.title), words(empty.words))
            self._show_next(empty.next)
        self.body.proves.show_level(wishes.level, self._result if wishes.level is self._asked.level else None)

    def _forget_result(self) -> None:
        self._result, self._progress, self._columns, self._next, self._toolkit = None, VerifyProgress(), (), None, None
        self._act.setText("")
        self.body.clear()
        self._empty.show()
        self._notice.hide()
        self.bar_changed.emit()

    @Slot(object)
    def _take(self, event: Event | ToolkitEvent) -> None:
        if isinstance(event, (ToolkitBegun, ToolkitCheck)):
            self._toolkit = event if isinstance(event, ToolkitBegun) else None
        else:
            self._progress = follow(self._progress, event, self._now())
        if isinstance(event, Started):
            gpus = value_or(self._machine.gpus, ())
            alone = (device for device in event.devices if not device.members)
            self._columns = tuple(column_of(device, gpus, self._asked.devices) for device in alone)
        if not self._paint.isActive():
            self._paint.start()

    @Slot()
    def _show_progress(self) -> None:
        self._paint.stop()
        words, progress, now = self.desk.words, self._progress, self._now()
        if self._job is not None:
            told = progress_words(progress, self._asked.level, now)
            said = told if self._toolkit is None else text("toolkits: {name}", name=self._toolkit.name)
            self._wishes.show_running(sentence_case(words(said)), progress.done, len(progress.lines))
        self.body.show_progress(progress, self._columns, now)
        self._empty.setVisible(not progress.lines)
        if progress.lines:
            names = listed(dict.fromkeys(column.name for column in self._columns))
            title = text("Verifying {names}", names=names)
            if len(self._columns) > 1:
                title = counted(
                    "Verifying {count} device: {names}", "Verifying {count} devices: {names}", len(self._columns), names=names
                )
            self._header.show_words(words(title), stack_words(self._progress.environment))

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        had_focus = self._wishes.cancel.hasFocus()
        self._job = None
        self._ticks.stop()
        self._paint.stop()
        self._wishes.show_idle()
        if isinstance(result, Failed):
            self._show_idle()
            self._tell(Mark.PROBLEM, sentence_case(reason_of(self.desk.words, result.error)))
            self.asked.emit(Marked(self.STEP, StepStatus.PROBLEM))
        elif isinstance(result.value, Ran):
            self._report = result.value.report
            self._show_result(result.value.report.verification)
            self.body.earlier.show_kept(result.value.before, result.value.differences)
        self._show_wishes()
        if had_focus:
            (self.body.table if self._progress.lines else self._wishes.start).setFocus()
        self.bar_changed.emit()

    def _show_result(self, result: Verification) -> None:
        words, gpus = self.desk.words, value_or(self._machine.gpus, ())
        self._result, self._card.subject = result, CardSubject(self._report, self._asked.level, self._machine)
        planned = len(self._progress.lines)
        self._progress = conclude(self._progress, result)
        known = {device.device: column_of(device, gpus, self._asked.devices) for device in result.alone}
        self._columns = tuple(known.get(column.device, column) for column in self._columns)
        self.body.show_result(self._progress, self._report, self._columns)
        self._empty.hide()
        mark, title = report_headline(self._report, planned)
        self._header.show_words(sentence_case(words(title)), stack_words(self._progress.environment) or result.interpreter)
        if result.error is not None and not result.cancelled:
            why = verification_error(result)
            ended = text("The run did not finish: {reason}", reason=why)
            self._tell(mark, words(ended if planned else text("No check was run: {reason}", reason=why)))
        elif (result.unverified is not None or result.no_accelerator) and not result.explained:
            about_gpus = Mark.WARNING if result.unverified is not None else Mark.PROBLEM if mark is Mark.PROBLEM else Mark.INFO
            self._tell(about_gpus, words(verdict_on_accelerators(result)))
        if not self._rests_as_before(result):
            changed = text("The machine changed during the run, so the result may be out of date. Run it again.")
            self._tell(Mark.WARNING, words(changed))
        self._show_next(next_step(result, self._machine))
        self._show_mark(result)

    def _show_next(self, lead: NextStep | None) -> None:
        """The blue button of the bar."""
        self._next = lead
        self._act.setText(self.desk.words(lead.title) if lead is not None else "")
        self.bar_changed.emit()

    @Slot()
    def _go_on(self) -> None:
        """Presses the blue button."""
        lead = self._next
        if lead is not None and lead.destination is not None:
            self.asked.emit(lead.destination)
        elif lead is not None and lead.answer is not None:
            if lead.lines:
                clipboard.copy("\n".join(map(self.desk.words, copyable_lines(lead.lines))))
            self.body.show_answer(lead.answer)

    @Slot(object)
    def _reveal(self, widget: QWidget) -> None:
        QTimer.singleShot(0, widget, lambda: self._scroll.ensureWidgetVisible(widget))

    def _rests_as_before(self, result: Verification) -> bool:
        return rests_on(self._machine, result.interpreter) == self._asked.rests_on

    def _show_mark(self, result: Verification) -> None:
        mark, _ = report_headline(self._report, len(self._progress.lines))
        state = StepStatus(mark.value) if self._rests_as_before(result) else StepStatus.UNKNOWN
        self.asked.emit(Marked(self.STEP, state))

    def _tell(self, mark: Mark, words: str) -> None:
        self._notice.tell(mark, words)

    def _now(self) -> float:
        return self.desk.session.world.clock.monotonic()

    def _timer(self, milliseconds: int, ring: Callable[[], None]) -> QTimer:
        made = QTimer(self, interval=milliseconds)
        made.timeout.connect(ring)
        return made

    # What else can be asked for

    def _recall(self) -> None:
        """Earlier verifications of this machine."""
        self.body.earlier.show_kept(())
        if not self._recorded:
            self._recalling.ask(lambda _: kept(self.desk.session.world))

    def _show_earlier(self, result: Done | Failed) -> None:
        if isinstance(result, Done) and isinstance(result.value, tuple):
            self.body.earlier.show_kept(result.value)

    @Slot()
    def _ask_interpreter(self) -> None:
        self.desk.asking.open_file(self, self.desk.words(text("The Python interpreter to verify")), "", self._look_at)

    @Slot()
    def _ask_image(self) -> None:
        kinds = self.desk.words(text("Images of apptainer (*.sif *.img);;All files (*)"))
        self.desk.asking.open_file(self, self.desk.words(text("The image to verify in")), kinds, self._wishes.inside.show_name)

    def _look_at(self, path: str) -> None:
        self._looking.ask(lambda _: interpreter_at(self.desk.session.world, path))

    def _show_interpreter(self, result: Done | Failed) -> None:
        found = result.value if isinstance(result, Done) else None
        if isinstance(found, Known):
            self._wishes.add_interpreter(str(found.value))
        elif isinstance(found, Unknown):
            self._tell(Mark.WARNING, self.desk.words(found.reason))

    @Slot()
    def _copy_result(self) -> None:
        if self._result is not None:
            clipboard.copy(self._document())

    @Slot()
    def _ask_why(self) -> None:
        if self._result is not None:
            self.asked.emit(ToExplainText(errors_to_explain(self._result)))

    @Slot()
    def _ask_where(self) -> None:
        if self._result is not None:
            self.desk.asking.save_file(self, self.desk.words(text("Save the result")), "gpuassist-verify.json", self._save_to)

    def _save_to(self, path: str) -> None:
        content, disk = self._document().encode(), self.desk.session.world.disk
        self._saving.ask(lambda _: disk.write(path, content))

    def _show_saved(self, result: Done | Failed) -> None:
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, reason_of(self.desk.words, result.error))
        else:
            self._tell(Mark.RIGHT, self.desk.words(text("The result was saved.")))

    def _document(self) -> str:
        if self._result is None:
            return ""
        return escaped(json.dumps(verification_document([self._report], ENGLISH), ensure_ascii=False, indent=2)) + "\n"
