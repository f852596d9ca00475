"""Ending one of one's own processes from the live page: it is looked at anew, asked for, and asked to end before it is killed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpuassist.detect.gpu_holders import GpuHolder, Holding, find
from gpuassist.model.plan import Outcome
from gpuassist.model.text import text
from gpuassist.present.holders import LET_IT_RUN, STOP_IT, stop_question, stop_warning, stopping
from gpuassist.present.marks import Mark, mark_of
from gpuassist.session.holders import PATIENCE_SECONDS, holding, stop_holder
from gpuassist.ui.jobs import Done, Failed, Job, Latest
from gpuassist.ui.page import Desk
from gpuassist.ui.questions import Verbs
from gpuassist.ui.wording import reason_of, sentence_case


class ProcessStop(QObject):
    """As *GPU processes* does it, and by the same rules of what may be ended."""

    told = Signal(object, object)  # a Mark, and what is said

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self._desk, self._page = desk, page
        self._looking = Latest(desk.jobs, self._found, self)
        self._pid: int | None = None
        self._job: Job | None = None

    def ask(self, pid: int) -> None:
        """Looks at the process, and asks the user where it is one of their own."""
        if self._job is None:
            self._pid = pid
            session = self._desk.session
            self._looking.ask(lambda _: holding(session))

    @property
    def busy(self) -> bool:
        return self._job is not None

    def close_down(self) -> None:
        self._looking.drop()
        if self._job is not None:
            self._job.cancel()

    def _found(self, result: Done | Failed) -> None:
        words, pid = self._desk.words, self._pid
        if isinstance(result, Failed):
            self.told.emit(Mark.PROBLEM, sentence_case(reason_of(words, result.error)))
        elif isinstance(result.value, Holding) and pid is not None:
            held = find(result.value, pid)
            if held is None:
                self.told.emit(Mark.INFO, words(text("Process {pid} is no longer using a GPU.", pid=pid)))
            elif not held.may_stop:
                self.told.emit(Mark.INFO, sentence_case(words(held.why)))
            else:
                self._desk.asking.confirm(
                    self._page,
                    words(stop_question(held)),
                    words(stop_warning(held)),
                    lambda: self._end(held),
                    verbs=Verbs(words(STOP_IT), words(LET_IT_RUN), loses=True),
                )

    def _end(self, held: GpuHolder) -> None:
        session = self._desk.session
        self._job = self._desk.jobs.start(lambda control: stop_holder(session, held, called_off=control.cancelled.is_set), self)
        self._job.finished.connect(self._ended)
        self.told.emit(Mark.BUSY, self._desk.words(stopping(held, int(PATIENCE_SECONDS))))

    @Slot(object)
    def _ended(self, result: Done | Failed) -> None:
        self._job = None
        words = self._desk.words
        if isinstance(result, Failed):
            self.told.emit(Mark.PROBLEM, sentence_case(reason_of(words, result.error)))
        elif isinstance(result.value, Outcome):
            self.told.emit(mark_of(result.value.result), sentence_case(words(result.value.text)))
