"""A line of a start-up file written anew: some elements replaced or left out, everything else in the words that stand there.

Pure. Reads only what people write plainly: a line with anything else in it (a command substitution, a backslash, a glob) is not
read at all, so that nothing which was not understood is ever written anew. Offered only where both readers, the parser's and the
plain one here, read the same in the line; else it is said why not."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.statements import Assignment, Element, Statement

_BRACED = r"\$\{[^{}'\"`\\\s$]*(?:\$(?:\w+|\{\w+\})[^{}'\"`\\\s$]*)?\}"
_DOUBLE = rf'"(?:[^"`\\$\n]|\$\w+|{_BRACED})*"'
_PIECE = lazy_regex(rf"'[^'\n]*'|{_DOUBLE}|{_BRACED}|\$\w+|[^\s'\"`\\$;&|<>(){{}}*?#\0]")
_INNER = lazy_regex(rf"{_BRACED}|\$\w+|.", re.DOTALL)
_GAP = lazy_regex(r"[ \t]+|;(?!;)|&&|\|\|")
_ASSIGNMENT = lazy_regex(r"([A-Za-z_]\w*)(\+?)=")


class ListPart(Struct, frozen=True):
    """One part of a list as it is written: an element, an empty one, or the variable's own value so far (`previous`).

    `${PATH:+:${PATH}}` brings the colon before it along (`leads`), `${PATH:+${PATH}:}` the one behind it (`trails`).
    """

    text: str
    previous: bool = False
    leads: bool = False
    trails: bool = False


class Written(Struct, frozen=True):
    """A variable's value in a line: where it stands, the quote around all of it, and its parts, which fish separates by spaces.

    `appends` is `+=`, whose first colon joins it to what was there.
    """

    variable: str
    first: int
    end: int
    quote: str
    parts: tuple[ListPart, ...]
    appends: bool = False
    separator: str = ":"

    @property
    def text(self) -> str:
        words = ":" if self.appends else ""
        for number, part in enumerate(self.parts):
            joined = not number or part.leads or self.parts[number - 1].trails
            words += part.text if joined else self.separator + part.text
        return self.quote + words + self.quote


def read_lists(line: str) -> tuple[Written, ...] | None:
    """Every value that the line gives to a variable, in order; none where anything in the line was not understood."""
    found: list[Written] = []
    place = 0
    while place < len(line) and line[place] != "#":
        gap = _GAP.match(line, place)
        if gap is not None:
            place = gap.end()
            continue
        end = _word_end(line, place)
        if end == place or line[end : end + 1] == "#":
            return None
        assignment = _ASSIGNMENT.match(line, place, end)
        if assignment is not None:
            value = _value(assignment, line[assignment.end() : end])
            if value is None:
                return None
            found.append(value)
        place = end
    return tuple(found)


def with_lists(line: str, lists: tuple[Written, ...]) -> str:
    for value in sorted(lists, key=lambda one: one.first, reverse=True):
        line = line[: value.first] + value.text + line[value.end :]
    return line


def fitted(value: Written, parts: tuple[ListPart, ...], *, guarded: bool) -> Written:
    """The value with these parts; what was there before brings its colon along, where it did so or is `guarded`, so that no empty
    element comes of it while it is empty.
    """
    if len(parts) == 1:
        return replace(value, parts=parts)
    name = value.variable
    fits = []
    for number, part in enumerate(parts):
        front = not number and not value.appends
        binds = part.previous and (guarded or part.leads or part.trails) and "-" not in part.text
        if not binds or (part.trails if front else part.leads):
            fits.append(part)
        else:
            words = f"${{{name}:+${name}:}}" if front else f"${{{name}:+:${name}}}"
            fits.append(ListPart(words, previous=True, leads=not front, trails=front))
    return replace(value, parts=tuple(fits))


def _word_end(line: str, place: int) -> int:
    while place < len(line):
        piece = _PIECE.match(line, place)
        if piece is None:
            break
        place = piece.end()
    return place


def _value(assignment: re.Match[str], written: str) -> Written | None:
    variable, appends = assignment[1], bool(assignment[2])
    piece = _PIECE.match(written)
    quote = written[0] if (piece is not None and written[0] in "'\"" and piece.end() == len(written)) else ""
    inner = written[1:-1] if quote else written
    pieces = [*inner] if quote == "'" else [piece[0] for piece in (_INNER if quote else _PIECE).finditer(inner)]
    if not quote and any(piece[0] in "'\"" and ":" in re.sub(_BRACED, "", piece) for piece in pieces):
        return None
    parts = tuple(_split(variable, pieces))
    if appends and parts[0].text:
        return None
    value = Written(variable, assignment.end(), assignment.end() + len(written), quote, parts[1:] if appends else parts, appends)
    return value if value.text == written else None


def _split(variable: str, pieces: list[str]) -> Iterator[ListPart]:
    words, open_end = "", True
    for piece in pieces:
        part = _with_colon(variable, piece)
        if part is not None:
            if words:
                yield _plain(variable, words)
            yield part
            words, open_end = "", False
        elif piece == ":":
            if words or open_end:
                yield _plain(variable, words)
            words, open_end = "", True
        else:
            words += piece
    if words or open_end:
        yield _plain(variable, words)


def _with_colon(variable: str, piece: str) -> ListPart | None:
    for sign in (":+", "+"):
        lead = f"${{{variable}{sign}"
        if piece.startswith(lead) and ":" in piece[len(lead) :]:
            leads = piece.startswith(lead + ":")
            return ListPart(piece, previous=True, leads=leads, trails=not leads)
    return None


def _plain(variable: str, words: str) -> ListPart:
    bare = _unquoted(words)
    previous = bare in {f"${variable}", f"${{{variable}}}"} or bare.startswith((f"${{{variable}:-", f"${{{variable}-"))
    return ListPart(words, previous)


# The lists that a line of zsh writes: those of bash, and PATH as the array that zsh ties to it, `path=(/a $path)`.


_ARRAY = lazy_regex(r"\s*(?:export |typeset (?:-[a-zA-Z]+ )*)?path(\+?)=\(\s*([^()\n]*?)\s*\)[ \t]*(?:;[ \t]*)?(?:#.*)?")
_WORDS = lazy_regex(r"""((?:'[^']*'|"(?:[^"`\\$]|\$\w+)*"|\$\w+(?:\[@\])?|[^\s'"`\\$;&|<>(){}*?#\[\0])+)(\s*)""")


