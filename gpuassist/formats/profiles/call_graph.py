"""Which part of a function's own time is of an import or of loading data, told by who called it.

A read of a file and a line of a class are the same work in both; only the caller tells them apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gpuassist.formats.profiles.names import loads_data, sets_up

_MOST_ROUNDS = 40
_MOST_STEPS = 20_000_000
_SETTLED = 1e-3


class Called(NamedTuple):
    """What a caller has of a function: its own time and the whole of it."""

    caller: int
    own: float
    whole: float


class Parts(NamedTuple):
    """Of a function's own time, 0 to 1."""

    start: float
    data: float


_NEITHER = Parts(0.0, 0.0)


def parts_by_caller(names: list[str], callers: Mapping[int, list[Called]], programs: frozenset[int]) -> list[Parts]:
    """For each of `names`, whose place is its number; `programs` are begun by nobody of them. Functions that call each other settle
    after some rounds.
    """
    roots = [None if number in programs else _root(name) for number, name in enumerate(names)]
    inside = [one or _NEITHER for one in roots]
    open_ones = [number for number, root in enumerate(roots) if root is None and number not in programs and callers.get(number)]
    steps = sum(len(callers[number]) for number in open_ones)
    for _ in range(min(_MOST_ROUNDS, 1 + _MOST_STEPS // max(1, steps))):
        moved = 0.0
        for number in open_ones:
            told = _mean(callers[number], inside, whole=True)
            moved = max(moved, abs(told.start - inside[number].start), abs(told.data - inside[number].data))
            inside[number] = told
        if moved < _SETTLED:
            break
    for number in open_ones:
        roots[number] = _mean(callers[number], inside, whole=False)
    return [one or _NEITHER for one in roots]


def _root(name: str) -> Parts | None:
    if sets_up(name):
        return Parts(1.0, 0.0)
    return Parts(0.0, 1.0) if loads_data(name) else None


def _mean(calls: list[Called], inside: list[Parts], *, whole: bool) -> Parts:
    start = data = weights = 0.0
    for caller, own, all_of_it in calls:
        weight = all_of_it if whole else own
        weights += weight
        start += weight * inside[caller].start
        data += weight * inside[caller].data
    return Parts(start / weights, data / weights) if weights > 0 else _NEITHER
