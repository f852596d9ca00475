"""After every write the page shows what holds since: a result as long as it stands, and else a plan by the machine as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.undo import undo
from gpuassist.context import Session
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Result
from gpuassist.session.navigation import Marked, StepStatus, WizardStep
from gpuassist.ui.page import Desk, Wrote
from gpuassist.ui.pages.repair.page import CLEAN, DEVICES, LINES, TOOLKIT
from gpuassist.ui.widgets.code import StepRow
from tests.ui.made import inspection, known
from tests.ui.pages.repairing import Shown, machine_of, rc, two_toolkits

GPUS = tuple(Gpu(name=known("RTX 4090"), index=known(index)) for index in (0, 1))


@pytest.fixture
def session(home: Path) -> Session:
    return two_toolkits(home)


@pytest.fixture
def machine(session: Session) -> Machine:
    return machine_of(session, *GPUS)


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot, machine: Machine) -> Shown:
    made = Shown(desk, qtbot)
    made.open(machine)
    return made


def wrote(shown: Shown) -> int:
    """How often the frame was asked to read the machine again."""
    return sum(isinstance(one, Wrote) for one in shown.asked)


def states(shown: Shown) -> list[StepStatus]:
    return [one.state for one in shown.asked if isinstance(one, Marked) and one.step is WizardStep.REPAIR]


def planned(shown: Shown, place: int) -> ChangePlan | None:
    return (shown.page.toolkit, shown.page.clean, shown.page.devices)[place].repair


def undo_here(shown: Shown) -> None:
    shown.page.toolkit.undo.trigger()
    shown.settle()


def breaking(home: Path) -> str:
    """A file whose shells lose every nvcc as soon as PATH does not begin with the older toolkit."""
    return rc(home) + "case $PATH in *uda-11.7/bin:*) ;; *) PATH=/usr/bin:/bin ;; esac\n"


def test_what_was_made_stays_on_the_screen_with_its_proof(shown: Shown) -> None:
    shown.apply()
    carried = shown.page.toolkit.carried
    assert wrote(shown) == 1
    assert carried is not None
    assert carried.wrote
    assert shown.page.toolkit.panel.shells.isVisibleTo(shown.page)
    assert shown.title == "New terminals use CUDA 12.4"
    assert states(shown)[-1] is StepStatus.RIGHT
    shown.read_again()
    shown.settle()
    assert shown.page.toolkit.carried is carried


def test_after_undo_the_repair_is_offered_again(shown: Shown, home: Path) -> None:
    shown.apply()
    undo_here(shown)
    assert wrote(shown) == 2
    assert shown.page.toolkit.carried is None
    assert shown.plan is not None
    assert shown.plan.diff
    assert shown.page.bar().primary is shown.page.toolkit.apply
    assert states(shown)[-1] is StepStatus.TODO
    assert (home / ".bashrc").read_text() == rc(home)


def test_what_was_chosen_without_a_finding_is_still_chosen_after_undo(desk: Desk, qtbot: QtBot, machine: Machine) -> None:
    made = Shown(desk, qtbot)
    made.open(machine, "")
    made.page.toolkit.choose_toolkit("12.4")
    made.settle()
    made.apply()
    undo_here(made)
    assert made.chosen is not None
    assert made.chosen.wish.version == "12.4"


def test_what_the_command_line_took_back_is_seen_on_coming_back(shown: Shown, session: Session) -> None:
    shown.apply()
    undo(session.world)
    shown.page.arrive(None)
    shown.settle()
    assert shown.page.toolkit.carried is None


def test_a_result_that_a_new_terminal_contradicts_is_shown_no_longer(shown: Shown, home: Path) -> None:
    shown.apply()
    with (home / ".bashrc").open("a") as file:
        file.write(f"export PATH={home}/cuda-11.7/bin:$PATH\n")
    shown.read_again()
    shown.settle()
    assert shown.page.toolkit.carried is None
    assert shown.plan is not None
    assert shown.plan.diff


def test_the_scope_says_what_is_chosen_there_now(shown: Shown) -> None:
    shown.page.segments.choose(DEVICES)
    shown.page.devices.devices_card.ticks[0].tick.setChecked(False)
    shown.settle()
    shown.page.devices.apply.trigger()
    shown.settle()
    assert [scope.held.devices for scope in shown.page.devices.scopes][:1] == [("1",)]
    shown.page.devices.undo.trigger()
    shown.settle()
    assert [scope.held.devices for scope in shown.page.devices.scopes][:1] == [()]
    assert [row.tick.isChecked() for row in shown.page.devices.devices_card.ticks] == [True, True]
    assert shown.page.devices.repair is not None
    assert shown.page.devices.repair.diff == ""


def test_gpus_that_are_all_seen_are_not_called_a_choice(shown: Shown) -> None:
    shown.page.segments.choose(DEVICES)
    shown.settle()
    assert shown.title == "Programs see every GPU already"
    assert [row for row in shown.page.devices.card.findChildren(StepRow) if row.isVisibleTo(shown.page)] == []


@pytest.mark.parametrize("place", [TOOLKIT, CLEAN, DEVICES])
def test_between_write_and_reading_nothing_is_planned_by_old_facts(shown: Shown, place: int) -> None:
    shown.page.segments.choose(place)
    shown.settle()
    before = planned(shown, place)
    assert before is not None
    shown.page.show_reading("Reading again")
    assert planned(shown, place) is None
    assert shown.page.bar().primary is None
    shown.read_again()
    shown.settle()
    assert planned(shown, place) is not None


def test_the_table_of_lines_is_empty_until_the_files_are_read_again(shown: Shown) -> None:
    shown.page.segments.choose(LINES)
    shown.settle()
    shown.page.show_reading("Reading again")
    assert not shown.page.lines.table.isVisibleTo(shown.page)
    shown.read_again()
    shown.settle()
    assert shown.page.lines.table.isVisibleTo(shown.page)


def test_a_machine_that_cannot_be_read_again_is_planned_by_what_is_there(shown: Shown) -> None:
    shown.page.show_reading("Reading again")
    shown.page.show_reading("")
    shown.settle()
    assert shown.plan is not None


def test_a_recorded_machine_shows_nothing_of_what_was_made_here(shown: Shown, machine: Machine) -> None:
    shown.apply()
    shown.page.show_inspection(inspection(machine, recorded=True))
    shown.settle()
    assert shown.page.toolkit.carried is None
    assert not shown.page.history.isVisibleTo(shown.page)
    assert shown.notice() == ""


def test_a_change_that_made_it_worse_is_shown_as_taken_back(shown: Shown, home: Path) -> None:
    (home / ".bashrc").write_text(breaking(home))
    shown.read_again()
    shown.settle()
    shown.apply()
    section = shown.page.toolkit
    assert section.carried is not None
    assert section.carried.rolled_back is not None
    assert section.carried.outcome.result is Result.FAILED
    assert (home / ".bashrc").read_text() == breaking(home)
    assert shown.title == "The change was undone again"
    assert section.panel.shells.isVisibleTo(shown.page)
    assert not section.panel.terminal.isVisibleTo(shown.page)
    assert not section.panel.by_hand.isVisibleTo(shown.page)
    assert not section.panel.paste.isVisibleTo(shown.page)
    assert shown.page.bar().left == (section.anew,)
    assert states(shown)[-1] is StepStatus.PROBLEM
    assert wrote(shown) == 1
    section.anew.trigger()
    shown.settle()
    assert shown.page.bar().primary is section.apply
