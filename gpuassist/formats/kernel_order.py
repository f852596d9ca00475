"""The order of kernels: which of several names boot loaders take for the newest."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cmp_to_key
from itertools import zip_longest

from gpuassist.model.lazy_regex import lazy_regex

_AT_MOST = 200  # characters of a name that count: names come from directories that others may have filled
_PIECES = lazy_regex(r"(\d+)")
_SEGMENTS = lazy_regex(r"\d+|[a-zA-Z]+|~")
_COUNTED = lazy_regex(r"[^a-zA-Z0-9.~^-]+")
_NUMBER, _LETTERS = lazy_regex(r"[0-9]*"), lazy_regex(r"[a-zA-Z]*")
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


def _in_uapis_order(one: str, other: str) -> int:
    """As systemd-boot compares (UAPI group, Version Format Specification)."""
    left, right = _COUNTED.sub("", one), _COUNTED.sub("", other)
    while left or right:
        for sign in "~-^.":
            if sign == "-" and not (left and right):  # what ends is older, but for a tilde
                return _sign(bool(left), bool(right))
            here, there = left.startswith(sign), right.startswith(sign)
            if here != there:
                return _sign(there, here)
            if here:
                left, right = left[1:], right[1:]
                break
        else:
            numbers = left[:1].isdigit() or right[:1].isdigit()
            pieces = _NUMBER if numbers else _LETTERS
            here_piece, there_piece = _beginning(pieces, left), _beginning(pieces, right)
            order = _sign(int(here_piece or -1), int(there_piece or -1)) if numbers else _sign(here_piece, there_piece)
            if order:
                return order
            left, right = left[len(here_piece) :], right[len(there_piece) :]
    return 0


def _beginning(pieces: re.Pattern[str], words: str) -> str:
    found = pieces.match(words)
    return found[0] if found is not None else ""


def _sign(one: object, other: object) -> int:
    return int(one > other) - int(one < other)  # type: ignore[operator]


by_dpkg: Key = _compared(_in_dpkgs_order)
by_rpm: Key = _compared(_in_rpms_order)
by_uapi: Key = _compared(_in_uapis_order)
