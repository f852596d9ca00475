"""How a message is recognised in a text: literals that are cheap to look for, then a pattern, then what its parts mean here."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache, cached_property, lru_cache
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.formats.visible import MARK, shortened
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Clue, Passage, Paste, Weight
from gpuassist.model.text import Parameter

# The words of a long text, each once: whether they could make up what is looked for, before the text itself is searched.


_WORD = lazy_regex(r"\w+")
_DIGITS = bytes.maketrans(b"123456789", b"000000000")  # of log lines that differ in their numbers alone


class Vocabulary:
    """All words of a text, their digits as zeros."""

    def __init__(self, words: str) -> None:
        lines = dict.fromkeys(_without_digits(words).split("\n"))
        found = {word for line in lines for word in _WORD.findall(line)}
        self._words = sorted(found)
        self._backwards = sorted(word[::-1] for word in found)
        self._all = "\n".join(self._words)

    def may_form(self, literal: str) -> bool:
        """Whether every word of it is one of these; its first may be the end of one, and its last the beginning."""
        whole, start, end, middle = _taken_apart(literal)
        return (
            all(_has(self._words, one, whole=True) for one in whole)
            and (not start or _has(self._words, start))
            and (not end or _has(self._backwards, end[::-1]))
            and middle in self._all
        )

    def shares(self, words: frozenset[str]) -> bool:
        """Whether one of them is a word of the text."""
        return not words.isdisjoint(self._words)

    def finds(self, pattern: re.Pattern[str]) -> bool:
        """Whether a word of the text holds it."""
        return pattern.search(self._all) is not None


@lru_cache(maxsize=1)
def vocabulary(words: str) -> Vocabulary:
    """The words of a text in lower case, taken apart once however often they are asked for."""
    return Vocabulary(words)


def _without_digits(words: str) -> str:
    # As bytes in a twentieth of the time.
    return words.encode("utf-8", "surrogatepass").translate(_DIGITS).decode("utf-8", "surrogatepass")


@cache
def _taken_apart(literal: str) -> tuple[tuple[str, ...], str, str, str]:
    """The words that it holds from their beginning to their end; its last, which may go on; its first; its only one."""
    literal = _without_digits(literal)
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


_RUN = lazy_regex(r"\s*\n[ \t]*(?:[>|#*][ \t]+){0,2}|\s{2,}|[^\S ]")
_LINE = lazy_regex(r"\n(?=[^\s>|#*])")  # no run goes over it
_FOLDED = 8 << 10  # characters at a time, of which a piece is read again for the places in it


class Folded:
    """A text with one space wherever it has white space, the marks of a quotation included."""

    def __init__(self, words: str) -> None:
        self._text, self._starts, self._folded_starts = words, [0], [0]
        self._known: dict[int, tuple[list[int], list[int]]] = {}
        folded: list[str] = []
        start = 0
        while start < len(words):
            line = _LINE.search(words, start + _FOLDED)
            end = line.end() if line else len(words)
            folded.append(_RUN.sub(" ", words[start:end]))
            self._starts.append(end)
            self._folded_starts.append(self._folded_starts[-1] + len(folded[-1]))
            start = end
        self.words = "".join(folded)

    def place(self, offset: int) -> int:
        """Where a character of it stands in the text."""
        piece = max(0, bisect_right(self._folded_starts, offset) - 1)
        ends, starts = self._runs(piece)
        run = bisect_right(ends, offset) - 1
        return starts[run] + offset - ends[run]

    def _runs(self, piece: int) -> tuple[list[int], list[int]]:
        """Where what follows each run of a piece begins: here, and in the text."""
        if piece not in self._known:
            ends, starts = [self._folded_starts[piece]], [self._starts[piece]]
            for run in _RUN.finditer(
                self._text, starts[0], self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self._text)
            ):
                ends.append(ends[-1] + run.start() - starts[-1] + 1)
                starts.append(run.end())
            self._known[piece] = ends, starts
        return self._known[piece]


_QUOTED = 300  # characters of a passage that are shown
_LONG = 64 << 10  # characters
_ENDING = lazy_regex(r"\w{1,40}")
_PIECE = 16 << 10
_OVERLAP = 500  # characters that a match may go on in the next piece
_MOST_PLACES = 12  # of one literal, from either end of the text
_ADVICE = lazy_regex(
    r"\b(?:if|when(?:ever)?|in case) (?:you|your|users?)\b[^.\n]{0,100}$|\b(?:such as|e\.g\.)[^.\n]{1,24}$"
    r"|如果(?:你|您)?[^。\n]{0,60}$"
    # A list of changes, and the first line of a commit.
    r"|^[ \t]{0,8}(?:[-*•][ \t]{1,4}(?:fix(?:e[sd])?|add(?:s|ed)?|improved?|better|handled?|skip(?:ped)?|avoid(?:ed)?|raised?)"
    r"|[ \t]{2}(?:fix|add|handle|skip|avoid|catch)(?:s|es|ed)?\b"
    r"|(?:fix|feat|chore|docs?|tests?|ci|refactor)(?:\([\w/.-]{1,30}\))?:)[ \t][^\n]{0,80}$",
    re.IGNORECASE,
)


class Sign(Struct, frozen=True):
    """One reading of a message: the problem that it points to, how surely, and the parameters for its sentences."""

    problem: str
    weight: Weight
    parameters: tuple[tuple[str, Parameter], ...] = ()


def lowered(words: str) -> str:
    """Words in lower case, of the same length."""
    small = words.lower()
    return small if len(small) == len(words) else "".join(one if len(one.lower()) != 1 else one.lower() for one in words)


class SignatureInput:
    """What a message is read in: the whole text, and the facts of the text joined with those of the machine where there is one."""

    def __init__(self, paste: Paste, case: RuleInput) -> None:
        self.paste = paste
        self.case = case
        self.answered: dict[Hashable, tuple[re.Match[str], ...]] = {}

    def says(self, *literals: str) -> bool:
        """Whether any of these, in lower case, stands anywhere in the text, however its lines are wrapped."""
        # A cheap test for long logs, whose lines differ in little: most of their words are the same.
        return any(
            (len(self.lowered) < _LONG or self._vocabulary.may_form(literal)) and literal in self._read(literal)
            for literal in literals
        )

    def places(self, literal: str) -> Iterator[int]:
        """Where it stands in the text; of one that stands there thousands of times its first and its last places, for a log
        begins with how it was started and ends with what went wrong.
        """
        if " " not in literal:
            return places_in(self.lowered, literal)
        return map(self._folded.place, places_in(self._folded.words, literal))

    def _read(self, literal: str) -> str:
        """The text in lower case; for a literal of several words, with one space between them."""
        return self._folded.words if " " in literal else self.lowered

    @cached_property
    def _folded(self) -> Folded:
        return Folded(self.lowered)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return vocabulary(self.lowered)

    @cached_property
    def lowered(self) -> str:
        """The text in lower case, of the same length."""
        return lowered(self.paste.words)

    def finds(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The first place of a pattern in the whole text; looked for once, however many passages are judged by it."""
        if pattern not in self.answered:
            found = next((one for one in self._searched(pattern) if one), None)
            self.answered[pattern] = () if found is None else (found,)
        return next(iter(self.answered[pattern]), None)

    def _searched(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str] | None]:
        """Piece by piece, for one search through 1 MB takes 0.1 s, and no other thread runs meanwhile."""
        words = self.paste.words
        start = 0
        while start < len(words):
            end = words.find("\n", start + _PIECE) + 1 or len(words)
            yield pattern.search(words, start, min(len(words), end + _OVERLAP))
            start = end

    def line_at(self, offset: int) -> int:
        """The number of the line that a place stands in, from 1."""
        return bisect_right(self._starts, offset)

    def own_words(self, first: int, last: int) -> str:
        """These lines as they were pasted, where one of them was in another language; else nothing."""
        if not self.paste.original:
            return ""
        pasted, read = (lines[first - 1 : last] for lines in self._both)
        return "" if pasted == read else "\n".join(pasted)

    @cached_property
    def _both(self) -> tuple[list[str], list[str]]:
        return self.paste.original.split("\n"), self.paste.words.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer("\n", self.paste.words))]


