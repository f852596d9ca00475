"""Whole numbers in foreign words."""

from __future__ import annotations

import pytest

from gpuassist.model.version import whole_number


@pytest.mark.parametrize(("words", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_plain_digits_are_a_number(words: str, number: int) -> None:
    assert whole_number(words) == number


@pytest.mark.parametrize("words", ["", " 1", "-1", "+1", "1_0", "²", "٣", "1.0", "x", "9" * 19, "9" * 5000])
def test_anything_else_is_none(words: str) -> None:
    assert whole_number(words) is None
