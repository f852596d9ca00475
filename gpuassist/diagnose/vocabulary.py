"""The words of a long text, each once: whether they could make up what is looked for, before the text itself is searched."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

_WORD = re.compile(r"\w+")
_DIGITS = str.maketrans("123456789", "000000000")  # of log lines that differ in their numbers alone


class Vocabulary:
    """All words of a text, their digits as zeros."""

    def __init__(self, words: str) -> None:
        lines = dict.fromkeys(words.translate(_DIGITS).split("\n"))
        found = {word for line in lines for word in _WORD.findall(line)}
        self._words = sorted(found)
        self._backwards = sorted(word[::-1] for word in found)
        self._all = "\n".join(self._words)

    def may_form(self, literal: str) -> bool:
        """Whether every word of it is one of these; its first may be the end of one, and its last the beginning."""
        whole, start, end, middle = _taken_apart(literal.translate(_DIGITS))
        return (
            all(_has(self._words, one, whole=True) for one in whole)
            and (not start or _has(self._words, start))
            and (not end or _has(self._backwards, end[::-1]))
            and middle in self._all
        )


@cache
def _taken_apart(literal: str) -> tuple[tuple[str, ...], str, str, str]:
    """The words that it holds from their beginning to their end; its last, which may go on; its first; its only one."""
    found = list(_WORD.finditer(literal))
    if len(found) == 1 and found[0].group() == literal:
        return (), "", "", literal
    whole = tuple(one.group() for one in found if one.start() > 0 and one.end() < len(literal))
    start = next((one.group() for one in found if one.end() == len(literal)), "")
    end = next((one.group() for one in found if one.start() == 0), "")
    return whole, start, end, ""


def _has(every: list[str], word: str, *, whole: bool = False) -> bool:
    """Whether a sorted list has the word, or one that begins with it."""
    place = bisect_left(every, word)
    if place == len(every):
        return False
    return every[place] == word if whole else every[place].startswith(word)