Meaning = Callable[["re.Match[str]", SignatureInput], Iterable[Sign]]


class Signature(Struct, frozen=True):
    """A message in all its wordings. `literals`: lower case, one of them stands in every wording; `pattern`: searched in a window
    around each literal, never in the whole text, case ignored, `.` within a line; `meaning` says what a match points to.
    """

    literals: tuple[str, ...]
    pattern: str
    meaning: Meaning
    window: int = 600


def means(problem: str, weight: Weight = Weight.CAUSE, **given: Parameter | Callable[[SignatureInput], Parameter]) -> Meaning:
    """A message that always means the same: its named groups are the parameters, beside those that are given here, or asked of
    what it is read in.
    """

    def meaning(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        asked = {name: value(setting) if callable(value) else value for name, value in given.items()}
        yield sign(problem, weight, **{**asked, **{name: value for name, value in match.groupdict().items() if value}})

    return meaning


def sign(problem: str, weight: Weight = Weight.CAUSE, **parameters: Parameter) -> Sign:
    return Sign(problem, weight, tuple(parameters.items()))


_LESS_SURE = {Weight.CAUSE: Weight.STATE, Weight.STATE: Weight.CONSEQUENCE}


def general(meaning: Meaning) -> Meaning:
    """A message that almost every fault leads to: whatever it points to, even by its circumstances, is a step less sure."""

    def less_sure(match: re.Match[str], setting: SignatureInput) -> Iterator[Sign]:
        for one in meaning(match, setting):
            yield replace(one, weight=_LESS_SURE.get(one.weight, one.weight))

    return less_sure


def clues(signature: Signature, setting: SignatureInput, *, most: int = 20) -> Iterator[Clue]:
    """What a signature finds in the text, at most so many different passages: a log repeats itself."""
    seen: set[str] = set()
    for match in _matches(signature, setting):
        if match[0] in seen or _is_advice(setting.paste.words, match.start()):
            continue
        seen.add(match[0])
        # The passage, to the end of its last word, marked where its line goes on.
        line = match.string[match.end() : match.end() + _QUOTED].partition("\n")[0]
        ending = _ENDING.match(line)
        rest = ending.group() if ending and match[0][-1:].isalnum() else ""
        goes_on = any(one.isalnum() for one in line[len(rest) :])
        first = setting.line_at(match.start())
        own = setting.own_words(first, setting.line_at(match.end()))
        whole = shortened(" ".join((own or match[0] + rest).split()), _QUOTED)
        passage = Passage(first, whole + MARK if goes_on and not own and not whole.endswith(MARK) else whole)
        for one in signature.meaning(match, setting):
            yield Clue(one.problem, one.weight, passage, one.parameters)
        if len(seen) == most:
            return


def passages(
    setting: SignatureInput, literals: tuple[str, ...], pattern: str, *, window: int = 200, most: int = 50
) -> tuple[re.Match[str], ...]:
    """Where a text says something that messages are judged by, found the way messages are; looked for once in a text."""
    asked = literals, pattern, window, most
    if asked not in setting.answered:
        setting.answered[asked] = tuple(islice(_matches(Signature(literals, pattern, _nothing, window), setting), most))
    return setting.answered[asked]


def _nothing(_match: re.Match[str], _setting: SignatureInput) -> Iterable[Sign]:
    return ()


def _is_advice(words: str, place: int) -> bool:
    """Whether a message is only talked of: `If you get ..., update ...`, as manuals and answers do."""
    return _ADVICE.search(words[max(0, place - 120) : place].rpartition("\n")[2]) is not None


def _matches(signature: Signature, setting: SignatureInput) -> Iterator[re.Match[str]]:
    pattern, read_to = _compiled(signature.pattern, GAP if "nvrm:" in setting.lowered else _GAP), 0
    # In the order of the text.
    for place in sorted({place for literal in signature.literals for place in setting.places(literal)}):
        if place < read_to:
            continue
        match = pattern.search(setting.paste.words, max(read_to, place - signature.window), place + signature.window)
        if match is not None:
            read_to = max(match.end(), place + 1)
            yield match


def places_in(words: str, literal: str, most: int = _MOST_PLACES) -> Iterator[int]:
    """Where it stands in a text: its first places and its last ones, at most so many of each."""
    place, count = words.find(literal), 0
    while place >= 0 and count < most:
        yield place
        place, count = words.find(literal, place + len(literal)), count + 1
    if place < 0:
        return
    place, count = words.rfind(literal, place), 0
    while place >= 0 and count < most:
        yield place
        place, count = words.rfind(literal, 0, place), count + 1


@cache
def _compiled(pattern: str, gap: str) -> re.Pattern[str]:
    return re.compile(_anyhow_wrapped(pattern, gap), re.IGNORECASE)


def one_of(*wordings: str) -> str:
    """A pattern that takes any of them."""
    return f"(?:{'|'.join(wordings)})"


# Between two words: white space, the end of a line, the marks of a quotation. One set, for a pattern has many of them and most of a
# short paste's time is spent on making its patterns.
_GAP = r"[\s>|#*]{1,80}"
# In the kernel's log the next line begins with the time stamp, the host, and its mark.
GAP = rf"{_GAP}(?:[^\n]{{0,80}}NVRM:\s{{1,3}})?"

# What a look behind looks for has one length, so that a space in it stays one.
_TOKEN = lazy_regex(r"\\.|\(\?<[=!][^()]*\)|\[\^?\]?(?:\\.|[^\]\\])*\]| |\(|[^\\\[( ]+", re.DOTALL)
_COUNTS = ("?", "*", "+", "{")
_BOUNDARY = r"(?a:\b)"  # Chinese and Japanese put no blank between their own words and those of a message


def _anyhow_wrapped(pattern: str, gap: str) -> str:
    """A pattern whose spaces take any gap between two words; those in a set or with a count stay what they are."""
    pieces = _TOKEN.findall(pattern)
    return "".join(
        gap if one == " " and not after.startswith(_COUNTS) else _BOUNDARY if one == r"\b" else one
        for one, after in zip(pieces, [*pieces[1:], ""], strict=True)
    )
