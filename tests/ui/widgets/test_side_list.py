"""The side list: each step says how it stands; arrows move, Enter, Space and clicks open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QAbstractButton, QWidget

from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import MARK_WORDS, Mark
from gpuassist.session.navigation import TITLES, Flow, Place, ReadingEnded, SideListEntry, SideTool, StepStatus, WizardStep, follow
from gpuassist.system.resources import Resources
from gpuassist.ui.theme import Appearance, Theme
from gpuassist.ui.widgets.side_list import WIDTH, Foot, SideList
from tests.ui.showing import Show, ink_in, overlapping, stroke_in, words_in

READ = follow(Flow(), ReadingEnded(StepStatus.RIGHT, StepStatus.PROBLEM))


@pytest.fixture
def side(show: Show) -> SideList:
    made = SideList(ENGLISH, Resources())
    made.take_in(Foot(ENGLISH, Appearance.LIGHT, Resources(), made))
    made.show_entries(READ.entries())
    return show(made, WIDTH, 600)


def standing(step: WizardStep, state: StepStatus, *, enabled: bool = True, current: bool = False) -> tuple[SideListEntry, ...]:
    return (SideListEntry(step, state, enabled, current),)


def focused(side: SideList) -> list[Place]:
    return [place for place in (*WizardStep, *SideTool) if side.row(place).hasFocus()]


def chosen(side: SideList, row: QAbstractButton, key: Qt.Key) -> list[object]:
    spy = QSignalSpy(side.chosen)
    row.setFocus()
    QTest.keyClick(row, key)
    return [spy.at(place)[0] for place in range(spy.count())]


@pytest.mark.parametrize("step", list(WizardStep))
def test_every_step_has_a_row(side: SideList, step: WizardStep) -> None:
    assert side.row(step).text() == ENGLISH(TITLES[step])


@pytest.mark.parametrize("state", list(StepStatus))
def test_a_row_says_how_its_step_stands(side: SideList, state: StepStatus) -> None:
    side.show_entries(standing(WizardStep.VERIFY, state))
    word = "passed" if state is StepStatus.RIGHT else ENGLISH(MARK_WORDS[Mark(state.value)])
    assert (side.row(WizardStep.VERIFY).accessibleName(), side.row(WizardStep.VERIFY).toolTip()) == (f"Verify, {word}", word)


def test_a_machine_that_was_read_is_not_called_sound(each_look: Theme, side: SideList) -> None:
    row = side.row(WizardStep.MACHINE)
    assert (row.accessibleName(), row.toolTip()) == ("Your machine, has been read", "has been read")
    assert ink_in(row, each_look.palette().tint(Mark.RIGHT)) == 0


@pytest.mark.parametrize("state", [StepStatus.RIGHT, StepStatus.WARNING, StepStatus.PROBLEM])
def test_a_state_is_painted_in_its_colour(each_look: Theme, side: SideList, state: StepStatus) -> None:
    side.show_entries(standing(WizardStep.FOUND, state))
    assert ink_in(side.row(WizardStep.FOUND), each_look.palette().tint(Mark(state.value))) > 60


def test_the_current_step_stands_out(each_look: Theme, side: SideList) -> None:
    side.show_entries(standing(WizardStep.REPAIR, StepStatus.TODO, current=True))
    assert ink_in(side.row(WizardStep.REPAIR), each_look.palette().accent_tint) > 2_000


@pytest.mark.parametrize("step", list(WizardStep))
def test_a_click_opens_a_step(side: SideList, step: WizardStep) -> None:
    spy = QSignalSpy(side.chosen)
    QTest.mouseClick(side.row(step), Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] is step


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter], ids=lambda key: key.name)
def test_the_keyboard_opens_a_step(side: SideList, key: Qt.Key) -> None:
    assert chosen(side, side.row(WizardStep.VERIFY), key) == [WizardStep.VERIFY]


def test_a_step_that_waits_for_facts_cannot_be_opened(side: SideList) -> None:
    side.show_entries(Flow().entries())
    QTest.mouseClick(side.row(WizardStep.FOUND), Qt.MouseButton.LeftButton)
    assert not side.row(WizardStep.FOUND).isEnabled()
    assert side.row(WizardStep.LIVE).isEnabled()


@pytest.mark.parametrize(
    ("key", "begin", "end"),
    [
        (Qt.Key.Key_Down, WizardStep.MACHINE, WizardStep.FOUND),
        (Qt.Key.Key_Up, WizardStep.VERIFY, WizardStep.REPAIR),
        (Qt.Key.Key_Down, WizardStep.LIVE, next(iter(SideTool))),
        (Qt.Key.Key_Home, list(SideTool)[-1], WizardStep.MACHINE),
    ],
)
def test_the_arrows_move(side: SideList, key: Qt.Key, begin: Place, end: Place) -> None:
    assert chosen(side, side.row(begin), key) == []
    assert focused(side) == [end]


def test_the_arrows_pass_over_steps_that_wait(side: SideList) -> None:
    side.show_entries(Flow().entries())
    chosen(side, side.row(WizardStep.MACHINE), Qt.Key.Key_Down)
    assert focused(side) == [WizardStep.LIVE]


def test_other_keys_move_nothing(side: SideList) -> None:
    chosen(side, side.row(WizardStep.FOUND), Qt.Key.Key_A)
    assert focused(side) == [WizardStep.FOUND]


def test_the_arrows_go_round_by_the_quiet_buttons(side: SideList) -> None:
    first, *_, last = side.stops()
    first.setFocus()
    QTest.keyClick(first, Qt.Key.Key_Up)
    assert last.hasFocus()
    QTest.keyClick(last, Qt.Key.Key_Down)
    assert first.hasFocus()
    QTest.keyClick(first, Qt.Key.Key_End)
    assert last.hasFocus()


def test_tab_stops_at_one_of_them(side: SideList) -> None:
    stops = [stop for stop in side.stops() if stop.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert stops == [side.row(WizardStep.MACHINE)]
    side.show_place(SideTool.GUIDES)
    assert [stop for stop in side.stops() if stop.focusPolicy() & Qt.FocusPolicy.TabFocus] == [side.row(SideTool.GUIDES)]
    side.stops()[-1].setFocus()
    side.show_place(WizardStep.FOUND)  # by a key, while the focus is here
    assert [stop for stop in side.stops() if stop.focusPolicy() & Qt.FocusPolicy.TabFocus] == [side.stops()[-1]]


def test_a_click_takes_the_focus_from_nothing(side: SideList) -> None:
    QTest.mouseClick(side.row(WizardStep.LIVE), Qt.MouseButton.LeftButton)
    assert focused(side) == []


def test_focus_can_be_seen(theme: Theme, side: SideList) -> None:
    row = side.row(WizardStep.FOUND)
    before = row.grab().toImage()
    row.setFocus()
    assert row.grab().toImage() != before


def test_rows_stand_apart_and_inside(side: SideList) -> None:
    boxes = [side.row(place).geometry() for place in (*WizardStep, *SideTool)]
    assert not overlapping(boxes)
    assert all(box.right() < WIDTH for box in boxes)


@pytest.mark.parametrize("place", [*WizardStep, *SideTool])
def test_words_of_a_row_fit_it(side: SideList, place: Place) -> None:
    row = side.row(place)
    assert row.fontMetrics().horizontalAdvance(row.text()) < row.width() - 48


@pytest.mark.parametrize("tool", list(SideTool))
def test_every_tool_has_a_row_below_the_steps(side: SideList, tool: SideTool) -> None:
    row = side.row(tool)
    assert row.text() == row.accessibleName() == ENGLISH(TITLES[tool])
    assert row.y() > side.row(WizardStep.LIVE).geometry().bottom()


@pytest.mark.parametrize("tool", list(SideTool))
def test_every_tool_has_an_icon_in_the_ink_of_the_look(each_look: Theme, side: SideList, tool: SideTool) -> None:
    side.row(tool).setText("")
    assert stroke_in(side.row(tool), each_look.palette().text) > 20


@pytest.mark.parametrize("tool", list(SideTool))
def test_a_click_opens_a_tool_before_anything_was_read(side: SideList, tool: SideTool) -> None:
    side.show_entries(Flow().entries())
    spy = QSignalSpy(side.chosen)
    QTest.mouseClick(side.row(tool), Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] is tool


@pytest.mark.parametrize("tool", list(SideTool))
def test_the_open_tool_stands_out(each_look: Theme, side: SideList, tool: SideTool) -> None:
    side.show_place(tool)
    assert ink_in(side.row(tool), each_look.palette().accent_tint) > 2_000
    assert ink_in(side.row(tool), each_look.palette().accent) > 10


@pytest.mark.parametrize("tool", list(SideTool))
def test_a_tool_that_was_left_stands_out_no_more(each_look: Theme, side: SideList, tool: SideTool) -> None:
    side.show_place(tool)
    side.show_place(WizardStep.MACHINE)
    assert ink_in(side.row(tool), each_look.palette().accent_tint) == 0


def test_it_names_the_program(side: SideList) -> None:
    assert words_in(side)[0] == "gpuassist"
    assert side.accessibleName() == "Steps"


@pytest.mark.parametrize("height", [560, 800])
def test_no_row_covers_another_in_a_low_window(side: SideList, height: int) -> None:
    side.resize(WIDTH, height)
    layout = side.layout()
    assert layout is not None
    layout.activate()
    inside = [widget.geometry() for widget in side.findChildren(QWidget) if widget.parentWidget() is side]
    assert overlapping(inside) == []
    assert max(box.bottom() for box in inside) < height
