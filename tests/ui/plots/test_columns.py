"""Buckets on their grid of time, and their width in pixels."""

from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.monitor.history import Band, Stack
from gpuassist.monitor.pyramid import Curve
from gpuassist.ui.plots.raster import RasterColumns, columns_of, on_pixels, paint


def stack(places: list[int], breaks: tuple[int, ...] = (), width: float = 0.5) -> Stack:
    """Buckets at these places of the grid, whose value is their place."""
    times = array("d", [place * width for place in places])
    values = array("d", map(float, places))
    return Stack(Curve(width, times, values, values, breaks), (Band(7, values),), array("d", bytes(8 * len(places))))


def seen(columns: RasterColumns) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in columns.highs]


def test_buckets_without_holes_stay_as_they_are() -> None:
    assert seen(columns_of(stack([3, 4, 5]))) == [3, 4, 5]


def test_a_hole_is_filled_by_what_came_before() -> None:
    assert seen(columns_of(stack([3, 6, 7]))) == [3, 3, 3, 6, 7]


def test_a_gap_is_not_filled() -> None:
    assert seen(columns_of(stack([3, 6, 7], breaks=(1,)))) == [3, None, None, 6, 7]


def test_two_gaps_are_two_gaps() -> None:
    assert seen(columns_of(stack([1, 3, 5], breaks=(1, 2)))) == [1, None, 3, None, 5]


def test_a_gap_without_missing_cells_is_nothing() -> None:
    assert seen(columns_of(stack([1, 2], breaks=(1,)))) == [1, 2]


def test_the_first_cell_begins_where_its_bucket_does() -> None:
    columns = columns_of(stack([4, 5]))
    assert (columns.since, columns.step) == (2.0, 0.5)


def test_bands_have_the_same_cells() -> None:
    columns = columns_of(stack([3, 6], breaks=(1,)))
    assert np.array_equal(columns.bands[0], columns.highs, equal_nan=True)


@pytest.mark.parametrize("width", [0.125, 0.25, 0.4, 51.2])
def test_times_that_are_not_exact_find_their_place(width: float) -> None:
    assert seen(columns_of(stack([999_999, 1_000_000, 1_000_001], width=width))) == [999_999, 1_000_000, 1_000_001]


def test_cells_are_as_wide_as_their_pixels() -> None:
    made = on_pixels(columns_of(stack([1, 2, 3])), 0.25, 1, 10)
    assert seen(made) == [None, 1, 1, 2, 2, 3, 3, None, None]


def test_no_cell_leaves_nothing_to_show() -> None:
    assert seen(on_pixels(columns_of(stack([])), 0.25, 0, 3)) == [None] * 3


@given(st.lists(st.integers(0, 500), min_size=1, max_size=60, unique=True), st.integers(0, 300), st.integers(1, 90))
def test_a_part_looks_as_it_does_in_the_whole(places: list[int], first: int, count: int) -> None:
    cells = columns_of(stack(sorted(places)))
    whole = seen(on_pixels(cells, 0.4, 0, 1000))
    assert seen(on_pixels(cells, 0.4, first, first + count)) == whole[first : first + count]


@given(st.lists(st.integers(0, 500), min_size=1, max_size=60, unique=True))
def test_every_bucket_is_in_its_cell(places: list[int]) -> None:
    places.sort()
    cells = seen(columns_of(stack(places)))
    assert all(cells[place - places[0]] == place for place in places)


@given(st.lists(st.integers(0, 500), min_size=2, max_size=60, unique=True), st.data())
def test_nothing_is_invented_in_a_gap(places: list[int], data: st.DataObject) -> None:
    places.sort()
    gap = data.draw(st.integers(1, len(places) - 1))
    cells = seen(columns_of(stack(places, breaks=(gap,))))
    between = cells[places[gap - 1] - places[0] + 1 : places[gap] - places[0]]
    assert between == [None] * len(between)


@settings(deadline=None)
@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=20),
    st.lists(st.lists(st.floats(0, 10), min_size=20, max_size=20), max_size=6),
    st.integers(1, 60),
)
def test_a_column_is_as_high_as_the_card_says(highs: list[float], bands: list[list[float]], height: int) -> None:
    top = np.array(highs)
    columns = RasterColumns(0.0, 1.0, top * 0.5, top, tuple(np.array(band[: len(highs)]) for band in bands))
    filled = (paint(columns, height, 10.0)[:, : len(highs)] > 0).sum(axis=0)
    assert list(filled) == [int(np.ceil(value * (height / 10.0))) for value in highs]


@settings(deadline=None)
@given(st.lists(st.floats(0, 10), min_size=1, max_size=20), st.integers(1, 60))
def test_colours_run_from_the_bottom_up(highs: list[float], height: int) -> None:
    top = np.array(highs)
    picture = paint(RasterColumns(0.0, 1.0, top, top, (top * 0.3, top * 0.3)), height, 10.0)[:, : len(highs)]
    numbers = picture[::-1].astype(int)
    filled = numbers > 0
    rising = np.diff(numbers, axis=0)
    assert (rising[filled[1:]] <= 0).all()
