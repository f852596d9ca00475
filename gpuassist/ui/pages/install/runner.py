"""Runs what the install page asks for off the GUI thread, one thing at a time, and brings home what came of it."""

from __future__ import annotations

from contextlib import nullcontext

from PySide6.QtCore import QObject, Signal, SignalInstance, Slot

from gpuassist.install.execution import give_up
from gpuassist.install.rollback import BackStep, plan_back
from gpuassist.install.run_view import RunView
from gpuassist.model.machine import Machine
from gpuassist.session import install as install_acts
from gpuassist.session.install import Course, get_ready_to_restart, go_back, go_on, load, look_at, on_record, say_done, take
from gpuassist.ui.jobs import Control, Done, Failed, Job, Work
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.install.output import LINES_SHOWN
from gpuassist.ui.wording import reason_of


class InstallRunner(QObject):
    """Each of its acts ends with exactly one of these signals, or with `failed`; after it, with `asked` where the machine may be
    another one since.
    """

    looked = Signal(object)  # (number, Looked)
    ran = Signal(object)  # InstallOutcome
    said = Signal(object)  # InstallOutcome
    to_restart = Signal(object)  # (Install, the file that opens gpuassist after the restart, empty without one)
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
            lambda job: take(session, on_record(session, course), number, on_line=view.add, cancelled=job.cancelled.is_set),
            alone=True,
            writes=True,
        )
        return view

    def say_done(self, course: Course, number: int) -> None:
        """The user took a step."""
        session = self._desk.session
        self._start(self.said, lambda _: say_done(session, on_record(session, course), number), alone=True, writes=True)

    def restart(self, course: Course, *, autostart: bool) -> None:
        """The user is going to restart."""
        session = self._desk.session
        self._start(self.to_restart, lambda _: get_ready_to_restart(session, course, autostart=autostart), alone=True)

    def go_on(self) -> None:
        """Asks the machine how far the install that waits has come."""
        self._start(self.went_on, lambda _: go_on(self._desk.session), alone=True, writes=True)

    def give_up(self, install: str) -> None:
        """Lets go of an install."""
        session = self._desk.session
        self._start(self.given_up, lambda _: give_up(session, load(session, install)), alone=True)

    def ask_way_back(self, install: str) -> None:
        """What would be done to take an install back."""
        session = self._desk.session
        self._start(self.way_told, lambda _: (install, plan_back(session, load(session, install))))

    def go_back(self, install: str, way: tuple[BackStep, ...]) -> RunView:
        session, view = self._desk.session, RunView(LINES_SHOWN)
        self._start(
            self.ran,
            lambda job: go_back(session, load(session, install), way, on_line=view.add, cancelled=job.cancelled.is_set),
            alone=True,
            writes=True,
        )
        return view

    def _start(self, told: SignalInstance, act: Work, *, alone: bool = False, writes: bool = False) -> None:
        """`alone` while no other gpuassist is at an install."""
        assert self._job is None, "one thing at a time"

        def work(job: Control) -> object:
            with install_acts.alone(self._desk.session) if alone else nullcontext():
                return act(job)

        self._told, self._writes = told, writes
        self._job = self._desk.jobs.start(work, self)
        self._job.finished.connect(self._end)

    @Slot(object)
    def _end(self, result: Done | Failed) -> None:
        self._job = None
        writes, told = self._writes, self._told
        if isinstance(result, Failed):
            self.failed.emit(reason_of(self._desk.words, result.error))
        elif told is not None:
            told.emit(result.value)
        if writes:
            self.asked.emit(Wrote())  # also where it failed half way, or was cancelled