def read_zsh_lists(line: str) -> tuple[Written, ...] | None:
    """Every value that the line gives to a variable, in order; none where anything in the line was not understood."""
    array = _ARRAY.fullmatch(line)
    if array is None:
        return read_lists(line)
    words = [match[1] for match in _WORDS.finditer(array[2])]
    parts = tuple(ListPart(word, word in {"$path", "$path[@]", '"$path[@]"'}) for word in words)
    value = Written("PATH", array.start(2), array.end(2), "", parts, separator=" ")
    return (value,) if value.text == array[2] and not any(":" in word for word in words) else None


# The lists that a line of fish writes, word by word in the words of the file; a line with anything unusual in it is not read.


_WORD = lazy_regex(r"""'[^'\\\n]*'|"(?:[^"\\$\n()]|\$\w+)*"|\$\w+|[^\s'"\\$;&|<>(){}*?#\0]""")
_FISH_GAP = lazy_regex(r"[ \t]+")
_NAME = lazy_regex(r"[A-Za-z_]\w*")
_TAKES_NONE = lazy_regex(r"--(?:erase|query|names|show)|-[a-zA-Z]*[eqnS][a-zA-Z]*")


def read_fish_lists(line: str) -> tuple[Written, ...] | None:
    """Every value that the line gives to a variable, in order; none where anything in the line was not understood."""
    found: list[Written] = []
    for words in _commands(line) or [[]]:
        value = _fish_value(line, words)
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def _commands(line: str) -> list[list[tuple[int, int]]]:
    """The words of each command as places in the line; no command at all where something was not understood."""
    commands: list[list[tuple[int, int]]] = [[]]
    place = 0
    while place < len(line) and line[place] != "#":
        gap = _FISH_GAP.match(line, place)
        end = gap.end() if gap else place
        while gap is None and (piece := _WORD.match(line, end)):
            end = piece.end()
        if line[place] == ";":
            commands.append([])
            end = place + 1
        elif end == place:
            return []
        elif gap is None:
            commands[-1].append((place, end))
        place = end
    return [words for words in commands if words]


def _fish_value(line: str, words: list[tuple[int, int]]) -> Written | None:
    said = [line[first:end] for first, end in words]
    options = 1
    while options < len(said) and said[options].startswith("-"):
        options += 1
    if said[:1] == ["fish_add_path"]:
        return _written("PATH", line, words[options:])
    if said[:1] != ["set"] or options == len(said) or not _NAME.fullmatch(said[options]):
        return None
    if any(_TAKES_NONE.fullmatch(option) for option in said[1:options]):
        return None
    return _written(said[options], line, words[options + 1 :])


