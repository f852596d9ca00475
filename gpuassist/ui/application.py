"""Starts the window: the application object, its theme, the hooks for our own faults, and what is remembered between starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from gpuassist.model.text import Text, text
from gpuassist.session.context import Session
from gpuassist.session.flow import Step
from gpuassist.session.settings import load_settings, save_settings
from gpuassist.system.disk import Disk
from gpuassist.ui.asking import Asking
from gpuassist.ui.faults import Faults
from gpuassist.ui.jobs import Jobs
from gpuassist.ui.main_window import MainWindow
from gpuassist.ui.page import Desk
from gpuassist.ui.theme import Appearance, Theme


def window_possible(variables: Mapping[str, str]) -> Text | None:
    """Why no window can be shown, or None where one can: without a display Qt would abort the whole process (exit 134)."""
    if any(variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        return None
    return text("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")


def run_window(session: Session, *, machine_file: str = "", start_page: str = "", arguments: Sequence[str] = ("gpuassist",)) -> int:
    """Shows the window until it is closed; `start_page` is the value of a step, empty for the first."""
    application = QApplication(list(arguments))
    application.setApplicationName("gpuassist")
    application.setDesktopFileName("gpuassist")
    run = WindowRun(session, application, machine_file=machine_file, start_page=start_page)
    run.window.show()
    try:
        return application.exec()
    finally:
        run.end()


class WindowRun(QObject):
    """One window with what belongs to it, from start to end."""

    def __init__(self, session: Session, application: QApplication, *, machine_file: str = "", start_page: str = "") -> None:
        super().__init__()
        self._surroundings = session.world.surroundings
        self._disk = Disk()
        self._settings = load_settings(self._surroundings, self._disk)
        appearance = _appearance(self._settings.appearance)
        self.theme = Theme(application, appearance)
        self.jobs = Jobs()
        self.faults = Faults(self)
        self.window = MainWindow(
            Desk(session, self.jobs, Asking()), machine_file=machine_file, start=_step(start_page), appearance=appearance
        )
        self.window.restore(self._settings.geometry)
        self.faults.happened.connect(self.window.show_fault)
        self.faults.listen()
        self.window.appearance_chosen.connect(self._choose_appearance)
        self.window.closing.connect(self._remember)

    def end(self) -> None:
        """Stops the work and gives everything back."""
        self.jobs.shutdown()
        self.faults.stop()
        self.window.deleteLater()

    @Slot(object)
    def _choose_appearance(self, appearance: Appearance) -> None:
        self.theme.choose(appearance)
        self._settings = replace(self._settings, appearance=appearance.value)

    @Slot()
    def _remember(self) -> None:
        self._settings = replace(self._settings, geometry=self.window.geometry_words())
        save_settings(self._surroundings, self._disk, self._settings)


def _appearance(value: str) -> Appearance:
    return Appearance(value) if value in {one.value for one in Appearance} else Appearance.SYSTEM


def _step(value: str) -> Step:
    return Step(value) if value in {one.value for one in Step} else Step.MACHINE
