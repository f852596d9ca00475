"""Cards stand in two equal columns where there is room and in one where there is not."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import Columns
from tests.ui.showing import Show, overlapping


def cards(count: int, parent: QWidget) -> tuple[QWidget, ...]:
    return tuple(paragraph(f"card {place} " * (1 + place * 9), "", parent) for place in range(count))


def arranged(show: Show, count: int, width: int) -> tuple[QWidget, ...]:
    columns = Columns()
    held = cards(count, columns)
    columns.set_widgets(held)
    show(columns, width, 600)
    _lay_out(columns)
    return held


@pytest.mark.parametrize(("width", "columns"), [(600, 1), (859, 1), (860, 2), (1600, 2)])
def test_how_many_columns_there_are(show: Show, width: int, columns: int) -> None:
    assert len({card.x() for card in arranged(show, 4, width)}) == columns


@pytest.mark.parametrize("width", [600, 900, 1600])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_cards_never_overlap_and_stay_inside(show: Show, width: int, count: int) -> None:
    held = arranged(show, count, width)
    assert not overlapping(card.geometry() for card in held)
    assert all(card.geometry().right() < width for card in held)


def test_columns_are_equal_whatever_they_hold(show: Show) -> None:
    widths = {card.width() for card in arranged(show, 4, 1001)}
    assert max(widths) - min(widths) <= 1


@pytest.mark.parametrize("count", [1, 3, 5])
def test_the_last_odd_card_takes_the_whole_row(show: Show, count: int) -> None:
    assert arranged(show, count, 1000)[-1].width() == 1000


def test_reading_order_is_left_to_right(show: Show) -> None:
    first, second, third, fourth = arranged(show, 4, 1000)
    assert first.y() == second.y() < third.y() == fourth.y()
    assert first.x() == third.x() < second.x() == fourth.x()


def test_cards_of_a_row_are_equally_high(show: Show) -> None:
    first, second = arranged(show, 2, 1000)
    assert first.height() == second.height()


def test_becoming_narrow_rearranges(show: Show) -> None:
    held = arranged(show, 4, 1000)
    columns = held[0].parentWidget()
    assert isinstance(columns, Columns)
    columns.resize(500, 900)
    _lay_out(columns)
    assert len({card.x() for card in held}) == 1


def test_other_cards_replace_the_first(show: Show, qtbot: QtBot) -> None:
    columns = show(Columns(), 1000, 400)
    gone = cards(2, columns)
    columns.set_widgets(gone)
    with qtbot.waitSignals([card.destroyed for card in gone]):
        columns.set_widgets((QLabel("new", columns),))
    assert [made.text() for made in columns.findChildren(QLabel)] == ["new"]


def _lay_out(columns: Columns) -> None:
    layout = columns.layout()
    assert layout is not None
    layout.activate()
