"""Buckets become columns of pixels, and no peak is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Window
from gpuassist.ui.plots.raster import FAINT_FROM, GAP, RasterColumns, columns_of, paint, paint_lines
from tests.ui.made import GIB, gpu, history, process, sample

WINDOW = Window(60, 600)


def flat(low: float, high: float, *bands: float) -> RasterColumns:
    return RasterColumns(0.0, 1.0, np.array([low]), np.array([high]), tuple(np.array([band]) for band in bands))


def column(columns: RasterColumns, height: int = 10) -> list[int]:
    """The first column from the bottom up, for a card whose capacity is 10."""
    return [int(number) for number in paint(columns, height, 10.0)[::-1, 0]]


def test_a_band_fills_what_it_uses() -> None:
    assert column(flat(4, 4, 4)) == [1] * 4 + [0] * 6


def test_unexplained_use_lies_at_the_bottom() -> None:
    assert column(flat(5, 5, 3)) == [2, 2, 1, 1, 1, 0, 0, 0, 0, 0]


def test_bands_stack_in_their_order() -> None:
    assert column(flat(6, 6, 1, 2, 3)) == [3, 2, 2, 1, 1, 1, 0, 0, 0, 0]


def test_use_above_the_least_is_faint() -> None:
    assert column(flat(2, 4, 4)) == [1, 1, 1 + FAINT_FROM, 1 + FAINT_FROM, 0, 0, 0, 0, 0, 0]


def test_bands_never_rise_above_the_card() -> None:
    assert column(flat(4, 4, 3, 3)) == [2, 2, 2, 1, 0, 0, 0, 0, 0, 0]


def test_use_over_the_capacity_is_cut_there() -> None:
    assert column(flat(12, 12, 12)) == [1] * 10


def test_a_gap_is_empty() -> None:
    assert column(flat(np.nan, np.nan, 1)) == [0] * 10


def test_a_trace_of_use_is_still_a_pixel() -> None:
    assert column(flat(0.01, 0.01))[0] == 1


def test_between_two_readings_a_gap_is_shown() -> None:
    used = np.array([np.nan, 2, np.nan, 3, np.nan])
    holes = RasterColumns(0.0, 1.0, used, used)
    assert [bool((paint(holes, 4, 4.0)[:, place] == GAP).all()) for place in range(5)] == [False, False, True, False, False]


def test_a_curve_is_joined_to_where_it_was() -> None:
    line = RasterColumns(0.0, 1.0, np.array([1.0, 8.0]), np.array([1.0, 8.0]))
    assert list(paint_lines([line], 10, 10.0)[::-1, 1]) == [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]


def test_a_curve_is_not_joined_over_a_gap() -> None:
    line = RasterColumns(0.0, 1.0, np.array([1.0, np.nan, 8.0]), np.array([1.0, np.nan, 8.0]))
    assert list(paint_lines([line], 10, 10.0)[::-1, 2]) == [0] * 6 + [1, 1, 0, 0]


def test_a_reading_holds_until_the_next() -> None:
    made = columns_of(history(*(sample(second, gpu(0)) for second in range(3))).stack(0, WINDOW))
    assert (made.step * (len(made.highs) - 1), bool(np.isnan(made.highs).any())) == (2, False)


def test_a_gap_in_time_stays_empty() -> None:
    made = columns_of(history(sample(0, gpu(0)), sample(20, gpu(0))).stack(0, WINDOW))
    assert np.isnan(made.highs[1:-1]).all()


def test_an_unseen_gpu_has_no_columns() -> None:
    assert len(columns_of(History().stack(3, WINDOW)).highs) == 0


def test_bands_carry_what_each_process_holds() -> None:
    made = columns_of(history(sample(0, gpu(0, process(1, 2), process(2, 3)))).stack(0, WINDOW))
    assert [band[0] / GIB for band in made.bands] == [3, 2]


@settings(deadline=None)
@given(st.lists(st.floats(0, 23), min_size=1, max_size=400), st.integers(50, 900))
def test_no_peak_is_ever_lost(readings: list[float], pixels: int) -> None:
    kept = history(*(sample(second, gpu(0, rest=used)) for second, used in enumerate(readings)))
    made = columns_of(kept.stack(0, Window(len(readings), pixels)))
    assert np.nanmax(made.highs) == pytest.approx(max(readings) * GIB, abs=1)
    filled = int(paint(made, 200, 24.0 * GIB).any(axis=1).sum())
    assert filled == int(np.ceil(np.nanmax(made.highs) * (200 / (24.0 * GIB))))
