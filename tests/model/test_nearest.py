"""The nearest names come first, far ones not at all, and never more than five."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.nearest import MOST, nearest_names, nearest_numbers, nearest_versions
from gpuassist.model.version import Version

NAMES = ("GeForce RTX 4090", "GeForce RTX 4090 D", "GeForce RTX 3090", "GeForce RTX 4060", "RTX A400", "Tesla V100", "Quadro P2000")


@pytest.mark.parametrize(
    ("wanted", "first"),
    [
        ("RTX 4909", "GeForce RTX 4090"),
        ("rtx4090", "GeForce RTX 4090"),
        ("NVIDIA GeForce RTX 40900", "GeForce RTX 4090"),
        ("RTX 4090 Ti", "GeForce RTX 4090"),
        ("tesla v10", "Tesla V100"),
        ("qadro p2000", "Quadro P2000"),
    ],
)
def test_nearest_stands_first(wanted: str, first: str) -> None:
    assert nearest_names(wanted, NAMES)[0] in {first, f"{first} D"}


def test_swapped_letters_are_nearer_than_others() -> None:
    assert nearest_names("4909", ("4900", "4099", "4090", "4908"))[0] in {"4090", "4099"}


@pytest.mark.parametrize("wanted", ["", "banana", "NVIDIA GeForce", "☃"])
def test_nothing_near_gives_nothing(wanted: str) -> None:
    assert nearest_names(wanted, NAMES) == ()


def test_repeated_names_are_told_once() -> None:
    assert nearest_names("RTX 4090", ("RTX 4090", "RTX 4090")) == ("RTX 4090",)


@given(st.text(max_size=30), st.lists(st.text(max_size=20), max_size=30))
def test_never_more_than_five_and_only_given_ones(wanted: str, names: list[str]) -> None:
    found = nearest_names(wanted, names)
    assert len(found) <= MOST
    assert set(found) <= set(names)


def test_versions_beside_it_come_first() -> None:
    versions = tuple(map(Version.parse, ("11.8", "12.0", "12.5", "12.6", "12.8", "13.0")))
    assert [str(one) for one in nearest_versions(Version.parse("12.7"), versions, most=2)] == ["12.6", "12.8"]


def test_numbers_beside_it_come_first() -> None:
    assert nearest_numbers(551, (550, 555, 470, 545), most=2) == (550, 555)
