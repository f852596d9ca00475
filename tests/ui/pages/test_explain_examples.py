"""What can be explained: each example in words, with its command to copy."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QClipboard

from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.explain.text import ExamplesCard
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.layouts import EvenColumns
from tests.ui.showing import Show, words_in


def shown(show: Show, width: int, height: int) -> ExamplesCard:
    """The card with all of its examples."""
    made = ExamplesCard(ENGLISH)
    for step in made.making():
        step()
    return show(made, width, height)


@pytest.fixture
def card(show: Show) -> ExamplesCard:
    return shown(show, 992, 400)


def test_it_names_errors_and_outputs(card: ExamplesCard) -> None:
    said = words_in(card)
    assert said[0] == "What can be explained"
    assert "An error of your program" in said
    assert "python -m torch.utils.collect_env" in said


def test_each_command_can_be_copied(card: ExamplesCard, clipboard: QClipboard) -> None:
    copied = []
    for button in card.findChildren(CopyButton):
        button.click()
        copied.append(clipboard.text())
    assert len(copied) == 4
    assert copied[0] == "nvidia-smi"
    assert all(command in words_in(card) for command in copied)


def test_a_copy_button_says_of_what(card: ExamplesCard) -> None:
    assert card.findChildren(CopyButton)[0].accessibleName() == "Copy: What the driver says"


@pytest.mark.parametrize(("width", "columns"), [(992, 2), (640, 1)])
def test_they_stand_side_by_side_where_there_is_room(show: Show, width: int, columns: int) -> None:
    card = shown(show, width, 600)
    assert card.findChildren(EvenColumns)[0].columns == columns
