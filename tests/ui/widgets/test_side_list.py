"""The side list: each step says how it stands; arrows move, Enter, Space and clicks open."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget

from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import Entry, Flow, Place, ReadingEnded, Step, StepState, Tool, follow
from gpuassist.ui.palette import MARK_WORDS, Mark
from gpuassist.ui.theme import Theme
from gpuassist.ui.tools import TOOLS
from gpuassist.ui.widgets.side_list import STEP_WORDS, WIDTH, SideList
from tests.ui.showing import Show, ink_in, overlapping, words_in

READ = follow(Flow(), ReadingEnded(StepState.RIGHT, StepState.PROBLEM))


@pytest.fixture
def side(show: Show) -> SideList:
    made = SideList(ENGLISH)
    made.foot.addWidget(QPushButton("Help", made))  # where the arrows must not go
    made.show_entries(READ.entries())
    return show(made, WIDTH, 600)


def standing(step: Step, state: StepState, *, enabled: bool = True, current: bool = False) -> tuple[Entry, ...]:
    return (Entry(step, state, enabled, current),)


def focused(side: SideList) -> list[Place]:
    return [place for place in (*Step, *Tool) if side.row(place).hasFocus()]


def chosen(side: SideList, row: QAbstractButton, key: Qt.Key) -> list[object]:
    spy = QSignalSpy(side.chosen)
    row.setFocus()
    QTest.keyClick(row, key)
    return [spy.at(place)[0] for place in range(spy.count())]


@pytest.mark.parametrize("step", list(Step))
def test_every_step_has_a_row(side: SideList, step: Step) -> None:
    assert side.row(step).text() == ENGLISH(STEP_WORDS[step])


@pytest.mark.parametrize("state", list(StepState))
def test_a_row_says_how_its_step_stands(side: SideList, state: StepState) -> None:
    side.show_entries(standing(Step.VERIFY, state))
    word = ENGLISH(MARK_WORDS[Mark(state.value)])
    assert (side.row(Step.VERIFY).accessibleName(), side.row(Step.VERIFY).toolTip()) == (f"Verify, {word}", word)


@pytest.mark.parametrize("state", [StepState.RIGHT, StepState.WARNING, StepState.PROBLEM])
def test_a_state_is_painted_in_its_colour(each_look: Theme, side: SideList, state: StepState) -> None:
    side.show_entries(standing(Step.FOUND, state))
    assert ink_in(side.row(Step.FOUND), each_look.palette().tint(Mark(state.value))) > 60


def test_the_current_step_stands_out(each_look: Theme, side: SideList) -> None:
    side.show_entries(standing(Step.REPAIR, StepState.TODO, current=True))
    assert ink_in(side.row(Step.REPAIR), each_look.palette().accent_tint) > 2_000


@pytest.mark.parametrize("step", list(Step))
def test_a_click_opens_a_step(side: SideList, step: Step) -> None:
    spy = QSignalSpy(side.chosen)
    QTest.mouseClick(side.row(step), Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] is step


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter], ids=lambda key: key.name)
def test_the_keyboard_opens_a_step(side: SideList, key: Qt.Key) -> None:
    assert chosen(side, side.row(Step.VERIFY), key) == [Step.VERIFY]


def test_a_step_that_waits_for_facts_cannot_be_opened(side: SideList) -> None:
    side.show_entries(Flow().entries())
    QTest.mouseClick(side.row(Step.FOUND), Qt.MouseButton.LeftButton)
    assert not side.row(Step.FOUND).isEnabled()
    assert side.row(Step.LIVE).isEnabled()


@pytest.mark.parametrize(
    ("key", "begin", "end"),
    [
        (Qt.Key.Key_Down, Step.MACHINE, Step.FOUND),
        (Qt.Key.Key_Up, Step.VERIFY, Step.REPAIR),
        (Qt.Key.Key_Down, Step.LIVE, next(iter(Tool))),
        (Qt.Key.Key_Down, list(Tool)[-1], Step.MACHINE),
        (Qt.Key.Key_Up, Step.MACHINE, list(Tool)[-1]),
    ],
)
def test_the_arrows_move_and_go_round(side: SideList, key: Qt.Key, begin: Place, end: Place) -> None:
    assert chosen(side, side.row(begin), key) == []
    assert focused(side) == [end]


def test_the_arrows_pass_over_steps_that_wait(side: SideList) -> None:
    side.show_entries(Flow().entries())
    chosen(side, side.row(Step.MACHINE), Qt.Key.Key_Down)
    assert focused(side) == [Step.LIVE]


def test_other_keys_move_nothing(side: SideList) -> None:
    chosen(side, side.row(Step.FOUND), Qt.Key.Key_A)
    assert focused(side) == [Step.FOUND]


def test_tab_walks_the_steps(side: SideList) -> None:
    side.row(Step.MACHINE).setFocus()
    QTest.keyClick(side.row(Step.MACHINE), Qt.Key.Key_Tab)
    assert focused(side) == [Step.FOUND]


def test_focus_can_be_seen(theme: Theme, side: SideList) -> None:
    row = side.row(Step.FOUND)
    before = row.grab().toImage()
    row.setFocus()
    assert row.grab().toImage() != before


def test_rows_stand_apart_and_inside(side: SideList) -> None:
    boxes = [side.row(place).geometry() for place in (*Step, *Tool)]
    assert not overlapping(boxes)
    assert all(box.right() < WIDTH for box in boxes)


@pytest.mark.parametrize("place", [*Step, *Tool])
def test_words_of_a_row_fit_it(side: SideList, place: Place) -> None:
    row = side.row(place)
    assert row.fontMetrics().horizontalAdvance(row.text()) < row.width() - 48


@pytest.mark.parametrize("tool", list(Tool))
def test_every_tool_has_a_row_below_the_steps(side: SideList, tool: Tool) -> None:
    row = side.row(tool)
    assert row.text() == row.accessibleName() == ENGLISH(TOOLS[tool].words)
    assert row.y() > side.row(Step.LIVE).geometry().bottom()


@pytest.mark.parametrize("tool", list(Tool))
def test_a_click_opens_a_tool_before_anything_was_read(side: SideList, tool: Tool) -> None:
    side.show_entries(Flow().entries())
    spy = QSignalSpy(side.chosen)
    QTest.mouseClick(side.row(tool), Qt.MouseButton.LeftButton)
    assert spy.at(0)[0] is tool


@pytest.mark.parametrize("tool", list(Tool))
def test_the_open_tool_stands_out(each_look: Theme, side: SideList, tool: Tool) -> None:
    side.show_tool(tool)
    assert ink_in(side.row(tool), each_look.palette().accent_tint) > 2_000
    assert ink_in(side.row(tool), each_look.palette().accent) > 10


@pytest.mark.parametrize("tool", list(Tool))
def test_a_tool_that_was_left_stands_out_no_more(each_look: Theme, side: SideList, tool: Tool) -> None:
    side.show_tool(tool)
    side.show_tool(Step.MACHINE)
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
