"""What is known has a source, what is not has a reason, and the two are never taken for each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH

WHY = text("permission denied")


@pytest.mark.parametrize("absence", [(), "", 0, False, 0.0])
def test_known_absence_is_a_value(absence: object) -> None:
    assert value_or(Known(absence, "/sys/module"), "something") == absence


@pytest.mark.parametrize("default", [(), "", 0, False, -1])
def test_unknown_fact_gives_the_readers_default(default: object) -> None:
    fact: Fact[object] = Unknown(WHY)
    assert value_or(fact, default) == default


@given(st.integers() | st.text() | st.booleans() | st.tuples(st.integers()), st.integers() | st.text())
def test_known_value_never_depends_on_the_default(value: Any, default: Any) -> None:
    assert value_or(Known(value, "here"), default) is value


def test_known_absence_is_not_unknown() -> None:
    absent: Fact[Any] = Known("", "/proc")
    assert absent != Unknown(text(""))
    assert isinstance(absent, Known)


def test_source_tells_two_facts_apart() -> None:
    assert Known(1, "NVML") != Known(1, "/sys")


def test_reason_was_asked_for_unless_it_says_otherwise() -> None:
    assert Unknown(WHY).asked
    assert Unknown(WHY) != Unknown(WHY, asked=False)


def test_what_nobody_looked_at_says_so() -> None:
    assert (ENGLISH(NOT_ASKED.reason), NOT_ASKED.asked) == ("not looked at", False)


def test_facts_can_be_collected() -> None:
    assert len({Known(1, "a"), Known(1, "a"), Known(2, "a"), Unknown(WHY), Unknown(WHY)}) == 3


@pytest.mark.parametrize(("fact", "name"), [(Known(1, "NVML"), "value"), (Unknown(WHY), "reason")])
def test_fact_cannot_be_changed(fact: Fact[int], name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(fact, name, 2)


def test_unknown_has_no_value_to_read_by_mistake() -> None:
    assert not hasattr(Unknown(WHY), "value")
    assert not hasattr(Known(1, "NVML"), "reason")


def test_only_what_is_known_to_be_so_is_true() -> None:
    assert [fact.is_true for fact in (Known(True, "x"), Known(False, "x"), Unknown(WHY))] == [True, False, False]
