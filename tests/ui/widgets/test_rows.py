"""Tables of cells: sound for every view, telling views of the cells that changed and of no others."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QColor, QFont
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.palette import LIGHT
from gpuassist.ui.widgets.rows import AFTER_ROLE, MARK_ROLE, Cell, Row, RowsModel

Role = Qt.ItemDataRole
HEADINGS = ("Check", "rate")


def row(words: str, rate: str = "1") -> Row:
    return (Cell(words), Cell(rate, right=True))


@pytest.fixture
def model(qtmodeltester: ModelTester) -> RowsModel:
    made = RowsModel(HEADINGS, [row("a"), row("b"), row("c")])
    qtmodeltester.check(made)  # type: ignore[no-untyped-call]
    return made


def words_of(model: RowsModel) -> list[list[str]]:
    return [[model.index(place, column).data() for column in range(model.columnCount())] for place in range(model.rowCount())]


def changes_of(model: RowsModel) -> list[tuple[str, int, int]]:
    told: list[tuple[str, int, int]] = []
    model.dataChanged.connect(lambda first, last: told.append((f"row {first.row()}", first.column(), last.column())))
    model.rowsInserted.connect(lambda _, first, last: told.append(("new", first, last)))
    model.rowsRemoved.connect(lambda _, first, last: told.append(("gone", first, last)))
    return told


def test_cells_are_shown_in_order(model: RowsModel) -> None:
    assert words_of(model) == [["a", "1"], ["b", "1"], ["c", "1"]]


def test_headings_are_shown(model: RowsModel) -> None:
    assert [model.headerData(place, Qt.Orientation.Horizontal) for place in range(2)] == ["Check", "rate"]


@pytest.mark.parametrize(
    ("place", "direction"), [(2, Qt.Orientation.Horizontal), (-1, Qt.Orientation.Horizontal), (0, Qt.Orientation.Vertical)]
)
def test_beyond_the_headings_there_are_none(model: RowsModel, place: int, direction: Qt.Orientation) -> None:
    assert model.headerData(place, direction) is None


def test_a_heading_stands_over_its_numbers(model: RowsModel) -> None:
    right = model.headerData(1, Qt.Orientation.Horizontal, Role.TextAlignmentRole)
    assert right == Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter == model.index(0, 1).data(Role.TextAlignmentRole)


def test_only_changed_cells_are_told(model: RowsModel) -> None:
    told = changes_of(model)
    model.set_rows([row("a"), row("b", "2"), row("x")])
    assert told == [("row 1", 1, 1), ("row 2", 0, 0)]


def test_equal_rows_tell_nothing(model: RowsModel) -> None:
    told = changes_of(model)
    model.set_rows([row("a"), row("b"), row("c")])
    assert told == []


def test_more_rows_are_inserted_at_the_end(model: RowsModel) -> None:
    told = changes_of(model)
    model.set_rows([row("a"), row("b"), row("c"), row("d"), row("e")])
    assert told == [("new", 3, 4)]


def test_fewer_rows_are_removed_at_the_end(model: RowsModel) -> None:
    told = changes_of(model)
    model.set_rows([row("x")])
    assert told == [("gone", 1, 2), ("row 0", 0, 0)]


tables = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("12")).map(lambda one: row(*one)), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(tables, max_size=4))
def test_any_change_leaves_a_sound_model(qtbot: QtBot, changes: list[list[Row]]) -> None:
    model = RowsModel(HEADINGS)
    watched = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Warning)
    for rows in changes:
        model.set_rows(rows)
        assert words_of(model) == [[cell.words for cell in one] for one in rows] == [[c.words for c in one] for one in model.rows]
    assert watched.model() is model


def test_a_cell_has_nothing_below_it(model: RowsModel) -> None:
    assert (model.rowCount(model.index(0, 0)), model.columnCount(model.index(0, 0))) == (0, 0)


def test_an_index_of_nothing_has_no_data(model: RowsModel) -> None:
    assert model.data(QModelIndex()) is None


def test_an_index_of_a_row_that_went_has_no_data(model: RowsModel) -> None:
    stale = model.index(2, 0)
    model.set_rows([row("a")])
    assert model.data(stale) is None


@pytest.mark.parametrize(
    ("cell", "role", "wanted"),
    [
        (Cell("right", mark=Mark.RIGHT), MARK_ROLE, "right"),
        (Cell("right"), MARK_ROLE, None),
        (Cell("python", after="4711"), AFTER_ROLE, "4711"),
        (Cell("python", after="4711"), Role.AccessibleTextRole, "python 4711"),
        (Cell("python"), Role.AccessibleTextRole, "python"),
        (Cell("python", tip="python train.py"), Role.ToolTipRole, "python train.py"),
        (Cell("python"), Role.ToolTipRole, None),
        (Cell("python"), Role.ForegroundRole, None),
        (Cell("python"), Role.FontRole, None),
        (Cell("python"), Role.DecorationRole, None),
    ],
)
def test_what_a_cell_tells_of_itself(qtbot: QtBot, cell: Cell, role: int, wanted: object) -> None:
    assert RowsModel(("one",), [(cell,)]).index(0, 0).data(role) == wanted


def test_a_quiet_cell_is_muted(qtbot: QtBot) -> None:
    model = RowsModel(("one",), [(Cell("float32", quiet=True),)])
    assert model.index(0, 0).data(Role.ForegroundRole) == QColor(LIGHT.muted)


def test_a_figure_is_monospaced(qtbot: QtBot) -> None:
    model = RowsModel(("one",), [(Cell("1.2e-07", mono=True),)])
    font = model.index(0, 0).data(Role.FontRole)
    assert isinstance(font, QFont)
    assert font.styleHint() is QFont.StyleHint.Monospace