def _written(variable: str, line: str, words: list[tuple[int, int]]) -> Written | None:
    if not words:
        return None
    first, end = words[0][0], words[-1][1]
    parts = tuple(ListPart(line[start:stop], _unquoted(line[start:stop]) == f"${variable}") for start, stop in words)
    value = Written(variable, first, end, "", parts, separator=" ")
    return value if value.text == line[first:end] and not any(":" in part.text for part in parts) else None


def _unquoted(words: str) -> str:
    return words[1:-1] if words[:1] == words[-1:] == '"' else words


# The line with other elements in its lists.


EMPTY = Element("", "")
_SOUND = text("nothing in it needs to be written anew")

_LISTS = {Dialect.FISH: read_fish_lists, Dialect.ZSH: read_zsh_lists}

# What becomes of an element of a variable: other words, its own (it stays), or none (it is left out).
Fate = Callable[[str, Element], "str | None"]


class Rewriting(Struct, frozen=True):
    """The line that would take a statement's place, or, where there is none, why; `hollow` where nothing would be left of it."""

    line: bytes = b""
    why: Text = _SOUND
    hollow: bool = False

    @property
    def text(self) -> str:
        return self.line.decode("utf-8", "backslashreplace").strip()


def rewrite(
    content: bytes, statement: Statement, fate: Fate, guarded: Collection[str] = (), *, dialect: Dialect = Dialect.BASH
) -> Rewriting:
    """The statement with each element as `fate` says; what the `guarded` variables held before makes no empty element in it."""
    words = content[statement.first_byte : statement.end_byte].decode("utf-8", "surrogateescape")
    words = words.removesuffix("\n").removesuffix("\r")
    if "\n" in words and "'" not in words and "#" not in words:
        words = words.replace("\\\r\n", "").replace("\\\n", "")
    line = None if "\n" in words or "\r" in words else words
    lists = None if line is None else _LISTS.get(dialect, read_lists)(line)
    alike = lists is not None and len(lists) == len(statement.assignments)
    if line is None or lists is None or not alike or not all(map(_alike, lists, statement.assignments)):
        return Rewriting(why=text("it is written in a way that gpuassist does not replace: comment it out, or change it by hand"))
    new = tuple(_with_fates(value, one, fate, guarded) for value, one in zip(lists, statement.assignments, strict=True))
    hollow = next((value.variable for value, before in zip(new, lists, strict=True) if (value != before and _is_empty(value))), "")
    if hollow:
        why = text("nothing would be left of what it gives {variable}: comment it out instead", variable=hollow)
        return Rewriting(why=why, hollow=all(_is_empty(value) for value in new))
    fresh = (part.text for value in new for part in value.parts if part.text not in line)
    if not all(sign.isalnum() or sign in "/._-+@%~${}:" for part in fresh for sign in part):
        return Rewriting(why=text("the new directory's name holds signs that would have to be quoted; please change it by hand"))
    written = with_lists(line, new)
    return Rewriting() if written == line else Rewriting(written.encode("utf-8", "surrogateescape"))


def _alike(value: Written, assignment: Assignment) -> bool:
    parts = [part for part in value.parts if part.text]
    elements = _told(assignment)
    if value.variable != assignment.variable or len(parts) != len(elements):
        return False
    return all(
        part.previous is element.previous and (part.previous or _bare(part.text) == _bare(element.written))
        for part, element in zip(parts, elements, strict=True)
    )


def _told(assignment: Assignment) -> tuple[Element, ...]:
    """The elements that the value itself writes, without what `+=`, `set --append` or `fish_add_path` stand for."""
    return tuple(element for element in assignment.elements if element.written or not element.previous)


def _bare(words: str) -> str:
    return words.replace('"', "").replace("'", "")


def _with_fates(value: Written, assignment: Assignment, fate: Fate, guarded: Collection[str]) -> Written:
    if [part.text for part in value.parts] == [""]:
        return value  # it takes the variable's value away, and no element is empty
    elements = iter(_told(assignment))
    parts: list[ListPart] = []
    for part in value.parts:
        element = next(elements) if part.text else EMPTY
        words = part.text if part.previous else fate(value.variable, element)
        if words is not None:
            parts.append(part if words == element.written else replace(part, text=words))
    return fitted(value, tuple(parts), guarded=value.variable in guarded and value.separator == ":")


def _is_empty(value: Written) -> bool:
    return all(part.previous or not part.text for part in value.parts)
