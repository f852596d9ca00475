"""Below the steps: the choice of looks, and the way to help."""

from __future__ import annotations

import pytest
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QMenu

from gpuassist.model.words import ENGLISH
from gpuassist.system.resources import Resources
from gpuassist.ui.theme import Appearance
from gpuassist.ui.widgets.side_list import AppearanceButton, Foot
from tests.ui.showing import Show, button_named


@pytest.fixture
def foot(show: Show) -> Foot:
    return show(Foot(ENGLISH, Appearance.SYSTEM, Resources()), 200, 80)


def looks(foot: Foot) -> QMenu:
    (button,) = foot.findChildren(AppearanceButton)
    return button.menu_of_looks()


def test_the_looks_are_named(foot: Foot) -> None:
    assert [action.text() for action in looks(foot).actions()] == ["Follow system", "Light", "Dark"]


@pytest.mark.parametrize("appearance", list(Appearance))
def test_the_look_now_is_ticked(show: Show, appearance: Appearance) -> None:
    made = show(Foot(ENGLISH, appearance, Resources()), 200, 80)
    assert [action.isChecked() for action in looks(made).actions()] == [one is appearance for one in Appearance]


@pytest.mark.parametrize(("place", "appearance"), list(enumerate(Appearance)))
def test_a_look_can_be_chosen(foot: Foot, place: int, appearance: Appearance) -> None:
    chosen = QSignalSpy(foot.appearance_chosen)
    looks(foot).actions()[place].trigger()
    assert [chosen.at(0)[0], chosen.count()] == [appearance, 1]


def test_the_look_chosen_is_ticked_next_time(foot: Foot) -> None:
    looks(foot).actions()[2].trigger()
    assert [action.isChecked() for action in looks(foot).actions()] == [False, False, True]


@pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen
def test_a_click_opens_the_menu(foot: Foot) -> None:
    button = button_named(foot, "Appearance")
    button.click()
    (menu,) = button.findChildren(QMenu)
    assert menu.isVisible()
    menu.close()


def test_help_is_one_click_away(foot: Foot) -> None:
    wanted = QSignalSpy(foot.help_wanted)
    button_named(foot, "Help").click()
    assert (wanted.count(), button_named(foot, "Help").toolTip()) == (1, "F1")
