"""What stands in the place of a name that is left out, the same for the same name throughout a report."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class TakenKind(str, Enum):
    """What was taken out, what tells most of a person first."""

    USER = "user"
    HOME = "home"
    ENVIRONMENT = "environment"
    FOLDER = "folder"
    FILE = "file"
    UUID = "uuid"
    CONTAINER = "container"
    COMMAND_LINE = "command-line"
    VARIABLE = "variable"
    STARTUP = "startup"
    ADDRESS = "address"
    PACKAGE = "package"
    KERNEL = "kernel"
    NOTE = "note"
    WORDS = "words"


class TakenOut(Struct, frozen=True):
    """How many different ones of a kind were taken out, and the first that stands in their place; empty where nothing does."""

    kind: TakenKind
    count: int
    stand_in: str = ""


LEFT_OUT = "…"
"""In the place of words that nothing needs to refer to."""


class StandIns:
    """The stand-ins of one report."""

    def __init__(self) -> None:
        self._given: dict[TakenKind, dict[str, str]] = {}

    def name(self, kind: TakenKind, original: str, pattern: str) -> str:
        """The stand-in of a name; `pattern` has a `{}` for its number."""
        given = self._given.setdefault(kind, {})
        if original not in given:
            given[original] = pattern.format(len(given) + 1)
        return given[original]

    def left_out(self, kind: TakenKind, original: str) -> str:
        """The mark in the place of words."""
        self._given.setdefault(kind, {})[original] = LEFT_OUT
        return LEFT_OUT

    def known(self, kind: TakenKind, original: str) -> str:
        """The stand-in that it has already; empty where it has none."""
        return self._given.get(kind, {}).get(original, "")

    def all_of(self, kind: TakenKind) -> dict[str, str]:
        return dict(self._given.get(kind, {}))

    def taken_out(self) -> tuple[TakenOut, ...]:
        """Without what was the same before and after: a user who is called `user`."""
        found = ((kind, {one: to for one, to in self._given.get(kind, {}).items() if one != to}) for kind in TakenKind)
        return tuple(TakenOut(kind, len(given), next(iter(given.values()))) for kind, given in found if given)
