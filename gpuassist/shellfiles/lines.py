"""Judges the lines of a start-up file for one chosen toolkit: what each does, and whether it may and should be retired."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuassist.model.text import Text, text
from gpuassist.shellfiles.bash import Assignment, Element, Place, Reading, Reference, Statement, printable
from gpuassist.shellfiles.block import Block, RepairError
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.installed import HOMES as HOMES
from gpuassist.shellfiles.installed import LISTS as LISTS
from gpuassist.shellfiles.installed import Installed as Installed
from gpuassist.shellfiles.installed import Lead as Lead
from gpuassist.shellfiles.line_choice import Choice, ChoiceError, LineChoice
from gpuassist.shellfiles.offer import harm, offer


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A statement of the start-up file as the repair page shows it.

    `does` says what each of its assignments does; `tickable` whether it may be retired at all, `ticked` whether it will be, and
    `why` the reason. `inside` is the first line of the function, branch or loop that it stands in, empty at top level; `other`
    whether it leads to another toolkit than the chosen one. `instead` is the line that a rewriting puts in its place, empty where
    `why_not` says why none is offered, and `rewritten` whether it will be.
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

    @property
    def choice(self) -> Choice:
        """What will become of it."""
        if self.rewritten:
            return Choice.REWRITE
        return Choice.RETIRE if self.ticked else Choice.LEAVE

    @property
    def new_text(self) -> str:
        """The line that would take its place, for people; empty where none is offered."""
        return self.instead.decode("utf-8", "backslashreplace").strip()


def judge(
    reading: Reading,
    installed: Installed,
    ours: Block | None = None,
    *,
    content: bytes = b"",
    file: str = "",
    dialect: Dialect = Dialect.BASH,
    later: bool = False,
) -> tuple[ShellLine, ...]:
    """Every statement that sets a watched variable, with the ones ticked that put another toolkit in the way of the chosen one.

    `ours` is the managed block of the file, whose lines are not the user's; rewriting is offered where the `content` is given;
    `later` files are read after the block.
    """
    outside = (one for one in reading.statements if ours is None or not ours.first_byte <= one.first_byte < ours.end_byte)
    found = _Found(reading, content, dialect, later)
    judged = (_offered(_line(one, installed, found), one, installed, found) for one in outside)
    lines = tuple(replace(line, file=file, rewritten=line.rewritten and not reading.unreadable_line) for line in judged)
    return _without_needed(lines, found)


def choose(lines: tuple[ShellLine, ...], wanted: tuple[int, ...] | None) -> tuple[ShellLine, ...]:
    """The lines with exactly those ticked that begin on the `wanted` line numbers; as they are where that is not said.

    Raises `RepairError` for a number where no line may be retired.
    """
    if wanted is None:
        return lines
    tickable = {line.line for line in lines if line.tickable}
    for number in wanted:
        if number not in tickable:
            raise RepairError(text("line {line} holds nothing that can be retired", line=number))
    return tuple(replace(line, ticked=line.tickable and line.line in wanted, rewritten=False) for line in lines)


def choose_exactly(lines: tuple[ShellLine, ...], choices: tuple[LineChoice, ...]) -> tuple[ShellLine, ...]:
    """The lines with these choices, and every other one left; raises `ChoiceError` for a choice that a line does not offer."""
    wanted = {(choice.file, choice.line): choice.choice for choice in choices}
    for choice in choices:
        if choice.choice is not Choice.LEAVE:
            _require_offered(choice, [line for line in lines if (line.file, line.line) == (choice.file, choice.line)])
    return tuple(_chosen(line, wanted.get((line.file, line.line), Choice.LEAVE)) for line in lines)


def _chosen(line: ShellLine, choice: Choice) -> ShellLine:
    # A line that shares its row with one that is chosen may itself offer nothing.
    retired = choice is Choice.RETIRE and line.tickable
    return replace(line, ticked=retired, rewritten=choice is Choice.REWRITE and bool(line.instead))


def _require_offered(choice: LineChoice, lines: list[ShellLine]) -> None:
    if not lines:
        raise ChoiceError(text("{file}:{line} sets none of the variables that matter", file=choice.file, line=choice.line))
    if choice.choice is Choice.RETIRE and not any(line.tickable for line in lines):
        why = lines[0].why
        raise ChoiceError(text("{file}:{line} cannot be retired: {why}", file=choice.file, line=choice.line, why=why))
    if choice.choice is Choice.REWRITE and not any(line.instead for line in lines):
        reason = lines[0].why_not or lines[0].why
        raise ChoiceError(text("{file}:{line} cannot be rewritten: {why}", file=choice.file, line=choice.line, why=reason))


@dataclass(frozen=True, slots=True)
class _Found:
    """The file that a line stands in, `later` where it is read after the block."""

    reading: Reading
    content: bytes
    dialect: Dialect
    later: bool


def _offered(line: ShellLine, statement: Statement, installed: Installed, file: _Found) -> ShellLine:
    if not line.tickable or not file.content:
        return line
    mixed = bool(_other_contributions(statement, installed))
    found = offer(file.content, statement, installed, mixed=mixed, later=file.later, dialect=file.dialect)
    if not found.rewriting.line:
        return replace(line, why_not=found.rewriting.why)
    needed = found.harms and statement.place is Place.TOP
    return replace(line, instead=found.rewriting.line, rewritten=needed, why=harm(statement) if needed else line.why)


def _line(statement: Statement, installed: Installed, file: _Found) -> ShellLine:
    tickable, ticked, why = _verdict(statement, installed, file)
    return ShellLine(
        statement.line,
        statement.last_line,
        statement.text,
        tuple(dict.fromkeys(assignment.variable for assignment in statement.assignments)),
        tuple(_does(assignment, installed) for assignment in statement.assignments),
        tickable,
        ticked,
        why,
        statement.inside,
        statement.owner,
        Lead.OTHER in _leads(statement, installed),
    )


def _verdict(statement: Statement, installed: Installed, file: _Found) -> tuple[bool, bool, Text]:
    leads = _leads(statement, installed)
    if Lead.OTHER not in leads:
        return False, False, _harmless(statement, leads)
    if statement.place is Place.COMMAND:
        return False, False, text("holds for that one command alone; left as it is")
    if statement.owner:
        return False, False, text("belongs to {owner}, which rewrites it; left as it is", owner=statement.owner)
    if statement.shared:
        return False, False, text("shares its lines with other commands; please change it by hand if it is in the way")
    if file.reading.unreadable_line:
        return (
            True,
            False,
            text(
                "leads to another toolkit, but line {line} of this file could not be understood",
                line=file.reading.unreadable_line,
            ),
        )
    return _verdict_by_content(statement, installed, leads, later=file.later)


def _verdict_by_content(
    statement: Statement, installed: Installed, leads: frozenset[Lead], *, later: bool
) -> tuple[bool, bool, Text]:
    also = _other_contributions(statement, installed)
    if also and later:
        return True, False, text("wins over the new block, but also sets {also}, which would be lost with it", also=", ".join(also))
    if also:
        return (
            True,
            False,
            text(
                "leads to another toolkit, but also sets {also}, which would be lost with it; the new block wins over it on PATH",
                also=", ".join(also),
            ),
        )
    if statement.place is not Place.TOP:
        return True, False, text("leads to another toolkit, but stands in “{inside}”", inside=_around(statement))
    return True, Lead.OTHER in leads, text("puts another toolkit in the way of the one that you chose")


def _leads(statement: Statement, installed: Installed) -> frozenset[Lead]:
    return frozenset(
        installed.lead(element.directory)
        for assignment in statement.assignments
        for element in assignment.elements
        if not element.previous and assignment.variable in LISTS | HOMES
    )


def _harmless(statement: Statement, leads: frozenset[Lead]) -> Text:
    if Lead.CHOSEN in leads:
        return text("leads to the toolkit that you chose; it may stay")
    if Lead.UNKNOWN in leads:
        return text("only a running shell can tell where it leads; left as it is")
    if all(assignment.variable == "CUDA_VISIBLE_DEVICES" for assignment in statement.assignments):
        return text("chooses GPUs, not a toolkit; left as it is")
    return text("has nothing to do with CUDA; left as it is")


def _other_contributions(statement: Statement, installed: Installed) -> tuple[str, ...]:
    also = []
    for assignment in statement.assignments:
        if assignment.variable not in LISTS | HOMES:
            also.append(assignment.variable)
        also += [printable(element.written) for element in assignment.elements if _is_the_users(element, installed)]
    return tuple(also)


def _is_the_users(element: Element, installed: Installed) -> bool:
    return not element.previous and bool(element.written) and installed.lead(element.directory) in {Lead.ELSEWHERE, Lead.UNKNOWN}


def _around(statement: Statement) -> str:
    return statement.inside or statement.text.strip()


def _does(assignment: Assignment, installed: Installed) -> Text:
    shown = ":".join(_shown(element, installed) for element in assignment.elements if not element.previous) or "''"
    if all(element.previous for element in assignment.elements) and assignment.elements:
        return text("adds no directory to {variable}", variable=assignment.variable)
    if not assignment.keeps_previous:
        return text("sets {variable} to {value}", variable=assignment.variable, value=shown)
    if assignment.elements[-1].previous:
        return text("puts {value} in front of {variable}", variable=assignment.variable, value=shown)
    if assignment.elements[0].previous:
        return text("puts {value} at the end of {variable}", variable=assignment.variable, value=shown)
    return text("puts {value} around {variable}", variable=assignment.variable, value=shown)


def _shown(element: Element, installed: Installed) -> str:
    return printable(element.written if installed.lead(element.directory) is Lead.UNKNOWN else element.directory)


def _without_needed(lines: tuple[ShellLine, ...], file: _Found) -> tuple[ShellLine, ...]:
    # A line that stays may use CUDA_HOME where a ticked one sets it: then that one stays too, and so on until nothing changes.
    while True:
        needed = {line.line: user for line in lines if line.ticked and (user := _needed_by(line, lines, file.reading.references))}
        if not needed:
            return lines
        lines = tuple(_kept(line, needed[line.line], later=file.later) if line.line in needed else line for line in lines)


def _needed_by(line: ShellLine, lines: tuple[ShellLine, ...], references: tuple[Reference, ...]) -> int:
    retired = {row for one in lines if one.ticked for row in range(one.line, one.last_line + 1)}
    homes = HOMES.intersection(line.variables)
    users = (one.line for one in references if one.variable in homes and one.line > line.last_line and one.line not in retired)
    return next(users, 0)


def _kept(line: ShellLine, user: int, *, later: bool) -> ShellLine:
    if later and line.instead:
        why = text("wins over the new block, and line {line} uses it: it is written anew for the chosen toolkit", line=user)
        return replace(line, ticked=False, rewritten=True, why=why)
    why = text("sets another toolkit, but line {line} uses it; the new block wins over it anyway", line=user)
    return replace(line, ticked=False, why=why)
