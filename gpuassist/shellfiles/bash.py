"""What a bash start-up file does to the variables that matter: which statements touch them, where, and what ends it early."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tree_sitter import Node

from gpuassist.shellfiles.bash_tree import AssignmentNode, Tree, Unit, construct_around, masked, place_of
from gpuassist.shellfiles.bash_value import MaskedSource, elements, names_used
from gpuassist.shellfiles.owners import MODULES, Owners, tool_of
from gpuassist.shellfiles.statements import (
    WATCHED,
    Assignment,
    EarlyEnd,
    Element,
    Reading,
    Reference,
    SourcedFile,
    Statement,
    StatementPlace,
    ToolLine,
)

_SEPARATE = frozenset({"function_definition", "subshell", "command_substitution", "process_substitution", "pipeline"})
_ENDING = frozenset({b"return", b"exit", b"exec"})
_READS_IN = frozenset({b"source", b"."})
_UNKNOWN = Element("?", "")
# The forms of the guard that distributions ship: the flags in $-, a prompt, a terminal; the last one is zsh's.
_ASKING = ("$-", "${-", "PS1", "-t 0", "-t 1", "-o interactive")
# These say where a shell's own files, and modules, are; the last two name what scripts and sh read.
_TELLING = ("ZDOTDIR", "XDG_CONFIG_HOME", "MODULEPATH", "BASH_ENV", "ENV")
_OWN_NAMES = {name: name for name in WATCHED}


def read(content: bytes, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME)."""
    return Reader(content, known).reading()


