"""Judges the lines of a start-up file for one chosen toolkit: what each does, and whether it may and should be retired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from gpuassist.formats.shell import Assignment, Element, Place, Reading, Reference, Statement, printable
from gpuassist.model.fact import Known
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Origin, Toolkit
from gpuassist.repair.block import Block, RepairError

LISTS = frozenset({"PATH", "LD_LIBRARY_PATH"})
HOMES = frozenset({"CUDA_HOME", "CUDA_PATH"})


class Lead(str, Enum):
    """Where a directory leads: to the chosen toolkit, to another one, elsewhere, or where only a running shell can tell."""

    CHOSEN = "chosen"
    OTHER = "other"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ShellLine:
    """A statement of the start-up file as the repair page shows it.

    `does` says what each of its assignments does; `tickable` whether it may be retired at all, `ticked` whether it will be, and
    `why` the reason. `inside` is the first line of the function, branch or loop that it stands in, empty at top level; `other`
    whether it leads to another toolkit than the chosen one.
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


@dataclass(frozen=True, slots=True)
class Installed:
    """The toolkits of this machine seen from the chosen one; `real` follows symlinks."""

    chosen: Toolkit
    others: tuple[Toolkit, ...]
    real: Callable[[str], str]

    def lead(self, directory: str) -> Lead:
        """Where a directory leads."""
        if not directory:
            return Lead.UNKNOWN
        candidates = (directory.rstrip("/") or "/", self.real(directory))
        if any(_belongs(candidate, self.chosen) for candidate in candidates):
            return Lead.CHOSEN
        if any(_belongs(candidate, other) for other in self.others for candidate in candidates) or _looks_like_cuda(directory):
            return Lead.OTHER
        return Lead.ELSEWHERE


def judge(reading: Reading, installed: Installed, ours: Block | None = None) -> tuple[ShellLine, ...]:
    """Every statement that sets a watched variable, with the ones ticked that put another toolkit in the way of the chosen one.

    `ours` is the managed block of the file, whose lines are not the user's.
    """
    outside = (one for one in reading.statements if ours is None or not ours.first_byte <= one.first_byte < ours.end_byte)
    return _without_needed(tuple(_line(statement, installed, reading) for statement in outside), reading.references)


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
    return tuple(replace(line, ticked=line.tickable and line.line in wanted) for line in lines)


def _line(statement: Statement, installed: Installed, reading: Reading) -> ShellLine:
    tickable, ticked, why = _verdict(statement, installed, reading)
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


def _verdict(statement: Statement, installed: Installed, reading: Reading) -> tuple[bool, bool, Text]:
    leads = _leads(statement, installed)
    if Lead.OTHER not in leads:
        return False, False, _harmless(statement, leads)
    if statement.place is Place.COMMAND:
        return False, False, text("holds for that one command alone; left as it is")
    if statement.owner:
        return False, False, text("belongs to {owner}, which rewrites it; left as it is", owner=statement.owner)
    if statement.shared:
        return False, False, text("shares its lines with other commands; please change it by hand if it is in the way")
    if reading.unreadable_line:
        return (
            True,
            False,
            text(
                "leads to another toolkit, but line {line} of this file could not be understood",
                line=reading.unreadable_line,
            ),
        )
    return _verdict_by_content(statement, installed, leads)


def _verdict_by_content(statement: Statement, installed: Installed, leads: frozenset[Lead]) -> tuple[bool, bool, Text]:
    also = _other_contributions(statement, installed)
    if also:
        return (
            True,
            False,
            text(
                "leads to another toolkit, but also sets {also}, which would be lost with it; the new block wins over it anyway",
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
    if not assignment.keeps_previous:
        return text("sets {variable} to {value}", variable=assignment.variable, value=shown)
    if assignment.elements[-1].previous:
        return text("puts {value} in front of {variable}", variable=assignment.variable, value=shown)
    if assignment.elements[0].previous:
        return text("puts {value} at the end of {variable}", variable=assignment.variable, value=shown)
    return text("puts {value} around {variable}", variable=assignment.variable, value=shown)


def _shown(element: Element, installed: Installed) -> str:
    return printable(element.written if installed.lead(element.directory) is Lead.UNKNOWN else element.directory)


def _without_needed(lines: tuple[ShellLine, ...], references: tuple[Reference, ...]) -> tuple[ShellLine, ...]:
    # A line that stays may use CUDA_HOME where a ticked one sets it: then that one stays too, and so on until nothing changes.
    while True:
        needed = {line.line: user for line in lines if line.ticked and (user := _needed_by(line, lines, references))}
        if not needed:
            return lines
        lines = tuple(_kept(line, needed[line.line]) if line.line in needed else line for line in lines)


def _needed_by(line: ShellLine, lines: tuple[ShellLine, ...], references: tuple[Reference, ...]) -> int:
    retired = {row for one in lines if one.ticked for row in range(one.line, one.last_line + 1)}
    homes = HOMES.intersection(line.variables)
    users = (one.line for one in references if one.variable in homes and one.line > line.last_line and one.line not in retired)
    return next(users, 0)


def _kept(line: ShellLine, user: int) -> ShellLine:
    why = text("sets another toolkit, but line {line} uses it; the new block wins over it anyway", line=user)
    return replace(line, ticked=False, why=why)


def _belongs(directory: str, toolkit: Toolkit) -> bool:
    if isinstance(toolkit.origin, Known) and toolkit.origin.value in {Origin.CONDA, Origin.WHEEL}:
        return False  # such a directory holds a whole Python environment: taking it off PATH would take more than a toolkit away
    if toolkit.root in {"/", "/usr", "/usr/local"}:
        return False
    return any(directory == root or directory.startswith(root + "/") for root in (toolkit.root, *toolkit.links))


def _looks_like_cuda(directory: str) -> bool:
    """Whether its name says CUDA, for a toolkit that is no longer installed: `/usr/local/cuda`, `/opt/cuda`, `…/cuda-10.2`."""
    parts = directory.split("/")
    versioned = any(part.startswith("cuda-") and part[5:].replace(".", "").isdigit() for part in parts)
    return versioned or directory.startswith(("/usr/local/cuda/", "/opt/cuda/")) or directory in {"/usr/local/cuda", "/opt/cuda"}
