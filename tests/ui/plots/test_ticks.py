"""The marks of memory."""

from __future__ import annotations

import pytest

from gpuassist.ui.plots.axes import GIB, memory_marks


def names(gibibytes: float, at_most: int = 4) -> list[str]:
    return [name for _, name in memory_marks(gibibytes * GIB, at_most)]


@pytest.mark.parametrize(
    ("gibibytes", "expected"),
    [
        (24, ["0", "8", "16", "24"]),
        (23.99, ["0", "8", "16", "24"]),
        (79.6, ["0", "20", "40", "60", "80"]),
        (8, ["0", "2", "4", "6", "8"]),
        (10.75, ["0", "4", "8", "10.8"]),
        (1.95, ["0", "0.5", "1", "1.5", "2"]),
        (141, ["0", "40", "80", "120", "141"]),
    ],
)
def test_memory_is_marked_in_whole_steps(gibibytes: float, expected: list[str]) -> None:
    assert names(gibibytes) == expected


def test_the_top_mark_stands_at_the_capacity() -> None:
    assert memory_marks(23.99 * GIB)[-1] == (23.99 * GIB, "24")


def test_a_low_plot_has_few_marks() -> None:
    assert names(24, 2) == ["0", "16", "24"]


@pytest.mark.parametrize("capacity", [1 << 28, 1 << 33, 3 << 40])
def test_marks_rise_and_are_few(capacity: int) -> None:
    places = [place for place, _ in memory_marks(capacity)]
    assert places == sorted(places)
    assert len(places) <= 13
