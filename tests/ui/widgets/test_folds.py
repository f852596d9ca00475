"""Folded cards: made when they are first wanted, kept after that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.folds import Fold, Folds
from gpuassist.ui.widgets.labels import label
from gpuassist.ui.widgets.layouts import widgets_in
from tests.ui.showing import Show, words_in

Make = Callable[..., Folds]


@pytest.fixture
def filled() -> list[str]:
    """The titles of the cards that were made."""
    return []


@pytest.fixture
def make(show: Show, filled: list[str]) -> Make:
    def fold(title: str) -> Fold:
        def fill(card: Card) -> None:
            filled.append(title)
            card.body.addWidget(label(f"inside {title}", "", card))

        return Fold(title, fill)

    def made(*titles: str, is_open: bool = False) -> Folds:
        return show(Folds(tuple(map(fold, titles)), is_open=is_open), 600, 400)

    return made


def test_nothing_is_made_before_it_is_wanted(make: Make, filled: list[str]) -> None:
    folds = make("first…", "second…")
    assert filled == []
    assert folds.card(0) is None
    assert folds.button(1).text() == "second…"


def test_a_button_opens_and_closes_its_card(make: Make, filled: list[str]) -> None:
    folds = make("first…", "second…")
    for visible in (True, False, True):
        folds.button(1).click()
        card = folds.card(1)
        assert card is not None
        assert card.isVisibleTo(folds) is visible
    assert filled == ["second…"]


def test_a_card_has_its_title_without_the_dots(make: Make) -> None:
    folds = make("14 facts…")
    folds.button(0).click()
    assert words_in(folds) == ["14 facts", "inside 14 facts…"]


def test_cards_stand_in_the_order_of_their_buttons(make: Make) -> None:
    folds = make("a", "b", "c")
    for place in (2, 0, 1):
        folds.button(place).click()
    layout = folds.layout()
    assert layout is not None
    assert list(widgets_in(layout)[-3:]) == [folds.card(0), folds.card(1), folds.card(2)]


def test_the_first_can_be_open_from_the_beginning(make: Make, filled: list[str]) -> None:
    folds = make("a", "b", is_open=True)
    assert filled == ["a"]
    assert folds.button(0).isChecked()


def test_none_is_nothing(make: Make) -> None:
    assert words_in(make(is_open=True)) == []
