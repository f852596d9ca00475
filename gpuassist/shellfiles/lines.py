"""What a single line of a start-up file does for one chosen toolkit, what is suggested for it, and what the user chose.

`shellfiles/judge.py` weighs the lines of a file against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.block import Block, RepairError
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, Lines, Replacement
from gpuassist.shellfiles.rewrite import rewrite
from gpuassist.shellfiles.statements import Element, Reading, Statement, StatementPlace, printable
from gpuassist.shellfiles.toolkit_words import ToolkitWord
from gpuassist.shellfiles.toolkits import (
    InstalledToolkits,
    Lead,
    does,
    follows,
    harmless,
    leading,
    leads_of,
    names_directory,
    other_contributions,
)

# What the user chooses for a line of a start-up file.


class Choice(str, Enum):
    """A line is kept as it is, commented out, or replaced by one that leads to what is wanted.

    The values are those of the JSON documents.
    """

    KEEP = "leave"
    COMMENT_OUT = "retire"
    REPLACE = "rewrite"


class LineChoice(Struct, frozen=True):
    """The choice for the statement that begins on a line of a file; lines count from 1."""

    file: str
    line: int
    choice: Choice


class ChoiceError(RepairError):
    """A choice that the line does not offer, or a line that is none: wrong usage, not a state of the machine."""


_LOADER = "LD_LIBRARY_PATH"
_ALWAYS_RUNS = frozenset({StatementPlace.TOP, StatementPlace.CONDITION, StatementPlace.GROUP})


_NO_ROWS = Lines(0, 0)


class ShellLine(Struct, frozen=True):
    """A command of the start-up file as the repair page shows it.

    `does` says what each of its assignments does; `tickable` whether it may be commented out at all, `ticked` whether it will be,
    and `why` the reason. `inside` is the first line of the function, branch or loop that it stands in, empty at top level; `other`
    whether it leads to another toolkit than the chosen one. `instead` is what takes its place where it is replaced, empty where
    `why_not` says why none is offered, `replacements` the bytes of it that differ, and `rewritten` whether it will be; `follows`
    where it takes its directory from a line that is replaced, `roots` the toolkit directories that its own words name.
    """

    line: int
    last_line: int
    text: str
    variables: tuple[str, ...]
    does: tuple[Text, ...]
    tickable: bool
    ticked: bool
    why: Text
    inside: str = ""
    owner: str = ""
    other: bool = False
    file: str = ""
    rewritten: bool = False
    instead: bytes = b""
    why_not: Text | None = None
    follows: bool = False
    roots: frozenset[str] = frozenset()
    rows: Lines = _NO_ROWS
    replacements: tuple[Replacement, ...] = ()

    @property
    def choice(self) -> Choice:
        if self.rewritten:
            return Choice.REPLACE
        return Choice.COMMENT_OUT if self.ticked else Choice.KEEP

    @property
    def new_text(self) -> str:
        """The line that would take its place, for people; empty where none is offered."""
        return self.instead.decode("utf-8", "backslashreplace").strip()


class LineEvidence(Struct, frozen=True):
    """What shows whether a line does anything: the values that a new terminal holds (none where none was asked), and the functions
    that start-up files call. `followed` are the toolkit directories that are replaced in any file, so that what uses them follows.
    `no_loader` says why nothing of any toolkit should stay on LD_LIBRARY_PATH; none where what stands there follows.
    """

    values: tuple[str, ...] | None = None
    called: frozenset[str] = frozenset()
    followed: frozenset[str] = frozenset()
    no_loader: Text | None = None

    def runs(self, word: ToolkitWord, *, understood: bool = True) -> bool:
        """Whether a new shell takes what the word stands in; of a file that is not `understood` only what the shell holds tells."""
        held = self.values is not None and any(names_directory(word.directory, value) for value in self.values)
        if not understood and held:
            return True
        if word.runs_in and word.runs_in not in self.called:
            return False
        return held or word.place in _ALWAYS_RUNS


class StartupText(Struct, frozen=True):
    """A start-up file with all that judging its lines takes; `ours` is the managed block, whose lines are not the user's."""

    content: bytes
    reading: Reading
    words: tuple[ToolkitWord, ...] = ()
    ours: Block | None = None
    path: str = ""
    dialect: Dialect = Dialect.BASH

    def is_ours(self, first_byte: int) -> bool:
        return self.ours is not None and self.ours.first_byte <= first_byte < self.ours.end_byte

    def row(self, number: int) -> tuple[int, int]:
        """Where a row, counted from 1, begins and ends, with its line end."""
        first = 0
        for _ in range(number - 1):
            first = self.content.find(b"\n", first) + 1
        end = self.content.find(b"\n", first)
        return first, len(self.content) if end < 0 else end + 1


