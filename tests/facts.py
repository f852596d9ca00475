"""What a test says of a fact: its value, or the reason why there is none, in English."""

from __future__ import annotations

from typing import Any, TypeVar

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.words import ENGLISH

T = TypeVar("T")


def value(fact: Fact[T]) -> T:
    """The value; fails with the reason where there is none."""
    assert isinstance(fact, Known), ENGLISH(fact.reason)
    return fact.value


def reason(fact: Fact[Any]) -> str:
    """Why there is no value; fails where there is one."""
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)
