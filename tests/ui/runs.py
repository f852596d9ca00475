"""Whole windows under test, each on a recording."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.session.navigation import Destination
from gpuassist.ui.application import WindowRun


class Runs:
    """Starts windows, and ends them."""

    def __init__(self, session: Session, application: QApplication, qtbot: QtBot, file: str) -> None:
        self._session = session
        self._application = application
        self._qtbot = qtbot
        self._file = file
        self._runs: list[WindowRun] = []

    def __call__(self, start: Destination | None = None) -> WindowRun:
        """A window that has read its recording."""
        run = self.start(start)
        self._qtbot.waitUntil(lambda: run.frame is not None and run.frame.flow.inspected)
        return run

    def start(self, start: Destination | None = None) -> WindowRun:
        """One that is about to."""
        run = WindowRun(self._session, self._application, machine_file=self._file, start=start)
        self._runs.append(run)
        run.window.show()
        return run

    def end(self) -> None:
        """Closes and ends all of them."""
        for run in self._runs:
            if run.frame is not None:
                self._qtbot.waitUntil(lambda frame=run.frame: not frame.pages.warm_up.under_way)  # type: ignore[misc]
            run.window.close()
            run.end()
