"""A hold as a line of a package manager's file, and the packages that its pattern is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from fnmatch import fnmatchcase

from msgspec import Struct

from gpuassist.model.holds import HoldKind, HoldReach
from gpuassist.model.lazy_regex import lazy_regex

LONGEST_PATTERN = 200
"""What is longer names no package."""

_LONGEST_REGEX = 80
_MOST_REPEATS = 3
_REPEATS = re.compile(r"(?<!\\)[*+?{]")
# What a pattern for names of packages is made of. A group that is repeated can take a lifetime to fail, and files are a stranger's.
_PLAIN_REGEX = lazy_regex(r"(?:[\w\-.^$*+?|:]|\\[.+\-$^]|\[[^\[\]]{1,40}\]|\((?:\?:)?[\w\-.|\\]{0,60}\)(?![*+?{]))*")


class Match(str, Enum):
    """How a pattern is compared with a package's name."""

    GLOB = "glob"
    REGEX = "regex"  # anywhere in the name
    REGEX_FROM_START = "regex-from-start"
    SUBSTRING = "substring"


class HoldLine(Struct, frozen=True):
    """What a line says; `number` is its own, `whole` that the pattern may also be about name and version together."""

    number: int
    kind: HoldKind
    reach: HoldReach
    pattern: str
    match: Match = Match.GLOB
    version: str = ""
    repository: str = ""
    whole: bool = False
    any_case: bool = False


def matcher(line: HoldLine) -> Callable[[str, str], bool]:
    """Whether a package of this name and version is meant; never, where the pattern is one that could keep us busy."""
    pattern = line.pattern.lower() if line.any_case else line.pattern
    if len(pattern) > LONGEST_PATTERN:
        return lambda _name, _version: False
    if line.match is Match.SUBSTRING:
        return lambda name, _version: pattern in (name.lower() if line.any_case else name)
    if line.match is Match.GLOB:
        if line.whole:
            return lambda name, version: fnmatchcase(name, pattern) or fnmatchcase(f"{name}-{version}", pattern)
        return lambda name, _version: fnmatchcase(name.lower() if line.any_case else name, pattern)
    compiled = _compiled(pattern)
    if compiled is None:
        return lambda _name, _version: False
    if line.match is Match.REGEX_FROM_START:
        return lambda name, _version: compiled.match(name) is not None
    return lambda name, _version: compiled.search(name) is not None


def _compiled(pattern: str) -> re.Pattern[str] | None:
    sound = len(pattern) <= _LONGEST_REGEX and len(_REPEATS.findall(pattern)) <= _MOST_REPEATS
    if not sound or _PLAIN_REGEX.fullmatch(pattern) is None:
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None


def is_for_all(pattern: str) -> bool:
    """Whether it is about every package there is, and none in particular."""
    return not pattern.strip("*?.^$:/+")


def numbered(words: str) -> Iterable[tuple[int, str]]:
    """The lines with their numbers; form feeds and the like end none, as with the tools themselves."""
    return enumerate(words.replace("\r\n", "\n").split("\n"), start=1)
