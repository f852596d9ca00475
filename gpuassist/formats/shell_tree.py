"""The parse of a bash file: nodes where a name stands, the whole lines that a node makes up, and what it stands in.

The parser sees a masked copy of the same length, so that every offset is one of the file's own bytes: bytes outside ASCII and NUL
become a letter, CR a space. Everything walks without recursion: a chain of a thousand `&&` nests a thousand deep.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

from gpuassist.formats.shell_reading import WATCHED, Place

_MASK = bytes(0x20 if byte == 0x0D else 0x78 if byte == 0 or byte >= 0x80 else byte for byte in range(256))
_HARMLESS_COMMANDS = frozenset({b"test", b"true", b":"})
_SIGNS = frozenset({"&&", "||", ";", "comment", "export", "declare", "typeset", "readonly", "local", "test_command"})
_GAPS = (b"", b"\\\n")  # between the parts that the parser cuts a value into
_PLACES = {
    "ERROR": Place.UNREADABLE,
    "function_definition": Place.FUNCTION,
    "subshell": Place.SUBSHELL,
    "command_substitution": Place.SUBSHELL,
    "process_substitution": Place.SUBSHELL,
    "pipeline": Place.SUBSHELL,
    "command": Place.COMMAND,
    "for_statement": Place.LOOP,
    "c_style_for_statement": Place.LOOP,
    "while_statement": Place.LOOP,
    "case_statement": Place.CASE,
    "if_statement": Place.BRANCH,
    "list": Place.CONDITION,
    "declaration_command": Place.TOP,
    "variable_assignments": Place.TOP,
    "program": Place.TOP,
}
_WORST_FIRST = tuple(Place)
_CONSTRUCTS = frozenset(
    {
        "function_definition",
        "subshell",
        "for_statement",
        "c_style_for_statement",
        "while_statement",
        "case_statement",
        "if_statement",
        "compound_statement",
    }
)


@dataclass(frozen=True, slots=True)
class Unit:
    """The statements that make up whole lines; `shared` where those lines hold something else as well."""

    first: Node
    last: Node
    shared: bool


class Tree:
    """One parsed file."""

    def __init__(self, content: bytes) -> None:
        self.masked = content.translate(_MASK)
        self.root = _parser().parse(self.masked).root_node
        self.statements = self.root.children
        self._order = {node.id: place for place, node in enumerate(self.statements)}

    def find(self, words: Iterable[str], kinds: frozenset[str]) -> Iterator[Node]:
        """Nodes of these kinds that hold one of the words, in order: descends only where a word stands."""
        pattern = b"|".join(re.escape(word.encode("ascii", "replace")) for word in sorted(words))
        places = [found.start() for found in re.finditer(pattern, self.masked)]
        stack = self.statements[::-1]
        while stack:
            node = stack.pop()
            nearest = bisect_left(places, node.start_byte)
            if nearest < len(places) and places[nearest] < node.end_byte:
                if node.type in kinds:
                    yield node
                stack.extend(reversed(node.children))

    def values(self, assignment: Node) -> tuple[Node, ...]:
        """The nodes that make up its value: the parser cuts a value in two at a backslash and line end, and now and then at a $."""
        value = assignment.child_by_field_name("value")
        return (*([value] if value else []), *self._glued(assignment))

    def unit(self, assignment: Node) -> Unit:
        """The largest statement around it that does nothing but set watched variables, with its equals on the same lines."""
        node = assignment
        while node.parent is not None and node.parent.type in {"declaration_command", "variable_assignments", "list", "command"}:
            if not self._only_sets(node.parent):
                return Unit(node, node, shared=True)
            node = node.parent
        group = self._same_lines(node)
        whole = all(self._only_sets(one) for one in group) and self._alone(group[0], group[-1])
        return Unit(group[0], group[-1], shared=False) if whole else Unit(node, node, shared=True)

    def first_error(self) -> int:
        """The line of the first thing that the parser did not understand, counted from 1; 0 where it understood everything."""
        node = self.root
        if not node.has_error:
            return 0
        while not (node.is_error or node.is_missing):
            inner = [child for child in node.children if child.has_error or child.is_missing]
            if not inner:
                break
            node = inner[0]
        return node.start_point.row + 1

    def is_prefix(self, assignment: Node) -> bool:
        """Whether it stands in front of a command and so holds for that command alone."""
        parent = assignment.parent
        return parent is not None and parent.type == "command" and not self._only_sets(parent)

    def _glued(self, node: Node) -> list[Node]:
        glued: list[Node] = []
        following = node.next_sibling
        while following is not None and self._belongs(node, following):
            glued.append(following)
            node, following = following, following.next_sibling
        return glued

    def _belongs(self, node: Node, following: Node) -> bool:
        named = node.is_named and following.is_named and following.type != "comment"
        return named and self.masked[node.end_byte : following.start_byte] in _GAPS

    def _only_sets(self, node: Node) -> bool:
        stack = [node]
        while stack:
            one = stack.pop()
            if one.type in {"list", "declaration_command", "variable_assignments"}:
                stack.extend(one.children)
            elif not self._sets(one):
                return False
        return True

    def _sets(self, node: Node) -> bool:
        if node.type in {"variable_assignment", "variable_name"}:
            name = node.child_by_field_name("name") or node
            return self.masked[name.start_byte : name.end_byte].decode() in WATCHED
        if node.type == "word" and node.text is not None and node.text.startswith(b"-"):
            return True
        if node.type == "command":
            return self._does_nothing(node)
        return node.type in _SIGNS or self._is_glued(node)

    def _does_nothing(self, command: Node) -> bool:
        name = command.child_by_field_name("name")
        if name is not None and name.text in _HARMLESS_COMMANDS:
            return True
        rest = [child for child in command.children if child.type != "variable_assignment" and not self._is_glued(child)]
        return not rest and all(self._sets(child) for child in command.children if child.type == "variable_assignment")

    def _is_glued(self, node: Node) -> bool:
        before = node.prev_sibling
        return before is not None and self._belongs(before, node)

    def _same_lines(self, node: Node) -> list[Node]:
        group = [node]
        while (before := self._beside(group[0], -1)) and before.end_point.row == group[0].start_point.row:
            group.insert(0, before)
        while (after := self._beside(group[-1], 1)) and after.start_point.row == group[-1].end_point.row:
            group.append(after)
        return group

    def _beside(self, node: Node, step: int) -> Node | None:
        # A node's own next_sibling searches from the start: with 40,000 top-level statements that is 12 s instead of 1 s.
        around = self.statements if node.id in self._order else (node.parent or node).children
        place = self._order[node.id] if node.id in self._order else around.index(node)
        place += step
        while 0 <= place < len(around) and around[place].type in {";", "\n", "comment"}:
            place += step
        return around[place] if 0 <= place < len(around) and around[place].is_named else None

    def _alone(self, first: Node, last: Node) -> bool:
        begin = self.masked.rfind(b"\n", 0, first.start_byte) + 1
        end = self.masked.find(b"\n", last.end_byte)
        rest = self.masked[last.end_byte : end if end >= 0 else None].strip()
        if rest.startswith(b";") and not rest.startswith((b";;", b";&")):
            rest = rest[1:].lstrip()
        return not self.masked[begin : first.start_byte].strip() and (not rest or rest.startswith(b"#"))


def place_of(node: Node) -> Place:
    """The worst of what it stands in."""
    found = {Place.TOP}
    above = node.parent
    while above is not None:
        found.add(_PLACES.get(above.type, Place.GROUP))
        above = above.parent
    return next(place for place in _WORST_FIRST if place in found)


def construct_around(node: Node) -> Node | None:
    """The innermost function, branch, loop or group that it stands in."""
    above = node.parent
    while above is not None and above.type not in _CONSTRUCTS:
        above = above.parent
    if above is not None and above.type == "compound_statement" and above.parent is not None:
        return above.parent if above.parent.type == "function_definition" else above
    return above


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))
