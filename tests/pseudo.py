"""A language of the tests' own: the English sentences with accents, marked, and two fifths longer, as translations may be."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterable
from functools import cache

from tests.translations import catalogue

_ACCENTS = str.maketrans("aceginorstuyzACEGINORSTUYZ", "áçéğíñóŕśţúýžÁÇÉĞÍÑÓŔŚŢÚÝŽ")
_KEPT = re.compile(r"(\{\{|\}\}|\{[^{}]*\}|`[^`]*`)")  # slots, literal braces and code
_LONGER = 0.4
_MARKED = re.compile(r"«[^«»]*»")


class Pseudo(gettext.NullTranslations):
    """Translates every message, and remembers which it was asked for; with `marks_data` also mere data."""

    def __init__(self, *, marks_data: bool = False) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self._marks_data = marks_data

    def gettext(self, message: str) -> str:
        self.seen.add(message)
        said = pseudo(message)
        return f"«{said}»" if self._marks_data and said == message else said

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        self.seen.add(msgid1)
        return pseudo(msgid1 if n == 1 else msgid2)


@cache
def pseudo(message: str) -> str:
    """A message as this language has it; one without a letter is the same in every language."""
    parts = _KEPT.split(message)
    letters = sum(len(part) for part in parts[::2])
    if not any(letter.isalpha() for part in parts[::2] for letter in part):
        return message
    said = "".join(part if place % 2 else part.translate(_ACCENTS) for place, part in enumerate(parts))
    return f"«{said}{'~' * round(letters * _LONGER)}»"


def unmarked(words: str) -> str:
    """What of it did not come from a message: data, or a sentence that nobody can translate."""
    while words != (words := _MARKED.sub(" ", words)):
        pass
    return words


@cache
def _messages() -> frozenset[str]:
    return frozenset(one.id if isinstance(one.id, str) else one.id[0] for one in catalogue("zh_CN"))


def strangers(seen: Iterable[str]) -> set[str]:
    """Those of the messages that no translator ever got to see."""
    return {message for message in seen if message not in _messages() and pseudo(message) != message}
