"""A row that breaks what holds for all fails the test, is named, and hides none after it."""

from __future__ import annotations

import inspect

import pytest

from tests import rows
from tests.rows import for_each

Failed = pytest.fail.Exception


def test_every_row_is_run() -> None:
    seen: list[int] = []
    for_each("number", range(5))(lambda number: seen.append(number))()
    assert seen == [0, 1, 2, 3, 4]


def test_every_row_that_fails_is_told_with_its_values() -> None:
    @for_each(("left", "right"), [(1, 1), (1, 2), (3, 3), (4, 5)])
    def same(left: int, right: int) -> None:
        assert left == right

    with pytest.raises(Failed, match="2 of 4 rows") as failed:
        same()
    assert [words in str(failed.value) for words in ("left=1, right=2", "left=4, right=5", "left=3")] == [True, True, False]


def test_an_error_is_a_failure() -> None:
    with pytest.raises(Failed, match="ZeroDivisionError"):
        for_each("number", [1, 0])(lambda number: 1 / number)()


def test_no_rows_are_no_test() -> None:
    with pytest.raises(AssertionError, match="no rows"):
        for_each("number", [])(lambda number: None)()


def test_rows_are_made_when_the_test_runs() -> None:
    made: list[str] = []

    def rows() -> list[int]:
        made.append("made")
        return [1]

    test = for_each("number", rows)(lambda number: None)
    assert not made
    test()
    assert made == ["made"]


def test_two_make_every_pair() -> None:
    seen: list[tuple[str, int]] = []
    for_each("name", ["a", "b"])(for_each("number", [1, 2])(lambda name, number: seen.append((name, number))))()
    assert seen == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]


@pytest.mark.parametrize(("all_of_them", "expected"), [(False, [0, 3, 6]), (True, [0, 1, 2, 3, 4, 5, 6])])
def test_a_share_of_the_rows_stands_for_all(monkeypatch: pytest.MonkeyPatch, all_of_them: bool, expected: list[int]) -> None:
    monkeypatch.setattr(rows, "EVERY_ROW", all_of_them)
    seen: list[int] = []
    for_each("number", range(7), every=3)(lambda number: seen.append(number))()
    assert seen == expected


def test_what_is_no_name_of_a_row_is_a_fixture() -> None:
    test = for_each("number", [1])(lambda number, home: None)
    assert list(inspect.signature(test).parameters) == ["home"]
