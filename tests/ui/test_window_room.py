"""Everything in the window has the room that it needs: a part of the walk that `make sweep` does in whole, and who judges it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QFrame, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.words import Words
from gpuassist.session.navigation import GoTo, SideTool, WizardStep
from gpuassist.ui.page import Desk
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.buttons import ElidedButton
from gpuassist.ui.widgets.labels import ElidedLabel, label
from tests.translations import RESOURCES
from tests.ui.frames import TOO_OLD, Frames
from tests.ui.showing import Show
from tools.window_room import cramped
from tools.window_stops import Breakable, settle

SHOWN = (WizardStep.MACHINE, WizardStep.FOUND, WizardStep.VERIFY, SideTool.WHAT_IF, SideTool.INSTALL)


@pytest.fixture
def session(session: Session) -> Session:
    return replace(session, words=Words("xx", Breakable()))


def test_nothing_is_cramped_in_a_small_window(desk: Desk, show: Show, qtbot: QtBot, theme: Theme) -> None:
    frame = Frames(desk, show, qtbot)(str(RESOURCES / "machines" / f"{TOO_OLD}.json"))
    found = {}
    for place in SHOWN:
        frame.go(GoTo(place))
        page = frame.pages.page(place)
        qtbot.waitUntil(lambda page=page: not getattr(page, "busy", False) and getattr(page, "is_complete", True))  # type: ignore[misc]
        for width, height in ((1280, 800), (960, 540)):
            frame.resize(width, height)
            settle()
            found[place, width] = [str(one) for one in cramped(frame)]
    frame.close_down()
    assert {where: said for where, said in found.items() if said} == {}


def boxes(parent: QWidget) -> Iterator[tuple[QWidget, set[str]]]:
    """Widgets with too little room, and what is wrong with each."""
    clipped = QPushButton("All of these words", parent)
    clipped.setFixedWidth(40)
    yield clipped, {"cut"}
    over = QPushButton("A", parent)
    over.move(parent.width() - 4, 60)
    yield over, {"outside of QFrame"}
    nothing = ElidedLabel("a rather long name", "", parent)
    nothing.setFixedWidth(12)
    nothing.move(0, 90)
    yield nothing, {"cut to nothing"}
    below = label("one line that becomes two where it is so narrow", "", parent)
    below.setGeometry(0, 130, 120, 10)
    yield below, {"cut below"}
    one, other = QLabel("one", parent), QLabel("other", parent)
    one.setGeometry(0, 300, 80, 30)
    other.setGeometry(40, 310, 80, 30)
    yield one, {"overlaps QLabel"}


def test_what_is_cramped_is_named(show: Show) -> None:
    parent = QFrame()
    made = list(boxes(parent))
    show(parent, 600, 400)
    made[1][0].move(parent.width() - 4, 60)
    found = cramped(parent)
    for widget, wrong in made:
        words = widget.accessibleName() or widget.text()  # type: ignore[attr-defined]
        assert {one.wrong for one in found if words in one.words} >= wrong


def test_what_has_room_or_gives_way_is_in_order(show: Show) -> None:
    parent = QFrame()
    button, line, quiet = (
        ElidedButton("All of these words", parent),
        label("one line", "", parent),
        ElidedLabel("a" * 90, "", parent),
    )
    button.setGeometry(0, 0, 100, 32)
    line.setGeometry(0, 50, 200, 30)
    quiet.setGeometry(0, 100, 120, 20)
    assert cramped(show(parent, 600, 400)) == []
