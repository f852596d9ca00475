"""Time on pixels that stay what they are while the plot moves on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.ui.plots.time_grid import TimeGrid, clock_marks

SPANS = (10, 30, 60, 300, 900, 3600, 14400, 86400)


@given(st.floats(10, 86400), st.floats(0, 1e7), st.integers(16, 3000))
def test_the_edges_are_the_first_and_the_last_pixel(span: float, until: float, width: int) -> None:
    grid = TimeGrid(span, until, width)
    assert (grid.place(until), grid.last - grid.first + 1) == (width - 1, width)


@given(st.floats(10, 86400), st.floats(1e3, 1e6), st.integers(16, 3000), st.integers(0, 15))
def test_a_pixel_shows_its_own_time(span: float, until: float, width: int, place: int) -> None:
    grid = TimeGrid(span, until, width)
    assert grid.place(grid.time(place)) == place


def test_a_moment_keeps_its_pixel_while_the_plot_moves() -> None:
    before, after = TimeGrid(300, 5000.0, 400), TimeGrid(300, 5007.3, 400)
    assert after.first + after.place(4900.0) == before.first + before.place(4900.0)


def test_every_window_has_some_marks_of_the_clock() -> None:
    for span in SPANS:
        marks = clock_marks(TimeGrid(span, 54321.0, 500), 1.8e9, 6)
        assert 1 <= len(marks) <= 7
        assert [place for place, _ in marks] == sorted({place for place, _ in marks})


@given(st.sampled_from(SPANS), st.floats(1e5, 2e5), st.integers(1, 4))
def test_the_narrowest_plot_has_a_mark_too(span: float, until: float, at_most: int) -> None:
    assert 1 <= len(clock_marks(TimeGrid(span, until, 110), 1.8e9, at_most)) <= at_most + 2


def test_marks_stand_at_whole_steps() -> None:
    marks = clock_marks(TimeGrid(60, 54321.0, 500), 1.8e9, 6)
    assert {int(name[-2:]) % 10 for _, name in marks} == {0}
