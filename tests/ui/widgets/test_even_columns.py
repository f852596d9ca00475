"""As many even columns as fit."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.layouts import EvenColumns
from tests.ui.showing import Show, overlapping


def columns(show: Show, count: int, width: int) -> tuple[EvenColumns, list[QLabel]]:
    made = EvenColumns(least=150)
    labels = [QLabel(str(place)) for place in range(count)]
    for label in labels:
        made.add(label)
    return show(made, width, 200), labels


@pytest.mark.parametrize(("width", "side_by_side"), [(1000, 5), (780, 3), (500, 3), (330, 2), (100, 1)])
def test_as_many_stand_side_by_side_as_fit(show: Show, width: int, side_by_side: int) -> None:
    assert columns(show, 5, width)[0].columns == side_by_side


@pytest.mark.parametrize("width", [1000, 500, 200])
def test_they_stand_apart_and_are_equally_wide(show: Show, width: int) -> None:
    _, labels = columns(show, 5, width)
    assert not overlapping([label.geometry() for label in labels])
    assert max(label.width() for label in labels) - min(label.width() for label in labels) <= 1


def test_a_narrower_one_is_arranged_anew(show: Show, qtbot: QtBot) -> None:
    made, labels = columns(show, 4, 1000)
    made.resize(330, 200)
    assert made.columns == 2
    qtbot.waitUntil(lambda: labels[2].y() > labels[0].y())


def test_hidden_ones_take_no_place(show: Show) -> None:
    made, labels = columns(show, 6, 780)
    assert made.columns == 3
    made.show_only(labels[:4])
    assert (made.columns, [label.isHidden() for label in labels]) == (4, [False] * 4 + [True] * 2)


def test_hidden_ones_come_back(show: Show) -> None:
    made, labels = columns(show, 6, 780)
    made.show_only(labels[:4])
    made.show_only(labels)
    assert (made.columns, labels[5].isHidden()) == (3, False)


def test_nothing_is_arranged_without_anything() -> None:
    assert EvenColumns(least=100).columns == 0
