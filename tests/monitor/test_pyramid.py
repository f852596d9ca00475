"""Minima and maxima at ten scales."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from gpuassist.monitor.pyramid import COLUMNS_AT_MOST, FINEST_SECONDS, LEVELS, Curve, Pyramid, Window

READINGS = st.lists(st.tuples(st.floats(0.001, 40), st.floats(0, 1e12)), min_size=1, max_size=120)
WINDOWS = st.builds(Window, st.floats(0.5, 100_000), st.integers(1, 5000))


def filled(readings: list[tuple[float, float]]) -> tuple[Pyramid, list[tuple[float, float]]]:
    pyramid, time, seen = Pyramid(), 0.0, []
    for wait, value in readings:
        time += wait
        pyramid.add(time, value)
        seen.append((time, value))
    return pyramid, seen


def every(seconds: float, values: list[float]) -> Pyramid:
    pyramid = Pyramid()
    for place, value in enumerate(values):
        pyramid.add(place * seconds, value)
    return pyramid


@given(READINGS, WINDOWS)
def test_no_peak_of_a_window_is_lost(readings: list[tuple[float, float]], window: Window) -> None:
    pyramid, seen = filled(readings)
    end = seen[-1][0]
    inside = [value for time, value in seen if time >= end - window.seconds]
    curve = pyramid.curve(window, end)
    assert max(curve.high) >= max(inside)
    assert min(curve.low) <= min(inside)


@given(READINGS, WINDOWS)
def test_every_bucket_holds_exactly_its_readings(readings: list[tuple[float, float]], window: Window) -> None:
    pyramid, seen = filled(readings)
    curve = pyramid.curve(window, seen[-1][0])
    for start, low, high in zip(curve.times, curve.low, curve.high, strict=True):
        number = round(start / curve.width)
        held = [value for time, value in seen if int(time // curve.width) == number]
        assert (low, high) == (min(held), max(held))


@given(READINGS, WINDOWS)
def test_a_window_has_no_more_buckets_than_columns(readings: list[tuple[float, float]], window: Window) -> None:
    assume(window.seconds / window.columns <= FINEST_SECONDS * 2 ** (LEVELS - 1))  # nothing is coarser than the coarsest
    pyramid, seen = filled(readings)
    assert len(pyramid.curve(window, seen[-1][0]).times) <= window.columns + 1


@given(READINGS, st.integers(1, 5000))
def test_the_revision_changes_with_the_buckets(readings: list[tuple[float, float]], columns: int) -> None:
    pyramid, time, everything = Pyramid(), 0.0, Window(4800, columns)
    before: tuple[int, Curve] | None = None
    for wait, value in readings:
        time += wait
        pyramid.add(time, value)
        now = (pyramid.revision(everything), pyramid.curve(everything, 4800.0))
        if before is not None:
            assert (now[0] == before[0]) == (now[1] == before[1])
        before = now


def test_a_flat_hour_changes_a_wide_bucket_once() -> None:
    pyramid, window = Pyramid(), Window(3600, 1200)
    revisions = set()
    for tick in range(40):  # 4 s at 10 Hz, from the start of a bucket
        pyramid.add(tick / 10, 5.0)
        revisions.add(pyramid.revision(window))
    assert len(revisions) == 1


def test_a_full_pyramid_forgets_its_oldest() -> None:
    pyramid = every(FINEST_SECONDS, [float(tick) for tick in range(5 * COLUMNS_AT_MOST)])
    window = Window(COLUMNS_AT_MOST * FINEST_SECONDS, COLUMNS_AT_MOST)
    assert len(pyramid.curve(Window(1e9, 10**9), 1e6).times) <= 2 * COLUMNS_AT_MOST
    assert len(pyramid.curve(window, 5 * COLUMNS_AT_MOST * FINEST_SECONDS).times) >= COLUMNS_AT_MOST - 2


def test_a_day_is_kept_whole() -> None:
    pyramid = every(10.0, [9e9] + [1.0] * 8639)
    curve = pyramid.curve(Window(24 * 3600, 1200), 86_390.0)
    assert max(curve.high) == 9e9


def test_more_than_the_coarsest_level_gives_what_there_is() -> None:
    pyramid = every(100.0, [1.0, 2.0, 3.0])
    assert pyramid.curve(Window(1e9, 10), 200.0).width == FINEST_SECONDS * 2 ** (LEVELS - 1)


def test_an_empty_pyramid_has_an_empty_curve() -> None:
    assert len(Pyramid().curve(Window(60, 100), 10.0).times) == 0


def test_the_shares_are_those_of_the_peak() -> None:
    pyramid = Pyramid()
    for time, value in ((0.0, 3.0), (0.1, 8.0), (0.2, 5.0)):
        pyramid.add(time, value, bytes([int(value)]))
    assert pyramid.parts(Window(1000, 10), 0.2) == [b"\x08"]


def test_parts_that_begin_late_stand_at_their_buckets() -> None:
    pyramid = Pyramid()
    for second in range(5):
        pyramid.add(float(second), 1.0, b"x" if second == 3 else b"")
    assert pyramid.parts(Window(10, 100), 4.0) == [b"", b"", b"", b"x", b""]


def test_a_small_pyramid_is_bounded_and_loses_no_peak() -> None:
    pyramid = Pyramid(64, figures=True)
    for tick in range(4000):
        pyramid.add(tick / 8, 9.0 if tick == 2500 else 1.0)
    assert all(len(level.numbers) <= 64 + 64 // 8 + 1 for level in pyramid._levels)
    assert max(pyramid.curve(Window(500, 2048), 500.0).high) == 9.0


def test_a_rounded_figure_that_stays_changes_nothing() -> None:
    pyramid, window = Pyramid(figures=True), Window(1000, 10)
    revisions = set()
    for tick in range(10):
        pyramid.add(tick / 10, 400.3)
        revisions.add(pyramid.revision(window))
    assert len(revisions) == 1


def test_a_window_may_end_in_the_past() -> None:
    pyramid = every(1.0, [float(tick) for tick in range(100)])
    curve = pyramid.curve(Window(10, 100), 50.0)
    assert list(curve.high) == [float(tick) for tick in range(40, 51)]


def test_a_gap_before_the_window_is_not_drawn() -> None:
    pyramid = Pyramid()
    pyramid.add(0.0, 3.0)
    pyramid.add(9.0, 4.0, after_gap=True)
    assert pyramid.curve(Window(2, 100), 9.0).breaks == ()
