"""After every write the frame reads this machine again, and hands it to every page; nothing is written to a recorded one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.session import inspect
from gpuassist.session.inspect import Inspection, open_example
from gpuassist.session.navigation import GoTo, Marked, Place, SideTool, StepStatus, WizardStep
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk, Page, Wrote
from gpuassist.ui.theme import Appearance
from tests.ui.frames import HEALTHY, TOO_OLD
from tests.ui.showing import Show


class Live:
    """This machine, which reads as one example after the other; one that is None cannot be read."""

    def __init__(self, session: Session, *names: str | None) -> None:
        self._session = session
        self._names = list(names)
        self.read = 0

    def __call__(self, *_: object, **__: object) -> Inspection:
        name = self._names[min(self.read, len(self._names) - 1)]
        self.read += 1
        if name is None:
            raise RuntimeError("a fault of a test")
        return replace(open_example(self._session, name), recorded=False)


class Noting(Page):
    """A page that notes what it is told of the machine."""

    STEP = WizardStep.VERIFY

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.seen: list[Inspection] = []
        self.readings: list[str] = []

    def show_inspection(self, inspection: Inspection) -> None:
        self.seen.append(inspection)

    def show_reading(self, words: str) -> None:
        self.readings.append(words)


@pytest.fixture
def frame(desk: Desk, show: Show) -> Frame:
    return show(Frame(desk, appearance=Appearance.LIGHT), 1280, 800)


@pytest.fixture
def noting(frame: Frame, desk: Desk) -> Noting:
    page = Noting(desk)
    frame.pages.take(page)
    return page


def read(frame: Frame, qtbot: QtBot, *names: str | None, patch: pytest.MonkeyPatch) -> Live:
    """The frame once it has read the first of these."""
    live = Live(frame._desk.session, *names)
    patch.setattr(inspect, "inspect", live)
    frame.begin()
    settle(frame, qtbot)
    return live


def settle(frame: Frame, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not frame._reading.busy and not frame._recalling.busy, timeout=20_000)


def write(frame: Frame) -> None:
    frame.pages.machine_page.asked.emit(Wrote())


def test_a_write_is_followed_by_a_reading_that_reaches_every_page(
    frame: Frame, noting: Noting, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(frame, qtbot, TOO_OLD, HEALTHY, patch=monkeypatch)
    assert (frame.flow.state(WizardStep.FOUND), frame.flow.repairable) == (StepStatus.PROBLEM, "12.4")
    write(frame)
    assert frame.flow.state(WizardStep.FOUND) is StepStatus.BUSY
    assert noting.readings[-1]
    settle(frame, qtbot)
    assert (frame.flow.state(WizardStep.FOUND), frame.flow.repairable) == (StepStatus.RIGHT, "")
    assert len(noting.seen) == 2
    assert noting.seen[-1].machine != noting.seen[0].machine
    assert noting.readings[-1] == ""
    frame.close_down()


@pytest.mark.parametrize("place", [place for place in (*WizardStep, *SideTool) if place is not WizardStep.LIVE])
def test_every_page_takes_a_machine_that_changed_under_it(
    frame: Frame, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    read(frame, qtbot, TOO_OLD, HEALTHY, patch=monkeypatch)
    frame.go(GoTo(place))
    write(frame)
    settle(frame, qtbot)
    assert frame.flow.current is place
    frame.close_down()


def test_a_second_write_before_the_reading_ended_is_read_as_well(
    frame: Frame, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = read(frame, qtbot, TOO_OLD, TOO_OLD, HEALTHY, patch=monkeypatch)
    write(frame)
    write(frame)
    settle(frame, qtbot)
    qtbot.waitUntil(lambda: live.read == 3)
    assert not frame._reading.after_write
    frame.close_down()


def test_beside_a_recording_nothing_is_read_again(frame: Frame, noting: Noting, qtbot: QtBot) -> None:
    frame._reading.open_example(TOO_OLD)
    settle(frame, qtbot)
    write(frame)
    assert not frame._reading.busy
    assert noting.readings == [""]
    frame.close_down()


def test_a_machine_that_cannot_be_read_again_is_told_on_every_page(
    frame: Frame, noting: Noting, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(frame, qtbot, TOO_OLD, None, HEALTHY, patch=monkeypatch)
    write(frame)
    settle(frame, qtbot)
    assert frame.banners.stale is not None
    assert frame.banners.stale.isVisible()
    assert (frame.flow.state(WizardStep.MACHINE), frame.flow.state(WizardStep.FOUND)) == (StepStatus.UNKNOWN, StepStatus.UNKNOWN)
    assert noting.readings[-1] == ""
    frame._reading.again()
    settle(frame, qtbot)
    assert not frame.banners.stale.isVisible()
    assert frame.flow.state(WizardStep.FOUND) is StepStatus.RIGHT
    frame.close_down()


def test_a_recording_that_cannot_be_opened_does_not_take_the_place_of_that_reading(
    frame: Frame, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(frame, qtbot, TOO_OLD, HEALTHY, patch=monkeypatch)
    write(frame)
    frame._reading.open_recording("/nonexistent/machine.json")
    settle(frame, qtbot)
    assert frame.flow.state(WizardStep.FOUND) is StepStatus.RIGHT
    frame.close_down()


def test_a_result_that_a_page_still_shows_keeps_its_mark(frame: Frame, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    read(frame, qtbot, HEALTHY, patch=monkeypatch)
    page = frame.pages.machine_page
    monkeypatch.setattr(page, "show_inspection", lambda _: page.asked.emit(Marked(WizardStep.REPAIR, StepStatus.PROBLEM)))
    write(frame)
    settle(frame, qtbot)
    assert frame.flow.state(WizardStep.REPAIR) is StepStatus.PROBLEM
    frame.close_down()


@pytest.mark.parametrize(("name", "state"), [(HEALTHY, StepStatus.RIGHT), (TOO_OLD, StepStatus.TODO)])
def test_a_change_in_effect_is_a_repair_done_where_none_is_needed(
    frame: Frame, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, name: str, state: StepStatus
) -> None:
    monkeypatch.setattr("gpuassist.session.undo.any_in_effect", lambda _: True)
    read(frame, qtbot, name, patch=monkeypatch)
    assert frame.flow.state(WizardStep.REPAIR) is state
    frame.close_down()
