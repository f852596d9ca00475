"""A remedy's card: what to do, the commands, where they go, and how to see that it worked."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QClipboard

from gpuassist.model.finding import Remedy
from gpuassist.model.words import ENGLISH
from gpuassist.present.remedies import ShownRemedy
from gpuassist.ui.pages.explain.remedies import RemedyCard
from gpuassist.ui.widgets.code import CodeBlock
from tests.session.explained import remedy
from tests.ui.showing import Show, button_named, words_in

EXPORT = remedy("export A=1", check="It runs.")


def card(show: Show, given: Remedy = EXPORT, number: int = 0) -> RemedyCard:
    return show(RemedyCard(ENGLISH, ShownRemedy(given, ()), number), 480, 220)


@pytest.mark.parametrize(("number", "title"), [(0, "Do it."), (2, "2 · Do it.")])
def test_it_begins_with_what_to_do(show: Show, number: int, title: str) -> None:
    assert words_in(card(show, number=number))[0] == title


def test_it_says_where_to_type_and_how_to_see(show: Show) -> None:
    said = words_in(card(show))
    assert "the terminal that starts your program" in said[1]
    assert said[2] == "To see that it worked: It runs."


def test_its_commands_can_be_copied(show: Show, clipboard: QClipboard) -> None:
    button_named(card(show, remedy("one", "two")), "Copy").click()
    assert clipboard.text() == "one\ntwo"


def test_without_commands_there_is_nothing_to_copy(show: Show) -> None:
    made = card(show, remedy())
    assert made.findChildren(CodeBlock) == []
    assert words_in(made) == ["Do it."]


def test_it_is_read_aloud(show: Show) -> None:
    assert card(show).accessibleName() == "Do it."
