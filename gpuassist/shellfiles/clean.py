"""Judges the lines of a start-up file by what they put on search lists that should not be there, and how it is taken out.

Pure. An empty element means the current directory; `stubs` holds libraries that link and do not run; `compat` is another driver's
half; a directory that does not exist, or that another line puts there too, is searched for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.block import Block
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.lines import ShellLine, in_place_of, rows_of
from gpuassist.shellfiles.rewrite import Rewriting, rewrite
from gpuassist.shellfiles.statements import Element, Reading, Statement, StatementPlace, printable
from gpuassist.shellfiles.toolkits import HOMES, LISTS, looks_like_cuda

GUARDED = LISTS - {"PATH"}  # PATH is never empty where a start-up file runs
_EMPTY_COLONS = lazy_regex(r"""::|[="']:|:["'\s;]|:$""")
_EMPTY_ELEMENT = text("an empty entry, which means the current directory")


class Grounds(Struct, frozen=True):
    """What the judgement rests on: which directories exist, why a directory hurts on LD_LIBRARY_PATH, and which variables hold an
    empty element in a new terminal.
    """

    exists: Callable[[str], bool]
    hurts: Mapping[str, Text] = field(default_factory=dict)
    empty: frozenset[str] = frozenset()


class LineFault(Struct, frozen=True):
    """Something in a line that should not be there; `certain` where taking it out is suggested."""

    words: Text
    certain: bool = True


def judge_clean(
    reading: Reading,
    grounds: Grounds,
    content: bytes,
    ours: Block | None = None,
    *,
    file: str = "",
    dialect: Dialect = Dialect.BASH,
) -> tuple[ShellLine, ...]:
    """The lines with faults, each with what is suggested: one that holds nothing else is commented out, from others they are taken.

    `ours` is the managed block, which has none.
    """
    outside = [one for one in reading.statements if ours is None or not ours.first_byte <= one.first_byte < ours.end_byte]
    twice = repeated(outside)
    judged = (_judged(statement, content, _Judge(statement, grounds, twice), dialect) for statement in outside)
    lines = tuple(replace(line, file=file) for line in judged if line is not None)
    if not reading.unreadable_line:
        return lines
    why = text("line {line} of this file could not be understood", line=reading.unreadable_line)
    return tuple(replace(line, ticked=False, rewritten=False, why=why) for line in lines)


class _Judge:
    """Judges the elements of one statement in their order."""

    def __init__(self, statement: Statement, grounds: Grounds, twice: Mapping[tuple[int, str, str], int]) -> None:
        self._statement = statement
        self._grounds = grounds
        self._twice = twice

    def told(self) -> tuple[LineFault | None, ...]:
        """What is wrong, or nothing, with each element that the parser tells; it does not tell empty ones."""
        judge = self.elementwise()
        given = ((one.variable, element) for one in self._statement.assignments for element in one.elements if not element.previous)
        return tuple(judge(variable, element) for variable, element in given)

    def elementwise(self) -> Callable[[str, Element], LineFault | None]:
        """A judge of elements that remembers those before: the second time that a line names a directory is one too many."""
        seen: set[tuple[str, str]] = set()

        def judge(variable: str, element: Element) -> LineFault | None:
            place = (variable, element.directory.rstrip("/"))
            again = bool(place[1]) and place in seen
            seen.add(place)
            if variable not in LISTS | HOMES:
                return None
            if again:
                return LineFault(text("{directory} a second time", directory=printable(element.directory)))
            return self._fault(variable, element)

        return judge

    def unguarded(self) -> LineFault:
        """What was there before brings an empty element along while it is empty."""
        variables = sorted(GUARDED.intersection(one.variable for one in self._statement.assignments))
        words = text("an empty entry, which means the current directory, while {variable} is empty", variable=listed(variables))
        return LineFault(words, certain=bool(self._grounds.empty.intersection(variables)))

    def _fault(self, variable: str, element: Element) -> LineFault | None:
        if not element.written:
            return LineFault(_EMPTY_ELEMENT) if variable in LISTS else None
        directory = element.directory.rstrip("/")
        if variable == "LD_LIBRARY_PATH" and directory in self._grounds.hurts:
            return LineFault(self._grounds.hurts[directory])
        if not directory.startswith("/"):
            return None
        by_name = _by_name(variable, directory)
        if by_name is not None:
            return by_name
        if not self._grounds.exists(directory):
            return LineFault(text("{directory} does not exist", directory=printable(directory)), certain=looks_like_cuda(directory))
        other = self._twice.get((self._statement.first_byte, variable, directory))
        if other is None:
            return None
        return LineFault(text("line {line} puts {directory} there too", line=other, directory=printable(directory)))


def _by_name(variable: str, directory: str) -> LineFault | None:
    if variable not in {"LD_LIBRARY_PATH", "LIBRARY_PATH"}:
        return None
    name, shown = directory.rstrip("/").rpartition("/")[2], printable(directory)
    if name == "stubs" and variable == "LD_LIBRARY_PATH":
        return LineFault(text("{directory} holds stand-ins of the driver's libraries, which link and do not run", directory=shown))
    if name == "compat" and looks_like_cuda(directory):
        return LineFault(text("{directory} takes the place of the driver's own libcuda", directory=shown), certain=False)
    return None


def _judged(statement: Statement, content: bytes, judge: _Judge, dialect: Dialect) -> ShellLine | None:
    told = judge.told()
    faults = tuple(fault for fault in told if fault is not None)
    # A closer look takes its time: most lines write PATH with nothing between their colons.
    may_hold_empty = _EMPTY_COLONS.search(statement.text) or GUARDED.intersection(statement.variables)
    if statement.place is StatementPlace.COMMAND or not (faults or may_hold_empty):
        return None
    unguarded: tuple[LineFault, ...] = ()
    if dialect is not Dialect.FISH and rewrite(content, statement, lambda _, element: element.written, GUARDED).line:
        unguarded = (judge.unguarded(),)
    found = {fault.words: fault for fault in (*faults, *unguarded)}
    certain = any(fault.certain for fault in found.values())
    taken: list[LineFault] = []

    def fate(judged: Callable[[str, Element], LineFault | None], variable: str, element: Element) -> str | None:
        fault = judged(variable, element)
        # What may be there for a reason is taken out only where nothing else would be.
        if fault is None or (certain and not fault.certain):
            return element.written
        taken.append(fault)
        return None

    rewriting = rewrite(content, statement, partial(fate, judge.elementwise()), GUARDED, dialect=dialect)
    if any(fault.certain for fault in taken) and not certain:
        certain = True  # an empty element, which is found only now
        rewriting = rewrite(content, statement, partial(fate, judge.elementwise()), GUARDED, dialect=dialect)
    nothing_else = bool(told) and all(fault is not None and fault.certain for fault in told)
    if not rewriting.line and not rewriting.hollow and nothing_else:
        rewriting = replace(rewriting, hollow=True)
    shown = (*taken, *unguarded) if rewriting.line else (*found.values(), *taken)
    faults = tuple({fault.words: fault for fault in shown}.values())
    return _shown(statement, content, faults, rewriting) if faults else None


def _shown(statement: Statement, content: bytes, faults: tuple[LineFault, ...], rewriting: Rewriting) -> ShellLine:
    tickable, suggested, why = _verdict(statement, faults, rewriting)
    return ShellLine(
        statement.line,
        statement.last_line,
        statement.text,
        statement.variables,
        tuple(fault.words for fault in faults),
        tickable,
        suggested and rewriting.hollow,
        why,
        statement.inside,
        statement.owner,
        rewritten=suggested and bool(rewriting.line),
        instead=rewriting.line if tickable else b"",
        why_not=None if rewriting.line else rewriting.why,
        rows=rows_of(statement),
        replacements=(in_place_of(statement, content, rewriting.line),) if rewriting.line else (),
    )


def _verdict(statement: Statement, faults: tuple[LineFault, ...], rewriting: Rewriting) -> tuple[bool, bool, Text]:
    if statement.owner:
        return False, False, text("belongs to {owner}, which rewrites it; left as it is", owner=statement.owner)
    if statement.shared:
        return False, False, text("shares its lines with other commands; please change it by hand")
    if statement.place is not StatementPlace.TOP:
        return True, False, text("inside “{inside}”", inside=statement.inside or statement.text.strip())
    if not any(fault.certain for fault in faults):
        return True, False, text("may be there for a reason; yours to choose")
    if rewriting.hollow:
        return True, True, text("has nothing else in it, so the whole line is commented out")
    if rewriting.line:
        return True, True, text("only that is removed")
    return True, False, rewriting.why


# Directories that one line of a start-up file puts on a list where another line puts them as well, so that one of both is idle.


class _Entry(Struct, frozen=True):
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
    if statement.place is StatementPlace.TOP and not statement.shared:
        for assignment in statement.assignments:
            if assignment.variable in LISTS and assignment.keeps_previous:
                before = True
                for element in assignment.elements:
                    before = before and not element.previous
                    if element.directory and not element.previous:
                        yield _Entry(statement, assignment.variable, element.directory.rstrip("/") or "/", before)
