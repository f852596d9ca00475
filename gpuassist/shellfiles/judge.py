"""Judges the lines of a start-up file for one chosen toolkit: what each does, and the smallest change that makes it follow.

Words that name another toolkit are replaced where they stand, so that what is derived from them follows. Of several lines that would then
say the same, the one that wins is replaced and the beaten ones are commented out. What cannot be replaced is commented out where it does
nothing else, and left with the reason where it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuassist.model.text import text
from gpuassist.shellfiles.effects import follows, leading, leads_of
from gpuassist.shellfiles.installed import CHOOSING, HOMES, LISTS, Installed, Lead
from gpuassist.shellfiles.lines import Evidence, LineJudge, ShellLine, StartupText
from gpuassist.shellfiles.reading import Place, Statement
from gpuassist.shellfiles.toolkit_words import ToolkitWord


def judge(file: StartupText, installed: Installed, evidence: Evidence) -> tuple[ShellLine, ...]:
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
    lines = _without_beaten(outside, lines, file, installed, evidence.followed)
    lines += [judge_one.loose(group) for group in loose.values()]
    return tuple(sorted(lines, key=lambda line: (line.line, line.last_line)))


@dataclass(frozen=True, slots=True)
class _Gives:
    """What a statement gives a variable once every word is replaced, and whether that stands in front of what was there."""

    variable: str
    directory: str
    first: bool


def _without_beaten(
    statements: Sequence[Statement],
    lines: Sequence[ShellLine],
    file: StartupText,
    installed: Installed,
    followed: frozenset[str],
) -> list[ShellLine]:
    """Of lines that would say the same, the one that wins stays: the other ones that were to change are commented out."""
    lines = list(lines)
    if file.reading.unreadable_line:
        return lines
    gives = [_gives(one, line, installed) for one, line in zip(statements, lines, strict=True)]
    moving = {number for number, one in enumerate(statements) if lines[number].rewritten or follows(one, installed, followed)}
    beaten: set[int] = set()
    while True:
        more = {number for number in moving - beaten if _is_beaten(number, gives, lines, beaten, file)}
        more = {max(more)} if more else set()  # one by one: of two that beat each other one stays
        if not more:
            break
        beaten |= more
    for number in beaten:
        why = text("would say the same as the line that wins")
        lines[number] = replace(lines[number], rewritten=False, ticked=True, why=why)
    return lines


def _gives(statement: Statement, line: ShellLine, installed: Installed) -> frozenset[_Gives]:
    """Empty where it stands in something, shares its lines, or does anything besides."""
    if (
        statement.place is not Place.TOP
        or statement.shared
        or statement.owner
        or (not line.other and not _all_chosen(statement, installed))
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


def _all_chosen(statement: Statement, installed: Installed) -> bool:
    leads = leads_of(statement, installed)
    return leads == {Lead.CHOSEN}


def _is_beaten(
    number: int, gives: Sequence[frozenset[_Gives]], lines: Sequence[ShellLine], beaten: set[int], file: StartupText
) -> bool:
    line = lines[number]
    if not gives[number] or not line.tickable:
        return False
    rivals = [place for place in range(len(lines)) if place != number and place not in beaten and gives[place]]
    for one in gives[number]:
        better = [place for place in rivals if any(_beats(place, other, number, one, lines) for other in gives[place])]
        if not better:
            return False
    return not _is_needed(number, lines, beaten, file)


def _beats(place: int, other: _Gives, number: int, one: _Gives, lines: Sequence[ShellLine]) -> bool:
    if (other.variable, other.directory) != (one.variable, one.directory):
        return False
    if one.variable in HOMES:
        # The last one that is set wins; one that needs no change wins over any that does.
        return place > number or not lines[place].other
    if other.first is not one.first:
        return other.first
    return place > number or not lines[place].other


def _is_needed(number: int, lines: Sequence[ShellLine], beaten: set[int], file: StartupText) -> bool:
    """Whether a line between this one and the next that sets the same uses what it sets."""
    homes = CHOOSING.intersection(lines[number].variables) - LISTS
    later = [place for place in range(number + 1, len(lines)) if place not in beaten and homes.intersection(lines[place].variables)]
    end = lines[later[0]].line if later else len(file.content)
    gone = {row for place in beaten for row in range(lines[place].line, lines[place].last_line + 1)}
    return any(
        one.variable in homes and lines[number].last_line < one.line < end and one.line not in gone
        for one in file.reading.references
    )
