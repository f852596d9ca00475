"""A searched list: typing narrows it, Enter, the arrows and clicks take a row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QSignalSpy, QTest
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.search_box import SearchBox, matching
from tests.ui.showing import Show

CARDS = ("RTX 5090", "RTX 5090 D", "RTX 5070 Ti", "RTX 4090 Laptop GPU", "RTX 4090", "GTX 750", "RTX PRO 5000 Blackwell")

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")  # popups, offscreen


@pytest.fixture
def box(show: Show, qtbot: QtBot) -> SearchBox:
    made = SearchBox("Add a GPU")
    made.set_options(CARDS)
    show(made, 300, 36)
    made.setFocus()
    qtbot.waitUntil(made.hasFocus)
    return made


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("4090", "RTX 4090"),
        ("rtx4090", "RTX 4090 Laptop GPU"),
        ("5090", "RTX 5090"),
        ("50", "RTX 5090"),
        ("laptop 4090", "RTX 4090 Laptop GPU"),
        ("5070ti", "RTX 5070 Ti"),
        ("pro", "RTX PRO 5000 Blackwell"),
        ("", "RTX 5090"),
    ],
)
def test_what_comes_nearest_comes_first(typed: str, first: str) -> None:
    assert matching(CARDS, typed)[0] == first


@pytest.mark.parametrize("typed", ["voodoo", "4090 5090", "radeon 7900"])
def test_what_is_nowhere_in_the_list_finds_nothing(typed: str) -> None:
    assert matching(CARDS, typed) == ()


@given(st.text("RTXGti 0459", max_size=12))
def test_what_is_found_holds_what_was_typed(typed: str) -> None:
    together = "".join(typed.lower().split())
    for option in matching(CARDS, typed):
        plain = option.lower()
        assert all(word in plain for word in typed.lower().split()) or together in plain.replace(" ", "")


@given(st.sampled_from(CARDS))
def test_a_whole_name_is_found_first(name: str) -> None:
    assert matching(CARDS, name)[0] == name


def test_typing_narrows_the_list(box: SearchBox) -> None:
    QTest.keyClicks(box, "50")
    assert box.shown == ("RTX 5090", "RTX 5090 D", "RTX 5070 Ti", "RTX PRO 5000 Blackwell", "GTX 750")


def test_enter_takes_the_nearest(box: SearchBox) -> None:
    spy = QSignalSpy(box.taken)
    QTest.keyClicks(box, "4090")
    QTest.keyClick(box.popup, Qt.Key.Key_Return)
    assert [spy.at(place)[0] for place in range(spy.count())] == ["RTX 4090"]
    assert box.text() == ""


def test_the_arrows_choose_another_row(box: SearchBox) -> None:
    spy = QSignalSpy(box.taken)
    QTest.keyClicks(box, "5090")
    QTest.keyClick(box.popup, Qt.Key.Key_Down)
    QTest.keyClick(box.popup, Qt.Key.Key_Return)
    QTest.keyClicks(box, "5090")
    QTest.keyClick(box.popup, Qt.Key.Key_Down)
    QTest.keyClick(box.popup, Qt.Key.Key_Down)
    QTest.keyClick(box.popup, Qt.Key.Key_Return)
    assert [spy.at(place)[0] for place in range(spy.count())] == ["RTX 5090", "RTX 5090 D"]


def test_an_arrow_opens_the_whole_list(box: SearchBox) -> None:
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert box.popup.isVisible()
    assert box.shown == CARDS


def test_a_click_takes_a_row(box: SearchBox) -> None:
    spy = QSignalSpy(box.taken)
    QTest.keyClick(box, Qt.Key.Key_Down)
    place = box.popup.visualRect(box.popup.model().index(2, 0)).center()
    QTest.mouseClick(box.popup.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert spy.at(0)[0] == "RTX 5070 Ti"


def test_escape_closes_the_list_and_then_forgets_the_words(box: SearchBox) -> None:
    QTest.keyClicks(box, "5090")
    QTest.keyClick(box.popup, Qt.Key.Key_Escape)
    assert (box.popup.isVisible(), box.text()) == (False, "5090")
    QTest.keyClick(box, Qt.Key.Key_Escape)
    assert box.text() == ""


def test_what_is_not_in_the_list_is_told(box: SearchBox) -> None:
    spy = QSignalSpy(box.missed)
    QTest.keyClicks(box, "voodoo 5")
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert spy.at(0)[0] == "voodoo 5"
    assert box.text() == "voodoo 5"


def test_enter_on_nothing_does_nothing(box: SearchBox) -> None:
    taken, missed = QSignalSpy(box.taken), QSignalSpy(box.missed)
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert (taken.count(), missed.count()) == (0, 0)


def test_after_taking_one_the_whole_list_is_there_again(box: SearchBox) -> None:
    QTest.keyClicks(box, "4090")
    QTest.keyClick(box.popup, Qt.Key.Key_Return)
    assert box.shown == CARDS


def test_it_is_read_aloud_by_what_it_is_for(box: SearchBox) -> None:
    assert box.accessibleName() == box.placeholderText() == "Add a GPU"
