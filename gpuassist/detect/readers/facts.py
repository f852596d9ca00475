"""Facts of two accounts of one machine brought together: what is known wins, and of two that are known the first."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, T, Unknown
from gpuassist.model.version import Version

Record = TypeVar("Record", bound=Struct)


def either(first: Fact[T], second: Fact[T]) -> Fact[T]:
    """The known one of two; where neither is, the reason that somebody gives."""
    if isinstance(first, Known):
        return first
    return second if isinstance(second, Known) or not first.asked else first


def united(first: Record, second: Record) -> Record:
    """A record with every fact that one of two has; what is no fact is the first's, unless it is empty there."""
    if first == second:
        return first
    changed = {one: _one(getattr(first, one), getattr(second, one)) for one in first.__struct_fields__}
    return replace(first, **changed)


def agree(first: Fact[T], second: Fact[T]) -> bool:
    """Whether two facts can both be true."""
    return isinstance(first, Unknown) or isinstance(second, Unknown) or _same(first.value, second.value)


def _same(one: object, other: object) -> bool:
    """12.4 and 12.4.131 are one release, told with more or fewer numbers."""
    if isinstance(one, Version) and isinstance(other, Version):
        length = min(len(one.parts), len(other.parts))
        return one.parts[:length] == other.parts[:length]
    return one == other


def _one(first: Any, second: Any) -> Any:
    if isinstance(first, (Known, Unknown)):
        return either(first, second)
    if isinstance(first, Struct):
        return united(first, second)
    return first or second


# Accounts that a text gives again and again: each that tells something else once, and no more of them than are worth reading.


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
