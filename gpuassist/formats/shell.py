"""What a bash start-up file does to the variables that matter: which statements touch them, where, and what ends it early."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from gpuassist.formats.shell_reading import WATCHED as WATCHED
from gpuassist.formats.shell_reading import Assignment as Assignment
from gpuassist.formats.shell_reading import Element as Element
from gpuassist.formats.shell_reading import Ending as Ending
from gpuassist.formats.shell_reading import Place as Place
from gpuassist.formats.shell_reading import Reading as Reading
from gpuassist.formats.shell_reading import Reference as Reference
from gpuassist.formats.shell_reading import Statement as Statement
from gpuassist.formats.shell_reading import printable as printable
from gpuassist.formats.shell_tree import Tree, Unit, construct_around, place_of
from gpuassist.formats.shell_value import Source, elements, names_used

_ASSIGNMENTS = frozenset({"variable_assignment"})
_COMMANDS = frozenset({"command"})
_EXPANSIONS = frozenset({"simple_expansion", "expansion"})
_COMMENTS = frozenset({"comment"})
_SEPARATE = frozenset({"function_definition", "subshell", "command_substitution", "process_substitution", "pipeline"})
_UNKNOWN = Element("?", "")
_OWNERS = {"PYENV_ROOT": "pyenv", "NVM_DIR": "nvm", "CONDA_PREFIX": "conda", "BUN_INSTALL": "bun", "CARGO_HOME": "cargo"}


def read(content: bytes, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME)."""
    return _Reader(content, known).reading()


