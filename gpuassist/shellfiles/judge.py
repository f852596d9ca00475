"""Judges the lines of a start-up file for one chosen toolkit: what each does, and the smallest change that makes it follow.

Words that name another toolkit are replaced where they stand, so that what is derived from them follows. Of several lines that
would then say the same, the one that wins is replaced and the beaten ones are commented out. What cannot be replaced is commented
out where it does nothing else, and left with the reason where it does.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import text
from gpuassist.shellfiles.lines import LineEvidence, LineJudge, ShellLine, StartupText
from gpuassist.shellfiles.statements import Statement, StatementPlace
from gpuassist.shellfiles.toolkit_words import ToolkitWord
from gpuassist.shellfiles.toolkits import CHOOSING, HOMES, LISTS, InstalledToolkits, Lead, follows, leading, leads_of


def judge(file: StartupText, installed: InstalledToolkits, evidence: LineEvidence) -> tuple[ShellLine, ...]:
    """Every command that sets a watched variable or names another toolkit, with what is suggested for it."""
    outside = [one for one in file.reading.statements if not file.is_ours(one.first_byte)]
    words = [word for word in file.words if not file.is_ours(word.first_byte)]
    judge_one = LineJudge(file, installed, evidence)
    lines = [
        judge_one.statement(one, [word for word in words if one.first_byte <= word.first_byte < one.end_byte]) for one in outside
    ]
    covered = [range(one.first_byte, one.end_byte) for one in outside]
    loose: dict[int, list[ToolkitWord]] = {}
    for word in words:
        if not any(word.first_byte in rows for rows in covered):
            loose.setdefault(word.line, []).append(word)
    lines = _without_beaten(outside, lines, file, (installed, evidence.followed))
    if any(_LOADER in line.variables and (line.ticked or line.rewritten) and evidence.no_loader for line in lines):
        lines = [judge_one.guarded(one, line) for one, line in zip(outside, lines, strict=True)]
    lines += [judge_one.loose(group) for group in loose.values()]
    return tuple(sorted(lines, key=lambda line: (line.line, line.last_line)))


_LOADER = "LD_LIBRARY_PATH"
_NOWHERE = 1 << 62


class _Gives(Struct, frozen=True):
    """What a statement gives a variable once every word is replaced, and whether that stands in front of what was there."""

    variable: str
    directory: str
    first: bool


def _without_beaten(
    statements: Sequence[Statement], lines: Sequence[ShellLine], file: StartupText, seen: tuple[InstalledToolkits, frozenset[str]]
) -> list[ShellLine]:
    """Of lines that would say the same, the one that wins stays: the other ones that were to change are commented out.

    `seen` are the toolkits, and the directories that are replaced in any file.
    """
    lines = list(lines)
    if file.reading.unreadable_line:
        return lines
    installed, followed = seen
    gives = [_gives(one, line, installed) for one, line in zip(statements, lines, strict=True)]
    moving = {number for number, one in enumerate(statements) if lines[number].rewritten or follows(one, installed, followed)}
    for number in _Rivals(lines, gives, file).beaten(moving):
        why = text("would say the same as the line that wins")
        lines[number] = replace(lines[number], rewritten=False, ticked=True, why=why)
    return lines


def _gives(statement: Statement, line: ShellLine, installed: InstalledToolkits) -> frozenset[_Gives]:
    """Empty where it stands in something, shares its lines, or does anything besides."""
    if (
        statement.place is not StatementPlace.TOP
        or statement.shared
        or statement.owner
        or (not line.other and leads_of(statement, installed) != {Lead.CHOSEN})
    ):
        return frozenset()
    if line.other and not (line.tickable and (line.rewritten or leading(statement, installed))):
        return frozenset()
    found: set[_Gives] = set()
    for assignment in statement.assignments:
        if assignment.variable not in LISTS | HOMES or assignment.unsets:
            return frozenset()
        for place, element in enumerate(assignment.elements):
            if element.previous:
                continue
            lead = installed.lead(element.directory)
            if lead not in {Lead.OTHER, Lead.CHOSEN}:
                return frozenset()
            root = installed.root_of(element.directory) if lead is Lead.OTHER else ""
            moved = installed.chosen.root + element.directory[len(root) :] if root else installed.real(element.directory)
            first = not any(one.previous for one in assignment.elements[:place])
            found.add(_Gives(assignment.variable, installed.real(moved).rstrip("/"), first))
    return frozenset(found)


class _Rivals:
    """The lines of a file that give the same, and which of them wins."""

    def __init__(self, lines: Sequence[ShellLine], gives: Sequence[frozenset[_Gives]], file: StartupText) -> None:
        self._lines = lines
        self._gives = gives
        self._references: dict[str, list[int]] = {}
        for one in file.reading.references:
            self._references.setdefault(one.variable, []).append(one.line)
        self._of_rivals = {line.line for line, given in zip(lines, gives, strict=True) if given}
        self._setting: dict[str, list[int]] = {}
        for number, line in enumerate(lines):
            for variable in line.variables:
                self._setting.setdefault(variable, []).append(number)

    def beaten(self, moving: set[int]) -> set[int]:
        """Those of the lines that are to change which win nothing, and which no line that stays needs."""
        # For each directory of each variable the line that wins.
        found: dict[tuple[str, str], int] = {}
        ranks: dict[tuple[str, str], tuple[bool, bool, int]] = {}
        for number, given in enumerate(self._gives):
            for one in given:
                key = (one.variable, one.directory)
                # In front of a list beats at its end; one that needs no change beats one that does; then of those in front, and of
                # what is set as a whole, the last one wins, of those at the end the first.
                first = one.first or one.variable in HOMES
                rank = (first, not self._lines[number].other, number if first else -number)
                if key not in ranks or rank > ranks[key]:
                    found[key], ranks[key] = number, rank
        winners = set(found.values())
        beaten = {number for number in moving - winners if self._gives[number] and self._lines[number].tickable}
        while needed := {number for number in beaten if self._is_needed(number, beaten)}:
            beaten -= needed
        return beaten

    def _is_needed(self, number: int, beaten: set[int]) -> bool:
        """Whether a line that stays, before the next that sets the same, uses what it sets: a directory taken from a home, or a
        list that would be empty there (PATH never is).
        """
        line = self._lines[number]
        gone = {row for place in beaten for row in range(self._lines[place].line, self._lines[place].last_line + 1)}
        for variable in CHOOSING.intersection(line.variables) - {"PATH"}:
            later = (self._lines[place].line for place in self._setting[variable] if place > number and place not in beaten)
            end = next(later, _NOWHERE) if variable not in LISTS else _NOWHERE
            for row in self._references.get(variable, ()):
                if line.last_line < row < end and row not in gone and (variable not in LISTS or row not in self._of_rivals):
                    return True
        return False
