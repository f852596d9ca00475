"""What a program's memory does, by made-up curves whose answer was written down first, and what holds for every curve."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest

from gpuassist.formats.allocator import WORKSPACES
from gpuassist.monitor.growth import NOTHING, GrowthWatch, Shape
from tests.monitor.made_curves import CARD, CURVES, MIB, Moment
from tests.rows import for_each

SEED = 20
# What nobody can know when it happens for the first time.
SEEN_TWICE = {"peaks every minute", "epochs that fill a buffer", "garbage"}


def watched(curve: Iterable[Moment]) -> GrowthWatch:
    watch = None
    for time, allocated, reserved, peak in curve:
        watch = watch or GrowthWatch(inside=allocated is not None)
        watch.add(time, round(reserved * MIB), round((allocated or 0) * MIB), round((peak or 0) * MIB))
    assert watch is not None
    return watch


def line(rate: float, seconds: int, base: float = 6000.0) -> list[Moment]:
    """A leak that is a straight line, on top of a model."""
    return [(float(second), base + rate * second, base + rate * second + 500, base + rate * second) for second in range(seconds)]


@for_each("name", CURVES)
def test_every_curve_is_what_it_was_made_to_be(name: str) -> None:
    shape, made = CURVES[name]
    assert watched(made(Random(f"{SEED} {name}"))).judge(1 << 33).shape is shape


@for_each("name", [name for name, (shape, _) in CURVES.items() if shape is Shape.NONE and name not in SEEN_TWICE])
def test_nobody_is_warned_for_nothing_at_any_time(name: str) -> None:
    curve = CURVES[name][1](Random(f"{SEED} {name}"))
    watch = GrowthWatch(inside=curve[0][1] is not None)
    due = 60.0
    for time, allocated, reserved, peak in curve:
        watch.add(time, round(reserved * MIB), round((allocated or 0) * MIB), round((peak or 0) * MIB))
        if time >= due:
            due += 45.0
            assert watch.judge((CARD - reserved) * MIB) == NOTHING, time


@pytest.mark.parametrize("rate", [3.0, 10.0, 40.0])
def test_the_time_left_is_that_of_the_line(rate: float) -> None:
    found = watched(line(rate, 400)).judge(rate * 1000 * MIB)
    assert found.shape is Shape.REFERENCES_KEPT
    assert found.bytes_per_second == pytest.approx(rate * MIB, rel=0.05)
    assert found.seconds_until_full == pytest.approx(1000, rel=0.05)


def test_no_time_is_told_beyond_what_was_seen_allows() -> None:
    found = watched(line(3.0, 400)).judge(3.0 * 90_000 * MIB)
    assert found.shape is Shape.REFERENCES_KEPT
    assert found.seconds_until_full is None


def test_a_jump_is_no_news_for_ever() -> None:
    shape, made = CURVES["one long sequence"]
    curve = made(Random(4))
    assert watched(curve).judge(0.0).shape is shape is Shape.JUMP
    later = [(time + 480, allocated, curve[-1][2], curve[-1][3]) for time, allocated, _, _ in curve[100:380]]
    assert watched([*curve, *later]).judge(0.0) == NOTHING


def test_workspaces_are_counted_apart_and_are_no_growth() -> None:
    watch = GrowthWatch(inside=True)
    level = 512
    for second in range(400):
        level += WORKSPACES[0] if second % 20 == 10 else 0
        watch.add(float(second), level + (20 << 20), level, level)
    assert watch.workspace_bytes == 20 * WORKSPACES[0]
    assert watch.judge(1 << 30) == NOTHING


def test_a_day_takes_no_more_room_than_an_hour_and_keeps_its_peak() -> None:
    watch = GrowthWatch(inside=True)
    for second in range(0, 86_400, 5):
        watch.add(float(second), 7 << 30, 6 << 30, (9 << 30) if second > 100 else (6 << 30))
    assert len(watch._recent) + len(watch._coarse) <= 1200 + 480
    assert max(one.peak for one in watch._coarse) == 9 << 30


@for_each("watch", [GrowthWatch(inside=True), GrowthWatch(inside=False)])
def test_nothing_at_all_is_nothing(watch: GrowthWatch) -> None:
    assert watch.judge(0.0) == NOTHING
    watch.add(5.0, 1 << 30)
    assert watch.judge(0.0) == NOTHING


def level(second: int, kept: float) -> Moment:
    """A step that needs 120 MiB for a moment, on top of a model and of what is kept."""
    high = 300 + kept + 120
    return float(second), 300 + kept + (120 if second % 2 else 0), high, high


@for_each(
    ("kept", "grows_until"),
    [
        (lambda second: second % 300 * 0.5, 330),  # predictions until the epoch's end: news in the first one alone
        (lambda second: min(second, 900), 1050),  # a buffer that is full at last
    ],
)
def test_what_has_ended_is_not_named_again(kept: Callable[[int], float], grows_until: int) -> None:
    watch = GrowthWatch(inside=True)
    named = []
    for second in range(1500):
        time, allocated, reserved, peak = level(second, kept(second))
        assert allocated is not None
        assert peak is not None
        watch.add(time, round(reserved * MIB), round(allocated * MIB), round(peak * MIB))
        if second % 10 == 0 and watch.judge(float(CARD * MIB)).shape is not Shape.NONE:
            named.append(second)
    assert 180 in named
    assert max(named) <= grows_until
