"""Banners tell of a recorded machine and of our own faults, and take no room where there is nothing to tell."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.banners import Banners
from gpuassist.ui.widgets.cards import Notice
from gpuassist.ui.widgets.marks import MarkIcon
from tests.ui.showing import Show, button_named


@pytest.fixture
def banners(show: Show) -> Banners:
    made = show(Banners(ENGLISH), 900, 140)
    made.hide()
    return made


def told(banners: Banners) -> list[str]:
    return [notice.words for notice in banners.findChildren(Notice) if notice.isVisible()]


def test_with_nothing_to_say_nothing_is_made(banners: Banners) -> None:
    banners.show_recorded(False)
    assert not banners.isVisible()
    assert banners.findChildren(QWidget) == []


def test_a_language_that_is_not_there_is_told_of_until_it_is_closed(show: Show) -> None:
    banners = show(Banners(replace(ENGLISH, notice=text("not complete"))), 900, 140)
    assert told(banners) == ["not complete"]
    button_named(banners, "Close").click()
    assert not banners.isVisible()


def test_a_machine_that_could_not_be_read_again_is_told_until_it_was(banners: Banners) -> None:
    banners.show_stale("")
    assert banners.findChildren(QWidget) == []
    banners.show_stale("a reason")
    (words,) = told(banners)
    assert "a reason" in words
    spy = QSignalSpy(banners.again_wanted)
    button_named(banners, "Refresh").click()
    assert spy.count() == 1
    banners.show_stale("")
    assert not banners.isVisible()


def test_a_recorded_machine_is_told(banners: Banners) -> None:
    banners.show_recorded(True)
    assert told(banners) == ["Viewing a recorded machine: read-only."]
    assert [icon.mark for icon in banners.findChildren(MarkIcon)] == [Mark.INFO]


def test_the_live_machine_is_one_click_away(banners: Banners) -> None:
    banners.show_recorded(True)
    wanted = QSignalSpy(banners.live_wanted)
    button_named(banners, "Read this machine instead").click()
    assert wanted.count() == 1


def test_the_live_machine_needs_no_banner(banners: Banners) -> None:
    banners.show_recorded(True)
    banners.show_recorded(False)
    assert (banners.isVisible(), told(banners)) == (False, [])


def test_a_second_recording_has_one_banner_too(banners: Banners) -> None:
    for recorded in (True, False, True):
        banners.show_recorded(recorded)
    assert (banners.isVisible(), len(told(banners))) == (True, 1)


def test_a_fault_is_ours(banners: Banners) -> None:
    banners.show_fault("Traceback…")
    assert told(banners) == ["Something went wrong inside gpuassist. That is our fault, not your machine's."]
    assert [icon.mark for icon in banners.findChildren(MarkIcon)] == [Mark.PROBLEM]


def test_the_details_of_the_first_fault_are_copied(banners: Banners, clipboard: QClipboard) -> None:
    banners.show_fault("the cause")
    banners.show_fault("what came of it")
    button_named(banners, "Copy the details").click()
    assert clipboard.text() == "the cause"


def test_many_faults_have_one_banner(banners: Banners) -> None:
    for _ in range(5):
        banners.show_fault("Traceback…")
    assert len(told(banners)) == 1


def test_a_fault_stays_when_the_recording_goes(banners: Banners) -> None:
    banners.show_recorded(True)
    banners.show_fault("Traceback…")
    banners.show_recorded(False)
    assert (banners.isVisible(), len(told(banners))) == (True, 1)


def test_both_banners_stand_one_below_the_other(banners: Banners) -> None:
    banners.show_recorded(True)
    banners.show_fault("Traceback…")
    assert banners.recorded is not None
    assert banners.fault is not None
    layout = banners.layout()
    assert layout is not None
    layout.activate()
    assert banners.recorded.geometry().bottom() < banners.fault.geometry().top()


LINES = tuple(f"gpus.json, line {line} is damaged and was skipped" for line in range(1, 7))
LEFT_OUT = "Part of gpuassist's data is damaged and was left out; everything else works without it:"


@pytest.mark.parametrize(
    ("count", "rest"), [(1, ()), (3, ()), (4, ("and 1 more such line",)), (6, ("and 3 more such lines",))], ids=["1", "3", "4", "6"]
)
def test_damaged_lines_are_named(banners: Banners, count: int, rest: tuple[str, ...]) -> None:
    banners.show_damage(LINES[:count])
    assert told(banners) == ["\n".join((LEFT_OUT, *LINES[: min(count, 3)], *rest))]
    assert [icon.mark for icon in banners.findChildren(MarkIcon)] == [Mark.INFO]


def test_all_damaged_lines_are_copied(banners: Banners, clipboard: QClipboard) -> None:
    banners.show_damage(LINES)
    button_named(banners, "Copy the details").click()
    assert clipboard.text().splitlines() == list(LINES)


def test_what_was_closed_comes_back_only_with_another_line(banners: Banners) -> None:
    visible = []
    banners.show_damage(LINES[:1])
    button_named(banners, "Close").click()
    for count in (1, 2):
        banners.show_damage(LINES[:count])
        visible.append(banners.isVisible())
    assert visible == [False, True]


def test_sound_files_are_not_spoken_of(banners: Banners) -> None:
    banners.show_damage(())
    assert (banners.isVisible(), banners.damage) == (False, None)


def test_damage_that_is_mended_goes(banners: Banners) -> None:
    banners.show_damage(LINES[:1])
    banners.show_damage(())
    assert (banners.isVisible(), told(banners)) == (False, [])


def test_an_install_that_waits_is_told(banners: Banners) -> None:
    banners.show_waiting("The install of torch waits at step 2 of 3")
    wanted = QSignalSpy(banners.go_on_wanted)
    button_named(banners, "Continue").click()
    assert (told(banners), wanted.count()) == (["The install of torch waits at step 2 of 3"], 1)


def test_when_nothing_waits_any_more_the_banner_goes(banners: Banners) -> None:
    banners.show_waiting("The install of torch waits")
    banners.show_waiting("")
    assert (banners.isVisible(), told(banners)) == (False, [])
