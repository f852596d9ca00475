"""The unified diff of a planned edit, for reading: bytes that are not UTF-8 are shown as such."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

_CONTEXT = 3


def unified(path: str, before: bytes, after: bytes) -> str:
    """The diff as `diff -u` prints it; empty where nothing changes."""
    old, new = _lines(before), _lines(after)
    # Lines at both ends that stay are set aside first: difflib takes seconds for the 2 MiB around two changed lines.
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    lead, tail = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    hunks = difflib.unified_diff(old[lead : len(old) - tail], new[lead : len(new) - tail], path, path, n=_CONTEXT)
    return "".join(_ended(line) for line in _renumbered(hunks, lead))


def _lines(content: bytes) -> list[str]:
    rows = content.decode("utf-8", "backslashreplace").split("\n")
    return [row + "\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def _common(first: list[str], second: list[str]) -> int:
    length = min(len(first), len(second))
    return next((place for place in range(length) if first[place] != second[place]), length)


def _renumbered(hunks: Iterator[str], lead: int) -> Iterator[str]:
    for line in hunks:
        yield _shifted(line, lead) if lead and line.startswith("@@ ") else line


def _shifted(heading: str, lead: int) -> str:
    _, old, new, _ = heading.split(" ", 3)
    return f"@@ -{_moved(old[1:], lead)} +{_moved(new[1:], lead)} @@\n"


def _moved(place: str, lead: int) -> str:
    line, comma, count = place.partition(",")
    return f"{int(line) + lead}{comma}{count}"


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"
