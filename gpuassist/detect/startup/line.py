"""One line of the table of start-up files: what it does to which variable, in words, and whether it may be changed."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.startup.chain import ChainFile
from gpuassist.detect.startup.effect import SOURCE, Effect, PlacedStatement, TraceJudge, elements_of
from gpuassist.model.fact import Fact, Known
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.statements import Assignment, StatementPlace, ToolLine, printable
from gpuassist.system.shell_trace import TracedChange


class Contribution(Struct, frozen=True):
    """What a line does to one variable: `effect` is sets, prepends, appends or unsets."""

    variable: str
    effect: str
    elements: tuple[str, ...]


class SurveyLine(Struct, frozen=True):
    """A line as the table shows it: `contribution` is what it does in words, `effect` why it holds or does not, `wins` are the
    variables for which it decides, `why` says what stands against changing it or around it, and `read_by` what reads its file in.
    """

    file: str
    line: int
    last_line: int
    text: str
    variables: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    contribution: tuple[Text, ...]
    inside: str
    owner: str
    in_effect: Fact[bool]
    effect: Text
    wins: tuple[str, ...]
    changeable: bool
    why: Text
    read_by: str = ""


def line_of(placed: PlacedStatement, effect: Effect, traced: TraceJudge | None) -> SurveyLine:
    """The line of the table; what another tool sets by it is known only where steps were seen."""
    says, file = placed.says, placed.file
    contributions = tuple(_contribution(one) for one in placed.assignments)
    if isinstance(says, ToolLine):
        contributions = tuple(_observed(change) for change in traced.changes(placed)) if traced else ()
    changeable, why = _changeable(placed)
    words = tuple(words_of(one) for one in contributions)
    if isinstance(says, ToolLine) and not words:
        words = (text("lets {owner} set variables", owner=says.owner),)
    return SurveyLine(
        file.path,
        says.line,
        says.last_line,
        says.text,
        tuple(dict.fromkeys(one.variable for one in contributions)),
        contributions,
        words,
        says.inside,
        says.owner,
        effect.holds,
        effect.why,
        effect.wins,
        changeable,
        why,
        "" if file.sourced_by is None else f"{file.sourced_by[0]}:{file.sourced_by[1]}",
    )


def _contribution(assignment: Assignment) -> Contribution:
    elements = tuple(printable(one.directory or one.written) for one in assignment.elements if not one.previous)
    if assignment.unsets:
        return Contribution(assignment.variable, "unsets", ())
    if not assignment.keeps_previous:
        return Contribution(assignment.variable, "sets", elements)
    return Contribution(assignment.variable, "appends" if assignment.elements[0].previous else "prepends", elements)


def _observed(change: TracedChange) -> Contribution:
    """What a line did that another tool decides."""
    if change.after is None:
        return Contribution(change.variable, "unsets", ())
    before, after = elements_of(change.before), elements_of(change.after)
    added = tuple(printable(element) for element in after if element not in before)
    if not before or not set(before) <= set(after):
        return Contribution(change.variable, "sets", tuple(printable(element) for element in after))
    behind = bool(after) and after[0] == before[0]
    return Contribution(change.variable, "appends" if behind else "prepends", added)


def words_of(one: Contribution) -> Text:
    shown = ":".join(one.elements) or "''"
    if one.effect == "unsets":
        return text("unsets {variable}", variable=one.variable)
    if one.effect == "sets":
        return text("sets {variable} to {value}", variable=one.variable, value=shown)
    if not one.elements:
        return text("adds no directory to {variable}", variable=one.variable)
    if one.effect == "appends":
        return text("puts {value} at the end of {variable}", variable=one.variable, value=shown)
    return text("puts {value} in front of {variable}", variable=one.variable, value=shown)


def _changeable(placed: PlacedStatement) -> tuple[bool, Text]:
    says, file = placed.says, placed.file
    if says.owner == "gpuassist":
        return False, text("gpuassist's own block: `gpuassist undo` takes it out")
    if not file.ours:
        return False, text("{path} is not a file of your own", path=file.path)
    if isinstance(says, ToolLine) or says.owner:
        return False, text("belongs to {owner}; left as it is", owner=says.owner)
    if file.dialect in {Dialect.ENVIRONMENT, Dialect.ENVIRONMENT_D}:
        return False, text("no shell reads this file; please change it by hand")
    if says.place is StatementPlace.COMMAND:
        return False, text("applies to that one command only; left as it is")
    if says.shared:
        return False, text("shares its lines with other commands; please change it by hand if it is in the way")
    if says.inside:
        return True, text("inside “{inside}”", inside=says.inside)
    return True, text("may be commented out or replaced")


def untold(traced: TraceJudge, placed: tuple[PlacedStatement, ...], chain: tuple[ChainFile, ...]) -> Iterator[SurveyLine]:
    """Lines that were seen to set a variable and that do not say so: `eval`, a function of another file, a program's output."""
    told = {change for one in placed for change in traced.changes(one)}
    found: dict[tuple[str, int], list[TracedChange]] = {}
    for change in traced.trace.changes:
        if change not in told and change.line and (bool(traced.lasting(change)) or change == traced.winner(change.variable)):
            found.setdefault((change.file, change.line), []).append(change)
    for (path, line), changes in found.items():
        file = next((one for one in chain if traced.real(one.path) == traced.real(path)), None)
        yield _seen_only((path, line), tuple(changes), file, traced)


def _seen_only(place: tuple[str, int], changes: tuple[TracedChange, ...], file: ChainFile | None, traced: TraceJudge) -> SurveyLine:
    path, line = place
    contributions = tuple(_observed(change) for change in changes)
    rows = file.content.splitlines() if file is not None else []
    blocks = file.reading.blocks if file is not None else ()
    return SurveyLine(
        path,
        line,
        line,
        printable(rows[line - 1].decode("utf-8", "surrogateescape").strip()) if 0 < line <= len(rows) else "",
        tuple(dict.fromkeys(one.variable for one in contributions)),
        contributions,
        tuple(words_of(one) for one in contributions),
        "",
        next((owner for owner, first, last in blocks if first <= line <= last), ""),
        Known(value=True, source=SOURCE),
        text("in effect in new terminals"),
        tuple(dict.fromkeys(one.variable for one in changes if traced.winner(one.variable) == one)),
        changeable=False,
        why=text("the line itself does not say what it sets; left as it is"),
    )
