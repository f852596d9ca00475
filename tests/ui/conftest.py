"""What tests of the window share: a window without top-level leftovers, a clipboard of their own, and each look of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QClipboard, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from gpuassist.ui.fonts import load_fonts
from gpuassist.ui.jobs import Jobs
from gpuassist.ui.page import Desk
from gpuassist.ui.page_stack import classes_made
from gpuassist.ui.theme import Appearance, Theme
from tests.ui.made import Answers
from tests.ui.showing import Show
from tests.values import knowledge

_PATIENCE_MILLISECONDS = 60_000


class PatientBot(QtBot):
    """Waits for what happens and not for seconds: a busy machine takes its time, and what never happens fails all the same."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = _PATIENCE_MILLISECONDS) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(  # type: ignore[no-untyped-def]  # as the library's own
        self, signal, *, timeout: int = _PATIENCE_MILLISECONDS, **others
    ):
        return super().waitSignal(signal, timeout=timeout, **others)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    """pytest-qt's, with more patience."""
    return PatientBot(request)


@pytest.fixture(scope="session", autouse=True)
def every_class_made(request: pytest.FixtureRequest) -> None:
    """What the window does before it imports the plot on a thread: tests import pyqtgraph on threads as well. Whichever test comes
    first, Qt aborts the process where a widget is made without an application.
    """
    for step in classes_made():
        step()
    request.getfixturevalue("qapp")
    load_fonts()  # whichever test dresses the application first, all of them have the same letters


@pytest.fixture(autouse=True)
def no_leftover_widgets() -> Iterator[None]:
    """A top-level widget that outlives its test fails it."""
    before = _top_levels()
    yield
    if isinstance(QApplication.instance(), QApplication):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    left = [widget for widget in _top_levels() if widget not in before]
    assert not left


@pytest.fixture(autouse=True)
def undressed_again(qapp: QApplication) -> Iterator[None]:
    """Whoever dresses the application, the next test has it as this one had it: letters of another size have other widths."""
    font, palette = qapp.font(), QPalette(qapp.palette())
    yield
    for name in ("gpuassistPalette", "gpuassistLanguage", "gpuassistCalm", "gpuassistTextScale"):
        qapp.setProperty(name, None)
    if qapp.styleSheet():
        qapp.setStyleSheet("")
    if qapp.palette() != palette:
        qapp.setPalette(palette)
    if qapp.font() != font:
        qapp.setFont(font)


@pytest.fixture
def clipboard(qapp: QApplication) -> QClipboard:
    """The clipboard, with something in it that no test expects."""
    clipboard = qapp.clipboard()
    clipboard.setText("left by somebody else")
    return clipboard


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Shows a widget as the window would."""
    return Show(qtbot)


@pytest.fixture
def theme(qapp: QApplication, qtbot: QtBot) -> Iterator[Theme]:
    """The application dressed in light colours, as the window has it."""
    made = Theme(qapp, Appearance.LIGHT)
    yield made
    shiboken6.delete(made)


@pytest.fixture(params=[Appearance.LIGHT, Appearance.DARK], ids=lambda one: one.value)
def each_look(theme: Theme, request: pytest.FixtureRequest) -> Theme:
    """The application in light, and then in dark colours."""
    theme.choose(request.param)
    return theme


@pytest.fixture
def session(home: Path) -> Session:
    """A session of a user whose home is the test's own."""
    variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}
    surroundings = Surroundings(str(home), "you", Surroundings.current().uid, variables, str(home), "/bin/bash")
    world = World(surroundings)
    return Session(world, knowledge(), ENGLISH)


@pytest.fixture
def answers() -> Answers:
    """What dialogs answer."""
    return Answers()


@pytest.fixture
def desk(session: Session, answers: Answers, qtbot: QtBot) -> Iterator[Desk]:
    """What a page works at."""
    jobs = Jobs()
    yield Desk(session, jobs, answers)
    jobs.shutdown()


def _top_levels() -> list[QWidget]:
    application = QApplication.instance()
    return application.topLevelWidgets() if isinstance(application, QApplication) else []
