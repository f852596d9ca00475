"""The lines of a pasted text as readers look at them: numbered, without the marks of a quotation or of a log."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known, T
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

# `> ` of a mail or of Markdown, `>>> ` of a quotation in one; a table's `|` is no mark.
_QUOTATION = lazy_regex(r"^(?:[ \t]{0,8}>[ \t]?){1,4}")


class Line(Struct, frozen=True):
    """A line with its number, counted from 1."""

    number: int
    words: str

    def known(self, value: T, program: str) -> Fact[T]:
        return Known(value, source(program, self.number))


def first(told: Iterable[Line], pattern: re.Pattern[str], program: str, made: Callable[[re.Match[str]], T | None]) -> Fact[T]:
    """The fact that the first of these lines states with which something can be made."""
    for line in told:
        found = pattern.search(line.words)
        value = made(found) if found else None
        if value is not None:
            return line.known(value, program)
    return NOT_ASKED


def source(program: str, line: int) -> str:
    """Where a fact of a text was read."""
    return f"pasted {program}, line {line}"


@lru_cache(2)
def lines(paste: Paste) -> tuple[Line, ...]:
    """All lines of a text; every reader goes over the same ones."""
    return tuple(
        Line(number, (_QUOTATION.sub("", words) if ">" in words[:16] else words).rstrip())
        for number, words in enumerate(paste.words.split("\n"), 1)
    )


def lines_with(paste: Paste, *literals: str) -> Iterator[Line]:
    """The lines that hold any of the literals; a text that holds none of them is not taken apart."""
    held = [literal for literal in literals if literal in paste.words]
    if held:
        text, every = whole(paste), lines(paste)
        yield from (every[number - 1] for number in sorted({number for literal in held for number in text.lines_of(literal)}))


class Whole(Struct, frozen=True):
    """The lines as one text again, for what runs over several of them."""

    words: str
    starts: tuple[int, ...]

    def line(self, offset: int) -> int:
        """The number of the line that a place stands in."""
        return bisect_right(self.starts, offset)

    def lines_of(self, literal: str) -> Iterator[int]:
        """The numbers of the lines that hold it, each once."""
        place = self.words.find(literal)
        while place >= 0:
            number = self.line(place)
            yield number
            place = self.words.find(literal, self.starts[number])

    def known(self, value: T, program: str, offset: int) -> Fact[T]:
        return Known(value, source(program, self.line(offset)))


@lru_cache(2)
def whole(paste: Paste) -> Whole:
    """The text without marks of quotation."""
    pieces = lines(paste)
    starts = tuple(accumulate((len(line.words) + 1 for line in pieces), initial=0))
    return Whole("\n".join(line.words for line in pieces), starts)
