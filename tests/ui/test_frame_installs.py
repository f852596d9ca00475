"""An install that waits, told above every page when this machine was read, and gone on with from there."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.session.inspect import open_example
from gpuassist.session.navigation import GoTo, SideTool, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.install.page import InstallPage
from gpuassist.ui.theme import Appearance
from tests.install.installs_made import begun, script
from tests.ui.frames import HEALTHY
from tests.ui.showing import Show, button_named


@pytest.fixture
def frame(desk: Desk, show: Show) -> Frame:
    return show(Frame(desk, appearance=Appearance.LIGHT), 1280, 800)


def read(frame: Frame, session: Session, *, recorded: bool) -> None:
    """As if this machine, or a recording, had been read just now."""
    frame._reading.ended.emit(replace(open_example(session, HEALTHY), recorded=recorded))


def waits(frame: Frame) -> bool:
    return frame.banners.waiting is not None and frame.banners.waiting.isVisible()


def test_what_waits_is_told_and_gone_on_with(frame: Frame, session: Session, qtbot: QtBot) -> None:
    begun(session, script("pass"))
    read(frame, session, recorded=False)
    qtbot.waitUntil(lambda: waits(frame))
    button_named(frame.banners, "Continue").click()
    page = frame.pages.currentWidget()
    assert isinstance(page, InstallPage)
    qtbot.waitUntil(lambda: page.steps.under_way and not page.busy)
    assert not waits(frame)
    frame.close_down()


def test_when_nothing_waits_nothing_is_told(frame: Frame, session: Session, qtbot: QtBot) -> None:
    read(frame, session, recorded=False)
    qtbot.waitUntil(lambda: not frame._recalling.busy)
    assert frame.banners.waiting is None
    frame.close_down()


def test_beside_a_recording_nothing_of_this_machine_is_told(frame: Frame, session: Session, qtbot: QtBot) -> None:
    begun(session, script("pass"))
    read(frame, session, recorded=False)
    qtbot.waitUntil(lambda: waits(frame))
    read(frame, session, recorded=True)
    assert not waits(frame)
    frame.close_down()


def test_the_page_itself_tells_it_without_the_banner(frame: Frame, session: Session, qtbot: QtBot) -> None:
    begun(session, script("pass"))
    read(frame, session, recorded=False)
    qtbot.waitUntil(lambda: waits(frame))
    frame.go(GoTo(SideTool.INSTALL))
    assert not waits(frame)
    assert frame.flow.current is not WizardStep.MACHINE
    frame.close_down()
