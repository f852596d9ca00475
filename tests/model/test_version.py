"""Versions and architectures compare as their makers count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.version import Code, ComputeCapability, Target, Version, VersionError

numbers = st.lists(st.integers(0, 999), min_size=1, max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("12.4.131", (12, 4, 131)),
        ("V11.7.99", (11, 7, 99)),
        ("2.5.1+cu124", (2, 5, 1)),
        ("  570.86.16\n", (570, 86, 16)),
        ("2.16.0rc1", (2, 16, 0)),
        ("13", (13,)),
    ],
)
def test_version_reads_leading_number(words: str, parts: tuple[int, ...]) -> None:
    assert Version.parse(words).parts == parts


@pytest.mark.parametrize("words", ["", "none", "N/A", "-1", ".5", "9" * 5000, "12." + "9" * 5000])
def test_version_refuses_what_is_none(words: str) -> None:
    with pytest.raises(VersionError):
        Version.parse(words)


@given(numbers)
def test_version_survives_its_own_spelling(parts: tuple[int, ...]) -> None:
    assert Version.parse(str(Version(parts))) == Version(parts)


@given(numbers)
def test_version_is_not_other_than_itself_however_it_is_spelled(parts: tuple[int, ...]) -> None:
    assert not Version.parse(str(Version(parts))) != Version(parts)  # noqa: SIM202 -- `!=` is what is asked
    assert Version((*parts, 1)) != Version(parts)


def test_version_keeps_the_zeros_of_a_driver() -> None:
    assert str(Version.parse("580.65.06")) == "580.65.06"


def test_spelling_does_not_count_in_comparisons() -> None:
    assert Version.parse("580.65.06") == Version((580, 65, 6))
    assert not Version.parse("580.65.06") != Version((580, 65, 6))  # noqa: SIM202 -- it is the operator that is asked
    assert Version.parse("580.65.06") != Version((580, 65))
    assert hash(Version.parse("580.65.06")) == hash(Version((580, 65, 6)))


@given(numbers, numbers)
def test_versions_order_like_their_numbers(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    assert (Version(first) < Version(second)) == (first < second)


def test_ten_is_newer_than_nine() -> None:
    assert Version.parse("12.10") > Version.parse("12.9")


@pytest.mark.parametrize(("words", "release"), [("12.4.131", "12.4"), ("13", "13.0"), ("12.8", "12.8")])
def test_release_is_the_first_two_numbers(words: str, release: str) -> None:
    assert str(Version.parse(words).release) == release


def test_major_is_the_driver_branch() -> None:
    assert Version.parse("580.95.05").major == 580


@pytest.mark.parametrize("words", ["8.9", "12.0", "12.1", "3.5"])
def test_capability_survives_its_own_spelling(words: str) -> None:
    assert str(ComputeCapability.parse(words)) == words


@pytest.mark.parametrize("words", ["8", "8.99", "sm_89", "", "8.9.1", "9" * 5000 + ".0"])
def test_capability_refuses_other_texts(words: str) -> None:
    with pytest.raises(VersionError):
        ComputeCapability.parse(words)


def test_capability_ten_is_above_nine() -> None:
    assert ComputeCapability(10, 0) > ComputeCapability(9, 0)


@pytest.mark.parametrize("words", ["sm_89", "compute_90a", "sm_120", "compute_121", "sm_100f"])
def test_target_survives_its_own_spelling(words: str) -> None:
    assert str(Target.parse(words)) == words


@pytest.mark.parametrize(
    ("words", "capability", "code", "suffix"),
    [
        ("sm_120", (12, 0), Code.CUBIN, ""),
        ("compute_89", (8, 9), Code.PTX, ""),
        ("sm_90a", (9, 0), Code.CUBIN, "a"),
        ("lto_86", (8, 6), Code.PTX, ""),
    ],
)
def test_target_takes_name_apart(words: str, capability: tuple[int, int], code: Code, suffix: str) -> None:
    assert Target.parse(words) == Target(ComputeCapability(*capability), code, suffix)


@pytest.mark.parametrize("words", ["sm_", "compute_", "sm_9", "native", "gfx90a", "sm_1200"])
def test_target_refuses_other_texts(words: str) -> None:
    with pytest.raises(VersionError):
        Target.parse(words)
