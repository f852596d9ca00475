"""The lines of a knowledge file: a JSON array written one object a line, its first one the header with the sources.

A whole file is read in one go; only where that fails is it read line by line, so that the damaged line is named and the rest
still works.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from msgspec import MsgspecError, Struct
from msgspec.json import decode

from gpuassist.model.text import Text, text

SCHEMA = 1
_TEXTS = frozenset({str})


class RowError(ValueError):
    """A line that is JSON but not the record that it should be."""


class Source(Struct, frozen=True):
    """Where rows are from, and the day somebody looked."""

    text: str
    checked: str


class Row(NamedTuple):
    """One record as it stands in the file, and the number of its line."""

    line: int
    fields: dict[str, Any]


class Rows(Struct, frozen=True):
    """A file's records, with the sources that they name by key, and what of the file could not be read."""

    file: str
    sources: dict[str, Source]
    rows: tuple[Row, ...]
    damaged: tuple[Text, ...]


def parse(file: str, content: bytes) -> Rows:
    """The rows of `content`; `file` names it where a line is damaged."""
    try:
        values = decode(content)  # a third of what json takes: the largest file is read in every start that judges a machine
    except (MsgspecError, ValueError, RecursionError):
        values = None
    if isinstance(values, list) and all(isinstance(value, dict) for value in values):
        # One object a line, after the line with the opening bracket: a record's line follows from its place.
        numbered: list[tuple[int, Any]] = [(place + 2, value) for place, value in enumerate(values)]
        return _rows(file, numbered, ())
    return _line_by_line(file, content)


def text_of(row: Row, name: str, default: str | None = None) -> str:
    """A field that must be a text."""
    value = row.fields.get(name, default)
    if not isinstance(value, str):
        raise RowError(name)
    return value


def flag_of(row: Row, name: str) -> bool:
    """A field that is true or left out."""
    value = row.fields.get(name, False)
    if not isinstance(value, bool):
        raise RowError(name)
    return value


def number_of(row: Row, name: str) -> int | None:
    """A whole number, or None where the file leaves it out."""
    value = row.fields.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise RowError(name)
    return value


def whole_of(row: Row, name: str) -> int:
    """A whole number that must be there."""
    value = number_of(row, name)
    if value is None:
        raise RowError(name)
    return value


def numbers_of(row: Row, name: str) -> tuple[int, ...]:
    """A list of whole numbers; empty where the file leaves it out."""
    if name not in row.fields:
        return ()
    values = row.fields[name]
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise RowError(name)
    return tuple(values)


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    """A list of texts; empty where the file leaves it out."""
    if name not in row.fields:
        return ()
    values = row.fields[name]
    if not isinstance(values, list) or not _TEXTS.issuperset(map(type, values)):
        raise RowError(name)
    return tuple(values)


def pairs_of(row: Row, name: str) -> tuple[tuple[str, str], ...] | None:
    """An object of texts, in its order; None where the file leaves it out."""
    values = row.fields.get(name)
    if values is None:
        return None
    if not isinstance(values, dict) or not _TEXTS.issuperset(map(type, values.values())):
        raise RowError(name)
    return tuple(values.items())


def source_of(row: Row, sources: dict[str, Source]) -> Source:
    """Where a row is from: the source that it names, on its own day where it has one."""
    source = sources.get(text_of(row, "source"))
    if source is None:
        raise RowError("source")
    return Source(source.text, text_of(row, "checked", source.checked))


def rows_of(row: Row, name: str) -> tuple[Row, ...]:
    values = row.fields.get(name)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise RowError(name)
    return tuple(Row(row.line, value) for value in values)


def damaged_line(file: str, line: int) -> Text:
    """The words for a line that was skipped."""
    return text("{file}, line {line} is damaged and was skipped", file=file, line=line)


def _line_by_line(file: str, content: bytes) -> Rows:
    numbered: list[tuple[int, Any]] = []
    damaged: list[Text] = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        words = line.strip().rstrip(b",")
        if words in {b"", b"[", b"]"}:
            continue
        try:
            value = json.loads(words)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            numbered.append((number, value))
        else:
            damaged.append(damaged_line(file, number))
    return _rows(file, numbered, tuple(damaged))


def _rows(file: str, numbered: list[tuple[int, Any]], damaged: tuple[Text, ...]) -> Rows:
    headers = [(line, value) for line, value in numbered if "schema" in value]
    if not headers or headers[0][1]["schema"] != SCHEMA:
        return Rows(file, {}, (), (*damaged, text("{file} has no header of schema {schema}", file=file, schema=SCHEMA)))
    rows = tuple(Row(line, value) for line, value in numbered if "schema" not in value)
    repeated = (damaged_line(file, line) for line, _ in headers[1:])
    given = headers[0][1].get("sources", {})
    named = given.items() if isinstance(given, dict) else ()
    sources = {
        key: Source(str(value.get("text", "")), str(value.get("checked", ""))) for key, value in named if isinstance(value, dict)
    }
    return Rows(file, sources, rows, (*damaged, *repeated))
