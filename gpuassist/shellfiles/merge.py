"""A three-way merge over lines as bytes: what two sides made of the same text, joined where they do not meet, else shown.

An insertion beside lines that the other side took out is clean, because what we add stands at a file's end and people write below
it; two changes of neighbouring lines are not, because a line may go on in the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

_COMPARISONS_AT_MOST = 4_000_000  # above it the lines between the first and the last difference count as one change


class Meeting(Struct, frozen=True):
    """Lines that both sides changed, each in its own way: as they were, and what either made of them.

    `line` is the first of them in the second side's text, counted from 1.
    """

    line: int
    base: bytes
    ours: bytes
    theirs: bytes


class Merged(Struct, frozen=True):
    """The joined text; where there are `meetings` it holds the second side's lines there, and is not to be used."""

    content: bytes
    meetings: tuple[Meeting, ...] = ()


class _Change(Struct, frozen=True):
    """One side made `lines` of the base's lines from `first` up to `end`."""

    first: int
    end: int
    lines: tuple[bytes, ...]
    ours: bool


def merge(base: bytes, ours: bytes, theirs: bytes) -> Merged:
    """Both changes of `base` in one text."""
    rows = _rows(base)
    changes = [*_changes(rows, _rows(ours), ours=True), *_changes(rows, _rows(theirs), ours=False)]
    changes.sort(key=lambda change: (change.first, change.end))
    result: list[bytes] = []
    meetings: list[Meeting] = []
    done, shift = 0, 0  # how far the base is used up, and how many lines the second side is ahead of it
    for group in _groups(changes):
        first, end = group[0].first, max(change.end for change in group)
        mine, yours = _made(rows, group, first, end, ours=True), _made(rows, group, first, end, ours=False)
        result += rows[done:first]
        only_ours = all(change.ours for change in group)
        result += mine if only_ours else yours
        if not only_ours and any(change.ours for change in group) and mine != yours:
            meetings.append(Meeting(first + shift + 1, b"".join(rows[first:end]), b"".join(mine), b"".join(yours)))
        done = end
        shift += len(yours) - (end - first)
    result += rows[done:]
    # What was the last line of one text without a line end may stand in the middle of the joined one.
    ended = [*(row if row.endswith(b"\n") else row + b"\n" for row in result[:-1]), *result[-1:]]
    return Merged(b"".join(ended), tuple(meetings))


def _rows(content: bytes) -> list[bytes]:
    rows = content.split(b"\n")
    return [row + b"\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def _changes(base: list[bytes], rows: list[bytes], *, ours: bool) -> Iterator[_Change]:
    head = _alike(base, rows)
    tail = _alike(base[head:][::-1], rows[head:][::-1])
    old, new = base[head : len(base) - tail], rows[head : len(rows) - tail]
    if len(old) * len(new) > _COMPARISONS_AT_MOST:
        yield _Change(head, head + len(old), tuple(new), ours)
        return
    from difflib import SequenceMatcher  # only where an edited file is taken back, while every `undo` imports this

    for tag, first, end, new_first, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            yield _Change(head + first, head + end, tuple(new[new_first:new_end]), ours)


def _alike(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def _groups(changes: list[_Change]) -> Iterator[list[_Change]]:
    """Changes that meet, together; those that stand alone, alone."""
    group: list[_Change] = []
    for change in changes:
        if group and not any(_meet(before, change) for before in group):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _meet(before: _Change, change: _Change) -> bool:
    if change.first != before.end:
        return change.first < before.end
    inserted = before.first == before.end, change.first == change.end
    return inserted == (True, True) or inserted == (False, False)


def _made(rows: list[bytes], group: list[_Change], first: int, end: int, *, ours: bool) -> list[bytes]:
    """What one side made of the base's lines from `first` up to `end`."""
    result: list[bytes] = []
    done = first
    for change in group:
        if change.ours is ours:
            result += [*rows[done : change.first], *change.lines]
            done = change.end
    return [*result, *rows[done:end]]
