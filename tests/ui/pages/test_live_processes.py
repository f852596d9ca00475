"""The process table refreshes in place, sorts the largest first, sums up and narrows, and says why a figure is missing."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPersistentModelIndex, Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, TorchMemory
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.means import ProcessMean
from gpuassist.present.process_table import Grouping, table_rows
from gpuassist.ui.pages.live.process_card import ProcessCard
from gpuassist.ui.pages.live.processes import COLOUR_ROLE, NAMES, ProcessesModel, RowFigures
from tests.ui.made import GIB, gpu, known, process, unknown
from tests.ui.showing import Show

NO_FIGURES = RowFigures({}, lambda key: None)


def feed(model: ProcessesModel, *gpus: GpuSample, figures: RowFigures = NO_FIGURES, grouping: Grouping = Grouping.NONE) -> None:
    model.show_processes(table_rows(gpus, grouping=grouping), figures)


@pytest.fixture
def model(qtmodeltester: ModelTester) -> ProcessesModel:
    made = ProcessesModel(ENGLISH, lambda pid: pid % 7)
    feed(made, gpu(0, process(10, 1), process(20, 2), process(30, 3)))
    qtmodeltester.check(made)  # type: ignore[no-untyped-call]
    return made


@pytest.fixture
def card(show: Show) -> ProcessCard:
    made = show(ProcessCard(ENGLISH, ProcessesModel(ENGLISH, lambda pid: pid % 7)), 1400, 300)
    made.show_gpus(
        (gpu(0, process(10, 1, "python a.py"), process(20, 2, "python b.py")), gpu(1, process(20, 4, "python b.py"))), NO_FIGURES
    )
    return made


def pids(model: ProcessesModel) -> list[int]:
    return [part.process.pid for row in model.live for part in row.parts]


def said(model: ProcessesModel, name: str, row: int = 0) -> str:
    return model.rows[row][NAMES.index(name)].words


def test_the_largest_comes_first(model: ProcessesModel) -> None:
    assert pids(model) == [30, 20, 10]


def test_equal_ones_stand_by_the_index_of_their_gpu() -> None:
    made = ProcessesModel(ENGLISH, lambda pid: 0)
    feed(made, *(gpu(index, process(10, 1)) for index in range(12)))
    assert [row.parts[0].gpu for row in made.live] == list(range(12))


def test_who_waits_for_the_gpu_is_not_idle() -> None:
    made = ProcessesModel(ENGLISH, lambda pid: 0)
    waiting = replace(process(10, 1, "python train.py"), idle_seconds=known(90.0), gpu_percent=known(50))
    feed(made, gpu(0, waiting, replace(waiting, pid=20, gpu_percent=known(0))))
    beside = {row.parts[0].process.pid: made.rows[place][0].after for place, row in enumerate(made.live)}
    assert "idle" not in beside[10]
    assert "idle" in beside[20]


def test_escape_takes_the_word_of_the_filter_away(card: ProcessCard) -> None:
    card.filter.setText("b.py")
    QTest.keyClick(card.filter, Qt.Key.Key_Escape)
    assert card.filter.text() == ""


def test_the_choices_lie_beside_each_other_in_a_small_window(card: ProcessCard, qtbot: QtBot) -> None:
    card.resize(550, 200)
    qtbot.waitUntil(lambda: not card.filter.geometry().intersects(card.kind.geometry()))
    assert not card.kind.geometry().intersects(card.grouping.geometry())


def test_a_click_sorts_figures_from_the_largest_and_words_from_a(model: ProcessesModel) -> None:
    orders = []
    for name in ("peak", "user", "user", "cpu-percent"):
        model.sort_by(NAMES.index(name))
        orders.append(model.order)
    down, up = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
    assert orders == [down, up, down, down]


def test_what_is_not_known_comes_last_either_way(model: ProcessesModel) -> None:
    hidden = replace(process(5, 1), memory_used_bytes=unknown("no figure"))
    for _ in range(2):
        feed(model, gpu(0, process(10, 1), hidden, process(20, 2)))
        assert pids(model)[-1] == 5
        model.sort_by(NAMES.index("memory"))


def test_equal_rows_keep_their_order(model: ProcessesModel) -> None:
    model.sort_by(NAMES.index("user"))
    feed(model, gpu(0, process(3, 1), process(1, 1), process(2, 1)))
    assert pids(model) == [1, 2, 3]


def test_an_index_follows_its_process(model: ProcessesModel) -> None:
    kept = QPersistentModelIndex(model.index(0, 0))
    feed(model, gpu(0, process(10, 9), process(20, 2), process(30, 3)))
    assert kept.row() == 1


def test_an_index_of_a_gone_process_is_invalid(model: ProcessesModel) -> None:
    kept = QPersistentModelIndex(model.index(0, 0))
    feed(model, gpu(0, process(10, 1), process(20, 2)))
    assert not kept.isValid()


def test_only_changed_cells_are_told(model: ProcessesModel) -> None:
    told: list[tuple[int, int, int]] = []
    model.dataChanged.connect(lambda first, last: told.append((first.row(), first.column(), last.column())))
    feed(model, gpu(0, process(10, 1.5), process(20, 2), process(30, 3)))
    place = NAMES.index("memory")
    assert told == [(2, place, place)]


def test_an_equal_sample_tells_nothing(model: ProcessesModel) -> None:
    told: list[object] = []
    for signal in (model.dataChanged, model.layoutChanged, model.rowsInserted, model.rowsRemoved):
        signal.connect(lambda *_: told.append(1))
    feed(model, gpu(0, process(10, 1), process(20, 2), process(30, 3)))
    assert told == []


def test_the_model_stays_sound_through_changes(model: ProcessesModel, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    feed(model, gpu(0, process(40, 4), process(20, 2)))
    feed(model, gpu(0, process(40, 4)), gpu(1, process(41, 4)), grouping=Grouping.USER)
    feed(model)
    assert model.rowCount() == 0


def test_the_script_comes_first_and_the_command_is_in_the_tip(model: ProcessesModel) -> None:
    feed(model, gpu(0, process(7, 1, "/opt/venv/bin/python -u /home/you/train.py --lr 1")))
    index = model.index(0, 0)
    assert (index.data(), "--lr 1" in index.data(Qt.ItemDataRole.ToolTipRole)) == ("train.py", True)


def test_every_figure_has_its_column(model: ProcessesModel) -> None:
    torch = TorchMemory(2 * GIB, 2 * GIB, 3 * GIB, 3 * GIB, 0, 0)
    whole = replace(
        process(7, 4), gpu_percent=known(55), cpu_percent=known(130.4), resident_bytes=known(2 * GIB), torch=known(torch),
        container=known("docker abc"), started=known(1.8e9),
    )  # fmt: skip
    figures = RowFigures({(0, 7): 5 * GIB}, lambda key: ProcessMean(3.0 * GIB, 40.0), 1.8e9)
    feed(model, gpu(0, whole), figures=figures)
    wanted = {
        "gpu": "0", "memory": "4.0 GiB", "peak": "5.0 GiB", "mean": "3.0 GiB", "torch": "2.0 of 3.0 GiB", "gpu-percent": "55 %",
        "gpu-mean": "40 %", "cpu-percent": "130 %", "resident": "2.0 GiB", "container": "docker abc",
    }  # fmt: skip
    assert {name: said(model, name) for name in wanted} == wanted
    assert all(model.told_columns())


def test_columns_that_nobody_fills_are_left_away(model: ProcessesModel) -> None:
    told = dict(zip(NAMES, model.told_columns(), strict=True))
    assert not any(told[name] for name in ("container", "torch", "gpu-percent", "cpu-percent", "resident", "since"))
    assert told["memory"]


def test_an_unknown_use_says_why(model: ProcessesModel) -> None:
    hidden = ProcessSample(7, unknown("u"), unknown("c"), unknown("NVML tells no figure under WSL2"))
    feed(model, gpu(0, hidden))
    index = model.index(0, NAMES.index("memory"))
    assert (index.data(), index.data(Qt.ItemDataRole.ToolTipRole)) == ("–", "NVML tells no figure under WSL2")


def test_a_group_is_summed_over_gpus(model: ProcessesModel) -> None:
    figures = RowFigures({}, lambda key: ProcessMean(float(GIB), 10.0))
    feed(model, gpu(0, process(7, 4)), gpu(1, process(7, 3), process(8, 1)), figures=figures, grouping=Grouping.USER)
    assert [said(model, name) for name in ("gpu", "memory", "mean")] == ["0,1", "8.0 GiB", "3.0 GiB"]


def test_a_row_has_its_processes_colour(model: ProcessesModel) -> None:
    assert model.index(0, 0).data(COLOUR_ROLE) == 30 % 7


def test_words_and_kinds_narrow_the_table(card: ProcessCard) -> None:
    gpus = (
        gpu(
            0,
            replace(process(10, 1, "python a.py"), kind=known(ProcessKind.COMPUTE)),
            replace(process(20, 2, "Xorg"), kind=known(ProcessKind.GRAPHICS)),
        ),
    )
    seen = []
    for typed, kind in (("", 0), ("xorg", 0), ("", 1), ("", 2)):
        card.filter.setText(typed)
        card.kind.setCurrentIndex(kind)
        card.show_gpus(gpus, NO_FIGURES)
        seen.append(pids(card.model))
    assert seen == [[20, 10], [20], [10], [20]]


def test_grouping_is_asked_anew(card: ProcessCard, qtbot: QtBot) -> None:
    with qtbot.waitSignal(card.changed):
        card.grouping.setCurrentIndex(2)
        card.grouping.activated.emit(2)
    card.show_gpus((gpu(0, process(10, 1, "python a.py"), process(11, 2, "python a.py")),), NO_FIGURES)
    assert [row.parts[0].process.pid for row in card.model.live] == [10]


def test_keys_and_menu_wish_the_same(card: ProcessCard) -> None:
    heard: list[object] = []
    for signal in (card.mark_wanted, card.stop_wanted, card.holders_wanted, card.gpu_wanted):
        signal.connect(heard.append)
    card.table.selectRow(0)
    for key in (Qt.Key.Key_M, Qt.Key.Key_Delete, Qt.Key.Key_Return):
        QTest.keyClick(card.table, key)
    by_key, heard[:] = list(heard), []
    single = card.model.live[0].single
    assert single is not None
    assert by_key == [20, single, 20]
    for action in card.menu_for(card.model.live[0]).actions():
        action.trigger()
    assert heard == [20, 1, 20, single]


def test_the_command_and_the_number_are_copied(card: ProcessCard, clipboard: QClipboard) -> None:
    _, command, pid, *_ = card.menu_for(card.model.live[0]).actions()
    command.trigger()
    assert clipboard.text() == "python b.py"
    pid.trigger()
    assert clipboard.text() == "20"


def test_what_has_no_room_is_left_away_and_comes_back(card: ProcessCard, qtbot: QtBot) -> None:
    header = card.table.horizontalHeader()
    wide = header.hiddenSectionCount()
    card.resize(640, 300)
    qtbot.waitUntil(lambda: header.hiddenSectionCount() > wide)
    assert not header.isSectionHidden(NAMES.index("memory"))
    card.resize(1400, 300)
    qtbot.waitUntil(lambda: header.hiddenSectionCount() == wide)
