"""Runs what the install page asks for off the GUI thread, one thing at a time, and brings home what came of it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from gpuassist.install.rollback import BackStep
from gpuassist.install.run_view import RunView
from gpuassist.model.machine import Machine
from gpuassist.session.install import (
    Course,
    get_ready_to_restart,
    give_up,
    go_back,
    go_on,
    look_at,
    say_done,
    take,
    way_back,
)
from gpuassist.ui.jobs import Done, Failed, Job, Work
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.install.output import LINES_SHOWN
from gpuassist.ui.wording import reason_of


class InstallRunner(QObject):
    """Each of its acts ends with exactly one of these signals, or with `failed`; before it, with `asked` where the machine may be
    another one since.
    """

    looked = Signal(object)  # (number, Looked)
    ran = Signal(object)  # Ran
    said = Signal(object)  # Said
    to_restart = Signal(object)  # ToRestart
    went_on = Signal(object)  # Install, or None where nothing waits
    given_up = Signal(object)  # Install
    way_told = Signal(object)  # (install's id, the steps of the way back)
    failed = Signal(object)  # why, a str
    asked = Signal(object)  # Wrote, for the frame

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._desk = desk
        self._job: Job | None = None
        self._told: SignalInstance | None = None
        self._writes = False  # whether what is under way may change the machine, or ask for what the user changed

    @property
    def busy(self) -> bool:
        return self._job is not None

    def cancel(self) -> None:
        """Ends what is under way; what came of it is still told."""
        if self._job is not None:
            self._job.cancel()

    def look(self, machine: Machine, course: Course, number: int) -> None:
        session = self._desk.session
        self._start(self.looked, lambda job: (number, look_at(session, machine, course, number, cancelled=job.cancelled.is_set)))

    def take(self, course: Course, number: int) -> RunView:
        """Runs a step; what it prints comes into the view."""
        session, view = self._desk.session, RunView(LINES_SHOWN)
        self._start(
            self.ran,
            lambda job: take(session, course, number, on_line=view.add, cancelled=job.cancelled.is_set),
            writes=True,
        )
        return view

    def say_done(self, course: Course, number: int) -> None:
        self._start(self.said, lambda _: say_done(self._desk.session, course, number), writes=True)

    def restart(self, course: Course, *, autostart: bool) -> None:
        self._start(self.to_restart, lambda _: get_ready_to_restart(self._desk.session, course, autostart=autostart))

    def go_on(self) -> None:
        """Asks the machine how far the install that waits has come."""
        self._start(self.went_on, lambda _: go_on(self._desk.session), writes=True)

    def give_up(self, install: str) -> None:
        self._start(self.given_up, lambda _: give_up(self._desk.session, install))

    def ask_way_back(self, install: str) -> None:
        """What would be done to take an install back."""
        self._start(self.way_told, lambda _: (install, way_back(self._desk.session, install)))

    def go_back(self, install: str, way: tuple[BackStep, ...]) -> RunView:
        session, view = self._desk.session, RunView(LINES_SHOWN)
        self._start(
            self.ran,
            lambda job: go_back(session, install, way, on_line=view.add, cancelled=job.cancelled.is_set),
            writes=True,
        )
        return view

    def _start(self, told: SignalInstance, work: Work, *, writes: bool = False) -> None:
        assert self._job is None, "one thing at a time"
        self._told, self._writes = told, writes
        self._job = self._desk.jobs.start(work, self)
        self._job.finished.connect(self._end)

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        if self._writes:
            self.asked.emit(Wrote())  # also where it failed half way, or was cancelled
        if isinstance(result, Failed):
            self.failed.emit(reason_of(self._desk.words, result.error))
        elif self._told is not None:
            self._told.emit(result.value)
