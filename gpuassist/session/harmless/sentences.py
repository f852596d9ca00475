"""Sentences of our own that stand in a recording as words: told from strangers' words by the list of all that we can say."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text

_SLOT = lazy_regex(r"\{(\w+)\}")
_MESSAGE = lazy_regex(r"^msgid(?:_plural)? (?P<words>(?:\"(?:[^\"\\]|\\.)*\"\n)+)", re.MULTILINE)
_LEAST = 8  # letters of a sentence's longest piece: in `{a}: {b}` is nothing of ours
_TRIED = 12
_Pieces = dict[str, list[tuple[str, str]]]


class OwnSentences:
    """`read` gives the list of sentences (a .po), which is read when it is first asked for."""

    def __init__(self, read: Callable[[], bytes], clean: Callable[[str], str]) -> None:
        self._read = read
        self._clean = clean
        self._cleaned: dict[str, str] = {}

    def text(self, told: Text) -> Text:
        """A text of ours with harmless parameters; the words of a recording are a text that is nothing but a parameter."""
        if not _SLOT.sub("", told.message).strip(" ·:,;()/."):
            parts = [one if isinstance(one, Text) else text("{words}", words=self._words(str(one))) for _, one in told.parameters]
            names = [name for name, _ in told.parameters]
            cleaned = (
                self.text(one) if isinstance(given, Text) else one for one, (_, given) in zip(parts, told.parameters, strict=True)
            )
            return Text(told.message, tuple(zip(names, cleaned, strict=True)), told.plural)
        cleaned_ones = tuple((name, self._parameter(one)) for name, one in told.parameters)
        return Text(told.message, cleaned_ones, told.plural)

    def _parameter(self, value: str | int | float | Text) -> str | int | float | Text:
        if isinstance(value, Text):
            return self.text(value)
        return self._clean(value) if isinstance(value, str) else value

    def _words(self, words: str) -> str:
        """Words that were rendered once: a sentence of ours, its slots cleaned, or what of them is harmless."""
        if words not in self._cleaned:  # a machine of eight GPUs says most of them forty times
            found = self._ours(words)
            self._cleaned[words] = found if found is not None else self._clean(words)
        return self._cleaned[words]

    def _ours(self, words: str) -> str | None:
        if len(words) > 1000:
            return None
        known = (one for place in range(len(words) - _LEAST + 1) for one in self._messages.get(words[place : place + _LEAST], ()))
        likely = sorted({message for piece, message in known if piece in words}, key=lambda one: (-len(one), one))
        for message in likely[:_TRIED]:
            pieces = _SLOT.split(message)
            pattern = "".join("(.{0,300}?)" if place % 2 else re.escape(_braces(one)) for place, one in enumerate(pieces))
            match = re.fullmatch(pattern, words, re.DOTALL)
            if match is not None:
                slots = iter(match.groups())
                return "".join(self._slot(next(slots)) if place % 2 else _braces(one) for place, one in enumerate(pieces))
        return None

    def _slot(self, words: str) -> str:
        return self._ours(words) or self._clean(words)

    @cached_property
    def _messages(self) -> _Pieces:
        """The longest piece of each, and all of it, by the first letters of that piece."""
        try:
            listed = self._read().decode("utf-8", "replace")
        except OSError:  # a damaged copy
            return {}
        return _told(listed)


@lru_cache(maxsize=1)
def _told(listed: str) -> _Pieces:
    found: _Pieces = {}
    for message in _messages(listed):
        longest = _longest(message)
        if len(longest) >= _LEAST:
            found.setdefault(longest[:_LEAST], []).append((longest, message))
    return found


def _messages(listed: str) -> Iterator[str]:
    for found in _MESSAGE.finditer(listed):
        lines = found["words"].strip().split("\n")
        yield "".join(ast.literal_eval(line) if "\\" in line else line[1:-1] for line in lines)


def _longest(message: str) -> str:
    return max((_braces(one) for one in _SLOT.split(message)[::2]), key=len, default="")


def _braces(piece: str) -> str:
    return piece.replace("{{", "{").replace("}}", "}")
