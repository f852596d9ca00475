"""The checks of a verification as a table: groups that fold, a cell a device, and what each of them says."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from pytestqt.modeltest import ModelTester

from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.text import text, verbatim
from gpuassist.model.verdict import Cause, Check, Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.present.verify_table import (
    STANDING_MARKS,
    STANDING_WORDS,
    Column,
    Standing,
    column_of,
    counts,
    in_short,
    rows_of,
    standing,
    summary,
    worst,
)
from gpuassist.session.checks import GROUP_TITLES, CheckGroup
from gpuassist.session.verify_progress import CheckLine, CheckState, VerifyProgress
from gpuassist.ui.pages.verify.rows import GLYPHS, HEADINGS, cells_of, headings_of
from gpuassist.ui.pages.verify.table import ChecksModel, ChecksTable
from gpuassist.ui.theme import SMALL_POINTS, sans
from gpuassist.ui.widgets.rows import Cell
from gpuassist.verify.protocol import Device, Planned
from tests.ui.showing import Show

MATMUL, HALF, FFT = Planned("matmul", "fp32"), Planned("matmul", "fp16"), Planned("fft", "complex64")
PASSED = Check(
    "matmul",
    "fp32",
    Verdict.PASS,
    max_abs_error=Known(1.234e-6, "child"),
    tolerance=Known(0.001, "child"),
    rate=Known(41.27, "child"),
    rate_unit="TFLOP/s",
)
FAILED = Check("matmul", "fp16", Verdict.FAIL, verbatim("1 element is wrong"))
FORMAT = Check("fft", "complex64", Verdict.SKIPPED, verbatim("no complex64"), cause=Cause.FORMAT)
LATE = Check("fft", "complex64", Verdict.SKIPPED, verbatim("not run: time"), cause=Cause.TIME)


def progress(*lines: CheckLine, devices: int = 1, joint: tuple[Device, ...] = ()) -> VerifyProgress:
    there = tuple(Device(f"cuda:{place}", "RTX 4090", (), f"GPU-{place}") for place in range(devices))
    return VerifyProgress(devices=(*there, *joint), lines=lines)


def columns(count: int = 1, *names: str) -> tuple[Column, ...]:
    return tuple(
        Column(f"cuda:{place}", verbatim(f"GPU {place}"), (names or ("RTX 4090",) * count)[place]) for place in range(count)
    )


def done(check: Check, device: str = "cuda:0") -> CheckLine:
    return CheckLine(device, Planned(check.name, check.dtype), CheckState.DONE, check)


def cells(line: CheckLine, at: float = 0.0) -> tuple[Cell, ...]:
    """The row of a check on the only device."""
    _, row = cells_of(rows_of(progress(line), {}), columns(), ENGLISH, at)
    return row


def words_of(row: tuple[Cell, ...]) -> list[str]:
    return [" ".join(filter(None, (cell.words, cell.after))) for cell in row]


@pytest.mark.parametrize(
    ("state", "words"), [(CheckState.WAITING, "waiting"), (CheckState.RUNNING, "running"), (CheckState.LEFT, "not run")]
)
def test_a_check_that_is_not_done_says_where_it_is(state: CheckState, words: str) -> None:
    assert words_of(cells(CheckLine("cuda:0", MATMUL, state))) == ["Matrix product fp32", words, "", ""]


def test_a_check_that_runs_for_long_says_how_long() -> None:
    line = CheckLine("cuda:0", MATMUL, CheckState.RUNNING, since=100.0)
    assert (cells(line, 101.0)[1].words, cells(line, 107.4)[1].words) == ("running", "running 7 s")


def test_a_check_that_is_done_says_how_far_off_and_how_fast() -> None:
    assert words_of(cells(done(PASSED))) == ["Matrix product fp32", "passed", "1.2e-06 / 0.001", "41.3 TFLOP/s"]


def test_a_reason_stands_where_the_figures_would() -> None:
    row = cells(done(FORMAT))
    assert (row[2].after, row[2].tip) == ("no complex64",) * 2


def test_a_check_that_nobody_named_keeps_its_own_name() -> None:
    assert cells(CheckLine("cuda:0", Planned("never-heard-of", "int8")))[0].words == "Never-heard-of"


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (PASSED, Standing.PASSED),
        (FAILED, Standing.FAILED),
        (Check("fft", "fp32", Verdict.ERROR), Standing.ERROR),
        (Check("fft", "fp32", Verdict.HUNG), Standing.HUNG),
        (FORMAT, Standing.SKIPPED),
        (LATE, Standing.NOT_RUN),
        (Check("fft", "fp32", Verdict.SKIPPED, cause=Cause.CANCELLED), Standing.NOT_RUN),
        (Check("fft", "fp32", Verdict.SKIPPED, cause=Cause.LOST), Standing.NOT_RUN),
        (Check("fft", "fp32", Verdict.SKIPPED, cause=Cause.MEMORY), Standing.SKIPPED),
    ],
)
def test_how_a_check_stands(check: Check, expected: Standing) -> None:
    assert standing(done(check)) is expected


def test_nothing_is_told_by_its_colour_alone() -> None:
    looks = {one: (STANDING_MARKS[one], GLYPHS.get(one, "")) for one in Standing}
    of_skipped = {Standing.SKIPPED, Standing.NOT_RUN}  # neither says anything of the device
    assert len({look for one, look in looks.items() if one not in of_skipped}) == len(Standing) - len(of_skipped)
    assert len({ENGLISH(words) for words in STANDING_WORDS.values()}) == len(Standing)


def test_only_a_pass_is_right() -> None:
    assert [one for one in Standing if STANDING_MARKS[one] is Mark.RIGHT] == [Standing.PASSED]


def test_checks_stand_under_the_heading_of_their_group() -> None:
    rows = rows_of(progress(done(PASSED), done(FAILED), done(FORMAT)), {})
    assert [(row.group, row.planned) for row in rows] == [
        (CheckGroup.PRODUCTS, None),
        (CheckGroup.PRODUCTS, MATMUL),
        (CheckGroup.PRODUCTS, HALF),
        (CheckGroup.LINEAR_ALGEBRA, None),
        (CheckGroup.LINEAR_ALGEBRA, FFT),
    ]


def test_a_folded_group_is_its_heading_alone() -> None:
    rows = rows_of(progress(done(PASSED), done(FORMAT)), {CheckGroup.PRODUCTS: False})
    assert [row.planned for row in rows] == [None, None, FFT]


def test_many_checks_begin_folded_but_for_groups_that_fail() -> None:
    many = [CheckLine("cuda:0", Planned("sort", f"kind{place}")) for place in range(40)]
    rows = rows_of(progress(*many, done(FAILED)), {})
    assert [(row.group, row.open) for row in rows if row.planned is None] == [
        (CheckGroup.ELEMENTS, False),
        (CheckGroup.PRODUCTS, True),
    ]


WAITING, RUNNING = CheckLine("cuda:0", MATMUL), CheckLine("cuda:0", MATMUL, CheckState.RUNNING)


@pytest.mark.parametrize(
    ("lines", "state", "words", "short"),
    [
        ((WAITING, WAITING), Standing.WAITING, "waiting", ""),
        ((RUNNING, WAITING), Standing.RUNNING, "0 of 2", ""),
        ((done(PASSED), WAITING), Standing.WAITING, "1 of 2", "1/2"),
        ((done(PASSED), done(FAILED), RUNNING), Standing.FAILED, "1 of 3", "1/3"),
        ((done(PASSED), done(PASSED)), Standing.PASSED, "2 passed", "2"),
        ((done(PASSED), done(FORMAT)), Standing.PASSED, "1 of 2", "1/2"),
        ((done(FORMAT),), Standing.SKIPPED, "skipped", ""),
        ((), None, "", ""),
    ],
)
def test_a_group_shows_its_worst_and_how_many(lines: tuple[CheckLine, ...], state: Standing, words: str, short: str) -> None:
    assert (worst(lines), ENGLISH(summary(lines)), in_short(lines)) == (state, words, short)


def test_a_group_counts_everything_in_it() -> None:
    told = ENGLISH(counts((done(PASSED), done(PASSED), done(FAILED), done(LATE))))
    assert told == "4 checks · 1 failed · 2 passed · 1 not run"


def test_several_devices_have_a_column_each() -> None:
    lines = (done(PASSED), done(PASSED, "cuda:1"), done(FAILED, "cuda:1"))
    group, full, half = cells_of(rows_of(progress(*lines, devices=2), {}), columns(2), ENGLISH, 0.0)
    assert words_of(group)[1:] == ["1 passed 1", "1 of 2 1/2"]
    assert words_of(full) == ["Matrix product fp32", "passed", "passed"]
    assert words_of(half) == ["Matrix product fp16", "", "failed"]  # the first does not go through it


def test_what_a_pair_did_is_a_row_that_both_show() -> None:
    pair = Device("cuda:0+cuda:1", "pair", (), members=("cuda:0", "cuda:1"))
    line = done(Check("peer-copy", "int64", Verdict.FAIL), "cuda:0+cuda:1")
    rows = rows_of(progress(line, devices=3, joint=(pair,)), {})
    shown = cells_of(rows, columns(3), ENGLISH, 0.0)[1]
    assert words_of(shown)[0].endswith("GPU 0, GPU 1")
    assert [cell.words for cell in shown[1:]] == ["failed", "failed", ""]


def test_what_all_devices_did_is_told_apart_by_its_format() -> None:
    group = Device("all", "group", (), members=("cuda:0", "cuda:1"))
    lines = [done(Check("all-reduce", dtype, Verdict.PASS), "all") for dtype in ("int64", "fp32")]
    _, *rows = cells_of(rows_of(progress(*lines, devices=2, joint=(group,)), {}), columns(2), ENGLISH, 0.0)
    assert [words_of(row)[0] for row in rows] == ["All-reduce int64", "All-reduce fp32"]


def test_a_group_says_what_the_others_of_it_came_to() -> None:
    others = (replace(FORMAT, name="matmul", dtype="fp8"), replace(LATE, name="matmul", dtype="bf16"))
    some, none = (done(PASSED), *map(done, others)), (done(LATE),)
    shown = [cells_of(rows_of(progress(*lines), {}), columns(), ENGLISH, 0.0)[0] for lines in (some, none)]
    assert [row[2].after for row in shown] == ["1 skipped · 1 not run", ""]


def test_what_each_device_did_in_two_processes_is_one_row() -> None:
    joint = tuple(Device(f"cuda:{place} twice", "twice", (), members=(f"cuda:{place}",) * 2) for place in range(2))
    lines = [done(Check("two-processes", "fp32", Verdict.PASS), one.device) for one in joint]
    _, row = cells_of(rows_of(progress(*lines, devices=2, joint=joint), {}), columns(2), ENGLISH, 0.0)
    assert words_of(row)[1:] == ["passed", "passed"]


def test_every_row_has_a_cell_for_every_heading() -> None:
    rows = rows_of(progress(done(PASSED), done(LATE)), {})
    assert (
        {len(row) for row in cells_of(rows, columns(), ENGLISH, 0.0)} == {len(HEADINGS)} == {len(headings_of(columns(), ENGLISH))}
    )


def test_only_mixed_cards_are_named_above_their_columns() -> None:
    same, mixed = headings_of(columns(2), ENGLISH), headings_of(columns(2, "RTX 4090", "T400"), ENGLISH)
    assert [one.words for one in same[1:]] == ["GPU 0", "GPU 1"]
    assert [one.words for one in mixed[1:]] == ["GPU 0\nRTX 4090", "GPU 1\nT400"]
    assert [one.number for one in same[1:]] == ["0", "1"]


def test_a_column_goes_by_nvmls_number_and_tells_the_card() -> None:
    cards = tuple(
        Gpu(index=Known(place, "NVML"), uuid=Known(f"GPU-{place}", "NVML"), pci_address=Known(f"0000:0{place}:00.0", "pci"))
        for place in range(2)
    )
    column = column_of(Device("cuda:0", "NVIDIA GeForce RTX 3090", (), "GPU-1"), cards, ("all",))
    assert (ENGLISH(column.title), column.name) == ("GPU 1", "RTX 3090")
    assert ENGLISH(column.tip) == "cuda:0: NVIDIA GeForce RTX 3090 · GPU-1 · PCI 0000:01:00.0"
    assert ENGLISH(column_of(Device("cuda:0", "RTX 3090", ()), cards, ("1",)).title) == "GPU 1"
    assert ENGLISH(column_of(Device("cuda:0", "RTX 3090", ()), cards, ("all",)).title) == "cuda:0"


def test_the_rows_make_a_sound_model(qtmodeltester: ModelTester) -> None:
    model = ChecksModel()
    model.show(rows_of(progress(done(PASSED), CheckLine("cuda:0", FFT)), {}), columns(), ENGLISH, 0.0)
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    assert (model.rowCount(), model.columnCount()) == (4, len(HEADINGS))


@pytest.fixture
def table(show: Show) -> ChecksTable:
    made = show(ChecksTable(ENGLISH), 640, 300)
    made.show_rows(rows_of(progress(done(PASSED), done(FAILED), done(FORMAT)), {}), columns(), 0.0)
    return made


def folds(table: ChecksTable) -> list[tuple[object, bool]]:
    heard: list[tuple[object, bool]] = []
    table.folded.connect(lambda group, is_open: heard.append((group, is_open)))
    return heard


@pytest.mark.parametrize("key", [Qt.Key.Key_Left, Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_group_is_folded_by_key(table: ChecksTable, key: Qt.Key) -> None:
    heard = folds(table)
    table.choose((CheckGroup.PRODUCTS, None, ()))
    QTest.keyClick(table, key)
    assert heard == [(CheckGroup.PRODUCTS, False)]


def test_a_folded_group_is_opened_by_key(table: ChecksTable) -> None:
    table.show_rows(rows_of(progress(done(PASSED)), {CheckGroup.PRODUCTS: False}), columns(), 0.0)
    heard = folds(table)
    table.choose((CheckGroup.PRODUCTS, None, ()))
    QTest.keyClick(table, Qt.Key.Key_Right)
    assert heard == [(CheckGroup.PRODUCTS, True)]


def test_a_click_on_a_heading_folds_and_one_on_a_check_does_not(table: ChecksTable) -> None:
    heard = folds(table)
    for row in range(2):
        middle = table.visualRect(table.model().index(row, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    assert heard == [(CheckGroup.PRODUCTS, False)]


def test_what_is_chosen_stays_chosen_while_rows_come(table: ChecksTable) -> None:
    key = (CheckGroup.LINEAR_ALGEBRA, FFT, ())
    table.choose(key)
    heard: list[int] = []
    table.chosen.connect(lambda: heard.append(1))
    table.show_rows(rows_of(progress(done(PASSED), done(FORMAT)), {CheckGroup.PRODUCTS: False}), columns(), 0.0)
    assert (table.chosen_key, heard) == (key, [])


def test_the_chosen_cell_tells_its_device(show: Show) -> None:
    table = show(ChecksTable(ENGLISH), 640, 300)
    lines = (done(PASSED), done(PASSED, "cuda:1"))
    table.show_rows(rows_of(progress(*lines, devices=2), {}), columns(2), 0.0)
    table.choose((CheckGroup.PRODUCTS, MATMUL, ()), 2)
    assert table.chosen_device == "cuda:1"
    table.choose((CheckGroup.PRODUCTS, MATMUL, ()), 0)
    assert table.chosen_device == ""


@pytest.mark.parametrize(("count", "width", "says"), [(2, 640, True), (4, 680, True), (8, 940, False), (16, 680, False)])
def test_columns_give_their_words_way_before_their_glyphs(show: Show, count: int, width: int, says: bool) -> None:
    table = show(ChecksTable(ENGLISH), width, 300)
    lines = [done(PASSED, f"cuda:{place}") for place in range(count)]
    table.show_rows(rows_of(progress(*lines, devices=count), {}), columns(count), 0.0)
    widths = [table.columnWidth(place) for place in range(count + 1)]
    assert table.says_words is says
    assert min(widths[1:]) >= 20
    assert sum(widths) <= table.viewport().width()


def test_every_group_has_room_for_its_name_and_count(show: Show) -> None:
    table = show(ChecksTable(ENGLISH), 640, 300)
    table.show_rows(rows_of(progress(done(PASSED)), {}), columns(), 0.0)
    bold = QFontMetrics(sans(bold=True))
    room = table._widths()[0] - 22 - 2 * 10
    assert all(bold.horizontalAdvance(f"{ENGLISH(title)} 88") <= room for title in GROUP_TITLES.values())


@pytest.mark.parametrize(("count", "width"), [(8, 680), (8, 800), (8, 940), (16, 680), (16, 1500)])
def test_headings_of_many_devices_are_never_cut(show: Show, count: int, width: int) -> None:
    table = show(ChecksTable(ENGLISH), width, 300)
    table.show_rows(rows_of(progress(done(PASSED), devices=count), {}), columns(count), 0.0)
    header, metrics = table.horizontalHeader(), QFontMetrics(sans(SMALL_POINTS))
    for place in range(1, count + 1):
        words = str(table.model().headerData(place, Qt.Orientation.Horizontal))
        padding = 20 if header.property("tight") == "no" else 0
        assert metrics.horizontalAdvance(words) + padding <= header.sectionSize(place)


def test_a_cell_says_whose_it_is_and_why() -> None:
    _, row = cells_of(rows_of(progress(done(FAILED), devices=2), {}), columns(2), ENGLISH, 0.0)
    assert row[1].tip == ENGLISH(text("GPU 0: failed: 1 element is wrong"))
