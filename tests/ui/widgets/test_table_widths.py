"""Columns that were given a size keep it, whatever their cells say."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFontMetrics

from gpuassist.present.marks import Mark
from gpuassist.ui.theme import mono
from gpuassist.ui.widgets.rows import Cell, RowsModel
from gpuassist.ui.widgets.table import Table
from tests.ui.showing import Show

SAMPLES = (Cell("a name"), Cell("888.8 GiB"), Cell("skipped", mark=Mark.ABSENT))


@pytest.fixture
def table(show: Show) -> Table:
    model = RowsModel(["Name", "Size", "Result"], [(Cell("x"), Cell("1 MiB"), Cell("right", mark=Mark.RIGHT))])
    made = show(Table(model, "things"), 500, 160)
    made.size_like(SAMPLES, 0)
    return made


def widths(table: Table) -> list[int]:
    return [table.columnWidth(place) for place in range(3)]


def test_one_column_takes_what_is_left(table: Table) -> None:
    assert sum(widths(table)) == table.viewport().width()


def test_longer_words_change_no_width(table: Table) -> None:
    before = widths(table)
    model = table.model()
    assert isinstance(model, RowsModel)
    model.set_rows([(Cell("x" * 200), Cell("y" * 200), Cell("z" * 200))])
    assert widths(table) == before


def test_a_heading_longer_than_its_sample_is_whole(show: Show) -> None:
    made = show(Table(RowsModel(["A", "a heading that is long"]), "things"), 500, 160)
    made.size_like((Cell("a"), Cell("b")), 0)
    assert made.columnWidth(1) >= made.horizontalHeader().sectionSizeHint(1)


def test_a_pill_is_wider_than_its_words(show: Show) -> None:
    made = show(Table(RowsModel(["A", "B", "C"]), "things"), 500, 160)
    made.size_like((Cell("a"), Cell("skipped"), Cell("skipped", mark=Mark.ABSENT)), 0)
    assert made.columnWidth(2) > made.columnWidth(1)


def test_monospaced_figures_have_their_room(show: Show) -> None:
    made = show(Table(RowsModel(["A", "B", "C"]), "things"), 500, 160)
    thin = "i" * 12
    made.size_like((Cell("a"), Cell(thin), Cell(thin, mono=True)), 0)
    wider = QFontMetrics(mono()).horizontalAdvance(thin) > QFontMetrics(made.font()).horizontalAdvance(thin)
    assert (made.columnWidth(2) > made.columnWidth(1)) is wider  # it is not where the machine has no monospaced font
