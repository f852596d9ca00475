"""The cards of the page Install: choices, ways, a step, what it prints, and earlier installs."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QSignalSpy
from pytestqt.qtbot import QtBot

from gpuassist.context import Session
from gpuassist.formats.terminal_output import Printed
from gpuassist.install.records import StepRecord, StepState
from gpuassist.install.run_view import RunView
from gpuassist.install.what_if import choices
from gpuassist.model.fact import Known
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Step, StepKind, Tool
from gpuassist.model.solve import DryRun, PackageChange, Requirer, Solve
from gpuassist.model.text import verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.pages.install.cards import EarlierCard, StepCard, WaysCard
from gpuassist.ui.pages.install.choices import InstallChoices
from gpuassist.ui.pages.install.output import OutputCard
from gpuassist.ui.widgets.code import CodeBlock
from tests.install.installs_made import begun, by_user, script
from tests.ui.showing import Show, button_named, words_in

LONG = "安装支持所有显卡的驱动程序 " * 20
CHANGES = (PackageChange("torch", "2.8.0+cpu", "2.9.1+cu128"), PackageChange("triton", "", "3.5"))
WAYS = (
    WayPlan(Method.NEW, verbatim("in ~/torch-gpu"), (), (verbatim("other packages stay behind"),)),
    WayPlan(Method.CLEAN, verbatim("in train"), ()),
    WayPlan(Method.IN_PLACE, verbatim("in train as it is"), ()),
)


@pytest.fixture
def chosen(show: Show, session: Session) -> InstallChoices:
    made = show(InstallChoices(ENGLISH), 900, 160)
    made.show_choices(choices(session))
    return made


def choose(card: InstallChoices, part: str, value: str) -> None:
    """As the user would."""
    box = card.box(part)
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def step_card(show: Show, step: Step, *, home: str = "/home/you") -> StepCard:
    return show(StepCard(ENGLISH, step, 0, home=home), 700, 400)


def looked(*, stops: tuple[str, ...] = (), warnings: tuple[str, ...] = ()) -> DryRun:
    requires = (Requirer("xformers", "0.0.30", "torch==2.8", met_before=True, met_after=False),)
    solve = Known(Solve(Tool.PIP, CHANGES), "pip")
    return DryRun(solve, requires, tuple(map(verbatim, stops)), tuple(map(verbatim, warnings)))


def test_at_first_everything_stays_as_it_is(chosen: InstallChoices) -> None:
    assert (chosen.wish, chosen.wish.goals) == (InstallWish(), ())
    assert chosen.box("torch").currentText() == "keep current"


def test_the_versions_are_those_of_what_if(chosen: InstallChoices, session: Session) -> None:
    found = choices(session)
    for part, values in (("torch", found.torches), ("toolkit", found.toolkits), ("driver", found.drivers)):
        box = chosen.box(part)
        assert [box.itemData(row) for row in range(2, box.count())] == list(values)


def test_a_choice_is_told(chosen: InstallChoices) -> None:
    changed = QSignalSpy(chosen.changed)
    choose(chosen, "torch", ANY)
    assert (chosen.wish, changed.count()) == (InstallWish(torch=ANY), 1)


def test_what_torch_comes_by_waits_for_torch(chosen: InstallChoices) -> None:
    assert not chosen.box("tool").isEnabled()
    choose(chosen, "torch", ANY)
    choose(chosen, "tool", "conda")
    assert chosen.wish == InstallWish(torch=ANY, tool="conda")


def test_without_administrator_rights(chosen: InstallChoices) -> None:
    choose(chosen, "toolkit", ANY)
    chosen.no_root.click()
    assert chosen.wish == InstallWish(toolkit=ANY, no_root=True)


def test_a_version_that_is_not_offered_is_kept(chosen: InstallChoices) -> None:
    chosen.open_for(InstallWish(torch="1.2.3"))
    assert (chosen.box("torch").currentText(), chosen.wish.goals) == ("1.2.3", ("torch==1.2.3",))


def test_what_is_shown_by_code_is_told_once(chosen: InstallChoices) -> None:
    changed = QSignalSpy(chosen.changed)
    chosen.open_for(InstallWish(torch=ANY, no_root=True))
    assert (changed.count(), chosen.no_root.isChecked()) == (1, True)


def test_the_ways_stand_in_their_order(show: Show) -> None:
    card = show(WaysCard(ENGLISH), 700, 300)
    card.show_ways(WAYS)
    assert [card.button(place).text() for place in range(3)] == ["In a new environment", "Clean out first", "In place"]
    assert card.button(0).isChecked()


def test_a_way_is_chosen_by_a_click(show: Show) -> None:
    card = show(WaysCard(ENGLISH), 700, 300)
    card.show_ways(WAYS)
    chosen = QSignalSpy(card.chosen)
    card.button(2).click()
    assert chosen.at(0) == [2]


@pytest.mark.parametrize("ways", [(), WAYS[:1]])
def test_one_way_is_no_choice(show: Show, ways: tuple[WayPlan, ...]) -> None:
    card = show(WaysCard(ENGLISH), 700, 300)
    card.show_ways(WAYS)
    card.show_ways(ways)
    assert card.isHidden()


def test_what_a_step_would_change_is_shown(show: Show, qtbot: QtBot) -> None:
    card = step_card(show, script("pass"))
    card.show_looked(looked(warnings=("it downloads much",)))
    qtbot.waitUntil(lambda: "It would change: 1 package added · 1 changed" in words_in(card))
    assert "xformers 0.0.30 requires torch==2.8: it has that now, and would lose it" in words_in(card)
    assert "it downloads much" in words_in(card)
    assert [one.content for one in card.findChildren(CodeBlock)][-1] == "~ torch 2.8.0+cpu → 2.9.1+cu128\n+ triton 3.5"


def test_a_stop_is_shown_with_what_follows(show: Show, qtbot: QtBot) -> None:
    card = step_card(show, script("pass"))
    card.show_looked(looked(stops=("it is a CPU build",)))
    qtbot.waitUntil(lambda: "So it is not run." in words_in(card))
    assert "it is a CPU build" in words_in(card)


def test_looking_again_takes_the_place_of_the_first_look(show: Show, qtbot: QtBot) -> None:
    card = step_card(show, script("pass"))
    card.show_looked(looked(stops=("it is a CPU build",)))
    card.show_looked(looked())
    qtbot.waitUntil(lambda: "It would change: 1 package added · 1 changed" in words_in(card))
    assert "it is a CPU build" not in words_in(card)


@pytest.mark.parametrize(
    ("state", "mark"),
    [
        (StepState.DONE, Mark.RIGHT),
        (StepState.FAILED, Mark.PROBLEM),
        (StepState.CANCELLED, Mark.WARNING),
        (StepState.TAKEN_BACK, Mark.TODO),
        (StepState.WAITING, None),
    ],
)
def test_how_it_stands_has_a_mark(show: Show, state: StepState, mark: Mark | None) -> None:
    card = step_card(show, script("pass"))
    card.show_record(StepRecord(card.step, state))
    assert card.mark is mark


def test_what_is_done_needs_no_details(show: Show) -> None:
    card = step_card(show, by_user(StepKind.ROOT_COMMAND))
    card.show_record(StepRecord(card.step, StepState.DONE, "driver 580 is loaded"))
    assert words_in(card) == ["a root-command", "Driver 580 is loaded"]


def test_only_a_restart_offers_to_open_again(show: Show) -> None:
    assert step_card(show, script("pass")).autostart is None
    assert step_card(show, by_user(StepKind.REBOOT)).autostart is not None


def test_long_words_wrap(show: Show) -> None:
    step = Step(StepKind.ROOT_COMMAND, verbatim(LONG), ("sudo " + "x" * 400,), check=verbatim(LONG), needs_root=True)
    card = step_card(show, step)
    assert card.minimumSizeHint().width() <= 400


def test_it_prints_until_it_ends(show: Show, qtbot: QtBot) -> None:
    card, view = show(OutputCard(ENGLISH), 700, 400), RunView()
    card.begin(view)
    assert (card.running, card.cancel.isVisible()) == (True, True)
    view.add(Printed("hello"))
    card.end("/home/you/log.txt")
    assert (card.running, card.cancel.isVisible(), card.view.toPlainText(), card.log) == (
        False,
        False,
        "hello",
        "/home/you/log.txt",
    )


def test_cancel_is_asked_once(show: Show) -> None:
    card = show(OutputCard(ENGLISH), 700, 400)
    card.begin(RunView())
    wanted = QSignalSpy(card.cancel_wanted)
    card.cancel.click()
    card.cancel.click()
    assert (wanted.count(), card.cancel.text()) == (1, "Cancelling…")
    card.end("")


def test_without_a_log_none_is_offered(show: Show) -> None:
    card = show(OutputCard(ENGLISH), 700, 400)
    card.begin(RunView())
    card.end("")
    assert not card.open_log.isVisible()


def test_an_earlier_install_can_be_taken_back(show: Show, session: Session) -> None:
    card = show(EarlierCard(ENGLISH), 700, 200)
    install = begun(session, script("pass"))
    card.show_installs((install,))
    wanted = QSignalSpy(card.back_wanted)
    button_named(card, "Undo install…").click()
    assert wanted.at(0) == [install.id]


def test_without_earlier_installs_there_is_no_card(show: Show, session: Session) -> None:
    card = show(EarlierCard(ENGLISH), 700, 200)
    card.show_installs((begun(session, script("pass")),))
    card.show_installs(())
    assert card.isHidden()
