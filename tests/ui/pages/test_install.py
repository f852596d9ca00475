"""Install: chosen, planned off the GUI thread, the ways there, under way and back; from every example machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QClipboard
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.install.records import InstallState, StepState, installs
from gpuassist.model.outlook import Outlook
from gpuassist.model.text import verbatim
from gpuassist.session.inspect import open_example
from gpuassist.session.install import Course
from gpuassist.session.navigation import ToInstall, ToWaitingInstall
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.install.cards import EarlierCard, StepCard, WaysCard
from gpuassist.ui.pages.install.page import InstallPage
from gpuassist.ui.widgets.cards import Notice
from gpuassist.ui.widgets.scroll_page import PageHeader
from tests.install.installs_made import begun, script
from tests.ui.made import Answers
from tests.ui.pages.test_what_if import EXAMPLES
from tests.ui.showing import Show, button_named, words_in

CPU_ONLY = "03-torch-cpu-only"
MIXED = "05-gtx-1080-ti-and-rtx-5090"


class Shown:
    """The page with what a test does to it."""

    def __init__(self, desk: Desk, show: Show, qtbot: QtBot) -> None:
        self.desk = desk
        self.qtbot = qtbot
        self.page = show(InstallPage(desk), 1056, 700)

    def read(self, example: str, *, live: bool = False) -> Shown:
        inspection = open_example(self.desk.session, example)
        self.page.show_inspection(replace(inspection, recorded=not live))
        return self.settle()

    def wish(self, **parts: str) -> Shown:
        self.page.arrive(ToInstall(InstallWish(**parts)))  # type: ignore[arg-type]  # all of these are words
        return self.settle()

    def plan(self, source: str, *more: str) -> Shown:
        """Steps that are scripts, as if they had been planned."""
        steps = tuple(script(one) for one in (source, *more))
        self.page.steps.show_plan(Course(verbatim("torch"), ("torch",), steps))
        return self

    def next(self) -> Shown:
        self.page.steps.primary.trigger()
        return self.settle()

    def settle(self) -> Shown:
        self.qtbot.waitUntil(lambda: not self.page.busy)
        QCoreApplication.processEvents()
        self.qtbot.waitUntil(lambda: not self.page.busy)
        return self

    @property
    def header(self) -> PageHeader:
        found = self.page.findChild(PageHeader)
        assert isinstance(found, PageHeader)
        return found

    @property
    def outlook(self) -> Outlook:
        assert self.page.outlook is not None
        return self.page.outlook

    @property
    def beside(self) -> list[str]:
        return [action.text() for action in self.page.bar().left]

    @property
    def notices(self) -> list[str]:
        return [one.words for one in self.page.findChildren(Notice) if one.isVisibleTo(self.page)]


@pytest.fixture
def shown(desk: Desk, show: Show, qtbot: QtBot) -> Iterator[Shown]:
    made = Shown(desk, show, qtbot)
    yield made
    made.page.close_down()


def test_before_a_machine_was_read_it_says_so(shown: Shown) -> None:
    assert "The machine is being read." in words_in(shown.settle().page)


def test_without_a_wish_it_offers_three(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True)
    button_named(shown.page, "torch").click()
    assert shown.settle().page.choices.wish == InstallWish(torch=ANY)
    assert shown.header.title.startswith("Possible in")


@pytest.mark.parametrize("example", EXAMPLES[::2])
def test_an_example_gets_a_plan_for_torch(shown: Shown, example: str) -> None:
    shown.read(example).wish(torch=ANY)
    cards = shown.page.steps.cards
    assert [card.step for card in cards] == list(shown.outlook.steps)
    assert shown.outlook.steps or shown.outlook.blocked_by or shown.header.title == "The torch that is there fits"


@pytest.mark.parametrize("width", [656])
@pytest.mark.parametrize("example", [CPU_ONLY, MIXED])
def test_no_plan_is_wider_than_the_page(shown: Shown, show: Show, example: str, width: int) -> None:
    show(shown.page, width, 500)
    shown.read(example).wish(torch=ANY, toolkit=ANY, driver=ANY)
    for card in shown.page.findChildren(StepCard):
        assert card.mapTo(shown.page, card.rect().topRight()).x() <= width


def test_the_ways_are_offered_the_new_environment_first(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch=ANY)
    ways = shown.page.findChild(WaysCard)
    assert isinstance(ways, WaysCard)
    assert ways.isVisibleTo(shown.page)
    assert (ways.button(0).text(), ways.button(0).isChecked()) == ("In a new environment", True)


def test_another_way_has_its_own_steps(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch=ANY)
    first = shown.outlook
    ways = shown.page.findChild(WaysCard)
    assert isinstance(ways, WaysCard)
    ways.button(1).click()
    assert [card.step for card in shown.page.steps.cards] == list(first.ways[1].steps) != list(first.steps)


def test_tab_goes_from_the_ways_to_the_steps(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).wish(torch=ANY)
    ways = shown.page.findChild(WaysCard)
    assert isinstance(ways, WaysCard)
    following: list[QWidget] = [ways.button(2)]
    while following[-1] is not shown.page.steps.cards[-1].look and len(following) < 60:
        following.append(following[-1].nextInFocusChain())  # type: ignore[arg-type]
    assert shown.page.steps.cards[0].look in following
    assert following.index(shown.page.steps.cards[0].look) < following.index(shown.page.steps.cards[-1].look)


def test_another_plan_meanwhile_drops_what_was_looked_at(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).plan("pass")
    shown.page.steps.cards[0].look.click()
    shown.plan("pass", "pass").settle()
    assert "No installed package would change" not in words_in(shown.page.steps)


def test_what_torch_comes_by_is_kept(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch=ANY, tool="uv")
    assert any(line.startswith("uv ") for step in shown.outlook.steps for line in step.commands)


def test_what_cannot_be_says_who_must_move(shown: Shown) -> None:
    shown.read(MIXED).wish(driver="390")
    assert "What prevents it" in words_in(shown.page)
    assert shown.page.bar().primary is None


def test_a_version_that_is_none_is_told(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch="new")
    assert any("names no version" in words for words in shown.notices)
    assert shown.page.outlook is None


def test_the_mistake_goes_with_the_next_choice(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch="new").wish(torch=ANY)
    assert not any("names no version" in words for words in shown.notices)


def test_the_last_wish_counts(shown: Shown) -> None:
    shown.read(CPU_ONLY)
    for wish in (InstallWish(driver=ANY), InstallWish(toolkit=ANY), InstallWish(torch=ANY)):
        shown.page.arrive(ToInstall(wish))
    assert shown.settle().header.subtitle == "torch on the recorded machine"


def test_a_recorded_machine_is_looked_at_only(shown: Shown) -> None:
    shown.read(CPU_ONLY).wish(torch=ANY)
    primary = shown.page.bar().primary
    assert primary is not None
    assert not primary.isEnabled()
    assert shown.page.bar().note == "A recorded machine can be viewed, not changed."


def test_the_plan_can_be_copied(shown: Shown, clipboard: QClipboard) -> None:
    shown.read(CPU_ONLY).wish(torch=ANY)
    shown.page.bar().left[0].trigger()
    assert clipboard.text().startswith("torch on the recorded machine\n")
    assert all(line in clipboard.text() for step in shown.outlook.steps for line in step.commands)


def test_under_way_the_choices_are_gone(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).plan("print('one')", "pass").next()
    assert (shown.page.choices.isHidden(), shown.header.title, shown.header.subtitle) == (True, "Step 2 of 2", "torch")
    assert shown.beside == ["Undo install…", "Give it up…", "Plan something else"]


def test_when_all_is_done_the_title_says_so(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).plan("print('one')").next()
    assert (shown.header.title, shown.page.bar().primary is None or not shown.page.steps.primary.isVisible()) == (
        "All steps are done",
        True,
    )


def test_something_else_can_be_planned_then(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).plan("print('one')").next()
    shown.page.bar().left[-1].trigger()
    assert not shown.settle().page.choices.isHidden()
    earlier = shown.page.findChild(EarlierCard)
    assert isinstance(earlier, EarlierCard)
    assert earlier.isVisibleTo(shown.page)


def test_an_earlier_install_is_taken_back(shown: Shown, session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    step = script(f"import os; os.mkdir({str(made)!r})", creates=str(made))
    shown.read(CPU_ONLY, live=True)
    shown.page.steps.show_plan(Course(verbatim("torch"), (), (step,)))
    shown.next().page.bar().left[-1].trigger()
    button_named(shown.settle().page, "Undo install…").click()
    shown.settle()
    assert (made.exists(), installs(session.world)[0].state) == (False, InstallState.TAKEN_BACK)


def test_what_waits_is_told_and_gone_on_with(shown: Shown, session: Session) -> None:
    begun(session, script("pass"), script("pass"))
    shown.read(CPU_ONLY, live=True)
    assert any(words.startswith("The install of torch waits at step 1 of 2") for words in shown.notices)
    button_named(shown.page, "Continue").click()
    assert shown.settle().header.title == "Step 1 of 2"


def test_it_can_be_opened_to_go_on(shown: Shown, session: Session) -> None:
    begun(session, script("pass"))
    shown.read(CPU_ONLY, live=True).page.arrive(ToWaitingInstall())
    shown.settle()
    assert (shown.header.title, shown.page.steps.under_way) == ("Step 1 of 1", True)


def test_what_waits_can_be_given_up(shown: Shown, session: Session, answers: Answers) -> None:
    begun(session, script("pass"))
    shown.read(CPU_ONLY, live=True)
    button_named(shown.page, "Give it up").click()
    shown.settle()
    assert installs(session.world)[0].state is InstallState.GIVEN_UP
    assert not any("waits at step" in words for words in shown.notices)


def test_beside_a_recorded_machine_nothing_of_this_one_is_offered(shown: Shown, session: Session) -> None:
    begun(session, script("pass"))
    shown.read(CPU_ONLY).page.arrive(ToWaitingInstall())
    shown.settle()
    assert not any("waits at step" in words for words in shown.notices)
    assert not shown.page.steps.under_way


def test_an_install_under_way_stays_when_a_machine_is_read(shown: Shown) -> None:
    shown.read(CPU_ONLY, live=True).plan("raise SystemExit(1)").next().read(MIXED, live=True)
    assert shown.page.steps.install is not None
    assert shown.page.steps.install.steps[0].state is StepState.FAILED
