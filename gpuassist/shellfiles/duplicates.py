"""Directories that one line of a start-up file puts on a list where another line puts them as well, so that one of both is idle."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpuassist.shellfiles.installed import LISTS
from gpuassist.shellfiles.reading import Place, Statement


@dataclass(frozen=True, slots=True)
class _Entry:
    """A directory that a line adds to a list: `front` in front of what was there."""

    statement: Statement
    variable: str
    directory: str
    front: bool


def repeated(statements: Sequence[Statement]) -> Mapping[tuple[int, str, str], int]:
    """By the first byte of a line, variable and directory: the line that makes it idle.

    What is put in front is found there before what an earlier line put in front; what is put behind is found only where nothing put
    it there before. Lines that do not always run make nothing idle, and nothing is idle across a line that sets the list anew.
    """
    found: dict[tuple[int, str, str], int] = {}
    standing: dict[tuple[str, str], _Entry] = {}
    for statement in statements:
        for assignment in statement.assignments:
            if assignment.variable in LISTS and not assignment.keeps_previous:
                standing = {place: entry for place, entry in standing.items() if place[0] != assignment.variable}
        for entry in _entries(statement):
            earlier = standing.get((entry.variable, entry.directory))
            if earlier is not None and earlier.statement is not statement:
                idle, by = (earlier, entry) if entry.front else (entry, earlier)
                found[(idle.statement.first_byte, idle.variable, idle.directory)] = by.statement.line
                standing[(entry.variable, entry.directory)] = by
            else:
                standing[(entry.variable, entry.directory)] = entry
    return found


def _entries(statement: Statement) -> Iterator[_Entry]:
    if statement.place is Place.TOP and not statement.shared:
        for assignment in statement.assignments:
            if assignment.variable in LISTS and assignment.keeps_previous:
                before = True
                for element in assignment.elements:
                    before = before and not element.previous
                    if element.directory and not element.previous:
                        yield _Entry(statement, assignment.variable, element.directory.rstrip("/") or "/", before)
