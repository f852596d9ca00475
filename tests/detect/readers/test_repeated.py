"""Accounts that a text repeats."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers.facts import latest_first


def test_last_account_comes_first() -> None:
    assert latest_first("abc", str) == ["c", "b", "a"]


def test_account_that_means_the_same_again_counts_where_it_stands_last() -> None:
    assert latest_first(["a1", "b1", "a2"], lambda one: one[0]) == ["a2", "b1"]


def test_of_very_many_those_at_either_end_are_read() -> None:
    kept = latest_first(range(10_000), str)
    assert kept[0] == 9_999
    assert kept[-1] == 0
    assert len(kept) == 60


@given(st.lists(st.integers(0, 9)))
def test_nothing_that_is_told_is_lost_and_nothing_stands_twice(told: list[int]) -> None:
    assert sorted(latest_first(told, str)) == sorted(set(told))
