"""The unified diff of a planned edit, for reading: bytes that are not UTF-8 are shown as such.

Our edits change few lines, each in its place: looking a short way ahead finds where the two texts meet again. difflib would take a
2 MiB file of equal lines for rewritten as a whole, because it sets frequent lines aside.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_CONTEXT = 3
_LOOK_AHEAD = 400


class _Change(Struct, frozen=True):
    """Lines from `old` up to `old_end` became those from `new` up to `new_end`."""

    old: int
    old_end: int
    new: int
    new_end: int


def unified(path: str, before: bytes, after: bytes) -> str:
    """The diff as `diff -u` prints it; empty where nothing changes."""
    old, new = _lines(before), _lines(after)
    hunks = "".join(_hunk(old, new, group) for group in _groups(_changes(old, new)))
    return f"--- {path}\n+++ {path}\n{hunks}" if hunks else ""


def _lines(content: bytes) -> list[str]:
    rows = content.decode("utf-8", "backslashreplace").split("\n")
    return [row + "\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def _changes(old: list[str], new: list[str]) -> Iterator[_Change]:
    here, there = 0, 0
    while here < len(old) or there < len(new):
        if old[here : here + 1] == new[there : there + 1]:
            here, there = here + 1, there + 1
            continue
        skip_old, skip_new = _meeting(old[here : here + _LOOK_AHEAD], new[there : there + _LOOK_AHEAD])
        if not skip_old and not skip_new:
            skip_old, skip_new = len(old) - here, len(new) - there
        yield _Change(here, here + skip_old, there, there + skip_new)
        here, there = here + skip_old, there + skip_new


def _meeting(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many lines of each to leave out until the two are alike again; none of either where they do not meet."""
    for distance in range(1, len(old) + len(new)):
        for skip in range(max(0, distance - len(new) + 1), min(distance, len(old) - 1) + 1):
            if old[skip] == new[distance - skip]:
                return skip, distance - skip
    return 0, 0


def _groups(changes: Iterator[_Change]) -> Iterator[list[_Change]]:
    group: list[_Change] = []
    for change in changes:
        if group and change.old - group[-1].old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(old: list[str], new: list[str], group: list[_Change]) -> str:
    first, last = group[0], group[-1]
    lead, tail = min(_CONTEXT, first.old), min(_CONTEXT, len(old) - last.old_end)
    old_place = _place(first.old - lead, last.old_end + tail)
    new_place = _place(first.new - lead, last.new_end + tail)
    rows = [f"@@ -{old_place} +{new_place} @@\n"]
    done = first.old - lead
    for change in group:
        rows += [" " + line for line in old[done : change.old]]
        rows += ["-" + line for line in old[change.old : change.old_end]]
        rows += ["+" + line for line in new[change.new : change.new_end]]
        done = change.old_end
    rows += [" " + line for line in old[done : done + tail]]
    return "".join(row if row.endswith("\n") else row + "\n\\ No newline at end of file\n" for row in rows)


def _place(first: int, end: int) -> str:
    # POSIX diff: a count of one is left out, and an empty range names the line before it.
    count = end - first
    return f"{first + 1}" if count == 1 else f"{first + 1 if count else first},{count}"
