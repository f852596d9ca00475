"""YAML as people write environments and compose files: block and flow collections, anchors; every text with its path and its place.

No tag makes anything but a text, an alias is followed once and no further, and what is copied so is bounded.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

_DEEPEST, _COPIES = 100, 20_000
_NO_KEY = frozenset("#[]{},&*!|>%@`")
_QUOTED_KEY = lazy_regex(r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*:(?=[ \t]|$)""")
_MARK = lazy_regex(r"(?:&(\S+)|!\S*)[ \t]*")
_BLOCK = lazy_regex(r"[|>][+-]?\d?[+-]?[ \t]*(?:#.*)?$")
_QUOTED = lazy_regex(r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'""")
_FLOW = lazy_regex(
    r"""(?P<space>\s+)|(?P<comment>\#[^\n]*)|(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')|(?P<open>[\[{])|(?P<close>[\]}])|(?P<comma>,)"""
    r"""|(?P<colon>:(?=[\s,\[\]{}]|$))"""
    r"""|(?P<plain>(?:[^\s,\[\]{}:#]|[:#](?=[^\s,\[\]{}]))+(?:[ ]+(?:[^\s,\[\]{}:#]|[:#](?=[^\s,\[\]{}]))+)*)"""
)


class NotYamlError(ValueError):
    """A text is no YAML that is read here; `line` is where."""

    def __init__(self, words: str, line: int) -> None:
        super().__init__(words)
        self.line = line


class YamlText(Struct, frozen=True):
    """A text: `path` is the keys that lead to it and the numbers of elements, `first` and `end` are where its words stand, between
    quotes where there are any, `begin` and `stop` its whole line. A key without a value is an empty text.
    """

    path: tuple[str | int, ...]
    value: str
    line: int
    first: int
    end: int
    begin: int
    stop: int

    def under(self, *path: str) -> bool:
        return self.path[: len(path)] == path


class _Level:
    __slots__ = ("column", "count", "key", "path", "sequence")

    def __init__(self, column: int, path: tuple[str | int, ...], *, sequence: bool) -> None:
        self.column, self.path, self.sequence = column, path, sequence
        self.count, self.key = -1, ""

    @property
    def inside(self) -> tuple[str | int, ...]:
        return (*self.path, self.count if self.sequence else self.key)


def read_yaml(words: str) -> tuple[YamlText, ...]:
    """Its texts in their order; raises `NotYamlError`."""
    reader = _Reader(words)
    place = 0
    for number, line in enumerate(words.split("\n"), start=1):
        end = min(place + len(line) + 1, len(words))
        if place >= reader.done:
            reader.line(line.rstrip("\r"), (place, end), number)
        place = end
    return reader.followed()


def _key_end(content: str) -> int | None:
    """Where the colon of a key stands; none where the content is no key."""
    if content[:1] in {'"', "'"}:
        found = _QUOTED_KEY.match(content)
        return found.end() - 1 if found is not None else None
    if content[:1] in _NO_KEY:
        return None
    places = [place for sign in (": ", ":\t") if (place := content.find(sign)) >= 0]
    if content.endswith(":"):
        places.append(len(content) - 1)
    comment = content.find(" #")
    place = min(places, default=-1)
    return place if place > 0 and not 0 <= comment < place else None


class _Reader:
    def __init__(self, words: str) -> None:
        self.words, self.done = words, 0
        self.texts: list[YamlText] = []
        self.levels: list[_Level] = []
        self.block: int | None = None  # the column that the lines of a block scalar are right of
        self.anchors: dict[str, tuple[str | int, ...]] = {}
        self.aliases: list[tuple[tuple[str | int, ...], str]] = []

    def line(self, line: str, whole: tuple[int, int], number: int) -> None:
        content = line.lstrip(" ")
        column = len(line) - len(content)
        if self.block is not None:
            if not content or column > self.block:
                return
            self.block = None
        if not content or content[0] == "#" or content.startswith(("---", "%")) or content == "...":
            return
        if content[0] == "\t":
            if not content.strip():
                return
            raise NotYamlError("a tab cannot indent", number)
        while content == "-" or content.startswith(("- ", "-\t")):
            self._element(column, number)
            rest = content[1:].lstrip(" \t")
            column += len(content) - len(rest)
            content = rest
        if not content or content[0] == "#":
            return
        marked = _MARK.match(content)
        if marked is not None and _key_end(content) is None:
            self._anchor(marked[1])
            content, column = content[marked.end() :], column + marked.end()
        key = _key_end(content)
        if key is not None:
            self._key(column, content[:key].rstrip(" \t").strip("\"'"), number)
            rest = content[key + 1 :].lstrip(" \t")
            column += len(content) - len(rest)
            content = rest
            while (marked := _MARK.match(content)) is not None:
                self._anchor(marked[1])
                content, column = content[marked.end() :], column + marked.end()
        elif not self.levels:
            raise NotYamlError("neither a key nor an element", number)
        elif not self.levels[-1].sequence:
            return  # a plain text goes on
        self._value(content, whole[0] + column, whole, number)

    def followed(self) -> tuple[YamlText, ...]:
        """The texts, and those that aliases stand for, at the place of the alias."""
        copies: list[YamlText] = []
        for path, name in self.aliases:
            source = self.anchors.get(name)
            if source is None or path[: len(source)] == source:
                continue
            for one in self.texts:
                if one.path[: len(source)] == source and len(copies) < _COPIES:
                    there = (*path, *one.path[len(source) :])
                    copies.append(YamlText(there, one.value, one.line, -1, -1, -1, -1))
        return (*self.texts, *copies)

    def _value(self, content: str, first: int, whole: tuple[int, int], number: int) -> None:
        path = self.levels[-1].inside
        if not content or content[0] == "#":
            self._add(path, "", number, place=(first, first), whole=whole)
        elif content[0] == "*":
            name = content[1:].split()[0] if content[1:].split() else ""
            self.aliases.append((path[:-1] if path[-1] == "<<" else path, name))
        elif _BLOCK.match(content):
            self.block = self.levels[-1].column
            self._add(path, "", number, place=(first, first), whole=whole)
        elif content[0] in "[{":
            self._flow(path, first, number)
        else:
            quoted = _QUOTED.match(content)
            if quoted is not None:
                self._add(path, quoted[0][1:-1], number, place=(first + 1, first + quoted.end() - 1), whole=whole)
                return
            plain = content.split(" #")[0].split("\t#")[0].rstrip()
            self._add(path, plain, number, place=(first, first + len(plain)), whole=whole)

    def _add(self, path: tuple[str | int, ...], value: str, line: int, *, place: tuple[int, int], whole: tuple[int, int]) -> None:
        self.texts.append(YamlText(path, value, line, *place, *whole))

    def _anchor(self, name: str | None) -> None:
        if name and self.levels:
            self.anchors[name] = self.levels[-1].inside

    def _element(self, column: int, number: int) -> None:
        while self.levels and self.levels[-1].column > column:
            self.levels.pop()
        if not (self.levels and self.levels[-1].sequence and self.levels[-1].column == column):
            path = self.levels[-1].inside if self.levels else ()
            self._push(_Level(column, path, sequence=True), number)
        self.levels[-1].count += 1

    def _key(self, column: int, key: str, number: int) -> None:
        while self.levels and (self.levels[-1].column > column or (self.levels[-1].column == column and self.levels[-1].sequence)):
            self.levels.pop()
        if not (self.levels and self.levels[-1].column == column):
            path = self.levels[-1].inside if self.levels else ()
            self._push(_Level(column, path, sequence=False), number)
        self.levels[-1].key = key

    def _push(self, level: _Level, number: int) -> None:
        if len(self.levels) >= _DEEPEST:
            raise NotYamlError("it is nested too deeply", number)
        self.levels.append(level)

    def _flow(self, path: tuple[str | int, ...], place: int, number: int) -> None:
        """A collection in brackets, over several lines where it goes on."""
        open_ones: list[_Level] = []
        began = place
        while place < len(self.words):
            token = _FLOW.match(self.words, place)
            if token is None:
                break
            place = token.end()
            kind, taken = token.lastgroup, token[0]
            if kind == "open":
                inside = open_ones[-1].inside if open_ones else path
                level = _Level(0, inside, sequence=taken == "[")
                level.count = 0
                if len(open_ones) >= _DEEPEST:
                    raise NotYamlError("it is nested too deeply", number)
                open_ones.append(level)
            elif kind == "close":
                open_ones.pop()
                if not open_ones:
                    end = self.words.find("\n", place)
                    self.done = (len(self.words) if end < 0 else end) if "\n" in self.words[began:place] else 0
                    return
            elif kind == "comma":
                open_ones[-1].count += 1
                open_ones[-1].key = ""
            elif kind in {"quoted", "plain"}:
                quote = int(kind == "quoted")
                value = taken[quote : len(taken) - quote]
                level = open_ones[-1]
                if not level.sequence and not level.key:
                    level.key = value
                elif value[:1] == "*" and not quote:
                    self.aliases.append((level.inside, value[1:]))
                else:
                    line = number + self.words.count("\n", began, token.start())
                    self._add(level.inside, value, line, place=(token.start() + quote, place - quote), whole=(-1, -1))
        raise NotYamlError("a bracket is not closed", number)
