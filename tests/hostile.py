"""Words that want to be obeyed, as a recording, a start-up file or a child of a stranger may hold them; and how they are found."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import TypeVar, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from gpuassist.model.text import Text, verbatim
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH

Value = TypeVar("Value")

# Names the window, clears the screen, colours in C1, turns the writing direction, writes over its own line, feigns a line of ours.
HOSTILE = "\x1b]0;PWN\x07\x1b[2J\x9b31m\u202e\u2066\u200f\u2028\x7f\x00\r✓ fine\nFEIGNED"
IN_A_NAME = HOSTILE.replace("\x00", "")  # what a name of a file, an argument and a variable can hold
KINDLY = "健康 👩‍👩‍👧 e\u0301 שלום سلام"

# Beside tab and line feed; written here once more, because the program's own list is what is on trial.
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def obeyed(words: str) -> list[str]:
    """The lines with a character that a terminal or a label would obey, and those that feign to be ours."""
    return [line for line in words.split("\n") if OBEYED.search(line) or line.startswith("FEIGNED")]


def poisoned(value: Value, *, names_alone: bool = False, poison: str = HOSTILE) -> Value:
    """The value with the poison at the end of every string in it.

    With `names_alone` of those that hold a path or several words, so that the others still mean what rules look for.
    """
    return cast(Value, _poisoned(value, poison, names_alone=names_alone))


def _poisoned(value: object, poison: str, *, names_alone: bool) -> object:
    if isinstance(value, (Enum, Version)):
        return value
    if isinstance(value, Text):
        return verbatim(ENGLISH(value) + poison)
    if isinstance(value, str):
        return value + poison if value and (not names_alone or "/" in value or " " in value) else value
    if isinstance(value, tuple):
        return tuple(_poisoned(one, poison, names_alone=names_alone) for one in value)
    if isinstance(value, Struct):
        inside = asdict(value)
        changed = {name: _poisoned(one, poison, names_alone=names_alone) for name, one in inside.items()}
        return replace(value, **changed)
    return value


def strings_in(document: str) -> list[str]:
    """Every string of a JSON document, keys left out."""
    found: list[str] = []
    waiting = [json.loads(document)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, (dict, list)):
            waiting.extend(one.values() if isinstance(one, dict) else one)
    return found
