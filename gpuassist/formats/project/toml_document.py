"""TOML with the place of every text in it: which table and key it belongs to, its line, and where its words stand.

Python's own reader tells whether the document is one and what it holds, but not where. This walk is for documents that it took: it
counts brackets and quotes, and judges nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEADER = lazy_regex(r"[ \t]*(\[\[?)[ \t]*([^\]\n]+?)[ \t]*\]\]?[ \t]*(?:#[^\n]*)?\r?(?:\n|$)")
_PART = lazy_regex(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*(\.)?""")
_TOKEN = lazy_regex(
    r'''(?P<space>[ \t\r\n]+)|(?P<comment>\#[^\n]*)|(?P<long>"""|\'\'\')'''
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')|(?P<open>[\[{])"""
    r"""|(?P<close>[\]}])|(?P<comma>,)|(?P<equals>=)|(?P<bare>[^\s"'#\[\]{},=]+)"""
)
_LINE = lazy_regex(r".+ \(at line (\d+), column (\d+)\)")


class NotTomlError(ValueError):
    """A text is no TOML document; `line` is where, 0 where that is not told."""

    def __init__(self, words: str, line: int) -> None:
        super().__init__(words)
        self.line = line


class TomlText(Struct, frozen=True):
    """A text in a document: `path` is the tables and keys that lead to it, numbers for the elements of arrays; `first` and `end`
    are where its words stand between the quotes. `plain` where no escape is in it.
    """

    path: tuple[str | int, ...]
    value: str
    line: int
    first: int
    end: int
    plain: bool

    def under(self, *path: str) -> bool:
        return self.path[: len(path)] == path


def read_toml(words: str) -> tuple[dict[str, Any], tuple[TomlText, ...]]:
    """The document, and its texts in their order; raises `NotTomlError`."""
    try:
        whole = tomllib.loads(words.replace("\r\n", "\n"))
    except RecursionError:
        raise NotTomlError("it is nested too deeply", 0) from None
    except ValueError as error:
        found = _LINE.fullmatch(str(error))
        raise NotTomlError(str(error), int(found[1]) if found and len(found[1]) < 10 else 0) from None
    return whole, tuple(_texts(words))


def _texts(words: str) -> Iterator[TomlText]:
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    place, lines = 0, _Lines(words)
    while place < len(words):
        header = _HEADER.match(words, place)
        if header is not None:
            parts = _resolved(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[parts] = counts.get(parts, -1) + 1
                parts = (*parts, counts[parts])
            table, place = parts, header.end()
            continue
        end = words.find("\n", place)
        end = len(words) if end < 0 else end + 1
        if not words[place:end].strip() or words[place:end].lstrip().startswith("#"):
            place = end
            continue
        key, place = _key(words, place)
        if place >= len(words):
            return
        texts, place = _value(words, place, (*table, *key), lines)
        yield from texts


def _resolved(parts: tuple[str, ...], counts: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """The tables of a header; one below an array of tables belongs to the last of it."""
    path: tuple[str | int, ...] = ()
    for number, part in enumerate(parts):
        path = (*path, part)
        if path in counts and number < len(parts) - 1:
            path = (*path, counts[path])
    return path


def _parts(words: str) -> tuple[str, ...]:
    return tuple(
        one for found in _PART.finditer(words) for one in (next((part for part in found.groups()[:3] if part is not None), ""),)
    )


def _key(words: str, place: int) -> tuple[tuple[str, ...], int]:
    parts: list[str] = []
    while (found := _PART.match(words, place)) is not None:
        parts.append(next((part for part in found.groups()[:3] if part is not None), ""))
        place = found.end()
        if not found[4]:
            break
    equals = words.find("=", place)
    return tuple(parts), (len(words) if equals < 0 else equals + 1)


def _value(words: str, place: int, path: tuple[str | int, ...], lines: _Lines) -> tuple[list[TomlText], int]:
    """The texts of a value, and where the next key may begin."""
    found: list[TomlText] = []
    stack: list[_Open] = []
    here = path
    while place < len(words):
        if not stack and words[place] == "\n":
            return found, place + 1
        token = _TOKEN.match(words, place)
        if token is None:
            return found, len(words)
        kind, taken = token.lastgroup, token[0]
        place = token.end()
        if kind == "space" and not stack and "\n" in taken:
            return found, token.start() + taken.index("\n") + 1
        if kind == "long":
            end = words.find(taken, place)
            end = len(words) if end < 0 else end
            found.append(TomlText(here, words[place:end], lines.of(token.start()), place, end, plain=False))
            place = end + 3
        elif kind in {"string", "bare"}:
            if stack and stack[-1].inline and stack[-1].wants_key:
                stack[-1].key.append(taken[1:-1] if kind == "string" else taken)
                continue
            if kind == "string":
                inner = taken[1:-1]
                plain = taken[0] == "'" or "\\" not in inner
                found.append(TomlText(here, inner, lines.of(token.start()), token.start() + 1, place - 1, plain))
        elif kind == "open":
            stack.append(_Open(here, inline=taken == "{", wants_key=taken == "{"))
            here = here if taken == "{" else (*here, 0)
        elif kind == "equals" and stack:
            parts = tuple(one for key in stack[-1].key for one in (key.split(".") if "." in key else (key,)) if one)
            stack[-1].wants_key, here = False, (*stack[-1].path, *parts)
        elif kind == "comma" and stack:
            stack[-1].count += 1
            stack[-1].wants_key, stack[-1].key = stack[-1].inline, []
            here = stack[-1].path if stack[-1].inline else (*stack[-1].path, stack[-1].count)
        elif kind == "close" and stack:
            here = stack.pop().path
    return found, place


class _Open:
    """A bracket that is open: the path before it, and how far the walk is inside."""

    __slots__ = ("count", "inline", "key", "path", "wants_key")

    def __init__(self, path: tuple[str | int, ...], *, inline: bool, wants_key: bool) -> None:
        self.path, self.inline, self.wants_key = path, inline, wants_key
        self.count = 0
        self.key: list[str] = []


class _Lines:
    """Which line a place is in, for places that come in order."""

    def __init__(self, words: str) -> None:
        self._words, self._place, self._line = words, 0, 1

    def of(self, place: int) -> int:
        if place >= self._place:
            self._line += self._words.count("\n", self._place, place)
            self._place = place
            return self._line
        return self._words.count("\n", 0, place) + 1
