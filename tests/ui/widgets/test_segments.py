"""Segments: one of a few words is chosen by mouse or arrow key, and code that shows a choice tells nobody."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpuassist.ui.palette import DARK, LIGHT
from gpuassist.ui.theme import Theme, colours
from gpuassist.ui.widgets.segments import Segments
from tests.ui.showing import Show, ink_in

TITLES = ("Toolkit", "Clean up", "Lines")


@pytest.fixture
def segments(show: Show) -> Segments:
    return show(Segments(TITLES, "What to repair"), 400, 40)


def heard(segments: Segments) -> list[int]:
    told: list[int] = []
    segments.chosen.connect(told.append)
    return told


def test_the_first_is_chosen_at_first(segments: Segments) -> None:
    assert segments.place == 0


def test_a_click_chooses_and_tells(segments: Segments) -> None:
    told = heard(segments)
    segments.button(2).click()
    assert (segments.place, told) == (2, [2])


def test_choosing_the_same_again_tells_nothing(segments: Segments) -> None:
    told = heard(segments)
    segments.button(0).click()
    assert told == []


def test_what_code_shows_is_not_told(segments: Segments) -> None:
    told = heard(segments)
    segments.show_chosen(1)
    assert (segments.place, told) == (1, [])


def test_the_arrow_keys_walk_them(segments: Segments) -> None:
    told = heard(segments)
    segments.button(0).setFocus()
    QTest.keyClick(segments.button(0), Qt.Key.Key_Right)
    assert (told, QApplication.focusWidget()) == ([1], segments.button(1))


def test_one_that_is_not_offered_says_why(segments: Segments) -> None:
    told = heard(segments)
    segments.offer(2, why_not="no line to put there")
    segments.button(2).click()
    assert (told, segments.button(2).toolTip()) == ([], "no line to put there")


def test_one_can_be_offered_again(segments: Segments) -> None:
    segments.offer(2, why_not="not now")
    segments.offer(2)
    assert segments.button(2).isEnabled()


def test_it_has_a_name_for_screen_readers(segments: Segments) -> None:
    assert segments.accessibleName() == "What to repair"


def test_only_one_is_ever_chosen(segments: Segments) -> None:
    segments.choose(1)
    segments.choose(2)
    assert [segments.button(place).isChecked() for place in range(3)] == [False, False, True]


def test_compact_ones_are_lower(show: Show) -> None:
    high, low = Segments(TITLES, ""), Segments(TITLES, "", compact=True)
    assert show(low).sizeHint().height() <= show(high).sizeHint().height()


def test_the_chosen_one_stands_out_in_each_look(each_look: Theme, segments: Segments) -> None:
    assert colours() in {LIGHT, DARK}
    assert ink_in(segments.button(0), colours().panel) > ink_in(segments.button(1), colours().panel)