def choose(lines: tuple[ShellLine, ...], wanted: tuple[int, ...] | None) -> tuple[ShellLine, ...]:
    """The lines with exactly those ticked that begin on the `wanted` line numbers; as they are where that is not said.

    Raises `RepairError` for a number where no line may be commented out.
    """
    if wanted is None:
        return lines
    tickable = {line.line for line in lines if line.tickable}
    for number in wanted:
        if number not in tickable:
            raise RepairError(text("line {line} holds nothing that can be commented out", line=number))
    return tuple(replace(line, ticked=line.tickable and line.line in wanted, rewritten=False) for line in lines)


def choose_exactly(lines: tuple[ShellLine, ...], choices: tuple[LineChoice, ...]) -> tuple[ShellLine, ...]:
    """The lines with these choices, and every other one kept; raises `ChoiceError` for a choice that a line does not offer."""
    wanted = {(one.file, one.line): one.choice for one in choices}
    for one in choices:
        if one.choice is not Choice.KEEP:
            _require_offered(one, [line for line in lines if (line.file, line.line) == (one.file, one.line)])
    chosen = []
    for line in lines:
        choice = wanted.get((line.file, line.line), Choice.KEEP)
        # A line that shares its row with one that is chosen may itself offer nothing.
        ticked = choice is Choice.COMMENT_OUT and line.tickable
        chosen.append(replace(line, ticked=ticked, rewritten=choice is Choice.REPLACE and bool(line.instead)))
    return tuple(chosen)


def changes_in(lines: Iterable[ShellLine], path: str) -> LineChanges:
    own = [line for line in lines if line.file == path]
    return LineChanges(
        tuple(line.rows for line in own if line.ticked),
        tuple({one.first_byte: one for line in own if line.rewritten for one in line.replacements}.values()),
    )


def _require_offered(choice: LineChoice, lines: list[ShellLine]) -> None:
    if not lines:
        raise ChoiceError(text("{file}:{line} sets none of the variables that matter", file=choice.file, line=choice.line))
    if choice.choice is Choice.COMMENT_OUT and not any(line.tickable for line in lines):
        why = lines[0].why
        raise ChoiceError(text("{file}:{line} cannot be commented out: {why}", file=choice.file, line=choice.line, why=why))
    if choice.choice is Choice.REPLACE and not any(line.instead for line in lines):
        reason = lines[0].why_not or lines[0].why
        raise ChoiceError(text("{file}:{line} cannot be replaced: {why}", file=choice.file, line=choice.line, why=reason))


def rows_of(statement: Statement) -> Lines:
    """Its whole lines; one in a construct leaves something there, because an empty one is a syntax error."""
    nested = statement.place not in {StatementPlace.TOP, StatementPlace.CONDITION}
    return Lines(statement.first_byte, statement.end_byte, nested=nested)


def in_place_of(statement: Statement, content: bytes, line: bytes) -> Replacement:
    """The new line in place of the old one, whose line end stays."""
    rows = content[statement.first_byte : statement.end_byte]
    return Replacement(statement.first_byte, statement.first_byte + len(rows.rstrip(b"\r\n")), line)


