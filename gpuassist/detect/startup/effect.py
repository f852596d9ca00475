"""Whether a line of a start-up file holds in a new terminal, and which line wins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from gpuassist.detect.startup.chain import ChainFile
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.statements import WATCHED, Assignment, Statement, StatementPlace, ToolLine
from gpuassist.system.shell_trace import Trace, TracedChange

# By reading alone: the value in the end tells.


LISTS = frozenset(name for name in WATCHED if name.endswith("PATH") and name != "CUDA_PATH")
BY_READING = "the line, and what a new terminal holds"


class PlacedStatement(Struct, frozen=True):
    """A line of one of the files; `number` counts all lines in the order in which a new terminal comes to them."""

    number: int
    file: ChainFile
    says: Statement | ToolLine

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        """What it sets; nothing where only another tool knows."""
        return self.says.assignments if isinstance(self.says, Statement) else ()


class Effect(Struct, frozen=True):
    """Whether a line holds in a new terminal, why it does or does not, and the variables for which it is the line that decides."""

    holds: Fact[bool]
    why: Text
    wins: tuple[str, ...] = ()


Judge = Callable[[PlacedStatement], Effect]


def elements_of(value: str | None) -> tuple[str, ...]:
    """The elements of a list that is joined by colons, as a program looks them up: without the slash at the end."""
    return tuple(part.rstrip("/") or part for part in (value or "").split(":") if part)


def directories(assignment: Assignment) -> tuple[str, ...]:
    """The elements that an assignment is known to bring."""
    found = (element.directory for element in assignment.elements if element.directory and not element.previous)
    return tuple(part for directory in found for part in elements_of(directory))


def deciding(terminal: Fact[Terminal], variable: str, value: str | None) -> str:
    """The element that decides: where nvcc is found for PATH, the first one for another list; empty where there is none."""
    found = elements_of(value)
    if variable == "PATH" and isinstance(terminal, Known):
        nvcc = terminal.value.command("nvcc")
        return nvcc.path.rpartition("/")[0] if nvcc is not None else ""
    return found[0] if found else ""


def not_read(placed: PlacedStatement) -> Effect | None:
    """The effect of a line in a file that a new terminal does not read."""
    if placed.file.unread is None:
        return None
    return Effect(Known(value=False, source="the order in which the shell reads its files"), placed.file.unread)


def by_reading(lines: Sequence[PlacedStatement], terminal: Fact[Terminal], start: Sequence[str]) -> Judge:
    """Judges each of the lines by what a new terminal holds; `start` are the elements of PATH that the login gives."""
    return _ByReading(lines, terminal, start).effect


class _ByReading:
    def __init__(self, lines: Sequence[PlacedStatement], terminal: Fact[Terminal], start: Sequence[str]) -> None:
        self.lines = [placed for placed in lines if placed.file.unread is None]
        self.terminal = terminal
        self.start = frozenset(start)

    def effect(self, placed: PlacedStatement) -> Effect:
        unread = not_read(placed)
        if unread is not None:
            return unread
        if not placed.assignments:
            return _unknown(text("only {owner} knows what it sets", owner=getattr(placed.says, "owner", "")))
        if isinstance(placed.says, Statement) and placed.says.place is StatementPlace.COMMAND:
            return _known(text("applies to that one command only"), holds=False)
        if isinstance(self.terminal, Unknown):
            return _unknown(self.terminal.reason)
        seen = [self._of(placed, assignment, self.terminal.value) for assignment in placed.assignments]
        wins = tuple(dict.fromkeys(name for effect in seen for name in effect.wins))
        return Effect(*best(seen), wins)

    def _of(self, placed: PlacedStatement, assignment: Assignment, terminal: Terminal) -> Effect:
        if assignment.variable in LISTS and not assignment.unsets:
            return self._list(placed, assignment, terminal)
        name, is_set = assignment.variable, terminal.is_set(assignment.variable)
        if assignment.unsets:
            return _known(text("{variable} is set by another line", variable=name), holds=False) if is_set else _unknown(_NOT_TOLD)
        value = ":".join(element.directory for element in assignment.elements)
        if not is_set:
            return _known(text("{variable} is not set in a new terminal", variable=name), holds=False)
        if any(not element.directory for element in assignment.elements):
            return _unknown(text("only a running shell can tell its value"))
        if value != terminal.variable(name):
            return _known(text("new terminals have another value"), holds=False)
        later = [one for one in self._others(placed, name) if one.number > placed.number and _may_say(one, name, value)]
        if later:
            return _unknown(text("{place} sets it too", place=place_of(later[-1])))
        return Effect(Known(value=True, source=BY_READING), text("new terminals have this value"), (name,))

    def _list(self, placed: PlacedStatement, assignment: Assignment, terminal: Terminal) -> Effect:
        name, brings = assignment.variable, directories(assignment)
        held = elements_of(terminal.variable(name))
        if not brings:
            return _unknown(text("only a running shell can tell its value"))
        there = [element for element in brings if element in held]
        if not there:
            return _known(text("not in effect in new terminals"), holds=False)
        others = {
            element
            for one in self._others(placed, name)
            for brought in one.assignments
            if brought.variable == name
            for element in directories(brought)
        }
        alone = [element for element in there if element not in others and not (name == "PATH" and element in self.start)]
        if not alone:
            return _unknown(_NOT_TOLD)
        wins = (name,) if deciding(self.terminal, name, terminal.variable(name)) in alone else ()
        return Effect(Known(value=True, source=BY_READING), text("in effect in new terminals"), wins)

    def _others(self, placed: PlacedStatement, variable: str) -> Iterator[PlacedStatement]:
        for one in self.lines:
            if one.number != placed.number and any(assignment.variable == variable for assignment in one.assignments):
                yield one


_NOT_TOLD = text("more than one line brings it, and reading alone does not tell which")


def best(effects: Sequence[Effect]) -> tuple[Fact[bool], Text]:
    """Of several effects of one line the one that speaks for it: it holds where one does, and is unknown before it does not."""
    holding = [effect for effect in effects if isinstance(effect.holds, Known) and effect.holds.value]
    unknown = [effect for effect in effects if isinstance(effect.holds, Unknown)]
    first = (holding or unknown or effects)[0]
    return first.holds, first.why


def place_of(placed: PlacedStatement) -> str:
    """The file and line, as compilers write it."""
    return f"{placed.file.path}:{placed.says.line}"


def _may_say(placed: PlacedStatement, variable: str, value: str) -> bool:
    """Whether a line may be what gave a variable this value; a function is only defined, as long as nothing shows that it runs."""
    if isinstance(placed.says, Statement) and placed.says.place is StatementPlace.FUNCTION:
        return False
    said = [one.elements for one in placed.assignments if one.variable == variable and not one.unsets]
    return any(not all(one.directory for one in parts) or ":".join(one.directory for one in parts) == value for parts in said)


def _known(why: Text, *, holds: bool) -> Effect:
    return Effect(Known(holds, BY_READING), why)


def _unknown(why: Text) -> Effect:
    return Effect(Unknown(why), why)


# From the steps of a real shell.


_FOR_ITSELF = frozenset({StatementPlace.COMMAND, StatementPlace.SUBSHELL})
SOURCE = "the steps of a real new terminal"


class TraceJudge:
    """The steps of a new terminal beside the lines that were read."""

    def __init__(
        self, lines: Sequence[PlacedStatement], terminal: Fact[Terminal], trace: Trace, real: Callable[[str], str]
    ) -> None:
        self.terminal = terminal
        self.trace = trace
        self.real = real
        self.steps: dict[str, dict[int, int]] = {}
        for (file, line), number in trace.taken.items():
            self.steps.setdefault(real(file), {})[line] = number
        found: dict[str, tuple[int, int]] = {}
        for placed in lines:
            ran = self.ran(placed) if placed.file.unread is None else -1
            for assignment in placed.assignments if ran >= 0 else ():
                # Whether it changed the variable for good, or says what the variable holds in the end.
                if self.changes(placed, assignment.variable):
                    sets = True
                else:
                    held = self.trace.values.get(assignment.variable)
                    says = None if assignment.unsets else ":".join(element.directory for element in assignment.elements)
                    sets = held == says and isinstance(placed.says, Statement) and placed.says.place not in _FOR_ITSELF
                if sets:
                    found[assignment.variable] = max(found.get(assignment.variable, (-1, -1)), (ran, placed.number))
        self.last_setter = {variable: number for variable, (_, number) in found.items()}

    def effect(self, placed: PlacedStatement) -> Effect:
        unread = not_read(placed)
        if unread is not None:
            return unread
        ran = self.ran(placed)
        if ran < 0 and not self.trace.whole:
            why = text("a start-up file turns off what tells whether it ran")
            return Effect(Unknown(why), why)
        if ran < 0:
            return _false(text("did not run in a new terminal"))
        if not placed.assignments:
            changes = self.changes(placed)
            if not changes:
                return _false(text("changes nothing in a new terminal"))
            wins = tuple(dict.fromkeys(change.variable for change in changes if self.winner(change.variable) == change))
            return _true(text("in effect in new terminals"), wins)
        seen = [self._of(placed, assignment) for assignment in placed.assignments]
        return Effect(*best(seen), tuple(dict.fromkeys(name for effect in seen for name in effect.wins)))

    def ran(self, placed: PlacedStatement) -> int:
        """The number of its last step, -1 where it took none."""
        steps = self.steps.get(self.real(placed.file.path), {})
        return max((steps.get(line, -1) for line in range(placed.says.line, _last_line(placed) + 1)), default=-1)

    def changes(self, placed: PlacedStatement, variable: str = "") -> tuple[TracedChange, ...]:
        return tuple(
            change
            for change in self.trace.changes
            if change.variable == (variable or change.variable)
            and placed.says.line <= change.line <= _last_line(placed)
            and self.real(change.file) == self.real(placed.file.path)
        )

    def winner(self, variable: str) -> TracedChange | None:
        """The step that brought what decides: the value, or of a list the element where it stands now."""
        changes = [change for change in self.trace.changes if change.variable == variable]
        if variable not in LISTS:
            return changes[-1] if changes else None
        wanted = deciding(self.terminal, variable, self.trace.values.get(variable))
        return next((change for change in reversed(changes) if _brings_forward(change, wanted)), None)

    def lasting(self, change: TracedChange) -> tuple[str, ...]:
        """The elements that a step brought into a list and that are still there in the end."""
        later = [one for one in self.trace.changes if one.variable == change.variable and one.step > change.step]
        return tuple(element for element in _brought(change) if all(element in elements_of(one.after) for one in later))

    def _of(self, placed: PlacedStatement, assignment: Assignment) -> Effect:
        # Whether the shell has the variable and the programs that it starts have not.
        known = isinstance(self.terminal, Known) and not self.terminal.value.is_set(assignment.variable)
        if known and self.trace.values.get(assignment.variable) is not None:
            return _false(text("{variable} is set but not exported, so that no program sees it", variable=assignment.variable))
        if assignment.variable in LISTS and not assignment.unsets:
            return self._list(placed, assignment)
        name = assignment.variable
        last = self.winner(name)
        if self.last_setter.get(name) != placed.number:
            return _false(text("a later line sets it again"))
        if last is not None and last.step > self.ran(placed) and last not in self.changes(placed, name):
            return _false(text("something that runs later sets it again"))
        if assignment.unsets:
            return Effect(Known(self.trace.values.get(name) is None, SOURCE), text("not in effect in new terminals"), (name,))
        return _true(text("new terminals have this value"), (name,))

    def _list(self, placed: PlacedStatement, assignment: Assignment) -> Effect:
        name = assignment.variable
        brings, held = directories(assignment), elements_of(self.trace.values.get(name))
        changes = self.changes(placed, name)
        lasting = {element for change in changes for element in self.lasting(change)}
        kept = [element for element in brings if element in (lasting if changes else held)]
        if not kept and not (_has_unknown(assignment) and lasting):
            if not changes:
                why_none_lasts = text("changes nothing in a new terminal")
            elif any(_brought(change) for change in changes):
                why_none_lasts = text("a later line replaces what it brings")
            else:
                why_none_lasts = text("leaves the directories as they are")
            return _false(why_none_lasts)
        winner = self.winner(name)
        wanted = deciding(self.terminal, name, self.trace.values.get(name))
        decides = winner in changes and (_has_unknown(assignment) or wanted in brings)
        return _true(text("in effect in new terminals"), (name,) if decides else ())


def _last_line(placed: PlacedStatement) -> int:
    until = placed.says.command_last_line if isinstance(placed.says, Statement) else 0
    return until or placed.says.last_line


def _brought(change: TracedChange) -> list[str]:
    before = elements_of(change.before)
    return [element for element in elements_of(change.after) if element not in before or _brings_forward(change, element)]


def _brings_forward(change: TracedChange, element: str) -> bool:
    """Whether a step put an element where it had not been, or in front of what had been before it."""
    before, after = elements_of(change.before), elements_of(change.after)
    if element not in after:
        return False
    return element not in before or not set(after[: after.index(element)]) >= set(before[: before.index(element)])


def _has_unknown(assignment: Assignment) -> bool:
    return any(not element.directory and not element.previous for element in assignment.elements)


def _false(why: Text) -> Effect:
    return Effect(Known(value=False, source=SOURCE), why)


def _true(why: Text, wins: tuple[str, ...]) -> Effect:
    return Effect(Known(value=True, source=SOURCE), why, wins)
