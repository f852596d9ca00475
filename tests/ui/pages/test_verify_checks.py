"""The checks of a verification as rows: waiting, running, done or left, and what came of each."""

from __future__ import annotations

import pytest
from pytestqt.modeltest import ModelTester

from gpuassist.model.fact import Known
from gpuassist.model.text import text
from gpuassist.model.verdict import Check, Verdict
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.verification import VERDICT_WORDS
from gpuassist.session.verify import CheckLine, CheckState, VerifyProgress
from gpuassist.ui.pages.verify.result import HEADINGS, check_rows
from gpuassist.ui.widgets.rows import Cell, RowsModel
from gpuassist.verify.protocol import Planned

PLANNED = Planned("matmul", "float32")
PASSED = Check(
    "matmul",
    "float32",
    Verdict.PASS,
    max_abs_error=Known(1.234e-6, "child"),
    tolerance=Known(0.001, "child"),
    rate=Known(41.27, "child"),
    rate_unit="TFLOP/s",
)


def cells(line: CheckLine) -> tuple[Cell, ...]:
    (row,) = check_rows(VerifyProgress(lines=(line,)), ENGLISH)
    return row


def done(check: Check) -> tuple[Cell, ...]:
    return cells(CheckLine("cuda:0", PLANNED, CheckState.DONE, check))


def words_of(row: tuple[Cell, ...]) -> list[str]:
    return [cell.words for cell in row]


@pytest.mark.parametrize(
    ("state", "words"), [(CheckState.WAITING, "waiting"), (CheckState.RUNNING, "running…"), (CheckState.LEFT, "not run")]
)
def test_a_check_that_is_not_done_says_where_it_is(state: CheckState, words: str) -> None:
    row = cells(CheckLine("cuda:0", PLANNED, state))
    assert words_of(row) == ["Matrix product", "float32", "cuda:0", words, "", ""]
    assert row[3].mark is None


def test_a_check_that_is_done_says_how_far_off_and_how_fast() -> None:
    assert words_of(done(PASSED)) == ["Matrix product", "float32", "cuda:0", "right", "1.2e-06 of 0.001", "41.3 TFLOP/s"]


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_mark_and_a_word(verdict: Verdict) -> None:
    result = done(Check("matmul", "float32", verdict))[3]
    assert (result.mark, result.words) == (mark_of(verdict), ENGLISH(VERDICT_WORDS[verdict]))


def test_only_a_pass_is_right() -> None:
    assert [verdict for verdict in Verdict if mark_of(verdict) is Mark.RIGHT] == [Verdict.PASS]


def test_a_reason_stands_beside_the_name() -> None:
    row = done(Check("matmul", "bfloat16", Verdict.SKIPPED, error=text("this GPU has no {dtype}", dtype="bfloat16")))
    assert (row[0].after, row[0].tip) == ("this GPU has no bfloat16",) * 2


def test_a_check_that_nobody_named_keeps_its_own_name() -> None:
    assert cells(CheckLine("cpu", Planned("sparse", "int8")))[0].words == "Sparse"


def test_the_rows_make_a_sound_model(qtmodeltester: ModelTester) -> None:
    progress = VerifyProgress(lines=(CheckLine("cuda:0", PLANNED, CheckState.DONE, PASSED), CheckLine("cpu", PLANNED)))
    model = RowsModel([ENGLISH(one) for one in HEADINGS], check_rows(progress, ENGLISH))
    qtmodeltester.check(model)  # type: ignore[no-untyped-call]
    assert (model.rowCount(), model.columnCount()) == (2, 6)


def test_every_row_has_a_cell_for_every_heading() -> None:
    rows = [cells(CheckLine("cpu", PLANNED, state)) for state in (CheckState.WAITING, CheckState.RUNNING, CheckState.LEFT)]
    assert {len(row) for row in (*rows, done(PASSED))} == {len(HEADINGS)}
