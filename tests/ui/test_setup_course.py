"""The set-up below the pages: what is shown where, by mouse and by keyboard, hidden and back, and that nothing of it is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.session import setup_record, verifications
from gpuassist.session.inspect import Inspection, inspection_of
from gpuassist.session.navigation import (
    Flow,
    GoTo,
    Marked,
    Place,
    ReadingEnded,
    SideTool,
    StepStatus,
    ToInstall,
    WayOn,
    WizardStep,
    follow,
)
from gpuassist.session.plan import InstallWish
from gpuassist.session.setup_values import SetupStageId, SetupStageState
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Desk
from gpuassist.ui.setup_course import SetupCourse
from gpuassist.ui.theme import Appearance
from gpuassist.ui.widgets.setup_strip import SetupDone, SetupFold, SetupLine, SetupStages, SetupStrip, StageChip
from gpuassist.ui.widgets.side_list import WIDTH
from tests.session.setup_cases import BARE, INSTALLED, READY, WITH_DRIVER, verification
from tests.ui.showing import Show, button_named, words_in
from tests.values import machine

Shown = Callable[..., SetupCourse]


def read(session: Session, made: Machine, *, recorded: bool = False) -> Inspection:
    return replace(inspection_of(session, made), recorded=recorded)


def at(place: Place, verified: StepStatus = StepStatus.TODO) -> Flow:
    flow = follow(replace(Flow(), inspected=True, current=place), Marked(WizardStep.VERIFY, verified))
    return follow(flow, Marked(WizardStep.LIVE, StepStatus.RIGHT)) if place is WizardStep.LIVE else flow


@pytest.fixture
def shown(desk: Desk, show: Show, session: Session, qtbot: QtBot) -> Iterator[Shown]:
    made: list[SetupCourse] = []

    def course(one: Machine, *, width: int = 800, recorded: bool = False) -> SetupCourse:
        course = show(SetupCourse(desk), width, 160)
        course.show_inspection(read(session, one, recorded=recorded))
        made.append(course)
        qtbot.waitUntil(lambda: not course.busy)
        return course

    yield course
    for one in made:
        one.close_down()


def kind(course: SetupCourse) -> type | None:
    return type(course.made) if course.made is not None and course.isVisible() else None


def test_another_machine_is_not_set_up_from_here(shown: Shown, desk: Desk, session: Session, qtbot: QtBot) -> None:
    course = shown(machine(BARE))
    assert kind(course) is SetupStrip
    course.show_inspection(replace(read(session, machine(BARE), recorded=True), host="box"))
    qtbot.waitUntil(lambda: not course.busy)
    assert kind(course) is None


def chips(course: SetupCourse) -> list[StageChip]:
    return course.made.findChildren(StageChip) if course.made is not None else []  # those of before go a turn later


def test_each_stage_is_read_aloud_and_leads_somewhere(shown: Shown, qtbot: QtBot) -> None:
    course = shown(machine(BARE, bound="nouveau"))
    assert kind(course) is SetupStrip
    assert [chip.stage.id for chip in chips(course)] == list(SetupStageId)
    for chip in chips(course):
        assert chip.text() in chip.accessibleName()
        assert len(chip.accessibleName()) > len(chip.text()) + 8
    with qtbot.waitSignal(course.wanted) as wanted:
        chips(course)[0].click()
    assert wanted.args == [ToInstall(InstallWish(driver="any"))]
    with qtbot.waitSignal(course.wanted) as wanted:
        button_named(course, "Plan the driver…").click()
    assert wanted.args == [ToInstall(InstallWish(driver="any"))]


def test_the_arrows_walk_the_stages_and_tab_stops_once(shown: Shown, qtbot: QtBot) -> None:
    course = shown(machine(WITH_DRIVER))
    row = chips(course)
    stops = [chip for chip in row if chip.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert [chip.stage.state for chip in stops] == [SetupStageState.NOW]
    stops[0].setFocus()
    for key, place in (
        (Qt.Key.Key_Right, 4),
        (Qt.Key.Key_End, 5),
        (Qt.Key.Key_Right, 5),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_Left, 0),
    ):
        qtbot.keyClick(course.window().focusWidget(), key)  # type: ignore[no-untyped-call]
        assert [chip.hasFocus() for chip in row] == [number == place for number in range(6)]
    with qtbot.waitSignal(course.wanted) as wanted:
        qtbot.keyClick(row[0], Qt.Key.Key_Space)  # type: ignore[no-untyped-call]
    assert wanted.args == [GoTo(WizardStep.FOUND)]


def test_it_is_a_slim_line_where_it_leads_to_and_nothing_elsewhere(shown: Shown) -> None:
    course = shown(machine(READY))
    places = dict.fromkeys((*WizardStep, *SideTool))
    seen = {}
    for place in places:
        course.show_flow(at(place))
        seen[place] = kind(course)
    leads = {WizardStep.FOUND, WizardStep.REPAIR, WizardStep.VERIFY, WizardStep.LIVE, SideTool.INSTALL}
    wanted = {place: SetupStrip if place is WizardStep.MACHINE else SetupLine if place in leads else None for place in places}
    assert seen == wanted
    course.show_flow(at(WizardStep.REPAIR))
    assert words_in(course) == ["Step 3 of 4: Verify · next: Live memory"]
    assert [one.text() for one in course.findChildren(QAbstractButton) if one.isVisible()] == ["Go to: Verify"]
    course.show_flow(at(WizardStep.VERIFY))
    assert not [one for one in course.findChildren(QAbstractButton) if one.isVisible()]  # it is here


def test_hidden_it_stays_hidden_and_comes_back_by_its_button(shown: Shown, session: Session, qtbot: QtBot) -> None:
    course = shown(machine(READY))
    hide = button_named(course, "Hide")
    hide.setFocus()
    hide.click()
    assert kind(course) is SetupFold
    assert button_named(course, "Show the setup").hasFocus()
    qtbot.waitUntil(lambda: setup_record.load(session.world)[0].hidden)
    again = shown(machine(READY))
    assert kind(again) is SetupFold
    again.show_flow(at(WizardStep.VERIFY))
    assert kind(again) is None
    again.show_flow(at(WizardStep.MACHINE))
    button_named(again, "Show the setup").click()
    assert kind(again) is SetupStrip
    qtbot.waitUntil(lambda: not setup_record.load(session.world)[0].hidden)


def test_a_verification_and_live_memory_end_it_and_that_is_said_once(shown: Shown, session: Session, qtbot: QtBot) -> None:
    made = machine(READY)
    course = shown(made)
    course.show_flow(at(WizardStep.VERIFY, StepStatus.BUSY))
    verifications.keep(session.world, verification(made, "pass"))
    course.show_flow(at(WizardStep.VERIFY, StepStatus.RIGHT))
    qtbot.waitUntil(lambda: course.setup.now is not None and course.setup.now.id is SetupStageId.LIVE)  # type: ignore[union-attr]
    course.show_flow(at(WizardStep.LIVE, StepStatus.RIGHT))
    qtbot.waitUntil(lambda: course.setup.now is None)  # type: ignore[union-attr]
    assert kind(course) is None
    course.show_flow(at(WizardStep.MACHINE, StepStatus.RIGHT))
    assert kind(course) is SetupDone
    button_named(course, "Close").click()
    assert kind(course) is None
    qtbot.waitUntil(lambda: setup_record.load(session.world)[0].closed)
    assert kind(shown(made)) is None


def test_a_new_gpu_the_whole_way_in_the_window(
    shown: Shown, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    boots = ["boot-1"]
    monkeypatch.setattr("gpuassist.session.setup.boot_id", lambda _: boots[-1])
    course = shown(machine(BARE, bound="nouveau"))

    def look(made: Machine) -> list[str]:
        course.show_inspection(read(session, made))
        qtbot.waitUntil(lambda: not course.busy)
        now = [chip.text() for chip in chips(course) if chip.stage.state is SetupStageState.NOW]
        return [*now, words_in(course)[0], *(one.text() for one in course.findChildren(QPushButton) if one.isVisible())]

    assert look(machine(BARE, bound="nouveau")) == ["Driver", "Step 1 of 5: Driver", "Hide", "Plan the driver…"]
    assert look(machine(INSTALLED)) == ["Restart", "Step 2 of 5: Restart", "Hide", "Plan the restart…"]
    boots.append("boot-2")
    back = "After the restart driver 595.71.05 is loaded. Next: torch"
    assert look(machine(WITH_DRIVER)) == ["torch", back, "Hide", "Plan torch…"]
    assert look(machine(READY)) == ["Verify", "Step 4 of 5: Verify", "Hide", "Go to: Verify"]
    verifications.keep(session.world, verification(machine(READY), "pass"))
    assert look(machine(READY)) == ["Live memory", "Step 5 of 5: Live memory", "Hide", "Go to: Live memory"]
    course.show_flow(at(WizardStep.LIVE))
    qtbot.waitUntil(lambda: course.setup is not None and course.setup.now is None)
    course.show_flow(at(WizardStep.MACHINE))
    assert kind(course) is SetupDone


@pytest.mark.parametrize("recorded", [False, True])
def test_without_a_gpu_there_is_nothing_to_set_up(shown: Shown, recorded: bool) -> None:
    assert kind(shown(machine(BARE, gpus=()), recorded=recorded)) is None


def test_of_a_recording_nothing_is_remembered(shown: Shown, session: Session) -> None:
    assert kind(shown(machine(BARE), recorded=True)) is SetupStrip
    course = shown(machine(READY), recorded=True)
    assert kind(course) is None  # what there is of it is done
    assert not session.world.disk.exists(setup_record.path(session.world))


@pytest.mark.parametrize(("width", "now_is_small"), [(560, False), (380, True)])
def test_in_a_narrow_window_names_give_way_and_the_one_that_is_now_last(shown: Shown, width: int, *, now_is_small: bool) -> None:
    course = shown(machine(WITH_DRIVER), width=width)
    row = chips(course)
    assert any(chip.is_small for chip in row)
    assert [chip.is_small for chip in row if chip.stage.state is SetupStageState.NOW] == [now_is_small]
    stages = course.findChildren(SetupStages)[-1]
    assert all(stages.rect().contains(chip.geometry()) for chip in row)


def test_where_there_is_room_every_name_is_told(shown: Shown) -> None:
    assert not any(chip.is_small for chip in chips(shown(machine(WITH_DRIVER), width=1000)))


def test_the_frame_follows_it(desk: Desk, show: Show, session: Session, qtbot: QtBot) -> None:
    frame = show(Frame(desk, appearance=Appearance.LIGHT), 1280, 800)
    frame._reading.ended.emit(read(session, machine(READY)))
    qtbot.waitUntil(lambda: kind(frame.setup) is SetupStrip)
    button_named(frame.setup, "Go to: Verify").click()
    assert frame.flow.current is WizardStep.VERIFY
    assert kind(frame.setup) is SetupLine
    frame.close_down()


def test_a_window_too_low_for_all_of_it_has_one_line(
    desk: Desk, show: Show, session: Session, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = show(Frame(desk, appearance=Appearance.LIGHT), 1280, 800)
    frame._reading.ended.emit(read(session, machine(READY)))
    qtbot.waitUntil(lambda: kind(frame.setup) is SetupStrip)
    monkeypatch.setattr("gpuassist.ui.setup_course._LOW", 10_000)
    frame.resize(1280, 790)
    qtbot.waitUntil(lambda: kind(frame.setup) is SetupLine)
    frame.close_down()


def test_where_it_comes_nothing_that_is_read_moves(desk: Desk, show: Show, session: Session, qtbot: QtBot) -> None:
    frame = show(Frame(desk, appearance=Appearance.LIGHT), 1024, 700)
    qtbot.waitUntil(lambda: frame.pages.mapTo(frame, QPoint(0, 0)).x() == WIDTH)  # once the side list has its room
    before = frame.pages.mapTo(frame, QPoint(0, 0))
    frame._reading.ended.emit(read(session, machine(READY)))
    qtbot.waitUntil(lambda: kind(frame.setup) is SetupStrip)
    assert frame.pages.mapTo(frame, QPoint(0, 0)) == before
    assert frame.setup.y() > frame.pages.mapTo(frame, QPoint(0, 0)).y()
    frame.close_down()


def test_what_the_blue_button_does_has_no_second_one(shown: Shown) -> None:
    course = shown(machine(BARE, bound="nouveau"))
    plan = WayOn(text("Plan"), ToInstall(InstallWish(driver="any")))
    for mend, offered in ((plan, False), (None, True), (replace(plan, destination=GoTo(WizardStep.LIVE)), True)):
        problem = follow(Flow(), ReadingEnded(StepStatus.RIGHT, StepStatus.PROBLEM, "", mend))
        course.show_flow(problem)
        found = [one for one in course.findChildren(QPushButton) if one.text() == "Plan the driver…" and one.isVisible()]
        assert bool(found) is offered