class _Reader:
    def __init__(self, content: bytes, known: Mapping[str, str]) -> None:
        self.source = Source(content)
        self.tree = Tree(content)
        self.owners = sorted(_marked_blocks(self.tree, self.source), key=lambda block: block[1])
        self.known = known
        self.given: dict[str, tuple[str | None, Node | None]] = {}

    def reading(self) -> Reading:
        endings = (self._ending(node) for node in self.tree.find(("return", "exit", "exec"), _COMMANDS) if _ends(node))
        return Reading(tuple(self._statements()), tuple(endings), tuple(self._references()), self.tree.first_error())

    def _statements(self) -> Iterator[Statement]:
        units: dict[int, Unit] = {}
        found: dict[int, list[Assignment]] = {}
        for node in self.tree.find(self._names_that_matter(), _ASSIGNMENTS):
            assignment = self._assignment(node)
            if assignment.variable in WATCHED:
                unit = self.tree.unit(node)
                units[unit.first.start_byte] = unit
                found.setdefault(unit.first.start_byte, []).append(assignment)
            self._remember(node, assignment)
        for start, unit in units.items():
            yield self._statement(unit, tuple(found[start]))

    def _names_that_matter(self) -> frozenset[str]:
        # What a watched value refers to matters too, and what that refers to; three rounds are deeper than people write.
        names = frozenset(WATCHED)
        for _ in range(3):
            nodes = self.tree.find(names, _ASSIGNMENTS)
            more = names.union(*(names_used(self.tree.values(node), self.source) for node in nodes))
            if more == names:
                break
            names = more
        return names

    def _assignment(self, node: Node) -> Assignment:
        name = self._name(node)
        values = self.tree.values(node)
        found = elements(values, self.source, name, self._known_at(node)) if self._read_whole(node, values) else (_UNKNOWN,)
        if any(child.type == "+=" for child in node.children):
            found = (Element("", "", previous=True), *found)
        return Assignment(name, found, names_used(values, self.source))

    def _read_whole(self, node: Node, values: tuple[Node, ...]) -> bool:
        # tree-sitter-bash skips an escaped space at the start of a value; then nobody can say what it holds.
        return not values or values[0].start_byte == node.children[1].end_byte

    def _name(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        return "" if name is None else self.source.text(name)

    def _known_at(self, node: Node) -> dict[str, str | None]:
        known: dict[str, str | None] = dict(self.known)
        for name, (value, construct) in self.given.items():
            reached = construct is None or construct.start_byte <= node.start_byte < construct.end_byte
            known[name] = value if reached else None
        return known

    def _remember(self, node: Node, assignment: Assignment) -> None:
        if not self.tree.is_prefix(node):
            certain = all(element.directory and not element.previous for element in assignment.elements)
            value = ":".join(element.directory for element in assignment.elements) if certain else None
            self.given[assignment.variable] = (value, construct_around(node))

    def _statement(self, unit: Unit, assignments: tuple[Assignment, ...]) -> Statement:
        first, end = self._whole_lines(unit)
        construct = construct_around(unit.first)
        return Statement(
            unit.first.start_point.row + 1,
            unit.last.end_point.row + 1,
            first,
            end,
            self.source.shown(first, end).rstrip("\n"),
            assignments,
            _conditional(place_of(unit.first)) if unit.first.type == "list" else place_of(unit.first),
            "" if construct is None else self._line_at(construct.start_byte),
            self._owner(unit.first.start_byte, assignments),
            unit.shared,
        )

    def _whole_lines(self, unit: Unit) -> tuple[int, int]:
        masked = self.tree.masked
        end = masked.find(b"\n", unit.last.end_byte)
        return masked.rfind(b"\n", 0, unit.first.start_byte) + 1, len(masked) if end < 0 else end + 1

    def _line_at(self, place: int) -> str:
        end = self.tree.masked.find(b"\n", place)
        return self.source.shown(place, len(self.tree.masked) if end < 0 else end).strip()

    def _owner(self, place: int, assignments: tuple[Assignment, ...]) -> str:
        nearest = bisect_right(self.owners, place, key=lambda block: block[1]) - 1
        if nearest >= 0 and place < self.owners[nearest][2]:
            return self.owners[nearest][0]
        used = frozenset().union(*(assignment.uses for assignment in assignments))
        return next((owner for name, owner in _OWNERS.items() if name in used), "")

    def _ending(self, node: Node) -> Ending:
        top = _top(node)
        return Ending(
            node.start_point.row + 1,
            self._line_at(top.start_byte),
            _asks_for_interactive(self.source.text(top)),
            top.type == "command",
        )

    def _references(self) -> Iterator[Reference]:
        for node in self.tree.find(WATCHED, _EXPANSIONS):
            for name in names_used((node,), self.source).intersection(WATCHED):
                yield Reference(name, node.start_point.row + 1)


def _conditional(place: Place) -> Place:
    return Place.CONDITION if place is Place.TOP else place


def _ends(node: Node) -> bool:
    name = node.child_by_field_name("name")
    if name is None or name.text not in {b"return", b"exit", b"exec"} or _in_separate_shell(node):
        return False
    return name.text != b"exec" or node.child_by_field_name("argument") is not None


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


def _asks_for_interactive(statement: str) -> bool:
    # The three forms of the guard that distributions ship: the flags in $-, a prompt, a terminal.
    return any(sign in statement for sign in ("$-", "${-", "PS1", "-t 0", "-t 1"))


def _marked_blocks(tree: Tree, source: Source) -> Iterator[tuple[str, int, int]]:
    """Blocks between marker comments, `# >>> conda initialize >>>` or `# BEGIN ANSIBLE MANAGED BLOCK`, as (name, first, end)."""
    opened: dict[str, int] = {}
    for comment in tree.find((">>>", "<<<", "BEGIN", "END"), _COMMENTS):
        words = source.text(comment).lstrip("# ").rstrip()
        if words.startswith((">>> ", "BEGIN ")):
            opened[_marker_name(words)] = comment.start_byte
        elif words.startswith(("<<< ", "END ")) and _marker_name(words) in opened:
            yield _marker_name(words), opened.pop(_marker_name(words)), comment.end_byte


def _marker_name(words: str) -> str:
    name = words.split(" ", 1)[1].strip("<> ")
    return "gpuassist" if name.startswith("gpuassist") else name
