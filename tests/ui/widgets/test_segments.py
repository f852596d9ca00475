"""A few words of which one is chosen: by pointer, keyboard and code, and what cannot be chosen says why."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.segments import Segments
from tests.ui.showing import Show, overlapping

TITLES = ("Minute", "Hour", "Day")

_PADDING = 14  # of the style sheet, on either side


@pytest.fixture
def segments(show: Show) -> Segments:
    return show(Segments(TITLES, "Span"), 400, 40)


def told(segments: Segments) -> list[int]:
    """The places that it tells from now on."""
    found: list[int] = []
    segments.chosen.connect(found.append)
    return found


def test_first_is_chosen_from_the_start(segments: Segments) -> None:
    assert segments.place == 0
    assert [segments.button(place).text() for place in range(3)] == list(TITLES)


def test_they_stand_side_by_side(segments: Segments) -> None:
    places = [segments.button(place).geometry() for place in range(3)]
    assert not overlapping(places)
    assert [place.x() for place in places] == sorted(place.x() for place in places)


@pytest.mark.parametrize("place", [1, 2])
def test_pointer_chooses(segments: Segments, place: int) -> None:
    found = told(segments)
    QTest.mouseClick(segments.button(place), Qt.MouseButton.LeftButton)
    assert (segments.place, found) == (place, [place])


def test_chosen_one_is_not_told_again(segments: Segments) -> None:
    found = told(segments)
    QTest.mouseClick(segments.button(0), Qt.MouseButton.LeftButton)
    assert (segments.place, found) == (0, [])


def test_arrow_keys_walk_them(segments: Segments) -> None:
    found = told(segments)
    segments.button(0).setFocus()
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left):
        QTest.keyClick(segments.focusWidget(), key)
    assert found == [1, 2, 1]


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("back", [False, True])
def test_tab_comes_to_the_one_that_is_chosen_and_goes_past_the_others(show: Show, place: int, *, back: bool) -> None:
    window = QWidget()
    row = QHBoxLayout(window)
    before, segments, after = QLineEdit(window), Segments(TITLES, "Span", window), QLineEdit(window)
    for widget in (before, segments, after):
        row.addWidget(widget)
    show(window, 600, 60)
    segments.show_chosen(place)
    (after if back else before).setFocus()
    key = Qt.Key.Key_Backtab if back else Qt.Key.Key_Tab
    QTest.keyClick(window.focusWidget(), key)
    assert window.focusWidget() is segments.button(place)
    QTest.keyClick(window.focusWidget(), key)
    assert window.focusWidget() is (before if back else after)


def test_code_shows_without_a_word(segments: Segments) -> None:
    found = told(segments)
    segments.show_chosen(2)
    assert (segments.place, found) == (2, [])


def test_code_may_choose_as_the_user_would(segments: Segments) -> None:
    found = told(segments)
    segments.choose(1)
    assert (segments.place, found) == (1, [1])


def test_exactly_one_is_chosen(segments: Segments) -> None:
    segments.choose(2)
    assert [segments.button(place).isChecked() for place in range(3)] == [False, False, True]


def test_what_cannot_be_chosen_says_why(segments: Segments) -> None:
    found = told(segments)
    segments.offer(1, why_not="nothing was recorded for so long")
    QTest.mouseClick(segments.button(1), Qt.MouseButton.LeftButton)
    assert (segments.place, found) == (0, [])
    assert segments.button(1).toolTip() == "nothing was recorded for so long"


def test_what_can_be_chosen_again_says_nothing(segments: Segments) -> None:
    segments.offer(1, why_not="not yet")
    segments.offer(1)
    assert segments.button(1).isEnabled()
    assert segments.button(1).toolTip() == ""


def test_screen_readers_hear_the_name(segments: Segments) -> None:
    assert segments.accessibleName() == "Span"


@pytest.mark.parametrize(("compact", "marked"), [(True, True), (False, None)])
def test_compact_ones_are_told_to_the_style(show: Show, compact: bool, marked: bool | None) -> None:
    made = show(Segments(TITLES, "Span", compact=compact), 400, 40)
    assert made.button(0).property("compact") is marked


def test_the_chosen_words_have_all_the_room_they_need(show: Show, each_look: Theme) -> None:
    made = show(Segments(("Keep", "Comment out", "Replace"), "What becomes of a line"), 400, 40)
    for place in range(3):
        made.choose(place)
        button = made.button(place)
        bold = QFont(button.font())
        bold.setWeight(QFont.Weight.DemiBold)
        assert button.width() >= QFontMetrics(bold).horizontalAdvance(button.text()) + 2 * _PADDING
