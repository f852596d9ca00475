"""Starts the window in two steps: first paint, then everything else, imported on a thread while the window already stands."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from PySide6 import QtCore
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication

from gpuassist.context import Session, own_name
from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.session.language_choice import in_english, no_font, session_in
from gpuassist.session.settings import found_settings
from gpuassist.ui.faults import Faults
from gpuassist.ui.first_paint import FirstPaint
from gpuassist.ui.fonts import load_fonts
from gpuassist.ui.main_window import MainWindow
from gpuassist.ui.palette import DARK, LIGHT
from gpuassist.ui.window_memory import WindowMemory

if TYPE_CHECKING:
    from gpuassist.session.log_file import OwnLog
    from gpuassist.session.navigation import Destination
    from gpuassist.session.other_machine import OtherMachine
    from gpuassist.system.one_window import OneWindow, SecondStart
    from gpuassist.ui.fault_page import FaultPage
    from gpuassist.ui.first_reading import FirstReading
    from gpuassist.ui.frame import Frame, Handover
    from gpuassist.ui.jobs import Jobs
    from gpuassist.ui.theme import Appearance, Theme


# Every call of Qt gives the interpreter's lock away; while a job computes, the GUI thread gets it back after this time, by default
# 5 ms: laying out a dozen widgets while 1 MB of log was explained took 70 ms, and with 1 ms 30 (2 cores, CPython 3.11).
_SWITCH_SECONDS = 0.001
# Imported while the window on the GUI thread names no class of Qt, for the next steps, which then find them there.
_NEXT = ("gpuassist.ui.frame", "gpuassist.ui.theme", "gpuassist.ui.pages.machine.cards")
_FOR_THE_ANSWER = "gpuassist.ui.leads"  # nothing of Qt
_DARK_BELOW = 128  # of 255, the lightness of the desktop's own window colour


def run_window(
    session: Session,
    *,
    machine_file: str = "",
    start: Destination | None = None,
    arguments: Sequence[str] = ("gpuassist",),
    one: OneWindow | None = None,
    other: OtherMachine | None = None,
) -> int:
    """Shows the window until it is closed, or told to end; where it was left last unless it is to `start` elsewhere. As `one`
    window it is shown to whoever starts a second. `other` is the machine that it is about, none where that is this one.
    """
    application = QApplication(list(arguments))
    application.setApplicationName("gpuassist")
    application.setDesktopFileName("gpuassist")
    run = WindowRun(session, application, machine_file=machine_file, start=start, one=one, other=other)
    run.furnished.connect(run.listen_for_crashes)
    run.window.show()
    sys.setswitchinterval(_SWITCH_SECONDS)
    from gpuassist.system.end_wishes import hearing

    try:
        with hearing(run.end_wanted.emit):
            try:
                return application.exec()
            finally:
                run.end()
    finally:
        if one is not None:
            one.close()


class WindowRun(QObject):
    """One window with what belongs to it, from start to end."""

    furnished = Signal()
    end_wanted = Signal()
    _imported = Signal()
    _show_wanted = Signal(object, object)  # SecondStart, what answers it

    def __init__(
        self,
        session: Session,
        application: QApplication,
        *,
        machine_file: str = "",
        start: Destination | None = None,
        one: OneWindow | None = None,
        other: OtherMachine | None = None,
    ) -> None:
        super().__init__()
        self._faults = Faults(self)
        self._faults.listen()
        settings, self._set_aside = found_settings(session.world)
        self._memory = WindowMemory(session.world, settings, self)
        self._session = self._written(session if session.named_language else session_in(session, settings.language))
        self._application = application
        self._machine_file = machine_file
        self._start = start
        self._one, self._other = one, other
        self._restarts = 0
        self._went_on = self._ended = False
        self._thread = threading.Thread(target=self._import, name="gpuassist-import", daemon=True)
        self._first: FirstReading | None = None
        self._log: OwnLog | None = None
        self.theme: Theme | None = None
        self.jobs: Jobs | None = None
        self.frame: Frame | None = None
        self.fault_page: FaultPage | None = None
        desktop_is_dark = self._application.palette().window().color().lightness() < _DARK_BELOW
        palette = {"dark": DARK, "light": LIGHT}.get(settings.appearance, DARK if desktop_is_dark else LIGHT)
        load_fonts(session.world.resources, styles=("-Regular", "-Bold"))
        words = self._session.words
        reading = text("Reading your machine…") if other is None else text("Connecting to {host}…", host=other.host)
        self.window = MainWindow(FirstPaint(words, palette, reading=words.with_strings(on_one_line)(reading)))
        if other is not None:
            self.window.setWindowTitle(f"{on_one_line(other.host)} – gpuassist")
        self.window.restore(settings.geometry)
        self.window.painted.connect(self._begin)
        self.window.closing.connect(self._close)
        self._imported.connect(self._furnish)
        self.end_wanted.connect(self._end_in_order)
        self._show_wanted.connect(self._show_itself)

    def end(self) -> None:
        if self._thread.is_alive():
            self._thread.join()
        if self.jobs is not None:
            self.jobs.shutdown()
        if self._log is not None:
            from gpuassist.session.log_file import end_log

            end_log(self._log)
        self._memory.forget()
        self._faults.stop()
        self._ended = True
        if self.theme is not None:
            self.theme.undress()
            self._qt_words.fall_silent()
        self.window.deleteLater()

    @Slot()
    def listen_for_crashes(self) -> None:
        if self._log is not None:
            self._log.listen_for_crashes()

    @Slot()
    def _begin(self) -> None:
        if not self._machine_file and self._other is None:
            from gpuassist.ui.first_reading import FirstReading

            self._first = FirstReading(self._session)
        self._thread.start()

    def _import(self) -> None:
        try:
            for name in _NEXT:
                import_module(name)
            self._import_start()
        finally:
            self._imported.emit()  # what could not be imported fails again there, where it is seen
        import_module(_FOR_THE_ANSWER)

    def _import_start(self) -> None:
        """The page that the window will show once the machine was read; the live one waits for its plot anyway."""
        from gpuassist.session.navigation import WizardStep
        from gpuassist.ui.page_stack import page_class

        wanted = self._wanted()
        if wanted is not None and wanted.place is not WizardStep.LIVE:
            page_class(wanted.place)

    def _wanted(self) -> Destination | None:
        from gpuassist.session.kept_place import place_meant

        return self._start or place_meant(self._memory.settings.place)

    @Slot()
    def _furnish(self) -> None:
        from gpuassist.session.log_file import keep_log
        from gpuassist.ui.jobs import Jobs
        from gpuassist.ui.languages import QtWords
        from gpuassist.ui.theme import Theme
        from gpuassist.ui.window_icon import window_icon

        # Through the queue: it may be raised in the middle of painting.
        self._faults.happened.connect(self._show_fault, QtCore.Qt.ConnectionType.QueuedConnection)
        self._log = keep_log(self._session.world)
        self.theme = Theme(self._application, _appearance(self._memory.settings.appearance))
        self._application.setWindowIcon(window_icon(self._session.world.resources))
        self.jobs = jobs = Jobs()
        self._qt_words = QtWords(self._application)
        self._memory.apart = lambda work: jobs.start(lambda _: work(), self).setObjectName("settings")
        self._make_frame(None)
        self._memory.watch(self.window, self.window.geometry_words)
        if self._one is not None:
            self._one.listen(self._show_wanted.emit)
        QtCore.QTimer.singleShot(0, self._ask_desktop)
        self.furnished.emit()

    def _make_frame(self, handover: Handover | None) -> Frame:
        from gpuassist.ui.dialogs import Asking
        from gpuassist.ui.frame import Frame
        from gpuassist.ui.page import Desk
        from gpuassist.ui.read_only import ReadOnlyAsking

        assert self.jobs is not None
        assert self.theme is not None
        self.theme.write(self._session.words.language)
        self._qt_words.speak(self._session.words)
        settings = self._memory.settings
        frame = Frame(
            Desk(
                self._session,
                self.jobs,
                ReadOnlyAsking(self._refuse_saving) if self._session.world.disk.read_only else Asking(),
                self._other,
            ),
            machine_file=self._machine_file,
            start=self._wanted(),
            appearance=_appearance(settings.appearance),
            language=settings.language,
            handover=handover,
            first=self._first,
        )
        frame.appearance_chosen.connect(self._choose_appearance)
        frame.language_chosen.connect(self._choose_language)
        frame.place_changed.connect(self._keep_place)
        frame.leaving.connect(self._leave)
        if self._session.world.disk.read_only:
            frame.banners.tell(text("Nothing is written: gpuassist was started with `--read-only`."), stays=True)
        if self._set_aside is not None:
            frame.banners.tell(self._set_aside)
        self.frame, self._first = frame, None
        self.window.furnish(frame)
        frame.begin()
        return frame

    def _refuse_saving(self) -> None:
        if self.frame is not None:
            self.frame.banners.tell(text("It was not saved: gpuassist was started with `--read-only`."))

    @Slot()
    def _ask_desktop(self) -> None:
        """Where a session bus is: without one libdbus would start its own."""
        if not self._session.world.surroundings.variables.get("DBUS_SESSION_BUS_ADDRESS") or self._ended:
            return
        from gpuassist.ui.desktop_wishes import DesktopWishes

        if self.theme is not None:
            wishes = DesktopWishes(self.theme)
            wishes.calm_wished.connect(self.theme.calm)
            wishes.scale_wished.connect(self.theme.scale)
            wishes.ask()

    @Slot(object)
    def _keep_place(self, destination: Destination) -> None:
        from gpuassist.session.kept_place import place_words

        self._memory.keep(place=place_words(destination))

    @Slot(object)
    def _show_fault(self, trace: str) -> None:
        """In the window's place the first time; a user who went on has chosen to, and hears of another one in a banner."""
        from gpuassist.session.log_file import log_path
        from gpuassist.ui.fault_page import FaultPage

        if self.fault_page is not None or self._ended:
            return
        if self.frame is not None and self._went_on:
            self.frame.show_fault(trace)
            return
        if self.frame is not None:
            self.window.takeCentralWidget()
        page = FaultPage(self._session.words, trace, log_path(self._session.world), can_go_on=self.frame is not None)
        page.restart_wanted.connect(self._restart)
        page.go_on_wanted.connect(self._go_on)
        self.fault_page = page
        self.window.furnish(page)
        page.restart.setFocus()

    @Slot()
    def _go_on(self) -> None:
        if self.frame is not None:
            self._went_on = True
            self.fault_page = None
            self.window.furnish(self.frame)  # which deletes the page
            self.frame.show()

    @Slot()
    def _restart(self) -> None:
        """Makes the window anew where it was, and from the second time on at its first page: the place may be the cause."""
        before, self.frame, self.fault_page, self._went_on = self.frame, None, None, False
        self._faults.forget()
        self._restarts += 1
        if before is not None:
            before.close_down()
            before.deleteLater()
        self._start = None
        if self._restarts > 1:
            self._memory.keep(place="")
        self._make_frame(None)

    @Slot(object, object)
    def _show_itself(self, wanted: SecondStart, answer: Callable[[], None]) -> None:
        """For whoever started gpuassist again."""
        from gpuassist.session.kept_place import place_meant

        if wanted.token:  # Qt takes it from there the next time that a window asks to be active (qtwayland, xdg-activation-v1)
            os.putenv("XDG_ACTIVATION_TOKEN", wanted.token)
        self.window.setWindowState(self.window.windowState() & ~QtCore.Qt.WindowState.WindowMinimized)
        self.window.show()
        self.window.raise_()
        self.window.activateWindow()
        destination = place_meant(wanted.place)
        if destination is not None and self.frame is not None:
            self.frame.go(destination)
        answer()

    @Slot(object)
    def _choose_appearance(self, appearance: Appearance) -> None:
        if self.theme is not None:
            self.theme.choose(appearance)
        self._memory.keep(appearance=appearance.value)

    @Slot(str)
    def _choose_language(self, language: str) -> None:
        """Makes the window anew in it, at the same place; later, where something runs that would end with its page."""
        self._memory.keep(language=language)
        self._memory.write()
        before, wanted = self.frame, self._written(session_in(self._session, language))
        if before is None or (wanted.words.language == self._session.words.language and wanted.words.notice is None):
            return
        under_way = before.under_way()
        if under_way is not None:
            before.banners.show_later(language, under_way)
            return
        self._session = wanted
        handover = before.handover()
        before.close_down()
        self._make_frame(handover).focus_language()

    def _written(self, session: Session) -> Session:
        """The session in English, which says why, where no font here has the letters of its language."""
        if session.words.language == ENGLISH.language:
            return session
        from gpuassist.ui.letters import can_be_written  # English is written in any font

        return session if can_be_written(own_name(session.words)) else in_english(session, no_font(session))

    @Slot()
    def _leave(self) -> None:
        self._memory.forget()
        self.window.close()

    @Slot()
    def _end_in_order(self) -> None:
        self.window.close()
        self._application.quit()  # also where a dialog is open

    @Slot()
    def _close(self) -> None:
        if self.frame is not None:
            self.frame.close_down()
        self._memory.keep(geometry=self.window.geometry_words())
        self._memory.write()


def _appearance(value: str) -> Appearance:
    from gpuassist.ui.theme import Appearance

    return Appearance(value) if value in {one.value for one in Appearance} else Appearance.SYSTEM
