"""Starts the window in two steps: first paint, then everything else, imported on a thread while the window already stands."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6 import QtCore, QtGui, QtWidgets
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication

from gpuassist.context import Session, own_name
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.session.language_choice import in_english, no_font, session_in
from gpuassist.session.settings import load_settings, save_settings
from gpuassist.ui.main_window import MainWindow
from gpuassist.ui.palette import DARK, LIGHT

if TYPE_CHECKING:
    from gpuassist.session.navigation import Destination
    from gpuassist.ui.frame import Frame, Handover
    from gpuassist.ui.jobs import Jobs
    from gpuassist.ui.theme import Appearance, Theme


# Every call of Qt gives the interpreter's lock away; while a job computes, the GUI thread gets it back after this time, by default
# 5 ms: laying out a dozen widgets while 1 MB of log was explained took 70 ms, and with 1 ms 30 (2 cores, CPython 3.11).
_SWITCH_SECONDS = 0.001
_DARK_BELOW = 128  # of 255, the lightness of the desktop's own window colour
_log = logging.getLogger(__name__)


def run_window(
    session: Session, *, machine_file: str = "", start: Destination | None = None, arguments: Sequence[str] = ("gpuassist",)
) -> int:
    """Shows the window until it is closed; at the first step unless it is to `start` elsewhere."""
    application = QApplication(list(arguments))
    application.setApplicationName("gpuassist")
    application.setDesktopFileName("gpuassist")
    run = WindowRun(session, application, machine_file=machine_file, start=start)
    run.window.show()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        return application.exec()
    finally:
        run.end()


class WindowRun(QObject):
    """One window with what belongs to it, from start to end."""

    furnished = Signal()
    _imported = Signal()

    def __init__(
        self, session: Session, application: QApplication, *, machine_file: str = "", start: Destination | None = None
    ) -> None:
        super().__init__()
        self._settings = load_settings(session.world)
        self._session = self._written(session if session.named_language else session_in(session, self._settings.language))
        self._application = application
        self._machine_file = machine_file
        self._start = start
        self._remembers = True
        self._thread = threading.Thread(target=self._import, name="gpuassist-import", daemon=True)
        self.theme: Theme | None = None
        self.jobs: Jobs | None = None
        self.frame: Frame | None = None
        desktop_is_dark = self._application.palette().window().color().lightness() < _DARK_BELOW
        palette = {"dark": DARK, "light": LIGHT}.get(self._settings.appearance, DARK if desktop_is_dark else LIGHT)
        words = self._session.words(text("Reading your machine…"))
        self.window = MainWindow(words, background=palette.background, side=palette.side, ink=palette.muted)
        self.window.restore(self._settings.geometry)
        self.window.painted.connect(self._thread.start)
        self.window.closing.connect(self._close)
        self._imported.connect(self._furnish)

    def end(self) -> None:
        if self._thread.is_alive():
            self._thread.join()
        if self.jobs is not None:
            self.jobs.shutdown()
            self._faults.stop()
        if self.theme is not None:
            self.theme.undress()
            self._qt_words.fall_silent()
        self.window.deleteLater()

    def _import(self) -> None:
        try:
            make_all()  # now, while the window on the GUI thread names no class
            import gpuassist.ui.frame  # noqa: F401 -- both for the next step, which then finds them there
            import gpuassist.ui.theme  # noqa: F401
        finally:
            self._imported.emit()  # what could not be imported fails again there, where it is seen

    @Slot()
    def _furnish(self) -> None:
        from gpuassist.ui.jobs import Jobs
        from gpuassist.ui.languages import QtWords
        from gpuassist.ui.theme import Theme

        self.theme = Theme(self._application, _appearance(self._settings.appearance))
        self.jobs = Jobs()
        self._faults = Faults(self)
        self._qt_words = QtWords(self._application)
        self._make_frame(None)
        self._faults.listen()
        self.furnished.emit()

    def _make_frame(self, handover: Handover | None) -> Frame:
        from gpuassist.ui.dialogs import Asking
        from gpuassist.ui.frame import Frame
        from gpuassist.ui.page import Desk

        assert self.jobs is not None
        assert self.theme is not None
        self.theme.write(self._session.words.language)
        self._qt_words.speak(self._session.words)
        frame = Frame(
            Desk(self._session, self.jobs, Asking()),
            machine_file=self._machine_file,
            start=self._start,
            appearance=_appearance(self._settings.appearance),
            language=self._settings.language,
            handover=handover,
        )
        frame.appearance_chosen.connect(self._choose_appearance)
        frame.language_chosen.connect(self._choose_language)
        frame.leaving.connect(self._leave)
        self._faults.happened.connect(frame.show_fault)
        self.frame = frame
        self.window.furnish(frame)
        frame.begin()
        return frame

    @Slot(object)
    def _choose_appearance(self, appearance: Appearance) -> None:
        if self.theme is not None:
            self.theme.choose(appearance)
        self._settings = replace(self._settings, appearance=appearance.value)

    @Slot(str)
    def _choose_language(self, language: str) -> None:
        """Makes the window anew in it, at the same place; later, where something runs that would end with its page."""
        self._settings = replace(self._settings, language=language)
        save_settings(self._session.world, self._settings)
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
        self._remembers = False
        self.window.close()

    @Slot()
    def _close(self) -> None:
        if self.frame is not None:
            self.frame.close_down()
        if not self._remembers:
            return
        self._settings = replace(self._settings, geometry=self.window.geometry_words())
        save_settings(self._session.world, self._settings)


def _appearance(value: str) -> Appearance:
    from gpuassist.ui.theme import Appearance

    return Appearance(value) if value in {one.value for one in Appearance} else Appearance.SYSTEM


class Faults(QObject):
    """Hears of every uncaught exception, whichever thread it happened on; slots hear of it on the GUI thread."""

    happened = Signal(object)  # str: the traceback

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = (sys.excepthook, threading.excepthook)

    def listen(self) -> None:
        """Takes over both hooks of Python: PySide6 calls the first for slots, on whichever thread they run."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread

    def stop(self) -> None:
        sys.excepthook, threading.excepthook = self._before

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        import traceback  # only a fault needs it

        _log.error("uncaught", exc_info=(kind, error, trace))
        self.happened.emit("".join(traceback.format_exception(kind, error, trace)))

    def _uncaught_in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._uncaught(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)


def make_all() -> int:
    """Names every class of Qt's modules while no other thread names any; returns how many names that were.

    PySide6 makes a class when it is first named, running Python as it does so. Another thread that names the class meanwhile can
    get half of it, and an object of that crashes the process in `PySide::MetaObjectBuilder::update` (seen with 6.11.3, once in some
    300 starts, while pyqtgraph was imported on a thread, which names every class; the plot was made of it then). Making all of them
    takes about 0.1 s.
    """
    from PySide6 import QtSvg  # not needed for the first paint

    names = [(module, name) for module in (QtCore, QtGui, QtWidgets, QtSvg) for name in dir(module)]
    for module, name in names:
        getattr(module, name, None)
    return len(names)
