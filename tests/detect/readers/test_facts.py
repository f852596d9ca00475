"""Facts of two accounts brought together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers.facts import agree, either, united
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host
from gpuassist.model.text import text
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version

REFUSED = Unknown(text("permission denied"))
ONE, TWO = Known(1, "a"), Known(2, "b")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (ONE, TWO, ONE),
        (ONE, NOT_ASKED, ONE),
        (NOT_ASKED, TWO, TWO),
        (REFUSED, TWO, TWO),
        (REFUSED, NOT_ASKED, REFUSED),
        (NOT_ASKED, REFUSED, REFUSED),
        (NOT_ASKED, NOT_ASKED, NOT_ASKED),
    ],
)
def test_what_is_known_counts_then_a_reason(first: Fact[int], second: Fact[int], expected: Fact[int]) -> None:
    assert either(first, second) == expected


def test_records_are_united_field_by_field() -> None:
    both = united(Host(kernel=Known("6.8", "a")), Host(kernel=Known("5.4", "b"), wsl=Known(2, "b")))
    assert (both.kernel, both.wsl) == (Known("6.8", "a"), Known(2, "b"))


def test_words_that_are_no_facts_are_taken_where_they_are() -> None:
    both = united(Toolkit(""), Toolkit("/usr/local/cuda", links=("/opt/cuda",)))
    assert (both.root, both.links) == ("/usr/local/cuda", ("/opt/cuda",))


@given(st.builds(Gpu, index=st.one_of(st.just(NOT_ASKED), st.builds(Known, st.integers(), st.just("a")))))
def test_a_record_united_with_itself_or_nothing_is_itself(gpu: Gpu) -> None:
    assert united(gpu, gpu) == united(gpu, Gpu()) == united(Gpu(), gpu) == gpu


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("12.4", "12.4.131", True),
        ("550.54.14", "550.54", True),
        ("12.4", "12.5", False),
        ("12.4.1", "12.4.131", False),
        ("570", "570.86.15", True),
    ],
)
def test_versions_agree_as_far_as_both_are_told(one: str, other: str, expected: bool) -> None:
    first, second = Known(Version.parse(one), "a"), Known(Version.parse(other), "b")
    assert agree(first, second) is agree(second, first) is expected


def test_an_unknown_fact_agrees_with_everything() -> None:
    assert agree(NOT_ASKED, ONE)
    assert agree(ONE, REFUSED)
    assert not agree(ONE, TWO)
