"""The order of kernels: which of several names boot loaders take for the newest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import zip_longest

from gpuassist.model.lazy_regex import lazy_regex

_AT_MOST = 200  # characters of a name that count: names come from directories that others may have filled
_PIECES = lazy_regex(r"(\d+)")
_SEGMENTS = lazy_regex(r"\d+|[a-zA-Z]+|~")
Key = Callable[[str], object]


def _compared(compare: Callable[[str, str], int]) -> Key:
    return cmp_to_key(lambda one, other: compare(one[:_AT_MOST], other[:_AT_MOST]))


def _in_dpkgs_order(one: str, other: str) -> int:
    """As `sort -V` has it, by which GRUB's 10_linux lists kernels: the ordering of Debian's versions (deb-version(7))."""
    for left, right in zip_longest(_PIECES.split(one), _PIECES.split(other), fillvalue=""):
        if left.isdecimal() or right.isdecimal():
            order = _sign(int(left or "0"), int(right or "0"))
        else:
            order = _sign([*map(_weight, left), 0], [*map(_weight, right), 0])
        if order:
            return order
    return _sign(one, other)


def _weight(character: str) -> int:
    """A tilde before the end, letters before all other signs."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + (1 << 21)


def _in_rpms_order(one: str, other: str) -> int:
    """As rpmvercmp(3) has it, by which entries of the Boot Loader Specification are listed: what separates does not count, a number
    is newer than letters, and what goes on is newer.
    """
    left, right = _SEGMENTS.findall(one), _SEGMENTS.findall(other)
    for here, there in zip_longest(left, right, fillvalue=""):
        if here == there:
            continue
        if "~" in {here, there}:
            return -1 if here == "~" else 1
        if not here or not there:
            return 1 if here else -1
        if here.isdecimal() != there.isdecimal():
            return 1 if here.isdecimal() else -1
        order = _sign(int(here), int(there)) if here.isdecimal() else _sign(here, there)
        if order:
            return order
    return 0


def _sign(one: object, other: object) -> int:
    return int(one > other) - int(one < other)  # type: ignore[operator]


by_dpkg: Key = _compared(_in_dpkgs_order)
by_rpm: Key = _compared(_in_rpms_order)


def newest_first(names: Iterable[str], key: Key = by_dpkg) -> tuple[str, ...]:
    return tuple(sorted(names, key=key, reverse=True))  # type: ignore[arg-type]
