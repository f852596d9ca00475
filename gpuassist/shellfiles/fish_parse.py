"""The commands of a fish file, with the blocks that they stand in: so much of fish's grammar as that takes.

Works on one character for each byte, so that every place is an offset into the file.
"""

from __future__ import annotations

import re
from enum import Enum

from msgspec import Struct, field

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.statements import StatementPlace

_BLANK = " \t\r"
_SEPARATORS = "\n;&|"
_OPENERS = frozenset({"if", "while", "for", "switch", "function", "begin", "{"})
_CLOSERS = frozenset({"end", "}"})
_PREFIXES = frozenset({"not", "!", "and", "or", "time", "else"})
_PLACES = {
    "function": StatementPlace.FUNCTION,
    "while": StatementPlace.LOOP,
    "for": StatementPlace.LOOP,
    "switch": StatementPlace.CASE,
    "if": StatementPlace.BRANCH,
}
_VARIABLE = lazy_regex(r"\$+([A-Za-z0-9_]+)(\[[^\]\n]*\])?")
_PLAIN = lazy_regex(r"[^\s;&|\\'\"$()<>]+")
_SINGLE = lazy_regex(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPED_IN_QUOTES = {"\\\n": "", '\\"': '"', "\\$": "$", "\\\\": "\\"}
_IN_QUOTES = lazy_regex(r"[^\\\"$]+")


class FishPiece(Enum):
    """What a piece of a word is: text outside or inside quotes, a variable, or what only a running shell can tell."""

    BARE = 0
    QUOTED = 1
    VARIABLE = 2
    UNKNOWN = 3


class Piece(Struct, frozen=True):
    """A piece of a word: `words` is its text, or the variable's name; `written` is how it stands in the file."""

    part: FishPiece
    words: str
    written: str


class Word(Struct, frozen=True):
    """One word of a command."""

    first: int
    end: int
    pieces: tuple[Piece, ...]

    @property
    def plain(self) -> str:
        """Its text where it says it without a variable or a command in it, else empty."""
        known = all(piece.part in {FishPiece.BARE, FishPiece.QUOTED} for piece in self.pieces)
        return "".join(piece.words for piece in self.pieces) if known else ""


class Opened(Struct, frozen=True):
    """A block that is open: its keyword, and where that stands."""

    keyword: str
    first: int

    @property
    def place(self) -> StatementPlace:
        return _PLACES.get(self.keyword, StatementPlace.GROUP)


class FishCommand(Struct, frozen=True):
    """A command with its words; `chain` is where the first command of its `; and`, `&&` or pipe begins, `linked` whether it is not
    the first of them. A keyword that opens or closes a block is a command of its own, with no words but it.
    """

    words: tuple[Word, ...]
    blocks: tuple[Opened, ...]
    chain: int
    linked: bool
    keyword: bool = False

    @property
    def first(self) -> int:
        return self.words[0].first

    @property
    def end(self) -> int:
        return self.words[-1].end


class Parsed(Struct):
    """A whole file; `error` is the first place that was not understood, -1 where all was."""

    commands: list[FishCommand] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)
    error: int = -1


def parse(seen: str) -> Parsed:
    """Reads all commands up to the end or to the first place that is not understood."""
    return _Parser(seen).parsed()


