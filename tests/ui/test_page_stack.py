"""The pages: made when first shown, told of every machine, arrived at and left in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.session.inspect import Inspection
from gpuassist.session.navigation import Errand, GoTo, Place, SideTool, ToRepair, WizardStep
from gpuassist.ui.page import Desk, Page
from gpuassist.ui.page_stack import PageStack, page_class
from tests.ui.made import inspection
from tests.ui.showing import Show
from tests.values import machine


class Noting(Page):
    """A page that notes what happens to it."""

    STEP = WizardStep.FOUND

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.notes: list[str] = []

    def show_inspection(self, inspection: Inspection) -> None:
        self.notes.append("machine")

    def arrive(self, errand: Errand | None) -> None:
        self.notes.append(f"arrive for {errand.version}" if isinstance(errand, ToRepair) else "arrive")

    def leave(self) -> None:
        self.notes.append("leave")

    def close_down(self) -> None:
        self.notes.append("close")


@pytest.fixture
def stack(desk: Desk, show: Show) -> Iterator[PageStack]:
    made = show(PageStack(desk), 1056, 700)
    yield made
    made.close_down()


@pytest.fixture
def noting(stack: PageStack, desk: Desk) -> Noting:
    page = Noting(desk)
    stack.take(page)
    return page


@pytest.mark.parametrize("place", [*WizardStep, *SideTool])
def test_every_place_makes_its_own_page(desk: Desk, stack: PageStack, place: Place) -> None:
    page = page_class(place)(desk, stack)
    assert page.STEP is place
    assert page.objectName() == place.value
    page.close_down()


def test_a_page_is_made_once(stack: PageStack) -> None:
    assert stack.page(WizardStep.FOUND) is stack.page(WizardStep.FOUND)


def test_no_page_is_made_before_it_is_shown(stack: PageStack) -> None:
    assert stack.findChildren(Page) == []


def test_a_page_made_late_hears_of_the_machine(stack: PageStack) -> None:
    stack.show_inspection(inspection(machine(), use_cuda="12.4"))
    assert len(stack.page(WizardStep.FOUND).bar().left) == 2


def test_a_page_that_is_not_seen_is_handed_the_machine_in_a_later_turn(stack: PageStack, noting: Noting, qtbot: QtBot) -> None:
    stack.show_place(WizardStep.MACHINE, None)
    noting.notes.clear()
    stack.show_inspection(inspection(machine()))
    assert noting.notes == []
    assert stack.handing
    qtbot.waitUntil(lambda: not stack.handing)
    assert noting.notes == ["machine"]


def test_a_page_that_is_asked_for_knows_the_machine(stack: PageStack, noting: Noting, qtbot: QtBot) -> None:
    stack.show_place(WizardStep.MACHINE, None)
    noting.notes.clear()
    stack.show_inspection(inspection(machine()))
    stack.show_place(WizardStep.FOUND, None)
    assert noting.notes == ["machine", "arrive"]
    stack.show_inspection(inspection(machine()))
    assert noting.notes == ["machine", "arrive", "machine"]
    qtbot.wait(20)
    assert noting.notes.count("machine") == 2


def test_showing_arrives_and_leaves(stack: PageStack, noting: Noting) -> None:
    stack.show_place(WizardStep.FOUND, ToRepair("12.4"))
    stack.show_place(WizardStep.MACHINE, None)
    assert noting.notes == ["arrive for 12.4", "leave"]


def test_showing_the_same_again_arrives_only_for_a_new_errand(stack: PageStack, noting: Noting) -> None:
    for errand in (None, None, ToRepair("12.4")):
        stack.show_place(WizardStep.FOUND, errand)
    assert noting.notes == ["arrive", "arrive for 12.4"]


def test_closing_reaches_every_page(stack: PageStack, noting: Noting) -> None:
    stack.close_down()
    assert noting.notes == ["close"]


def test_what_a_page_asks_is_passed_on(stack: PageStack, noting: Noting, qtbot: QtBot) -> None:
    with qtbot.waitSignal(stack.asked) as blocker:
        noting.asked.emit(GoTo(WizardStep.LIVE))
    assert blocker.args == [GoTo(WizardStep.LIVE)]


def test_a_changed_bar_is_passed_on(stack: PageStack, noting: Noting, qtbot: QtBot) -> None:
    with qtbot.waitSignal(stack.bar_changed):
        noting.bar_changed.emit()


def test_live_memory_waits_for_its_libraries(stack: PageStack, qtbot: QtBot) -> None:
    stack.show_place(WizardStep.LIVE, None)
    assert not isinstance(stack.currentWidget(), Page)
    assert stack.bar().left == ()
    with qtbot.waitSignal(stack.bar_changed):
        stack.warm_up.start()
    assert stack.currentWidget() is stack.page(WizardStep.LIVE)


def test_libraries_that_come_later_disturb_nobody(stack: PageStack, qtbot: QtBot) -> None:
    stack.show_place(WizardStep.MACHINE, None)
    with qtbot.waitSignal(stack.warm_up.done):
        stack.warm_up.start()
    assert stack.currentWidget() is stack.machine_page
