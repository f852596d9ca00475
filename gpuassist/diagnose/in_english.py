"""What programs say in another language, read as what they say in English, so that every message is known in all of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

from gpuassist.diagnose.signature import lowered, places_in, vocabulary
from gpuassist.knowledge.messages import LANGUAGES, ForeignMessage
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

_MOST_PLACES = 20  # of one sentence from the beginning of the text, and as many from its end
_MOST_LINES = 800  # that are read anew: a text that holds more says nothing new
_LONGEST_LINE = 2000  # characters: no program's message is longer

_SCRIPTS = (
    (lazy_regex("[\u3040-\u30ff]"), ("ja",)),
    (lazy_regex("[\uac00-\ud7af]"), ("ko",)),
    (lazy_regex("[\u4e00-\u9fff]"), ("zh_CN", "zh_TW", "ja")),
    (lazy_regex("[\u0400-\u04ff]"), ("ru", "uk")),
)
_JOINED = lazy_regex("[\u3040-\u30ff\uac00-\ud7af\u4e00-\u9fff]")  # written without spaces between words, or with endings
_INNER_SPACES = lazy_regex("\u00ab | \u00bb")

_PLACE = lazy_regex(r"\{(\d)\}")
_QUOTES = "\"'`\u00b4\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a\u300c\u300d\u300e\u300f"
_SIGNS = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d", "'"))
_PIECES = lazy_regex(rf" ?[{_QUOTES}]{{1,2}} ?|\s?[:\uff1a]\s?|[,\uff0c]\s?|\s+|[^{_QUOTES}\s:\uff1a,\uff0c]+")
_RUN = lazy_regex(r"[^\W_]+(?: [^\W_]+)*")

# What stands before a place and in it: at the end or the beginning of a sentence no more than what is surely part of it.
_INSIDE = ("", r"[^\n]{0,240}?")
_FIRST = (r"(?:(?<=: )|(?<=- )|(?<=\uff1a)|^[ \t>*]{0,20})", r"(?:(?!: )[^\n]){1,160}?")
_LAST = ("", r"[^\s,;()]{1,160}[^\s,;().:]")
_LIBRARY = ("", r"-l[\w.+-]{1,60}|lib[\w.+-]{1,80}")
_FRAMES = {
    "": ("", ""),
    "linked": ("", ""),
    "line": (r"^[ \t]*", r"(?=[ \t]*(?:\(|$))"),
    "relation": (r"(?:(?<= : )|(?<= \uff1a)|(?<=  ))", r"(?=\s?[:\uff1a])"),
}


def in_english(paste: Paste, knowledge: Knowledge) -> Paste:
    """The text with the known sentences of other languages in English, line by line; the text itself where it holds none."""
    words = paste.words
    small = lowered(words)
    messages = [one for language in _languages(words, small, knowledge) for one in _readings(knowledge, language)]
    if not messages:
        return paste
    lines = words.split("\n")
    starts = _starts(lines)
    written: dict[int, str] = {}
    left = _MOST_LINES
    for one in sorted(messages, key=lambda reading: -len(reading.literal)):
        if not vocabulary(small).may_form(one.literal):
            continue
        for place in dict.fromkeys(bisect_right(starts, offset) - 1 for offset in places_in(small, one.literal, _MOST_PLACES)):
            line = written.get(place, lines[place])
            left -= 1
            if len(line) <= _LONGEST_LINE and (told := one.told(line)) != line:
                written[place] = told
        if left < 0:
            break
    if not written:
        return paste
    for place, line in written.items():
        lines[place] = _in_latin_signs(line)
    return Paste("\n".join(lines), paste.left_out, paste.original or words)


class _Reading:
    """A sentence made ready: the words of it that are looked for, and what it becomes."""

    def __init__(self, message: ForeignMessage) -> None:
        self._message = message
        runs = (run for piece in _PLACE.split(message.foreign)[::2] for run in _RUN.findall(piece))
        self.literal = lowered(max(runs, key=len, default=""))
        self._pattern: re.Pattern[str] | None = None

    def told(self, line: str) -> str:
        """The line with the sentence in English."""
        if self._pattern is None:
            self._pattern = re.compile(_pattern(self._message), re.IGNORECASE)
        return self._pattern.sub(self._english, line)

    def _english(self, match: re.Match[str]) -> str:
        parts = _PLACE.split(self._message.english)
        told = "".join(match[f"p{part}"] if odd % 2 else part for odd, part in enumerate(parts))
        return f"{told} " if told.endswith(":") else told


def _pattern(message: ForeignMessage) -> str:
    """The sentence as a pattern: any space, quotation mark or colon for its own, any words for its places."""
    before, after = _FRAMES[message.frame]
    begin, end = message.foreign[0], message.foreign[-1]
    return "".join((before or _edge(begin, r"(?<!\w)"), *_written(message), after or _edge(end, r"(?!\w)")))


def _written(message: ForeignMessage) -> Iterator[str]:
    parts = _PLACE.split(message.foreign)
    for number, part in enumerate(parts):
        if number % 2 == 0:
            yield "".join(map(_loosely, _PIECES.findall(part)))
            continue
        first, last = number == 1 and not parts[0], number == len(parts) - 2 and not parts[-1]
        before, inside = _FIRST if first else _LAST if last else _INSIDE
        if message.frame == "linked" and part == "0":
            before, inside = _LIBRARY
        yield f"{before}(?P<p{part}>{inside})"


def _loosely(piece: str) -> str:
    """A piece of a sentence as other releases of the same program, or what a text went through, may have it."""
    if piece.isspace():
        return r"[ \t]{1,4}"
    if piece.strip() in {":", "\uff1a"}:
        return r"\s?[:\uff1a]\s?"
    if piece.strip() in {",", "\uff0c"}:
        return r"[,\uff0c]\s?"
    if piece.strip()[0] in _QUOTES:
        return rf" ?[{_QUOTES}]{{1,2}} ?"
    return re.escape(piece)


def _edge(letter: str, border: str) -> str:
    """The border of a word, where the sentence begins or ends with one and its language puts spaces between them."""
    return border if letter.isalnum() and not _JOINED.match(letter) else ""


def _starts(lines: list[str]) -> list[int]:
    """Where each line begins."""
    return [0, *accumulate(len(line) + 1 for line in lines[:-1])]


@lru_cache(maxsize=len(LANGUAGES))
def _readings(knowledge: Knowledge, language: str) -> tuple[_Reading, ...]:
    """The sentences of a language, made ready once."""
    return tuple(reading for one in knowledge.messages(language) if len((reading := _Reading(one)).literal) > 1)


def _languages(words: str, small: str, knowledge: Knowledge) -> Iterator[str]:
    """In which languages the text may hold sentences: by their letters, or by words that English does not have."""
    seen = vocabulary(small)
    yield from (marks.language for marks in knowledge.message_marks() if seen.shares(marks.words))
    if not words.isascii():
        yield from dict.fromkeys(language for script, given in _SCRIPTS if seen.finds(script) for language in given)


def _in_latin_signs(line: str) -> str:
    """A line that is in English now, with the quotation marks and colons that English has."""
    return _INNER_SPACES.sub("'", line).translate(_SIGNS).replace("\uff1a ", ": ").replace("\uff1a", ": ")