class _UnfinishedError(Exception):
    """A quote or a bracket that nothing closes."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


class _Parser:
    def __init__(self, seen: str) -> None:
        self.seen = seen
        self.place = 0
        self.blocks: list[Opened] = []
        self.result = Parsed()
        self.linked = False
        self.chain = 0
        self.after_else = False

    def parsed(self) -> Parsed:
        try:
            while self._statement():
                pass
        except _UnfinishedError as error:
            self.result.error = error.place
        if self.result.error < 0 and self.blocks:
            self.result.error = self.blocks[-1].first
        return self.result

    def _statement(self) -> bool:
        """One command or keyword and what follows it; false at the end of the file."""
        self._skip()
        if self.place >= len(self.seen):
            return False
        if self.seen[self.place] in _SEPARATORS:
            sign = self.seen[self.place]
            self.after_else = False
            double = self.seen[self.place : self.place + 2] in {"&&", "||"}
            self.place += 2 if double else 1
            self.linked = (
                double
                or sign == "|"
                or (self.linked and sign == "\n" and self.seen[: self.place].rstrip().endswith(("&&", "||", "|")))
            )
            return True
        word = self._word()
        name = word.plain
        if name in _PREFIXES or name in _OPENERS or name in _CLOSERS:
            self._keyword(word, name)
        else:
            self._add(self._rest(word), keyword=False)
        return self.result.error < 0

    def _keyword(self, word: Word, name: str) -> None:
        self.after_else, after_else = name == "else", self.after_else
        if name in {"and", "or"}:
            self.linked = True
        if name in _CLOSERS and not self.blocks:
            self.result.error = word.first
        elif name in _CLOSERS:
            self.linked, self.chain = True, self.blocks.pop().first
        if name in _OPENERS and not (name == "if" and after_else):
            self.blocks.append(Opened(name, word.first))
        # What follows if, while and begin is a command; what follows the others is theirs.
        self._add(self._rest(word) if name in {"for", "switch", "function"} else (word,), keyword=True)

    def _add(self, words: tuple[Word, ...], *, keyword: bool) -> None:
        if not self.linked:
            self.chain = words[0].first
        self.result.commands.append(FishCommand(words, tuple(self.blocks), self.chain, self.linked, keyword))
        self.linked = keyword

    def _rest(self, word: Word) -> tuple[Word, ...]:
        words = [word]
        self._skip()
        while self.place < len(self.seen) and self.seen[self.place] not in _SEPARATORS:
            words.append(self._word())
            self._skip()
        return tuple(words)

    def _skip(self) -> None:
        """Goes past blanks, continued lines and comments."""
        while self.place < len(self.seen):
            if self.seen[self.place] in _BLANK:
                self.place += 1
            elif self.seen.startswith(("\\\n", "\\\r\n"), self.place):
                self.place = self.seen.index("\n", self.place) + 1
            elif self.seen[self.place] == "#":
                end = self.seen.find("\n", self.place)
                end = len(self.seen) if end < 0 else end
                self.result.comments.append((self.place, end))
                self.place = end
            else:
                return

    def _word(self) -> Word:
        first = self.place
        pieces: list[Piece] = []
        while self.place < len(self.seen) and self.seen[self.place] not in _BLANK + _SEPARATORS:
            if self.seen.startswith(("\\\n", "\\\r\n"), self.place):
                break
            pieces += self._pieces()
        return Word(first, self.place, tuple(pieces))

    def _pieces(self) -> list[Piece]:
        first, sign = self.place, self.seen[self.place]
        if sign == "'":
            return [self._single()]
        if sign == '"':
            return self._double()
        if sign == "(" or self.seen.startswith("$(", first):
            self._bracketed(first)
            return [Piece(FishPiece.UNKNOWN, "", self.seen[first : self.place])]
        found = _VARIABLE.match(self.seen, first) if sign == "$" else _PLAIN.match(self.seen, first)
        if found:
            self.place = found.end()
            return [_variable(found) if sign == "$" else Piece(FishPiece.BARE, found[0], found[0])]
        self.place = min(first + (2 if sign == "\\" else 1), len(self.seen))  # a file may end in a backslash
        written = self.seen[first : self.place]
        return [Piece(FishPiece.QUOTED if sign == "\\" else FishPiece.BARE, written.removeprefix("\\"), written)]

    def _single(self) -> Piece:
        found = _SINGLE.match(self.seen, self.place)
        if not found:
            raise _UnfinishedError(self.place)
        self.place = found.end()
        return Piece(FishPiece.QUOTED, re.sub(r"\\([\\'])", r"\1", found[1]), found[0])

    def _double(self) -> list[Piece]:
        first = self.place
        pieces: list[Piece] = []
        self.place += 1
        while self.place < len(self.seen) and self.seen[self.place] != '"':
            pieces.append(self._in_quotes())
        if self.place >= len(self.seen):
            raise _UnfinishedError(first)
        self.place += 1
        return pieces or [Piece(FishPiece.QUOTED, "", '""')]

    def _in_quotes(self) -> Piece:
        first = self.place
        if self.seen.startswith("$(", first):
            self._bracketed(first)
            return Piece(FishPiece.UNKNOWN, "", self.seen[first : self.place])
        found = _VARIABLE.match(self.seen, first) or _IN_QUOTES.match(self.seen, first)
        if found:
            self.place = found.end()
            return _variable(found) if self.seen[first] == "$" else Piece(FishPiece.QUOTED, found[0], found[0])
        escaped = self.seen[first : first + 2]
        self.place += 2 if escaped in _ESCAPED_IN_QUOTES else 1
        written = self.seen[first : self.place]
        return Piece(FishPiece.QUOTED, _ESCAPED_IN_QUOTES.get(escaped, written), written)

    def _bracketed(self, first: int) -> None:
        """Goes past a command substitution, which may hold quotes and others of its kind."""
        depth = 0
        while self.place < len(self.seen):
            sign = self.seen[self.place]
            if sign in "'\"":
                self._single() if sign == "'" else self._double()
                continue
            depth += {"(": 1, ")": -1}.get(sign, 0)
            self.place += 2 if sign == "\\" else 1
            if not depth and sign == ")":
                return
        raise _UnfinishedError(first)


def _variable(found: re.Match[str]) -> Piece:
    simple = found[0] == "$" + found[1]
    return Piece(FishPiece.VARIABLE if simple else FishPiece.UNKNOWN, found[1], found[0])
