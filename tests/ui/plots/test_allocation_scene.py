"""Which band lies where in a plot of allocations, and which stretch of the recording is shown."""

from __future__ import annotations

import numpy as np
import pytest

from gpuassist.session.memory_timeline import BlockLives, MemoryTimeline
from gpuassist.ui.plots.allocation_scene import AllocationScene
from gpuassist.ui.plots.allocation_view import AllocationView, ClockAxis, EventAxis, size_marks
from tests.rows import for_each
from tests.session.made_lives import made_lives, there

GIB = 1 << 30


def scene(events: int = 300, owners: int = 12) -> AllocationScene:
    made = AllocationScene(MemoryTimeline(made_lives(events, owners=owners)))
    made.choose(made.largest(made.timeline.total.peak, 4))
    return made


def test_every_height_has_the_owner_whose_band_is_there() -> None:
    shown = scene()
    lives = shown.timeline.lives
    for point in (0, 1, 150, 300):
        told: dict[int, int] = {}
        rows = set()
        for height in range(0, int(shown.timeline.total.values[point]), 1 << 15):
            found = shown.owner_at(point, height)
            assert found.owner is not None
            told[found.owner] = told.get(found.owner, 0) + (1 << 15)
            rows.add(found.row)
            assert lives.owned_by[found.row] == found.owner
        shares = shown.timeline.shares(point)
        assert told == {owner: share for owner, share in enumerate(shares.tolist()) if share}
        assert rows == set(there(lives, point))  # every block can be pointed at
        assert shown.owner_at(point, float(shares.sum())).owner is None
        assert shown.owner_at(point, -1.0).owner is None


def test_bands_are_climbed_from_the_lowest_to_the_highest() -> None:
    shown, point = scene(), 150
    found = [shown.next_band(point, None, 1)]
    while (higher := shown.next_band(point, found[-1].owner, 1)).owner != found[-1].owner:
        found.append(higher)
    assert len(found) == np.count_nonzero(shown.timeline.shares(point))
    coloured = [owner for owner in shown.owners if shown.shares(point)[owner]]
    assert [one.owner for one in found][-len(coloured) :] == coloured
    heights = [shown.middle_of(one) for one in found]
    assert heights == sorted(heights)
    assert [shown.owner_at(point, height).owner for height in heights] == [one.owner for one in found]


def test_an_owner_keeps_its_colour() -> None:
    shown = scene()
    first = {owner: shown.colour_of(owner) for owner in shown.owners}
    kept = shown.owners[1:]
    other = next(owner for owner in range(12) if owner not in shown.owners)
    assert shown.choose((*kept, other))
    assert {owner: shown.colour_of(owner) for owner in kept} == {owner: first[owner] for owner in kept}
    assert len(set(shown.series)) == 4
    assert not shown.choose((*kept, other))


def test_columns_add_up() -> None:
    shown = scene()
    view = AllocationView(EventAxis(shown.timeline))
    columns = shown.columns(view, 40)
    assert columns.highs.max() == shown.timeline.total.values.max()
    assert all(sum(band[place] for band in columns.bands) <= columns.highs[place] for place in range(40))
    for place in range(40):
        assert shown.timeline.total.values[shown.point_at(place)] == columns.highs[place]


def axes() -> list[EventAxis | ClockAxis]:
    timeline = MemoryTimeline(made_lives(500))
    return [EventAxis(timeline), ClockAxis(timeline)]


@for_each("axis", axes)
def test_no_point_is_lost_and_none_is_shown_beyond_an_edge(axis: EventAxis | ClockAxis) -> None:
    view = AllocationView(axis)
    for zoom in (1.0, 0.3, 0.05):
        view.zoom(zoom, view.left + view.span * 0.4)
        for width in (7, 90, 1000):
            starts, ends = view.columns(width)
            assert (ends > starts).all()
            seen = set().union(*(range(start, end) for start, end in zip(starts, ends, strict=True)))
            assert seen == set(range(axis.point(view.left), ends[-1]))
            assert ends[-1] - 1 in {axis.point(view.right), axis.point(view.right) - 1}


@for_each("axis", axes)
def test_a_view_stays_within_the_recording(axis: EventAxis | ClockAxis) -> None:
    view = AllocationView(axis)
    assert view.is_whole
    view.zoom(1e-9, axis.end * 0.25)
    assert view.span == pytest.approx(axis.least)
    assert view.left <= axis.end * 0.25 <= view.right
    view.pan(-axis.end * 9)
    assert view.left == 0
    view.pan(axis.end * 9)
    assert view.right == pytest.approx(axis.end)
    view.bring(0.0)
    assert view.left == 0
    view.zoom(1e9, 0.0)
    assert view.is_whole
    view.show(axis.end * 0.5, axis.end * 0.5)
    assert view.span == pytest.approx(axis.least)


def test_events_at_the_same_time_and_backward_clocks_are_drawn() -> None:
    made = made_lives(5)
    seconds = np.array([0.0, 0.0, 2.0, 1.0, 3.0])
    timeline = MemoryTimeline(BlockLives(made.sizes, made.owned_by, made.starts, made.ends, 5, 5, seconds))
    view = AllocationView(ClockAxis(timeline))
    starts, ends = view.columns(30)
    assert (starts[0], ends[-1]) == (2, 6)  # at 0 s the state after all that happened then
    still = MemoryTimeline(BlockLives(made.sizes, made.owned_by, made.starts, made.ends, 5, 5, np.zeros(5)))
    assert (AllocationView(ClockAxis(still)).columns(3)[1] > 0).all()


@for_each(
    "top, at_most, said",
    [
        (0, 4, ("0",)),
        (900, 3, ("0", "512 B")),
        (3.3 * GIB, 4, ("0", "1 GiB", "2 GiB", "3 GiB")),
        (1.2 * GIB, 4, ("0", "0.5 GiB", "1 GiB")),
        (80 * GIB, 5, ("0", "16 GiB", "32 GiB", "48 GiB", "64 GiB", "80 GiB")),
        (5 << 20, 2, ("0", "4 MiB")),
    ],
)
def test_sizes_are_marked_in_round_figures(top: float, at_most: int, said: tuple[str, ...]) -> None:
    assert tuple(name for _, name in size_marks(top, at_most)) == said


def test_marks_are_round_and_few() -> None:
    timeline = MemoryTimeline(made_lives(500))
    assert [name for _, name in AllocationView(EventAxis(timeline)).marks(6)] == ["0", "100", "200", "300", "400", "500"]
    for axis in axes():
        view = AllocationView(axis)
        for _ in range(12):
            view.zoom(0.5, axis.end * 0.3)
            assert len(view.marks(6)) <= 7
            assert all(view.left <= place <= view.right for place, _ in view.marks(6))
