"""Verify: tensor operations in the user's own torch, each check as it is done, what it proves, and what it does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpuassist.formats.visible import escaped
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.model.verdict import Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.verification import errors_to_explain, verification_document
from gpuassist.session.navigation import Marked, StepStatus, ToExplainText, WizardStep
from gpuassist.session.verify import VerifyProgress, VerifyRequest, conclude, follow, interpreter_at, rests_on, verify
from gpuassist.ui import clipboard
from gpuassist.ui.jobs import Control, Done, Failed, Job, Latest
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.pages.verify.result import COLUMN_SAMPLES, HEADINGS, ProvesCard, ResultCard, TorchOutputCard, check_rows
from gpuassist.ui.pages.verify.wishes import CPU, VerifyWishes
from gpuassist.ui.widgets.cards import Card, EmptyState, Notice
from gpuassist.ui.widgets.layouts import SPACING, bare
from gpuassist.ui.widgets.rows import RowsModel
from gpuassist.ui.widgets.table import Table
from gpuassist.ui.wording import reason_of
from gpuassist.verify.protocol import Event

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

_DEVICE_COLUMN = 2
_SIDE_WIDTH = 268


class VerifyPage(Page):
    """Runs one verification at a time, in a process of its own that cannot hang this window."""

    STEP = WizardStep.VERIFY

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._machine = Machine()
        self._recorded = False
        self._job: Job | None = None
        self._progress = VerifyProgress()
        self._result: Verification | None = None
        self._rested_on: tuple[object, ...] = ()  # the facts that the last run was started with
        self._looking = Latest(desk.jobs, self._show_interpreter, self)
        self._saving = Latest(desk.jobs, self._show_saved, self)
        self._save = new_action(self, desk.words(text("Save as JSON")), self._ask_where)
        self._copy = new_action(self, desk.words(text("Copy the result")), self._copy_result)
        self._explain = new_action(self, desk.words(text("Explain the error")), self._ask_why)
        words = self.desk.words
        scroll = self.fill_with_scroll()
        self._header = scroll.header
        self._wishes = VerifyWishes(words, self)
        self._wishes.start_wanted.connect(self.start)
        self._wishes.cancel_wanted.connect(self.cancel)
        self._wishes.changed.connect(self._show_wishes)
        self._wishes.interpreter_wanted.connect(self._ask_interpreter)
        self._notice = Notice(Mark.INFO, "", self)
        self._notice.hide()
        self._empty = EmptyState(Mark.TODO, "", "", self)
        self._checks = Card(parent=self)
        self._model = RowsModel([words(heading) for heading in HEADINGS], (), self)
        self._table = Table(self._model, words(text("Checks")), self._checks)
        self._table.size_like(COLUMN_SAMPLES, 0)
        self._checks.body.addWidget(self._table)
        self._output = TorchOutputCard(words, self)
        left = bare(QVBoxLayout(), SPACING)
        for widget in (self._empty, self._checks, self._output):
            left.addWidget(widget)
        left.addStretch(1)
        row = bare(QHBoxLayout(), SPACING)
        row.addLayout(left, 1)
        row.addWidget(self._build_side(), 0, Qt.AlignmentFlag.AlignTop)
        scroll.content.addWidget(self._wishes)
        scroll.content.addWidget(self._notice)
        scroll.content.addLayout(row)
        self._show_idle()

    def bar(self) -> Bar:
        if self._result is None:
            return Bar()
        return Bar((self._save, self._copy, self._explain) if errors_to_explain(self._result) else (self._save, self._copy))

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._recorded = inspection.machine, inspection.recorded
        self._wishes.show_machine(inspection.machine)
        if self._job is not None:
            self.asked.emit(Marked(self.STEP, StepStatus.BUSY))
        elif self._result is not None and not self._recorded and self._rests_as_before(self._result):
            self._show_mark(self._result)
        else:
            self._show_idle(changed=self._result is not None and not self._recorded)

    def close_down(self) -> None:
        self._looking.drop()
        self._saving.drop()
        if self._job is not None:
            self._job.cancel()

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
        if self._job is not None or self._recorded or not self._wishes.interpreter:
            return
        terminal = self._machine.shell.new_terminal
        request = VerifyRequest(
            self._wishes.interpreter,
            self._wishes.devices,
            self._wishes.level,
            value_or(terminal, None),
        )
        self._forget_result()
        self._rested_on = rests_on(self._machine, request.interpreter)
        session = self.desk.session

        def run(control: Control) -> Verification:
            return verify(session, request, on_event=control.tell, cancelled=control.cancelled.is_set)

        self._job = self.desk.jobs.start(run, self)
        self._job.told.connect(self._take)
        self._job.finished.connect(self._end)
        self.asked.emit(Marked(self.STEP, StepStatus.BUSY))
        self._wishes.show_running(0, 0)
        waiting = text("torch is being imported in a process of its own; the first time after an installation takes longer.")
        self._empty.show_words(Mark.BUSY, self.desk.words(text("Starting")), self.desk.words(waiting))

    @Slot()
    def cancel(self) -> None:
        """Ends the run; what is done already stays."""
        if self._job is not None:
            self._job.cancel()

    def _build_side(self) -> QWidget:
        words = self.desk.words
        side = QWidget(self)
        side.setFixedWidth(_SIDE_WIDTH)
        column = bare(QVBoxLayout(side), SPACING)
        self._summary = ResultCard(words, side)
        self._proves = ProvesCard(words, side)
        column.addWidget(self._summary)
        column.addWidget(self._proves)
        return side

    # What is shown

    def _show_idle(self, *, changed: bool = False) -> None:
        """Nothing is verified; `changed` where something was, before what it rests on changed."""
        self._forget_result()
        self._wishes.show_idle()
        self._show_wishes()
        self._header.show_words(
            self.desk.words(text("Prove it with real work")),
            self.desk.words(text("Runs in your own environment, in a process of its own that cannot hang this window")),
        )
        if self._recorded:
            why = text("This is a recorded machine: nothing can be computed on it from here.")
            self._empty.show_words(Mark.INFO, self.desk.words(text("Not on a recorded machine")), self.desk.words(why))
        elif changed:
            what = text("The environment, the driver, a GPU or what new terminals hold changed since the last run.")
            title = text("Not verified since the machine changed")
            self._empty.show_words(Mark.TODO, self.desk.words(title), self.desk.words(what))
        else:
            what = text("Matrix products, convolution, a backward pass and more run on each device and are checked against fp64.")
            self._empty.show_words(Mark.TODO, self.desk.words(text("Nothing was verified yet")), self.desk.words(what))

    @Slot()
    def _show_wishes(self) -> None:
        self._wishes.start.setEnabled(bool(self._wishes.interpreter) and not self._recorded)
        self._proves.show_level(self._wishes.level)

    def _forget_result(self) -> None:
        self._result, self._progress = None, VerifyProgress()
        self._model.set_rows(())
        self._checks.hide()
        self._empty.show()
        self._notice.hide()
        self._output.show_output("")
        self._summary.hide()
        self.bar_changed.emit()

    @Slot(object)
    def _take(self, event: Event) -> None:
        self._progress = follow(self._progress, event)
        self._show_progress()
        self._wishes.show_running(self._progress.done, len(self._progress.lines))

    def _show_progress(self) -> None:
        rows = check_rows(self._progress, self.desk.words)
        self._model.set_rows(rows)
        self._table.setColumnHidden(_DEVICE_COLUMN, len(self._progress.names) <= 1)
        self._checks.setVisible(bool(rows))
        self._empty.setVisible(not rows)
        if rows:
            about = " · ".join(f"{name} {version}" for name, version in self._progress.environment if version)
            names = ", ".join(name for _, name in self._progress.names)
            title = text("Proving {names} with real work", names=names)
            self._header.show_words(self.desk.words(title), about)

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        self._wishes.show_idle()
        self._show_wishes()
        if isinstance(result, Failed):
            self._tell(Mark.PROBLEM, reason_of(self.desk.words, result.error))
            self.asked.emit(Marked(self.STEP, StepStatus.PROBLEM))
        elif isinstance(result.value, Verification):
            self._show_result(result.value)
        self.bar_changed.emit()

    def _show_result(self, result: Verification) -> None:
        words = self.desk.words
        self._result = result
        self._progress = conclude(self._progress, result)
        self._show_progress()
        self._summary.show_result(result)
        self._output.show_output(result.output)
        mark, title = _verdict(result)
        if result.error is not None:
            self._tell(mark, words(text("The run did not end well: {reason}", reason=result.error)))
            if not result.devices:
                none = text("No check was run in {interpreter}.", interpreter=result.interpreter)
                self._empty.show_words(mark, words(title), words(none))
        elif all(device.device == CPU for device in result.devices):
            self._tell(mark, words(text("No accelerator was verified: this run says nothing about a GPU.")))
        self._header.show_words(words(title), self._header.subtitle)
        if not self._rests_as_before(result):
            self._tell(
                Mark.WARNING,
                words(text("The machine was changed during the run: what it shows may not hold any more. Run it again.")),
            )
        self._show_mark(result)

    def _rests_as_before(self, result: Verification) -> bool:
        return rests_on(self._machine, result.interpreter) == self._rested_on

    def _show_mark(self, result: Verification) -> None:
        mark, _ = _verdict(result)
        state = StepStatus(mark.value) if self._rests_as_before(result) else StepStatus.UNKNOWN
        self.asked.emit(Marked(self.STEP, state))

    def _tell(self, mark: Mark, words: str) -> None:
        self._notice.show_words(mark, words)
        self._notice.show()

    # What else can be asked for

    @Slot()
    def _ask_interpreter(self) -> None:
        self.desk.asking.open_file(self, self.desk.words(text("The Python interpreter to verify")), "", self._look_at)

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
        clipboard.copy(self._document())

    @Slot()
    def _ask_why(self) -> None:
        if self._result is not None:
            self.asked.emit(ToExplainText(errors_to_explain(self._result)))

    @Slot()
    def _ask_where(self) -> None:
        if self._result is not None:
            title = self.desk.words(text("Save the result"))
            self.desk.asking.save_file(self, title, "gpuassist-verify.json", self._save_to)

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
        return escaped(json.dumps(verification_document([self._result], ENGLISH), ensure_ascii=False, indent=2)) + "\n"


def _verdict(result: Verification) -> tuple[Mark, Text]:
    if result.verdict is Verdict.HUNG:
        return Mark.PROBLEM, text("A check hung")
    if result.verdict is Verdict.FAIL:
        return Mark.PROBLEM, text("This does not work right")
    if result.verdict is Verdict.SKIPPED:
        return Mark.UNKNOWN, text("Nothing was verified")
    if result.accelerator_verified:
        return Mark.RIGHT, text("It works: proved with real work")
    return Mark.UNKNOWN, text("Right on what was checked, but no accelerator was")
