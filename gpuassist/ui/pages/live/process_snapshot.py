"""A memory snapshot of a program that tells of itself, taken from the live page and opened, after some recording if wanted."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import Text, text
from gpuassist.present.marks import Mark
from gpuassist.session.navigation import ToSnapshot
from gpuassist.session.opened_recording import NotWantedError
from gpuassist.ui.jobs import Control, Done, Failed, Job
from gpuassist.ui.page import Desk
from gpuassist.ui.wording import reason_of, sentence_case

RECORD_SECONDS = 10.0


class ProcessSnapshot(QObject):
    """One at a time."""

    told = Signal(object, object)  # a Mark, and what is said
    asked = Signal(object)  # Errand

    def __init__(self, desk: Desk, page: QWidget) -> None:
        super().__init__(page)
        self._desk, self._page = desk, page
        self._job: Job | None = None

    @property
    def under_way(self) -> Text | None:
        return text("the taking of a memory snapshot") if self._job is not None else None

    def ask(self, pid: int, seconds: float) -> None:
        """Asks where it is to go, records allocations for so many seconds, takes it and has it opened."""
        if self._job is None:
            title = self._desk.words(text("Where the memory snapshot goes"))
            name = f"snapshot-{pid}.pickle"
            self._desk.asking.save_file(self._page, title, name, partial(self._take, pid, seconds), replaces=False)

    def close_down(self) -> None:
        if self._job is not None:
            self._job.cancel()

    def _take(self, pid: int, seconds: float, path: str) -> None:
        from gpuassist.session.torch_snapshot.recording import RecordWish, take_snapshot

        session = self._desk.session

        def work(control: Control) -> str:
            return take_snapshot(session, RecordWish(pid, seconds, path), ends=control.cancelled.is_set)

        doing = text("Process {pid} is taking a memory snapshot.", pid=pid)
        if seconds:
            doing = text("Process {pid} records its allocations for {seconds} s.", pid=pid, seconds=round(seconds))
        self.told.emit(Mark.BUSY, self._desk.words(doing))
        self._job = self._desk.jobs.start(work, self)
        self._job.finished.connect(self._end)

    def _end(self, result: Done | Failed) -> None:
        self._job = None
        if isinstance(result, Done):
            self.told.emit(Mark.RIGHT, self._desk.words(text("Saved {path}.", path=str(result.value))))
            self.asked.emit(ToSnapshot(str(result.value)))
        elif not isinstance(result.error, NotWantedError):
            self.told.emit(Mark.PROBLEM, sentence_case(reason_of(self._desk.words, result.error)))
