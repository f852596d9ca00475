"""What a zsh start-up file does to the variables that matter: read with the grammar of bash, after what only zsh knows is covered.

tree-sitter-zsh (0.63.4) was tried: it reports an error in `export PATH=/x:$PATH`, and takes gigabytes for some of zsh's own
functions. The grammar of bash reads what start-up files hold, once flags, modifiers and qualifiers look like plain letters to it;
what is left unread is in the reading's `unreadable_line` (decision 8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.bash import Reader
from gpuassist.shellfiles.bash_tree import masked
from gpuassist.shellfiles.statements import WATCHED, Element, Reading, Statement

# Each stands for itself in zsh and is an error, or something else, to bash's grammar; all are replaced byte for byte.
_COVERED = (
    lazy_regex(rb"\$\{(?=[(^=~]|\$\{|[A-Za-z_]\w*:[#a-zA-Z|*])"),  # ${(M)…}, ${^…}, ${${…}…}, ${name:#…}, ${name:t}
    lazy_regex(rb"\$[+^=~](?=[A-Za-z_])\w*(?:\[[^\]\n]*\])?"),  # $+commands[nvcc], $^directories
    lazy_regex(rb"(?<=[\w/*~.}])\([-#^/.@=pNDnFrwxoOLUu0-9\[\],]+\)(?=[\s);\"]|$)"),  # /opt/*(N/)
    lazy_regex(rb"(?m)^(\s*)\(\) \{"),  # an anonymous function
)
# `f() { a }`: zsh needs no `;` in front of the brace, bash's grammar does.
_ONE_LINE_FUNCTION = lazy_regex(rb"(?m)^[ \t]*(?:function[ \t]+)?[\w-]+[ \t]*(?:\(\))?[ \t]*\{[ \t][^\n]*[^\s;][ \t]\}(?=[ \t]*$)")
_TIE = lazy_regex(r"(?m)^\s*(?:export|typeset|declare)((?:\s+-\w+)+)\s+([A-Z_]\w*)(?:=\S*)?\s+(\w+)")
_QUALIFIER = lazy_regex(r"\([-#^/.@=pNDnFrwxoOLUu0-9\[\],]+\)$")
_WHOLE_LIST = lazy_regex(r"[\"']?\$\{?(?:\(@\))?\w+(?:\[[@*]\])?\}?[\"']?")
_NAMES = {**{name: name for name in WATCHED}, "path": "PATH"}


def read(content: bytes, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME, ZDOTDIR)."""
    # Arrays that a `typeset -T` ties to a watched variable, each with the variable's name.
    found = _TIE.findall(content.decode("utf-8", "replace")) if b"-" in content and b"T" in content else []
    names = {**_NAMES, **{array: scalar for flags, scalar, array in found if "T" in flags and scalar in WATCHED}}
    reading = Reader(content, known, seen=covered(content), names=names).reading()
    return replace(
        reading,
        statements=tuple(_as_zsh(statement, names) for statement in reading.statements),
        sources=tuple(replace(source, path=_QUALIFIER.sub("", source.path)) for source in reading.sources),
    )


def covered(content: bytes) -> bytes:
    """The copy that the parser of bash sees of a zsh file, byte for byte as long."""
    seen = bytearray(masked(content))
    for found in _COVERED[0].finditer(bytes(seen)):
        _cover_expansion(seen, found.start())
    for found in _COVERED[1].finditer(bytes(seen)):
        seen[found.start() + 1 : found.end()] = b"_" * (found.end() - found.start() - 1)
    for found in _COVERED[2].finditer(bytes(seen)):
        seen[found.start() : found.end()] = b"x" * (found.end() - found.start())
    for found in _COVERED[3].finditer(bytes(seen)):
        seen[found.end() - 4 : found.end()] = b"x(){"
    for found in _ONE_LINE_FUNCTION.finditer(bytes(seen)):
        seen[found.end() - 2 : found.end() - 1] = b";"
    return bytes(seen)


def _cover_expansion(seen: bytearray, first: int) -> None:
    """Makes `${…}` one name, up to the brace that closes it; a name that nobody sets, so that nothing is claimed of its value."""
    depth, place = 0, first
    while place < len(seen) and seen[place] != 0x0A:
        depth += {0x7B: 1, 0x7D: -1}.get(seen[place], 0)
        place += 1
        if not depth and place > first + 1:
            seen[first + 1 : place] = b"_" * (place - first - 1)
            return


def _as_zsh(statement: Statement, names: Mapping[str, str]) -> Statement:
    if not any("(" in element.written or "[" in element.written for one in statement.assignments for element in one.elements):
        return statement
    assignments = []
    for one in statement.assignments:
        own = {spelling for spelling, variable in names.items() if variable == one.variable}
        assignments.append(replace(one, elements=tuple(_element(element, own) for element in one.elements)))
    return replace(statement, assignments=tuple(assignments))


def _element(element: Element, own: set[str]) -> Element:
    if _WHOLE_LIST.fullmatch(element.written) and re.sub(r"\(@\)|\[[@*]\]|[^\w]", "", element.written) in own:
        return Element(element.written, "", previous=True)
    return replace(element, directory=_QUALIFIER.sub("", element.directory))
