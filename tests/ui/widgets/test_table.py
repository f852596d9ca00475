"""Tables: as high as their rows, walked by the arrows, left by Tab, copied as tab-separated text, painted with pills."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHeaderView, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.theme import Theme, colours
from gpuassist.ui.widgets.marks import pill_size
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel
from gpuassist.ui.widgets.table import Table, shared_widths
from tests.ui.showing import Show, ink_in, stroke_in

HEADINGS = ("Check", "format", "result")


def row(place: int, mark: Mark = Mark.RIGHT) -> Row:
    return (Cell(f"check {place}", after="on the GPU"), Cell("float32", quiet=True), Cell("right", mark=mark))


def rows(count: int) -> list[Row]:
    return [row(place) for place in range(count)]


def made(show: Show, content: list[Row], width: int = 600) -> Table:
    table = Table(RowsModel(HEADINGS, content), "Checks")
    table.model().setParent(table)
    return show(table, width, table.sizeHint().height())


def test_it_is_named(show: Show) -> None:
    assert made(show, rows(2)).accessibleName() == "Checks"


@pytest.mark.parametrize("count", [0, 1, 5, 12])
def test_it_is_as_high_as_its_rows(show: Show, count: int) -> None:
    table = made(show, rows(count))
    assert table.verticalScrollBar().maximum() == 0


def test_very_many_rows_scroll(show: Show) -> None:
    table = made(show, rows(100))
    assert table.height() < 15 * table.rowHeight(0)
    assert table.verticalScrollBar().maximum() > 0


def test_it_grows_with_its_rows(show: Show) -> None:
    table = made(show, rows(2))
    before = table.sizeHint().height()
    model = table.model()
    assert isinstance(model, RowsModel)
    model.set_rows(rows(5))
    assert table.sizeHint().height() > 2 * before - table.rowHeight(0)


def test_selected_rows_are_copied_with_tabs(show: Show, clipboard: QClipboard) -> None:
    table = made(show, rows(3))
    table.setFocus()
    select = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for place in (2, 0):
        table.selectionModel().select(table.model().index(place, 1), select)
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == "check 0 on the GPU\tfloat32\tright\ncheck 2 on the GPU\tfloat32\tright"


def test_the_arrows_walk_rows(show: Show) -> None:
    table = made(show, rows(3))
    table.setFocus()
    table.setCurrentIndex(table.model().index(0, 0))
    QTest.keyClick(table, Qt.Key.Key_Down)
    assert table.currentIndex().row() == 1
    assert table.selected_text().startswith("check 1")


def test_tab_leaves_the_table(show: Show) -> None:
    assert not made(show, rows(3)).tabKeyNavigation()


def test_nothing_selected_copies_nothing(show: Show) -> None:
    table = made(show, rows(3))
    table.clearSelection()
    assert table.selected_text() == ""


@pytest.mark.parametrize("mark", [Mark.RIGHT, Mark.PROBLEM, Mark.ABSENT])
def test_a_mark_is_a_pill(each_look: Theme, show: Show, mark: Mark) -> None:
    table = made(show, [row(0, mark)])
    palette = each_look.palette()
    assert ink_in(table, palette.tint(mark)) > 300
    assert stroke_in(table, palette.ink(mark)) > 20


def test_a_pill_has_all_the_room_it_needs(show: Show) -> None:
    table = made(show, rows(1))
    index = table.model().index(0, 2)
    wanted = table.itemDelegate().sizeHint(QStyleOptionViewItem(), index)
    assert wanted.width() >= pill_size("right").width()
    assert table.rowHeight(0) >= pill_size("right").height()


def test_words_have_room_with_the_quieter_ones(show: Show) -> None:
    table = made(show, rows(1))
    table.spread(gives_way=0)
    assert table.columnWidth(0) >= table.fontMetrics().horizontalAdvance("check 0 on the GPU")


def test_selected_rows_are_tinted(theme: Theme, show: Show) -> None:
    table = made(show, rows(3))
    table.selectRow(1)
    assert ink_in(table, theme.palette().accent_tint) > 2_000


def test_hairlines_stand_between_rows_only(theme: Theme, show: Show) -> None:
    one, three = (ink_in(made(show, rows(count)).viewport(), theme.palette().line) for count in (1, 3))
    assert one == 0
    assert three > 1_000


@pytest.mark.parametrize("width", [400, 600, 1000])
def test_spread_columns_fill_the_width(show: Show, width: int) -> None:
    table = made(show, rows(3), width)
    table.spread(gives_way=0)
    used = sum(table.columnWidth(column) for column in range(3))
    assert 0 <= table.viewport().width() - used < 3


@pytest.mark.parametrize("width", [180, 240, 300])
def test_where_there_is_too_little_one_column_gives_way(show: Show, width: int) -> None:
    long: list[Row] = [(Cell("a very long command line " * 8), Cell("float32"), Cell("right", mark=Mark.RIGHT))]
    table = made(show, long, width)
    before = [table.sizeHintForColumn(column) for column in (1, 2)]
    table.spread(gives_way=0)
    assert table.columnWidth(0) >= min(64, width // 3)
    assert all(table.columnWidth(column) >= min(wanted, 64) for column, wanted in zip((1, 2), before, strict=True))


def test_no_cell_is_cut_beside_a_column_that_has_more_than_its_words(show: Show) -> None:
    content: list[Row] = [(Cell("train.py --batch 24 --epochs 300"), Cell("4"), Cell("5"))]
    table = Table(RowsModel(("Check", "a", "b"), content), "Checks")
    table.model().setParent(table)
    show(table, 600, table.sizeHint().height())
    table.spread(gives_way=0)
    heading = table.horizontalHeader().sectionSizeHint
    needs = [max(table.sizeHintForColumn(column), heading(column)) for column in range(3)]
    assert max(needs[1:]) < 60
    table.resize(sum(needs) + 4, table.height())
    assert table.viewport().width() >= sum(needs)
    assert all(table.columnWidth(column) >= wanted for column, wanted in enumerate(needs))


def test_the_one_that_gives_way_keeps_its_part() -> None:
    assert shared_widths((800, 60, 60), (64, 60, 60), 300, 0) == (180, 60, 60)
    assert sum(shared_widths((80, 60, 61), (64, 60, 60), 300, 0)) in {299, 300}
    assert sum(shared_widths((800, 333, 167), (64, 64, 64), 401, 0)) <= 401


def test_short_words_stay_whole_beside_long_ones() -> None:
    assert shared_widths((400, 500, 90, 60), (64, 64, 64, 60), 500, 0) == (125, 225, 90, 60)
    assert shared_widths((400, 500, 90, 60), (64, 64, 64, 60), 200, 0) == (64, 64, 64, 60)  # what is still too wide is scrolled to


def test_spread_columns_follow_the_width(show: Show) -> None:
    table = made(show, rows(3), 400)
    table.spread(gives_way=0)
    before = table.columnWidth(0)
    table.resize(900, table.height())
    assert table.columnWidth(0) > before


def test_a_stretched_column_takes_what_is_left(show: Show) -> None:
    table = made(show, rows(3))
    table.stretch(1)
    header = table.horizontalHeader()
    assert header.sectionResizeMode(1) is QHeaderView.ResizeMode.Stretch
    assert sum(table.columnWidth(column) for column in range(3)) == table.viewport().width()


def test_a_cell_too_long_is_elided_and_still_copied(show: Show, qtbot: QtBot) -> None:
    table = made(show, [(Cell("x" * 500), Cell(""), Cell(""))], 300)
    table.spread(gives_way=0)
    table.selectRow(0)
    assert table.columnWidth(0) < 300
    assert table.selected_text() == "x" * 500 + "\t\t"


@pytest.mark.parametrize(("share", "inked"), [(None, False), (0.0, False), (0.5, True)])
def test_a_share_is_drawn_below_the_words(theme: Theme, show: Show, *, share: float | None, inked: bool) -> None:
    table = made(show, [(Cell("13.1 GiB", share=share), Cell("a"), Cell("b"))])
    assert (ink_in(table, colours().series[0]) > 0) is inked
