"""Neighbours that changed alike are told together: a view works for every signal, whatever its size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.rows import Cell, Row, RowsModel

Told = list[tuple[int, int, int, int]]


def row(*words: str) -> Row:
    return tuple(map(Cell, words))


def told_by(before: list[Row], after: list[Row]) -> Told:
    """Top, left, bottom and right of every change that is told."""
    model = RowsModel(["a", "b", "c"], before)
    told: Told = []
    model.dataChanged.connect(lambda first, last: told.append((first.row(), first.column(), last.row(), last.column())))
    model.set_rows(after)
    return told


OLD = [row("1", "x", "y") for _ in range(6)]


@pytest.mark.parametrize(
    ("changed", "runs"),
    [
        ([], []),
        ([0], [(0, 1, 0, 1)]),
        ([0, 1, 2], [(0, 1, 2, 1)]),
        ([0, 2], [(0, 1, 0, 1), (2, 1, 2, 1)]),
        ([1, 2, 4, 5], [(1, 1, 2, 1), (4, 1, 5, 1)]),
        (list(range(6)), [(0, 1, 5, 1)]),
    ],
)
def test_neighbours_are_told_together(qtbot: QtBot, changed: list[int], runs: Told) -> None:
    new = [row("1", "new", "y") if place in changed else OLD[place] for place in range(6)]
    assert told_by(OLD, new) == runs


def test_neighbours_that_changed_elsewhere_are_told_apart(qtbot: QtBot) -> None:
    new = [row("1", "new", "y"), row("1", "x", "new"), *OLD[2:]]
    assert told_by(OLD, new) == [(0, 1, 0, 1), (1, 2, 1, 2)]


def test_a_row_is_told_from_its_first_to_its_last_change(qtbot: QtBot) -> None:
    assert told_by(OLD[:1], [row("2", "x", "z")]) == [(0, 0, 0, 2)]


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=20))
def test_every_change_is_told_once(flags: list[tuple[bool, bool, bool]]) -> None:
    before = [row("1", "2", "3") for _ in flags]
    after = [row(*("new" if one else old for one, old in zip(line, "123", strict=True))) for line in flags]
    places = [place for top, _, bottom, _ in told_by(before, after) for place in range(top, bottom + 1)]
    assert places == [place for place, line in enumerate(flags) if any(line)]