class Reader:
    """One file on its way to a `Reading`.

    `seen` is what the parser is shown in place of the content, byte for byte as long; `names` are the names by which a line sets a
    variable that matters, each with that variable's own.
    """

    def __init__(
        self, content: bytes, known: Mapping[str, str], *, seen: bytes = b"", names: Mapping[str, str] = _OWN_NAMES
    ) -> None:
        self.source = MaskedSource(content)
        self.names = names
        self.tree = Tree(seen or masked(content), names)
        self.owners = Owners((self.source.text(one), one.start_byte, one.end_byte) for one in self.tree.of_type("comment"))
        self.known = known
        self.given: dict[str, tuple[str | None, Node | None]] = {}
        self.uses: dict[int, frozenset[str]] = {}
        self.settings: list[AssignmentNode] = []

    def reading(self) -> Reading:
        commands = [(node, name) for node in self.tree.of_type("command") if (name := _command_name(node))]
        sourcing = [node for node, name in commands if name in _READS_IN]
        statements, sources = self._in_order(sourcing)
        endings = []
        for node, name in commands:
            does = name != b"exec" or node.child_by_field_name("argument") is not None  # `exec 2>&1` goes on
            if name in _ENDING and does and not _in_separate_shell(node):
                endings.append(self._ending(node))
        tools = []
        for node, name in commands:
            words = tuple(self.source.text(child) for child in node.named_children if child.type != "variable_assignment")
            owner = tool_of(words) if name not in _READS_IN | _ENDING else ""
            if owner and not _in_separate_shell(node):
                tools.append(self._tool(node, owner))
        tools += [self._tool(one.node, MODULES) for one in self.settings if one.name == "MODULEPATH"]
        left = tuple((name, value) for name, (value, construct) in self.given.items() if value and construct is None)
        references = tuple(self._references())
        blocks = self.owners.lines(lambda place: self.tree.masked.count(b"\n", 0, place) + 1)
        tools.sort(key=lambda tool: tool.line)
        return Reading(statements, tuple(endings), references, self.tree.first_error(), sources, tuple(tools), left, blocks)

    def _in_order(self, sourcing: list[Node]) -> tuple[tuple[Statement, ...], tuple[SourcedFile, ...]]:
        units: dict[int, Unit] = {}
        found: dict[int, list[Assignment]] = {}
        sources: list[SourcedFile] = []
        self.settings = self._that_matter(sourcing)
        events: list[AssignmentNode | Node] = [*self.settings, *sourcing]
        for event in sorted(events, key=lambda one: (one if isinstance(one, Node) else one.node).start_byte):
            if isinstance(event, Node):
                sources += self._sourced(event)
                continue
            assignment = self._assignment(event)
            if event.name in self.names:
                unit = self.tree.unit(event.node)
                units[unit.first.start_byte] = unit
                found.setdefault(unit.first.start_byte, []).append(assignment)
            if not self.tree.is_prefix(event.node):
                certain = all(element.directory and not element.previous for element in assignment.elements)
                value = ":".join(element.directory for element in assignment.elements) if certain else None
                self.given[assignment.variable] = (value, construct_around(event.node))
        return tuple(self._statement(unit, tuple(found[start])) for start, unit in units.items()), tuple(sources)

    def _that_matter(self, sourcing: list[Node]) -> list[AssignmentNode]:
        # What a watched value, or a file's name, refers to matters too, and what that refers to, and so on.
        settings: list[AssignmentNode] = []
        names: set[str] = set(self.names)
        more = {*_TELLING, *(name for node in sourcing for name in names_used((node,), self.source))}
        while not more <= names:
            self.tree.include(more - names)
            names |= more
            settings = [setting for setting in self.tree.settings() if setting.name in names]
            for setting in settings:
                place = setting.node.start_byte
                self.uses[place] = self.uses.get(place) or names_used(setting.values, self.source)
                more |= self.uses[place]
        return settings

    def _assignment(self, setting: AssignmentNode) -> Assignment:
        name = self.names.get(setting.name, setting.name)
        if setting.unsets:
            return Assignment(name, (), unsets=True)
        found: tuple[Element, ...] = (_UNKNOWN,)
        if setting.whole:
            own = [spelling for spelling, variable in self.names.items() if variable == name] or [name]
            found = elements(setting.values, self.source, own, self._known_at(setting.node), skip=setting.skip)
        if setting.appends:
            found = (Element("", "", previous=True), *found)
        return Assignment(name, found, self.uses[setting.node.start_byte])

    def _known_at(self, node: Node) -> dict[str, str | None]:
        known: dict[str, str | None] = dict(self.known)
        for name, (value, construct) in self.given.items():
            reached = construct is None or construct.start_byte <= node.start_byte < construct.end_byte
            known[name] = value if reached else None
        return known

    def _sourced(self, node: Node) -> Iterator[SourcedFile]:
        arguments = node.children_by_field_name("argument")
        if not arguments or _in_separate_shell(node):
            return
        line, written = node.start_point.row + 1, self.source.text(arguments[0])
        begin = self.tree.masked.rfind(b"\n", 0, _top(node).start_byte) + 1
        known = self._known_at(node)
        for value in _looped(arguments[0], self.source) or [arguments[0]]:
            path = elements((value,), self.source, (), known)
            yield SourcedFile(written, path[0].directory if len(path) == 1 else "", line, begin)

    def _tool(self, node: Node, owner: str) -> ToolLine:
        construct = construct_around(node)
        first, last = node.start_point.row + 1, node.end_point.row + 1
        begin = self.tree.masked.rfind(b"\n", 0, node.start_byte) + 1
        inside = "" if construct is None else self._line_at(construct.start_byte)
        return ToolLine(first, last, self._line_at(begin), owner, inside)

    def _statement(self, unit: Unit, assignments: tuple[Assignment, ...]) -> Statement:
        masked = self.tree.masked
        end = masked.find(b"\n", unit.last.end_byte)
        first, end = masked.rfind(b"\n", 0, unit.first.start_byte) + 1, len(masked) if end < 0 else end + 1
        construct, place = construct_around(unit.first), place_of(unit.first)
        return Statement(
            unit.first.start_point.row + 1,
            unit.last.end_point.row + 1,
            first,
            end,
            self.source.shown(first, end).rstrip("\n"),
            assignments,
            StatementPlace.CONDITION if place is StatementPlace.TOP and unit.first.type == "list" else place,
            "" if construct is None else self._line_at(construct.start_byte),
            self.owners.of(unit.first.start_byte, assignments),
            unit.shared,
            unit.command_end + 1 if unit.command_end > unit.last.end_point.row else 0,
        )

    def _line_at(self, place: int) -> str:
        end = self.tree.masked.find(b"\n", place)
        return self.source.shown(place, len(self.tree.masked) if end < 0 else end).strip()

    def _ending(self, node: Node) -> EarlyEnd:
        top = _top(node)
        return EarlyEnd(
            node.start_point.row + 1,
            self._line_at(top.start_byte),
            # `[ -t 1 ] && exec fish` ends what people type into; a guard ends all other shells.
            _command_name(node) != b"exec" and any(sign in self.source.text(top) for sign in _ASKING),
            top.type == "command",
            self.tree.masked.rfind(b"\n", 0, top.start_byte) + 1,
            self.source.text(node),
        )

    def _references(self) -> Iterator[Reference]:
        for node in self.tree.of_type("simple_expansion", "expansion"):
            if node.type == "simple_expansion":
                named: frozenset[str] = frozenset((self.source.text(node)[1:],))
            else:
                named = names_used((node,), self.source)
            for name in named & self.names.keys():
                yield Reference(self.names[name], node.start_point.row + 1)


def _command_name(node: Node) -> bytes:
    name = node.child_by_field_name("name")
    return b"" if name is None or name.text is None else name.text.lstrip(b"\\")


def _looped(argument: Node, source: MaskedSource) -> list[Node]:
    """What the loop around it goes over, where the argument is the loop's variable."""
    used = names_used((argument,), source)
    above = argument.parent
    while above is not None and used:
        if above.type == "for_statement" and source.text(above.children[1]) in used:
            return above.children_by_field_name("value")
        above = above.parent
    return []


def _in_separate_shell(node: Node) -> bool:
    above = node.parent
    while above is not None:
        if above.type in _SEPARATE:
            return True
        above = above.parent
    return False


def _top(node: Node) -> Node:
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
    return node
