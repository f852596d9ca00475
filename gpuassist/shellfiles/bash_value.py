"""The value of a shell assignment, element by element: what it says without running it, and what only a running shell can tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise, takewhile

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node

from gpuassist.shellfiles.statements import Element, printable


class _Piece(Struct, frozen=True):
    """A part of a value: `value` is None where it is not known; a `bare` one stands outside quotes, so that ~ means HOME;
    `colon` is the variable's own value so far with a colon beside it.
    """

    written: str
    value: str | None
    previous: bool = False
    bare: bool = False
    colon: bool = False


class MaskedSource:
    """A file's bytes, and how a node of its parse reads: the parse saw a masked copy of the same length."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def text(self, node: Node) -> str:
        """The node as it stands in the file; bytes that are not UTF-8 survive as surrogates."""
        return self.between(node.start_byte, node.end_byte)

    def shown(self, first: int, end: int) -> str:
        """The bytes from `first` up to `end` for people: what is not UTF-8 is written as such."""
        return printable(self.between(first, end))

    def between(self, first: int, end: int) -> str:
        """The bytes from `first` up to `end`, without the CR of a CRLF line end."""
        return self.content[first:end].decode("utf-8", "surrogateescape").replace("\r", "")


def elements(
    values: tuple[Node, ...], source: MaskedSource, names: Collection[str], known: Mapping[str, str | None], *, skip: int = 0
) -> tuple[Element, ...]:
    """What the nodes of a value hold, without its first `skip` characters; `names` are the variable's own, `known` are variables
    with a value that the file itself, or the caller, has given them.
    """
    if len(values) == 1 and values[0].type == "array":
        words = (word for word in values[0].named_children if word.type != "comment")
        return tuple(one for word in words for one in elements((word,), source, names, known))
    pieces = list(_pieces(values, source, names, known))
    if skip:
        piece = pieces[0]
        value = None if piece.value is None else piece.value[skip:]
        pieces = [replace(piece, written=piece.written.lstrip("'\"")[skip:].rstrip("'"), value=value), *pieces[1:]]
    return tuple(_element(group, known) for group in _split(pieces) if group)


def names_used(values: tuple[Node, ...], source: MaskedSource) -> frozenset[str]:
    """The variables that a value refers to."""
    names: set[str] = set()
    stack = list(values)
    while stack:
        node = stack.pop()
        if node.type == "variable_name":
            names.add(source.text(node))
        stack.extend(node.children)
    leaves = _leaves(values)
    cut = (_identifier(source.text(word)) for sign, word in pairwise(leaves) if sign.type == "$")
    return frozenset(names.union(name for name in cut if name))


def _pieces(
    values: tuple[Node, ...], source: MaskedSource, names: Collection[str], known: Mapping[str, str | None]
) -> Iterator[_Piece]:
    leaves = _leaves(values)
    for place, node in enumerate(leaves):
        before = leaves[place - 1].type if place else ""
        name = _identifier(source.text(node)) if before == "$" else ""
        if name:
            # tree-sitter-bash (0.25.1) reads the second of two expansions in a word as a lone $ and a word, now and then.
            yield _Piece(f"${name}", None if name in names else known.get(name), previous=name in names)
            yield _literal(node, source.text(node)[len(name) :])
        elif node.type in {"simple_expansion", "expansion"}:
            yield _expansion(node, source, names, known)
        elif node.type != "$" or place == len(leaves) - 1:
            yield _literal(node, source.text(node))


def _leaves(values: tuple[Node, ...]) -> list[Node]:
    leaves: list[Node] = []
    stack = list(values[::-1])
    while stack:
        node = stack.pop()
        if node.type in {"concatenation", "string", "command_name"}:
            stack.extend(child for child in reversed(node.children) if child.type != '"')
        else:
            leaves.append(node)
    return leaves


def _identifier(words: str) -> str:
    name = "".join(takewhile(lambda sign: sign == "_" or (sign.isascii() and sign.isalnum()), words))
    return "" if name[:1].isdigit() else name


def _literal(node: Node, written: str) -> _Piece:
    if node.type in {"word", "number"}:
        plain, rest = "", iter(written.replace("\\\n", ""))
        for sign in rest:
            plain += next(rest, "") if sign == "\\" else sign
        return _Piece(written, plain, bare=True)
    if node.type == "raw_string":
        return _Piece(written, written[1:-1])
    if node.type != "string_content":
        return _Piece(written, None)
    said = written
    # In double quotes a backslash is special only before these (Bash manual, 3.1.2.3).
    for sign in ("\\\n", '\\"', "\\$", "\\`", "\\\\"):
        said = said.replace(sign, sign[1:].strip("\n"))
    return _Piece(written, said)


def _expansion(node: Node, source: MaskedSource, names: Collection[str], known: Mapping[str, str | None]) -> _Piece:
    written = source.text(node)
    inner = [child for child in node.children if child.type not in {"$", "${", "}"}]
    name = source.text(inner[0]).partition("[")[0] if inner else ""
    operator = inner[1].type if len(inner) > 1 else ""
    if name in names and operator in {"", ":-", "-", ":+", "+"}:
        return _Piece(written, None, previous=True, colon=any(":" in source.text(part) for part in inner[2:]))
    if not operator:
        return _Piece(written, known.get(name))
    if operator not in {":-", "-"}:
        return _Piece(written, None)
    value = known.get(name, "")
    # A name that nothing here sets may still come from outside; what the line itself offers instead is the best guess to show.
    if value == "" and inner[2:]:
        offered = elements(tuple(inner[2:]), source, (), known)
        value = offered[0].directory if len(offered) == 1 else None
    return _Piece(written, value or None)


def _split(pieces: list[_Piece]) -> Iterator[list[_Piece]]:
    group: list[_Piece] = []
    for piece in pieces:
        if piece.colon:
            yield from (group, [piece])  # ${PATH:+:${PATH}} and ${PATH:+${PATH}:} bring their own colon
            group = []
            continue
        parts = (piece.value or "").split(":")
        for part in parts[:-1]:
            yield [*group, _part(piece, part, parts)] if part else group
            group = []
        if parts[-1] or piece.value is None:
            group.append(_part(piece, parts[-1], parts))
    yield group


def _part(piece: _Piece, part: str, parts: list[str]) -> _Piece:
    if len(parts) == 1:
        return piece
    return _Piece(part if piece.written.count(":") == len(parts) - 1 else piece.written, part, bare=piece.bare)


def _element(group: list[_Piece], known: Mapping[str, str | None]) -> Element:
    written = "".join(piece.written for piece in group)
    if len(group) == 1 and group[0].previous:
        return Element(written, "", previous=True)
    values = [piece.value for piece in group]
    directory = "" if None in values else "".join(value for value in values if value is not None)
    home = known.get("HOME")
    if group[0].bare and home and (directory == "~" or directory.startswith("~/")):
        directory = home + directory[1:]
    return Element(written, directory)
