"""Which stretch of time is shown: following, zoomed, moved, and back again."""

from __future__ import annotations

import pytest

from gpuassist.ui.plots.time_view import LEAST_SECONDS, MOST_SECONDS, TimeView, stretched


@pytest.fixture
def view() -> TimeView:
    made = TimeView(300)
    made.extend(1000, 5000)
    return made


def test_it_follows_what_is_newest(view: TimeView) -> None:
    view.extend(1000, 5007)
    assert (view.until, view.span, view.follows) == (5007, 300, True)


def test_what_is_short_is_stretched() -> None:
    view = TimeView(300)
    spans = []
    for newest in (1000, 1009, 1014, 1100, 1299, 2000):
        view.extend(1000, newest)
        spans.append(view.span)
    assert spans == [10, 10, 15, 120, 300, 300]


def test_at_least_half_of_it_is_filled() -> None:
    assert all(stretched(seconds) <= 2 * seconds for seconds in range(10, 80000, 7))


def test_zoom_keeps_the_moment_under_the_mouse(view: TimeView) -> None:
    before = (4850 - (view.until - view.span)) / view.span
    view.zoom(0.5, 4850)
    assert (4850 - (view.until - view.span)) / view.span == pytest.approx(before)
    assert (view.span, view.follows) == (150, False)


def test_zoom_by_key_goes_on_following(view: TimeView) -> None:
    view.zoom(0.5)
    assert (view.span, view.follows) == (150, True)


def test_out_and_in_again_while_all_is_shown_leaves_room_for_more() -> None:
    view = TimeView(300)
    view.extend(1000, 1014)
    for _ in range(3):
        view.zoom(0.8, 1010)
    for _ in range(9):
        view.zoom(1.25, 1010)
    view.extend(1000, 1059)
    assert (view.span, view.follows) == (60, True)


def test_whether_all_is_in_sight(view: TimeView) -> None:
    seen = [view.shows_all]
    view.show(7200)
    seen.append(view.shows_all)
    view.pan(-500)
    assert [*seen, view.shows_all] == [False, True, False]


def test_zoom_has_ends(view: TimeView) -> None:
    view.zoom(1e-6)
    least = view.seconds
    view.zoom(1e9)
    assert (least, view.seconds) == (LEAST_SECONDS, MOST_SECONDS)


def test_it_stays_where_it_was_moved_to(view: TimeView) -> None:
    view.pan(-600)
    view.extend(1000, 5100)
    assert (view.until, view.follows) == (4400, False)


def test_moved_to_the_end_it_follows_again(view: TimeView) -> None:
    view.pan(-600)
    view.pan(700)
    assert (view.until, view.follows) == (5000, True)


def test_it_does_not_leave_the_history(view: TimeView) -> None:
    view.pan(-1e6)
    assert view.until == 1150


def test_the_beginning_is_one_step_away(view: TimeView) -> None:
    view.go_back()
    assert (view.until - view.span, view.follows) == (1000, False)


def test_one_call_follows_again(view: TimeView) -> None:
    view.pan(-600)
    view.follow()
    assert (view.until, view.follows) == (5000, True)


def test_what_was_dropped_is_not_shown(view: TimeView) -> None:
    view.pan(-3000)
    view.extend(4000, 8000)
    assert view.until == 4000


def test_a_stretched_view_that_is_moved_keeps_its_look() -> None:
    view = TimeView(300)
    view.extend(1000, 1040)
    view.pan(-10)
    assert (view.span, view.until) == (45, 1030)
