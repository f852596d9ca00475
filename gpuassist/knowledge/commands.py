"""The one list of command lines: whatever shows a command renders it here from its key, so that no two places disagree."""

from __future__ import annotations

import shlex
import string
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import CommandRecord


class CommandError(ValueError):
    """A command is asked for that is not in the list, or without a parameter that its lines need."""


class UsedCommand(Struct, frozen=True):
    """A command by its key, and what it is used with."""

    key: str
    parameters: Mapping[str, object]


def use(key: str, **parameters: object) -> UsedCommand:
    """A command to render."""
    return UsedCommand(key, parameters)


class Commands:
    """The records by key and the family's name; where a family has no lines of its own, those of its like and of any serve it."""

    def __init__(self, records: Mapping[tuple[str, ...], CommandRecord]) -> None:
        self._records = records
        self._keys = frozenset(key for key, _ in records)

    @property
    def keys(self) -> frozenset[str]:
        """Every key."""
        return self._keys

    @property
    def records(self) -> tuple[CommandRecord, ...]:
        """Every record, in the order of the file."""
        return tuple(record for place in self._records if (record := self._records.get(place)) is not None)

    def record(self, key: str, family: Family | Sequence[Family]) -> CommandRecord | None:
        """The record that serves a family, or the first of several that has one; None where that family has no such command."""
        if key not in self._keys:
            raise CommandError(key)
        families = (family,) if isinstance(family, Family) else family
        found = (self._records.get((key, one.value)) for one in (*families, Family.ANY))
        return next((record for record in found if record is not None), None)

    def render(self, key: str, family: Family | Sequence[Family], parameters: Mapping[str, object]) -> tuple[str, ...]:
        """The lines to show, with each parameter quoted for the shell; empty where that family has no such command."""
        record = self.record(key, family)
        if record is None:
            return ()
        missing = [name for name in record.parameters if name not in parameters]
        if missing:
            raise CommandError(f"{key}: {', '.join(missing)}")
        words = {name: _Word(str(value)) for name, value in parameters.items()}
        return tuple(line.format(**words) for line in record.lines)


def parameters_of(lines: Iterable[str]) -> tuple[str, ...]:
    """The names in braces, each once, in the order in which they first stand."""
    formatter = string.Formatter()
    return tuple(dict.fromkeys(name for line in lines for _, name, _, _ in formatter.parse(line) if name))


class _Word(str):
    """A parameter in a line: quoted, with `:dashed` as package names write a version (12-4), with `:words` several of them."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec == "words":
            return shlex.join(self.split())
        return shlex.quote(self.replace(".", "-") if spec == "dashed" else str(self))
