"""Accounts that a text gives again and again: each that tells something else once, and no more of them than are worth reading."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Account = TypeVar("Account")

_MOST = 30  # from either end: a log begins with how it was started, and ends with how things stand


def latest_first(accounts: Iterable[Account], meaning: Callable[[Account], Hashable]) -> list[Account]:
    """The accounts from the last to the first; of those that mean the same the last, which is how things stand now."""
    kept: dict[Hashable, Account] = {}
    for one in accounts:
        told = meaning(one)
        kept.pop(told, None)
        kept[told] = one
    every = list(kept.values())
    ends = every if len(every) <= 2 * _MOST else [*every[:_MOST], *every[-_MOST:]]
    return ends[::-1]
