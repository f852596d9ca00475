"""A pattern that is compiled at its first use does what a compiled one does."""

from __future__ import annotations

import re

import pytest

from gpuassist.model.lazy_regex import lazy_regex


def test_every_method_is_that_of_the_compiled_pattern() -> None:
    pattern = lazy_regex(r"(?P<letter>[A-C])(\d)", re.IGNORECASE)
    assert [found["letter"] for found in pattern.finditer("a1 B2 d4")] == ["a", "B"]
    assert (pattern.sub("-", "xa1"), pattern.split("1a2c")) == ("x-", ["1", "a", "2", "c"])
    assert pattern.fullmatch("a1")
    assert not pattern.fullmatch("a1 ")
    assert (pattern.groups, pattern.pattern) == (2, r"(?P<letter>[A-C])(\d)")


def test_bytes_are_matched_by_bytes() -> None:
    assert lazy_regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_pattern_that_is_none_fails_where_it_is_used() -> None:
    pattern = lazy_regex("(")
    with pytest.raises(re.error):
        pattern.search("")
