"""What one fish command does to variables: `set` in all its forms, `fish_add_path`, and NAME=value in front of a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.fish_parse import FishCommand, FishPiece, Piece, Word
from gpuassist.shellfiles.statements import WATCHED, Assignment, Element

# Single letters by what they stand for in `set`; long options are cut to these.
_LONG = {
    "--append": "a",
    "--erase": "e",
    "--export": "x",
    "--function": "f",
    "--global": "g",
    "--local": "l",
    "--names": "n",
    "--path": "P",
    "--prepend": "p",
    "--query": "q",
    "--show": "S",
    "--unexport": "u",
    "--universal": "U",
    "--unpath": "P",
    "--move": "m",
    "--verbose": "v",
    "--dry-run": "n",
}
_ASKS_ONLY = frozenset("qnS")
_IN_FRONT_OF_A_COMMAND = lazy_regex(r"([A-Za-z_][A-Za-z0-9_]*)=")
_USER_PATHS = "fish_user_paths"
_GLOBS = frozenset("*?{}")
_PREVIOUS = Element("", "", previous=True)


class SetEffect(Struct, frozen=True):
    """What a command sets: watched variables, and the value (none where it is not known) of every variable."""

    assignments: tuple[Assignment, ...] = ()
    values: tuple[tuple[str, str | None], ...] = ()


def change_of(command: FishCommand, known: Mapping[str, str | None]) -> SetEffect:
    """What the command does; nothing where it sets no variable."""
    words = command.words[1:] if command.words[0].plain == "builtin" else command.words
    name = words[0].plain if words else ""
    if name == "set":
        return _set(words, known)
    if name == "fish_add_path":
        options, rest = _options(words[1:])
        elements = _values(rest, "PATH", known)
        if not elements or "n" in options:
            return SetEffect()
        whole = (_PREVIOUS, *elements) if "a" in options else (*elements, _PREVIOUS)
        return SetEffect((Assignment("PATH", whole, _uses(rest)),))
    if name == "export":  # a function of fish's own, for lines from other shells
        return _each_given(words[1:], known)
    return _each_given(words[:1], known)


def value_of(word: Word, known: Mapping[str, str | None], *, pattern: bool = False) -> str | None:
    """The word's text, none where only a running shell can tell; with `pattern` one with * in it counts as known."""
    found = _elements(word, "", known, whole=True, patterns=pattern)
    return found[0].directory or None if len(found) == 1 else None


def _set(words: tuple[Word, ...], known: Mapping[str, str | None]) -> SetEffect:
    options, rest = _options(words[1:])
    if not rest or options & _ASKS_ONLY:
        return SetEffect()
    name, bracket, _ = rest[0].plain.partition("[")
    if "e" in options:
        names = [word.plain for word in rest]
        watched = tuple(one for one in (word.partition("[")[0] for word in names) if one in WATCHED)
        if any("[" in one for one in names):  # parts of lists alone
            return SetEffect(tuple(Assignment(one, (Element("?", ""), _PREVIOUS)) for one in watched))
        return SetEffect(tuple(Assignment(one, (), unsets=True) for one in watched), tuple((one, "") for one in names))
    variable = "PATH" if name == _USER_PATHS else name
    elements = (Element("?", ""),) if bracket else _values(rest[1:], name, known)
    if name == _USER_PATHS and not bracket:
        elements = (*(element for element in elements if not element.previous), _PREVIOUS)
    elif options & {"a", "p"}:
        elements = (_PREVIOUS, *elements) if "a" in options else (*elements, _PREVIOUS)
    value = None if bracket or len(rest) > 2 else (value_of(rest[1], known) if len(rest) == 2 else "")
    if variable not in WATCHED or "l" in options:
        return SetEffect(values=((name, value),))
    return SetEffect((Assignment(variable, elements, _uses(rest[1:])),), ((name, value),))


def _each_given(words: tuple[Word, ...], known: Mapping[str, str | None]) -> SetEffect:
    assignments: list[Assignment] = []
    for word in words:
        if not word.pieces or word.pieces[0].part is not FishPiece.BARE:
            continue
        first = word.pieces[0]
        found = _IN_FRONT_OF_A_COMMAND.match(first.words)
        if found and found[1] in WATCHED:
            pieces = (Piece(first.part, first.words[found.end() :], first.written[found.end() :]), *word.pieces[1:])
            value = Word(word.first, word.end, pieces)
            assignments.append(Assignment(found[1], _elements(value, found[1], known), _uses((word,))))
    return SetEffect(tuple(assignments))


def _options(words: tuple[Word, ...]) -> tuple[set[str], tuple[Word, ...]]:
    options: set[str] = set()
    for place, word in enumerate(words):
        plain = word.plain
        if plain == "--":
            return options, words[place + 1 :]
        if not plain.startswith("-"):
            return options, words[place:]
        options |= {_LONG.get(plain, "")} if plain.startswith("--") else set(plain[1:])
    return options, ()


def _values(words: tuple[Word, ...], name: str, known: Mapping[str, str | None]) -> tuple[Element, ...]:
    return tuple(element for word in words for element in _elements(word, name, known))


def _uses(words: tuple[Word, ...]) -> frozenset[str]:
    return frozenset(piece.words for word in words for piece in word.pieces if piece.written.startswith("$") and piece.words)


def _elements(
    word: Word, name: str, known: Mapping[str, str | None], *, whole: bool = False, patterns: bool = False
) -> tuple[Element, ...]:
    """The elements of a word: colons part them, as everywhere in a variable whose name ends in PATH (fish manual, "Lists")."""
    home = known.get("HOME")
    found = (_element(group, name, known, patterns=patterns) for group in ([list(word.pieces)] if whole else _parts(word)) if group)
    bare = bool(word.pieces) and word.pieces[0].part is FishPiece.BARE
    if not (bare and home):
        return tuple(found)
    return tuple(
        Element(one.written, home + one.directory[1:], one.previous)
        if one.directory == "~" or one.directory.startswith("~/")
        else one
        for one in found
    )


def _parts(word: Word) -> Iterator[list[Piece]]:
    group: list[Piece] = []
    for piece in word.pieces:
        if piece.part in {FishPiece.VARIABLE, FishPiece.UNKNOWN} or ":" not in piece.words:
            group.append(piece)
            continue
        first, *others = piece.words.split(":")
        for part in others:
            if first:
                group.append(Piece(piece.part, first, first))
            yield group
            group, first = [], part
        if first:
            group.append(Piece(piece.part, first, first))
    yield group


def _element(group: list[Piece], name: str, known: Mapping[str, str | None], *, patterns: bool) -> Element:
    written = _utf8("".join(piece.written for piece in group))
    if len(group) == 1 and group[0].part is FishPiece.VARIABLE and group[0].words == name:
        return Element(written, "", previous=True)
    values = [_value(piece, known, patterns=patterns) for piece in group]
    return Element(written, "" if None in values else _utf8("".join(value for value in values if value is not None)))


def _value(piece: Piece, known: Mapping[str, str | None], *, patterns: bool) -> str | None:
    if piece.part is FishPiece.VARIABLE:
        value = known.get(piece.words)
        return None if value is None else value.encode("utf-8", "surrogateescape").decode("latin-1")
    if piece.part is FishPiece.UNKNOWN or (piece.part is FishPiece.BARE and not patterns and _GLOBS.intersection(piece.words)):
        return None
    return piece.words


def _utf8(words: str) -> str:
    return words.encode("latin-1").decode("utf-8", "surrogateescape")
