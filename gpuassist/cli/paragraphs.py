"""How a terminal is filled: paragraphs cut into lines, where a Chinese character takes two columns, and command lines never cut."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from unicodedata import east_asian_width

from gpuassist.cli import streams
from gpuassist.cli.context import Context
from gpuassist.cli.streams import Painted
from gpuassist.formats.visible import on_one_line
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.present.commands import copyable, copyable_lines

# One piece that stays whole: a blank, a wide character with the marks that may not be parted from it, or a word without any.
_WIDE = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6"
_NOT_FIRST = "，。、；：！？）」』】》…”’"
_NOT_LAST = "（「『【《“‘"
_PIECE = lazy_regex(rf"\s+|[{_NOT_LAST}]*(?:[{_WIDE}]|[^\s{_WIDE}{_NOT_FIRST}{_NOT_LAST}]+|.)[{_NOT_FIRST}]*")
_HAS_WIDE = lazy_regex(f"[{_WIDE}]")
_FIRST_WIDE = "\u2e80"  # to compile a set of so many characters takes longer than to wrap a page of English


def wrapped(words: str, width: int, *, first: str = "", hanging: str = "") -> list[str]:
    """The lines of a paragraph: the first begins with `first`, the others with `hanging`. A path, an option or a version that is
    broken cannot be copied, so a long word stands over the edge.
    """
    words = on_one_line(words)  # before a carriage return or a line feed passes for a blank, and as wide as it is shown
    if max(words, default="") < _FIRST_WIDE or not _HAS_WIDE.search(words):
        wrapper = textwrap.TextWrapper(width, first, hanging, break_long_words=False, break_on_hyphens=False)
        return wrapper.wrap(words)
    lines, line, taken = [], first, False
    for piece in _PIECE.findall(words):
        if taken and columns(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, taken = hanging, False
        if taken or not piece.isspace():
            line, taken = line + (" " if "\n" in piece and piece.isspace() else piece), True
    return [*lines, line.rstrip()] if taken else lines


def columns(words: str) -> int:
    """How many columns of a terminal the words take."""
    if words.isascii():
        return len(words)
    return len(words) + sum(east_asian_width(one) in "WF" for one in words)


# Command lines on a terminal: never wrapped, because they are there to be copied, and left out where they cannot be.


def show_command(context: Context, line: str, *, indent: str, style: str = "") -> None:
    """One, or why it is left out."""
    for row in context.session.words(copyable(line)).split("\n"):
        context.say(indent, Painted(row, style))


def show_block(context: Context, lines: Iterable[str], *, indent: str = "", say: Callable[[str], None] | None = None) -> None:
    """Lines that make sense together alone, or why they are left out."""
    for line in copyable_lines(lines):
        for row in context.session.words(line).split("\n"):
            (say or context.say)(f"{indent}{row}")


# How wide what is printed may be.


_WIDEST = 100


def width_of(context: Context) -> int:
    """The terminal's width, at most what is good to read; a pipe has none."""
    told = streams.columns_of(context.terminal.out, context.session.world.surroundings.variables)
    return min(told or _WIDEST, _WIDEST)
