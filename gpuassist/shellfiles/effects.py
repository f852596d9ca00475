"""What a statement of a start-up file does to the variables that choose a toolkit: where its directories lead, and in words."""

from __future__ import annotations

from gpuassist.model.text import Text, text
from gpuassist.shellfiles.statements import Assignment, Element, Statement, printable
from gpuassist.shellfiles.toolkits import HOMES, LISTS, InstalledToolkits, Lead


def leads_of(statement: Statement, installed: InstalledToolkits) -> frozenset[Lead]:
    """Where the directories lead that a statement gives to variables that choose a toolkit."""
    return frozenset(
        installed.lead(element.directory)
        for assignment in statement.assignments
        for element in assignment.elements
        if not element.previous and assignment.variable in LISTS | HOMES
    )


def leading(statement: Statement, installed: InstalledToolkits) -> tuple[Element, ...]:
    """The directories of another toolkit that a statement gives to variables that choose one."""
    return tuple(
        element
        for assignment in statement.assignments
        for element in assignment.elements
        if not element.previous and assignment.variable in LISTS | HOMES and installed.lead(element.directory) is Lead.OTHER
    )


def follows(statement: Statement, installed: InstalledToolkits, followed: frozenset[str]) -> bool:
    """Whether it takes the other toolkit's directory from a line that is replaced."""
    return any(installed.root_of(element.directory) in followed for element in leading(statement, installed))


def harmless(statement: Statement, leads: frozenset[Lead]) -> Text:
    """Why a statement that leads to no other toolkit is left as it is."""
    if Lead.CHOSEN in leads:
        return text("leads to the toolkit that you chose; it may stay")
    if Lead.UNKNOWN in leads:
        return text("only a running shell can tell where it leads; left as it is")
    if all(assignment.variable == "CUDA_VISIBLE_DEVICES" for assignment in statement.assignments):
        return text("chooses GPUs, not a toolkit; left as it is")
    return text("has nothing to do with CUDA; left as it is")


def other_contributions(statement: Statement, installed: InstalledToolkits) -> tuple[str, ...]:
    """What a statement sets besides another toolkit."""
    also: list[str] = []
    for assignment in statement.assignments:
        if assignment.variable not in LISTS | HOMES:
            also.append(assignment.variable)
        also.extend(printable(element.written) for element in assignment.elements if _is_the_users(element, installed))
    return tuple(also)


def _is_the_users(element: Element, installed: InstalledToolkits) -> bool:
    return not element.previous and bool(element.written) and installed.lead(element.directory) in {Lead.ELSEWHERE, Lead.UNKNOWN}


def does(assignment: Assignment, installed: InstalledToolkits) -> Text:
    """What an assignment does to its variable, in words."""
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


def _shown(element: Element, installed: InstalledToolkits) -> str:
    return printable(element.written if installed.lead(element.directory) is Lead.UNKNOWN else element.directory)
