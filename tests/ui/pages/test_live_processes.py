"""The process table refreshes in place."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import ProcessSample
from gpuassist.model.words import ENGLISH
from gpuassist.ui.pages.live.processes import PEAK, PROCESS, USED, ProcessesModel, ProcessRow, process_rows
from tests.ui.made import GIB, gpu, process, sample, unknown


def row(pid: int, gibibytes: float, *, on: int = 0, command: str = "") -> ProcessRow:
    return ProcessRow(on, process(pid, gibibytes, command), int(gibibytes * GIB))


@pytest.fixture
def model(qtmodeltester: ModelTester) -> ProcessesModel:
    made = ProcessesModel(ENGLISH)
    made.show_processes((row(30, 3), row(10, 1), row(20, 2)))
    qtmodeltester.check(made)  # type: ignore[no-untyped-call]
    return made


def pids(model: ProcessesModel) -> list[int]:
    return [one.process.pid for one in model.processes]


def column(model: ProcessesModel, place: int) -> list[str]:
    return [model.index(row, place).data() for row in range(model.rowCount())]


def test_rows_begin_in_order_of_gpu_and_number(model: ProcessesModel) -> None:
    model.show_processes((row(30, 3), row(10, 1, on=1), row(20, 2)))
    assert pids(model) == [20, 30, 10]


def test_sorting_by_use_puts_the_greatest_first(model: ProcessesModel) -> None:
    model.sort(USED, Qt.SortOrder.DescendingOrder)
    assert pids(model) == [30, 20, 10]


def test_equal_rows_keep_their_order(model: ProcessesModel) -> None:
    model.show_processes((row(3, 1), row(1, 1), row(2, 1)))
    model.sort(USED, Qt.SortOrder.DescendingOrder)
    assert pids(model) == [1, 2, 3]


def test_a_sorted_table_stays_sorted(model: ProcessesModel) -> None:
    model.sort(PEAK, Qt.SortOrder.AscendingOrder)
    model.show_processes((row(10, 9), row(20, 2), row(30, 3)))
    assert pids(model) == [20, 30, 10]


def test_an_index_follows_its_process(model: ProcessesModel) -> None:
    kept = QPersistentModelIndex(model.index(0, PROCESS))
    model.sort(USED, Qt.SortOrder.DescendingOrder)
    assert kept.row() == 2


def test_an_index_of_a_gone_process_is_invalid(model: ProcessesModel) -> None:
    kept = QPersistentModelIndex(model.index(0, PROCESS))
    model.show_processes((row(20, 2), row(30, 3)))
    assert not kept.isValid()


def test_only_changed_cells_are_told(model: ProcessesModel, qtbot: QtBot) -> None:
    told: list[tuple[int, int, int]] = []
    model.dataChanged.connect(lambda first, last: told.append((first.row(), first.column(), last.column())))
    model.show_processes((ProcessRow(0, process(10, 1.5), GIB), row(20, 2), row(30, 3)))
    assert told == [(0, USED, USED)]


def test_an_equal_sample_tells_nothing(model: ProcessesModel) -> None:
    told: list[object] = []
    for signal in (model.dataChanged, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
        signal.connect(lambda *_: told.append(1))
    model.show_processes((row(10, 1), row(20, 2), row(30, 3)))
    assert told == []


def test_new_processes_come_in(model: ProcessesModel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(model.rowsInserted):
        model.show_processes((row(10, 1), row(15, 5), row(20, 2), row(30, 3)))
    assert pids(model) == [10, 15, 20, 30]


def test_the_model_stays_sound_through_changes(model: ProcessesModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    model.show_processes((row(40, 4), row(20, 2)))
    model.sort(USED, Qt.SortOrder.DescendingOrder)
    model.show_processes(())
    assert model.rowCount() == 0


def test_sizes_read_in_gibibytes(model: ProcessesModel) -> None:
    assert column(model, USED) == ["1.0 GiB", "2.0 GiB", "3.0 GiB"]


def test_an_unknown_use_says_why(model: ProcessesModel) -> None:
    hidden = ProcessSample(7, unknown("u"), unknown("c"), unknown("NVML tells no figure under WSL2"))
    model.show_processes((ProcessRow(0, hidden),))
    index = model.index(0, USED)
    assert (index.data(), index.data(Qt.ItemDataRole.ToolTipRole)) == ("not known", "NVML tells no figure under WSL2")


def test_a_process_on_two_gpus_has_two_rows() -> None:
    rows = process_rows(sample(0, gpu(0, process(5, 1)), gpu(1, process(5, 2))), {(1, 5): 3 * GIB})
    assert [(one.key, one.peak) for one in rows] == [((0, 5), 0), ((1, 5), 3 * GIB)]


def test_a_gpu_that_lists_no_processes_has_no_rows() -> None:
    assert process_rows(sample(0, gpu(0, lost="gone")), {}) == ()
