"""Peaks and means of rows."""

from __future__ import annotations

from gpuassist.model.words import ENGLISH
from gpuassist.monitor.means import ProcessMean
from gpuassist.present.process_means import SpanColumn, SpanFigures, no_mean, span_cell
from gpuassist.present.process_table import UNTOLD, Grouping, table_rows
from tests.monitor.samples import gpu, process

GIB = 1 << 30
ROWS = (
    gpu(9 * GIB, process(1, GIB, "python a.py"), process(2, GIB, "python b.py")),
    gpu(9 * GIB, process(1, GIB, "python a.py"), index=1),
)
MEANS = {(0, 1): ProcessMean(1.5 * GIB, 20.0), (1, 1): ProcessMean(0.5 * GIB, None), (0, 2): ProcessMean(None, 7.0)}
FIGURES = SpanFigures({(0, 1): 3 * GIB, (1, 1): GIB}, MEANS.get)


def told(column: SpanColumn, grouping: Grouping) -> list[str]:
    return [ENGLISH(span_cell(row, column, FIGURES)) for row in table_rows(ROWS, grouping=grouping)]


def test_a_process_has_its_own_on_each_gpu() -> None:
    unknown = ENGLISH(UNTOLD)
    assert told(SpanColumn.PEAK, Grouping.NONE) == ["3.0 GiB", unknown, "1.0 GiB"]
    assert told(SpanColumn.MEAN, Grouping.NONE) == ["1.5 GiB", unknown, "512 MiB"]
    assert told(SpanColumn.GPU_MEAN, Grouping.NONE) == ["20 %", "7 %", unknown]


def test_a_group_is_the_sum_of_means_and_has_no_peak_that_nobody_saw() -> None:
    assert told(SpanColumn.MEAN, Grouping.USER) == ["2.0 GiB"]
    assert told(SpanColumn.GPU_MEAN, Grouping.USER) == ["27 %"]
    assert told(SpanColumn.PEAK, Grouping.USER) == [ENGLISH(UNTOLD)]


def test_without_a_time_there_is_no_mean() -> None:
    (row, *_) = table_rows(ROWS)
    assert span_cell(row, SpanColumn.MEAN, SpanFigures({}, no_mean)) == UNTOLD
