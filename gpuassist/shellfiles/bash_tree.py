"""The parse of a bash file: nodes where a name stands, the whole lines that a node makes up, and what it stands in.

The parser sees a masked copy of the same length, so that every offset is one of the file's own bytes: bytes outside ASCII and NUL
become a letter, CR a space. Everything walks without recursion: a chain of a thousand `&&` nests a thousand deep.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from functools import cache

import tree_sitter_bash
from msgspec import Struct
from tree_sitter import Language, Node, Parser

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.statements import StatementPlace

_MASK = bytes(0x20 if byte == 0x0D else 0x78 if byte == 0 or byte >= 0x80 else byte for byte in range(256))
# What the walk descends for besides names: commands that end a file, read another one in, or set variables of their own accord.
_WORDS = tuple(b"return exit exec source unset module ml spack conda mamba micromamba eval".split())
_SIGNPOSTS = (b">>>", b"<<<", b"BEGIN", b"END", b". ", b".\t", b".\\\n")
_LETTERS = frozenset(bytes((sign,)) for sign in b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_NAME = rb"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = lazy_regex(rb"[\"']?(" + _NAME + rb")(\+?)=")
_OF_INTEREST = frozenset({"variable_assignment", "simple_expansion", "expansion", "comment", "command", "unset_command"})
_EXPANSIONS = frozenset({"expansion", "simple_expansion"})
_NAMES = lazy_regex(r"[A-Za-z_]\w*")
_WORDS_OF_A_DECLARATION = frozenset({"string", "raw_string", "concatenation"})
_HARMLESS_COMMANDS = frozenset({b"test", b"true", b":"})
_SIGNS = frozenset({"&&", "||", ";", "comment", "export", "declare", "typeset", "readonly", "local", "test_command"})
_GAPS = (b"", b"\\\n")  # between the parts that the parser cuts a value into
_PLACES = {
    "ERROR": StatementPlace.UNREADABLE,
    "function_definition": StatementPlace.FUNCTION,
    "subshell": StatementPlace.SUBSHELL,
    "command_substitution": StatementPlace.SUBSHELL,
    "process_substitution": StatementPlace.SUBSHELL,
    "pipeline": StatementPlace.SUBSHELL,
    "command": StatementPlace.COMMAND,
    "for_statement": StatementPlace.LOOP,
    "c_style_for_statement": StatementPlace.LOOP,
    "while_statement": StatementPlace.LOOP,
    "case_statement": StatementPlace.CASE,
    "if_statement": StatementPlace.BRANCH,
    "list": StatementPlace.CONDITION,
    "declaration_command": StatementPlace.TOP,
    "variable_assignments": StatementPlace.TOP,
    "program": StatementPlace.TOP,
}
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


class Unit(Struct, frozen=True):
    """The statements that make up whole lines; `shared` where those lines hold something else as well."""

    first: Node
    last: Node
    shared: bool

    @property
    def command_end(self) -> int:
        """The row in which the whole command ends: bash counts a step of several lines by its last one."""
        around = self.last.parent
        return (around if around is not None and around.type == "declaration_command" else self.last).end_point.row


class AssignmentNode(Struct, frozen=True):
    """A place that sets a variable: `node` is the assignment, or the word where name and value are quoted as one (`export "A=b"`),
    of whose value the first `skip` characters are then the name; `whole` whether the parser read all of the value.
    """

    node: Node
    name: str
    values: tuple[Node, ...] = ()
    appends: bool = False
    skip: int = 0
    whole: bool = True
    unsets: bool = False


class Tree:
    """One parsed file; `watched` are the names that matter, as this file's language spells them."""

    def __init__(self, seen: bytes, watched: Collection[str]) -> None:
        self.masked = seen
        self.watched = watched
        self.root = parse_tree(self.masked)
        self.statements = self.root.children
        self._starts = [node.start_byte for node in self.statements]
        self._found: dict[tuple[int, int, str], Node] = {}
        self._walk([*(name.encode() for name in watched), *_WORDS, *_SIGNPOSTS])

    def include(self, names: Iterable[str]) -> None:
        self._walk([name.encode("ascii", "replace") + sign for name in names for sign in (b"=", b"+=")])

    def of_type(self, *kinds: str) -> list[Node]:
        """The nodes of these types where something stands that can matter, in order."""
        return [self._found[key] for key in sorted(self._found) if key[2] in kinds]

    def settings(self) -> Iterator[AssignmentNode]:
        """Every place that was found to set or unset a variable, in order."""
        for node in self.of_type("variable_assignment", "unset_command", *_WORDS_OF_A_DECLARATION):
            if node.type == "variable_assignment":
                name = node.child_by_field_name("name")
                value = node.child_by_field_name("value")
                glued, last = [], node
                while (following := last.next_sibling) is not None and self._belongs(last, following):
                    glued.append(following)
                    last = following
                values = (*([value] if value else []), *glued)
                # tree-sitter-bash skips an escaped space at the start of a value; then nobody can say what it holds.
                whole = not values or values[0].start_byte == node.children[1].end_byte
                appends = any(child.type == "+=" for child in node.children)
                inner = None if name is None else name.child_by_field_name("name")  # path[1,0]=… sets a part of it
                word = "" if name is None else self._text(inner or name)
                yield AssignmentNode(node, word, values, appends, whole=whole and inner is None)
            elif node.type == "unset_command":
                words = [self._text(child) for child in node.children[1:]]
                if "-f" not in words:  # that takes a function away
                    yield from (AssignmentNode(node, word, unsets=True) for word in words if not word.startswith("-"))
            else:
                yield from self._quoted(node)

    def _walk(self, words: Iterable[bytes]) -> None:
        # Only into what holds one of the words: most of a start-up file has nothing to do with what is looked for.
        places = sorted(place for word in words for place in self._places(word))
        tops = {bisect_right(self._starts, place) - 1 for place in places}
        stack = [self.statements[top] for top in tops if top >= 0]
        while stack:
            node = stack.pop()
            nearest = bisect_left(places, node.start_byte)
            if nearest < len(places) and places[nearest] < node.end_byte:
                kind = node.type
                if kind in _OF_INTEREST or (kind in _WORDS_OF_A_DECLARATION and _is_declared(node)):
                    self._found[node.start_byte, -node.end_byte, kind] = node
                stack.extend(node.children)

    def _places(self, word: bytes) -> Iterator[int]:
        """Where the word stands for itself; `find` is ten times as fast as a pattern of all words."""
        place = self.masked.find(word)
        while place >= 0:
            before, after = self.masked[place - 1 : place], self.masked[place + len(word) : place + len(word) + 1]
            if word[:1] not in _LETTERS or not (before in _LETTERS or (word[-1:] in _LETTERS and after in _LETTERS)):
                yield place
            place = self.masked.find(word, place + 1)

    def _quoted(self, node: Node) -> Iterator[AssignmentNode]:
        found = _QUOTED.match(self.masked, node.start_byte, node.end_byte)
        if found:
            skip = found.end() - found.start(1)
            yield AssignmentNode(node, found[1].decode(), (node,), appends=bool(found[2]), skip=skip)

    def _text(self, node: Node) -> str:
        return self.masked[node.start_byte : node.end_byte].decode()

    def unit(self, assignment: Node) -> Unit:
        """The largest statement around it that does nothing but set watched variables, with its equals on the same lines."""
        node = assignment
        while node.parent is not None and node.parent.type in {"declaration_command", "variable_assignments", "list", "command"}:
            if not self._only_sets(node.parent):
                return Unit(node, node, shared=True)
            node = node.parent
        group = [node]
        while (before := self._beside(group[0], -1)) and before.end_point.row == group[0].start_point.row:
            group.insert(0, before)
        while (after := self._beside(group[-1], 1)) and after.start_point.row == group[-1].end_point.row:
            group.append(after)
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
        # A construct that does not end swallows the statements in front of it: its first word says where it begins.
        first = next((child for child in node.children if child.is_error or not child.is_named), node)
        return (first if node.is_error else node).start_point.row + 1

    def is_prefix(self, assignment: Node) -> bool:
        """Whether it stands in front of a command and so holds for that command alone."""
        parent = assignment.parent
        return parent is not None and parent.type == "command" and not self._only_sets(parent)

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
            return self._text(name.child_by_field_name("name") or name) in self.watched
        if node.type == "unset_command":
            return all(self._text(child) in self.watched for child in node.children[1:] if not self._text(child).startswith("-"))
        if node.type in _EXPANSIONS and _is_declared(node) and not self._is_glued(node):
            # NVIDIA's guide breaks `/lib64${LD_LIBRARY_PATH:+…}` in two, and bash takes the second half for names to export.
            return all(name in self.watched for name in _NAMES.findall(self._text(node)))
        if node.type in _WORDS_OF_A_DECLARATION and _is_declared(node) and not self._is_glued(node):
            return any(one.name in self.watched for one in self._quoted(node))
        if node.type == "word" and node.text is not None and node.text.startswith(b"-"):
            return True
        if node.type == "command":
            return self._does_nothing(node)
        return node.type in _SIGNS or self._is_glued(node)

    def _does_nothing(self, command: Node) -> bool:
        name = command.child_by_field_name("name")
        if name is not None and name.text in _HARMLESS_COMMANDS:
            return all(child.type != "variable_assignment" for child in command.children)
        rest = [child for child in command.children if child.type != "variable_assignment" and not self._is_glued(child)]
        return not rest and all(self._sets(child) for child in command.children if child.type == "variable_assignment")

    def _is_glued(self, node: Node) -> bool:
        before = node.prev_sibling
        return before is not None and self._belongs(before, node)

    def _beside(self, node: Node, step: int) -> Node | None:
        # A node's own next_sibling searches from the start: with 40,000 top-level statements that is 12 s instead of 1 s.
        place = bisect_left(self._starts, node.start_byte)
        is_top = place < len(self.statements) and self.statements[place].id == node.id
        around = self.statements if is_top else (node.parent or node).children
        place = place if is_top else around.index(node)
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


def masked(content: bytes) -> bytes:
    """The copy that the parser sees."""
    return content.translate(_MASK)


def _is_declared(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "declaration_command"


def place_of(node: Node) -> StatementPlace:
    """The worst of what it stands in."""
    found = []
    above = node.parent
    while above is not None:
        found.append(_PLACES.get(above.type, StatementPlace.GROUP))
        above = above.parent
    return StatementPlace.worst(found)


def construct_around(node: Node) -> Node | None:
    """The innermost function, branch, loop or group that it stands in."""
    above = node.parent
    while above is not None and above.type not in _CONSTRUCTS:
        above = above.parent
    if above is not None and above.type == "compound_statement" and above.parent is not None:
        return above.parent if above.parent.type == "function_definition" else above
    return above


def parse_tree(seen: bytes) -> Node:
    """The root of the parse of a masked copy."""
    return _parser().parse(seen).root_node


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))
