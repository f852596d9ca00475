"""Who held what at any point, and the columns of any stretch, against the same told one by one."""

from __future__ import annotations

import numpy as np

from gpuassist.session.memory_timeline import BlockLives, MemoryTimeline, SparseCurve, StepCurve
from tests.rows import for_each
from tests.session.made_lives import made_lives, there


@for_each("events, seed", [(0, 1), (1, 2), (31, 3), (32, 4), (33, 5), (300, 6)])
def test_each_point_is_told_as_it_was(events: int, seed: int) -> None:
    lives = made_lives(events, seed=seed)
    timeline = MemoryTimeline(lives)
    assert timeline.last == events
    for point in range(events + 1):
        rows = there(lives, point)
        assert timeline.total.values[point] == sum(lives.sizes[rows])
        assert timeline.all_alive(point).tolist() == rows
        shares = timeline.shares(point)
        for owner in range(lives.owners):
            own = [row for row in rows if lives.owned_by[row] == owner]
            assert shares[owner] == sum(lives.sizes[own])
            assert timeline.alive(owner, point).tolist() == own


@for_each("edges", [[0, 1], [0, 401], [5, 6, 7, 8], [0, 31, 32, 64, 65, 401], [33, 95, 96, 97, 400, 401], [7, 390]])
def test_columns_lose_no_peak(edges: list[int]) -> None:
    values = np.random.default_rng(3).integers(0, 50, 401)
    starts, ends = np.array(edges[:-1]), np.array(edges[1:])
    found = StepCurve(values).extremes(starts, ends)
    for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
        inside = values[start:end]
        assert (found.lows[place], found.highs[place]) == (inside.min(), inside.max())
        assert found.at[place] == start + int(np.argmax(inside))  # the first of them


def test_columns_may_overlap() -> None:
    """Where a pixel is narrower than an event, several show the same point."""
    values = np.arange(100)
    found = StepCurve(values).extremes(np.array([3, 3, 4, 90]), np.array([4, 5, 5, 100]))
    assert found.highs.tolist() == [3, 4, 4, 99]


def test_what_changes_seldom_is_told_by_its_changes() -> None:
    dense = np.repeat([5, 9, 2, 7], [4, 1, 10, 5])
    curve = SparseCurve(np.array([0, 4, 5, 15]), np.array([5, 9, 2, 7]))
    starts = np.array([0, 1, 3, 4, 5, 8, 14, 19])
    ends = np.array([1, 3, 6, 5, 20, 9, 16, 20])
    lows, highs = curve.bounds(starts, ends)
    assert lows.tolist() == [dense[start:end].min() for start, end in zip(starts, ends, strict=True)]
    assert highs.tolist() == [dense[start:end].max() for start, end in zip(starts, ends, strict=True)]
    assert [curve.at(point) for point in range(20)] == dense.tolist()


def test_bytes_are_counted_and_not_weighed() -> None:
    """More than 2**53 of them: what was freed is gone to the byte."""
    size = (1 << 55) + 1
    sizes, owned_by, starts, ends = (np.array(column, np.int64) for column in ([size, 512], [0, 0], [1, 2], [3, 9]))
    timeline = MemoryTimeline(BlockLives(sizes, owned_by, starts, ends, 8, 1, np.empty(0)))
    assert timeline.total.values.tolist() == [0, size, size + 512, *[512] * 6]


def test_nobody_knows_when_it_was() -> None:
    lives = made_lives(4)
    timeline = MemoryTimeline(BlockLives(lives.sizes, lives.owned_by, lives.starts, lives.ends, 4, 5, np.empty(0)))
    assert timeline.second(3) == 0
    assert MemoryTimeline(lives).second(0) == 0
    assert MemoryTimeline(lives).second(2) == lives.seconds[1]