class LineJudge:
    """Judges the commands of one file one by one."""

    def __init__(self, file: StartupText, installed: InstalledToolkits, evidence: LineEvidence) -> None:
        self.file = file
        self.installed = installed
        self.evidence = evidence

    def statement(self, statement: Statement, words: Sequence[ToolkitWord]) -> ShellLine:
        """A statement that sets watched variables, with the words in it that name another toolkit."""
        leads = leads_of(statement, self.installed)
        line = ShellLine(
            statement.line,
            statement.last_line,
            statement.text,
            statement.variables,
            tuple(does(assignment, self.installed) for assignment in statement.assignments),
            tickable=False,
            ticked=False,
            why=harmless(statement, leads),
            inside=statement.inside,
            owner=statement.owner,
            other=Lead.OTHER in leads or bool(words),
            file=self.file.path,
            rows=rows_of(statement),
        )
        if statement.place is StatementPlace.COMMAND and line.other:
            return replace(line, why=text("applies to that one command only; left as it is"))
        if statement.owner and line.other:
            return replace(line, why=text("belongs to {owner}, which rewrites it; left as it is", owner=statement.owner))
        if self.evidence.no_loader is not None and any(
            self.installed.lead(element.directory) in {Lead.OTHER, Lead.CHOSEN}
            for assignment in statement.assignments
            if assignment.variable == _LOADER
            for element in assignment.elements
            if not element.previous
        ):
            return self._off_loader(statement, self._with(line, words), self.evidence.no_loader)
        if not line.other:
            return line
        whole = not statement.shared and not self.file.reading.unreadable_line
        line = replace(line, tickable=whole and bool(leading(statement, self.installed)))
        return self._suggested(statement, self._with(line, words), words)

    def loose(self, words: Sequence[ToolkitWord]) -> ShellLine:
        """A command that sets no watched variable and names another toolkit: a test, an alias, compilers' flags."""
        first = self.file.row(words[0].line)[0]
        end = self.file.row(words[0].last_line)[1]
        shown = printable(self.file.content[first:end].decode("utf-8", "surrogateescape").replace("\r", "").rstrip("\n"))
        named = ", ".join(dict.fromkeys(word.directory for word in words))
        line = ShellLine(
            words[0].line,
            words[0].last_line,
            shown,
            (),
            (text("names {directory}", directory=printable(named)),),
            tickable=False,
            ticked=False,
            why=text("names another toolkit than the one that you chose"),
            inside=words[0].inside,
            other=True,
            file=self.file.path,
            rows=Lines(first, end),
        )
        blocks = self.file.reading.blocks
        owner = next((owner for owner, begin, last in blocks if begin <= words[0].line <= last), "")
        if owner:
            return replace(line, owner=owner, why=text("belongs to {owner}, which rewrites it; left as it is", owner=owner))
        return self._of_words(self._with(line, words), words)

    def _with(self, line: ShellLine, words: Sequence[ToolkitWord]) -> ShellLine:
        """The line with what would take its place."""
        fitting = [word for word in words if word.new is not None]
        if not fitting:
            missing = next((word.missing for word in words if word.missing), "")
            if missing:
                return replace(line, why_not=text("{place} does not exist", place=missing))
            return replace(line, why_not=_FOLLOWS if line.other else line.why)
        replacements = tuple(Replacement(word.first_byte, word.end_byte, word.new or b"") for word in fitting)
        rows = self.file.content[line.rows.first_byte : line.rows.end_byte]
        for one in reversed(replacements):
            first, end = one.first_byte - line.rows.first_byte, one.end_byte - line.rows.first_byte
            rows = rows[:first] + one.new + rows[end:]
        roots = frozenset(word.directory for word in fitting)
        return replace(line, instead=rows.removesuffix(b"\n"), replacements=replacements, roots=roots)

    def _suggested(self, statement: Statement, line: ShellLine, words: Sequence[ToolkitWord]) -> ShellLine:
        if words:
            return self._of_words(line, words)
        if follows(statement, self.installed, self.evidence.followed):
            return replace(line, follows=True, why=text("follows the lines that are replaced"))
        also = other_contributions(statement, self.installed)
        if also:  # a comment would take the user's own words along (decision 4)
            why = text("leads to another toolkit, but also sets {also}, which would be lost with it", also=listed(also))
            return replace(line, why=why)
        if statement.place is not StatementPlace.TOP or not line.tickable:
            return replace(
                line,
                why=text("leads to another toolkit, but is inside “{inside}”", inside=statement.inside or statement.text.strip()),
            )
        return replace(line, ticked=True, why=text("leads to another toolkit by a way that no word can be replaced in"))

    def _of_words(self, line: ShellLine, words: Sequence[ToolkitWord]) -> ShellLine:
        understood = not self.file.reading.unreadable_line
        sleeping = (word for word in words if word.new is not None and not self.evidence.runs(word, understood=understood))
        asleep = next(sleeping, None)
        if not line.replacements:
            return replace(line, why=text("{place} does not exist, so this stays at the other toolkit", place=words[0].missing))
        if asleep is not None and asleep.runs_in and asleep.runs_in not in self.evidence.called:
            return replace(
                line, why=text("takes effect only when “{name}” is called, and no start-up file calls it", name=asleep.runs_in)
            )
        if asleep is not None and self.file.reading.unreadable_line:
            number = self.file.reading.unreadable_line
            return replace(line, why=text("line {line} of this file could not be understood", line=number))
        inside = line.inside or line.text.strip()
        if asleep is not None and self.evidence.values is None:
            return replace(line, why=text("inside “{inside}”: whether new terminals run it is not known", inside=inside))
        if asleep is not None:
            return replace(line, why=text("inside “{inside}”, and without effect in new terminals", inside=inside))
        return replace(line, rewritten=True, why=text("names another toolkit than the one that you chose"))

    def guarded(self, statement: Statement, line: ShellLine) -> ShellLine:
        """A line of the user's own on LD_LIBRARY_PATH, where what was on it before goes: it makes no empty element of that."""
        own = any(one.variable == _LOADER and one.keeps_previous for one in statement.assignments)
        if not own or line.other or line.owner or statement.place is StatementPlace.COMMAND or self.file.reading.unreadable_line:
            return line
        found = rewrite(self.file.content, statement, lambda _, one: one.written, {_LOADER}, dialect=self.file.dialect)
        if not found.line:
            return line
        whole = in_place_of(statement, self.file.content, found.line)
        why = text("what it adds to would be empty, and an empty element is the current directory")
        return replace(line, instead=found.line, replacements=(whole,), rewritten=True, why=why)

    def _off_loader(self, statement: Statement, line: ShellLine, why: Text) -> ShellLine:
        """Takes what leads to any toolkit out of LD_LIBRARY_PATH: the whole line where it does nothing else."""

        def fate(variable: str, element: Element) -> str | None:
            lead = self.installed.lead(element.directory)
            if variable == _LOADER and lead in {Lead.OTHER, Lead.CHOSEN}:
                return None
            literal = lead is Lead.OTHER and self.installed.absolute(element.written) == element.directory
            return (self.installed.moved(element) if literal else None) or element.written

        alone = all(one.variable == _LOADER for one in statement.assignments) and not statement.shared
        found = rewrite(self.file.content, statement, fate, {_LOADER}, dialect=self.file.dialect)
        if found.line:
            whole = in_place_of(statement, self.file.content, found.line)
            return replace(line, instead=found.line, replacements=(whole,), rewritten=True, why=why, other=True, tickable=alone)
        if alone and not other_contributions(statement, self.installed):
            return replace(line, tickable=True, ticked=True, why=why, other=True)
        return replace(line, other=True, why=text("should be taken out by hand: {why}", why=why))


_FOLLOWS = text("no word in it names a toolkit: it follows the line that it takes the directory from")
