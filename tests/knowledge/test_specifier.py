"""Ranges as pip writes them take in what pip takes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.specifier import admits
from gpuassist.model.version import Version, VersionError
from tests.rows import for_each

NUMBERS = st.lists(st.integers(0, 40), min_size=1, max_size=4).map(tuple)


@for_each(
    ("versions", "inside", "outside"),
    [
        ("", ["0", "2.15.0"], []),
        ("<2.3", ["2.2.2", "1.13"], ["2.3", "2.3.0", "2.10"]),
        (">=2", ["2", "2.0", "2.4.1", "10"], ["1.26.4"]),
        (">=2.11,<2.13", ["2.11", "2.12.1"], ["2.10.0", "2.13.0"]),
        ("<14,>=13.0.3", ["13.0.3", "13.9"], ["13.0.2", "14"]),
        ("~=3.9.0", ["3.9.0", "3.9.7"], ["3.10.0", "3.8.9", "4"]),
        ("~=3.9", ["3.9", "3.10", "3.99.1"], ["4.0", "3.8"]),
        ("==13.2.2", ["13.2.2", "13.2.2.0"], ["13.2.3", "13.2"]),
        ("==2.9.*", ["2.9", "2.9.1"], ["2.10", "2.8.9"]),
        ("!=2.0.*", ["1.9", "2.1"], ["2.0", "2.0.1"]),
        ("!=2.10.0", ["2.9", "2.10.1"], ["2.10", "2.10.0"]),
        ("> 2.1, <= 2.4", ["2.2", "2.4.0"], ["2.1", "2.4.1"]),
        ("3.3.1", ["3.3.1"], ["3.3", "3.3.0"]),
        ("0.0.28.post1", ["0.0.28"], ["0.0.29"]),
    ],
)
def test_range_takes_in_what_pip_does(versions: str, inside: list[str], outside: list[str]) -> None:
    assert [words for words in inside if not admits(versions, Version.parse(words))] == []
    assert [words for words in outside if admits(versions, Version.parse(words))] == []


@pytest.mark.parametrize("versions", ["newest", "=2", ">=", "2.x", ">=2;<3", "=>2"])
def test_what_is_no_range_is_refused(versions: str) -> None:
    with pytest.raises(VersionError):
        admits(versions, Version.parse("2"))


@given(NUMBERS, NUMBERS)
def test_every_version_is_on_one_side(limit: tuple[int, ...], other: tuple[int, ...]) -> None:
    words = ".".join(map(str, limit))
    below, exact, above = (admits(sign + words, Version(other)) for sign in ("<", "==", ">"))
    assert [below, exact, above].count(True) == 1
    assert admits(f">={words}", Version(other)) is not below
    assert admits(f"<={words}", Version(other)) is not above


@given(NUMBERS)
def test_version_is_in_its_own_range(parts: tuple[int, ...]) -> None:
    words = ".".join(map(str, parts))
    assert all(admits(sign + words, Version(parts)) for sign in ("", "==", "~=", ">=", "<="))


@given(NUMBERS, NUMBERS)
def test_two_clauses_are_both_meant(low: tuple[int, ...], version: tuple[int, ...]) -> None:
    first, second = f">={'.'.join(map(str, low))}", "<20"
    both = admits(f"{first},{second}", Version(version))
    assert both == (admits(first, Version(version)) and admits(second, Version(version)))
