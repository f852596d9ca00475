"""What a list of NAME=value says to the variables that matter: /etc/environment, where nothing is expanded, and environment.d."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.statements import WATCHED, Assignment, Element, Reading, Reference, Statement, StatementPlace, printable

_GIVEN = lazy_regex(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(.*)", re.DOTALL)
_WITH_COLON = lazy_regex(r"\$\{(\w+):\+:\$\{?\1\}?\}")
_EXPANSION = lazy_regex(r"\$\{([A-Za-z_]\w*)(?:(:[-+])([^{}]*))?\}|\$([A-Za-z_]\w*)")


def read(content: bytes, known: Mapping[str, str], *, expands: bool) -> Reading:
    """Reads a whole file; where it `expands`, ${NAME} stands for a variable's value (environment.d(5)), elsewhere for itself."""
    values: dict[str, str | None] = dict(known)
    statements: list[Statement] = []
    references: list[Reference] = []
    place, line = 0, 1
    for row in _rows(content, joined=expands):
        found = _GIVEN.match(row.decode("utf-8", "surrogateescape").rstrip("\r\n"))
        elements: tuple[Element, ...] = ()
        if found:
            elements = tuple(_elements(found[1], _unquoted(found[2], expands=expands), values, expands=expands))
            certain = all(element.directory and not element.previous for element in elements)
            values[found[1]] = ":".join(element.directory for element in elements) if certain else None
        if found and found[1] in WATCHED:
            uses = frozenset(_names(found[2])) if expands else frozenset()
            assignment = Assignment(found[1], elements, uses)
            shown = printable(row.decode("utf-8", "surrogateescape").replace("\r", "").rstrip("\n"))
            last = line + row.rstrip(b"\n").count(b"\n")
            statements.append(Statement(line, last, place, place + len(row), shown, (assignment,), StatementPlace.TOP))
            references += [Reference(name, line) for name in sorted(uses.intersection(WATCHED))]
        place, line = place + len(row), line + row.count(b"\n")
    left = tuple((name, value) for name, value in values.items() if value and name not in known)
    return Reading(tuple(statements), (), tuple(references), values=left)


def _rows(content: bytes, *, joined: bool) -> Iterator[bytes]:
    row = b""
    for piece in content.splitlines(keepends=True):
        row += piece
        if not (joined and piece.rstrip(b"\r\n").endswith(b"\\")):
            yield row
            row = b""
    if row:
        yield row


def _unquoted(value: str, *, expands: bool) -> str:
    # pam_env cuts comments off wherever they stand and takes one pair of quotes away (pam_env(8)); systemd knows comments only on
    # lines of their own (environment.d(5)).
    value = value.replace("\\\n", "") if expands else value.partition("#")[0]
    value = value.strip()
    return value[1:].removesuffix(value[0]) if value[:1] in {"'", '"'} else value


def _elements(name: str, value: str, known: Mapping[str, str | None], *, expands: bool) -> Iterator[Element]:
    # The colons of ${PATH:+:${PATH}} part nothing.
    kept = _EXPANSION.sub(lambda found: found[0].replace(":", "\0"), _WITH_COLON.sub(r":${\1}", value)) if expands else value
    for part in (one.replace("\0", ":") if expands else one for one in kept.split(":")):
        if not part:
            continue
        whole = _EXPANSION.fullmatch(part) if expands else None
        if whole and name in {whole[1], whole[4]}:
            yield Element(part, "", previous=True)
        else:
            values = [known.get(one, "") or None for one in _names(part)] if expands else []
            said = _EXPANSION.sub(lambda found: known.get(found[1] or found[4]) or "", part) if expands else part
            yield Element(part, "" if None in values else said)


def _names(value: str) -> list[str]:
    return [found[1] or found[4] for found in _EXPANSION.finditer(value)]
