"""The lists that a line of fish writes, word by word in the words of the file; a line with anything unusual in it is not read."""

from __future__ import annotations

import re

from gpuassist.shellfiles.lists import Part, Written

_WORD = re.compile(r"""'[^'\\\n]*'|"(?:[^"\\$\n()]|\$\w+)*"|\$\w+|[^\s'"\\$;&|<>(){}*?#\0]""")
_GAP = re.compile(r"[ \t]+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TAKES_NONE = re.compile(r"--(?:erase|query|names|show)|-[a-zA-Z]*[eqnS][a-zA-Z]*")


def read_fish_lists(line: str) -> tuple[Written, ...] | None:
    """Every value that the line gives to a variable, in order; none where anything in the line was not understood."""
    found: list[Written] = []
    for words in _commands(line) or [[]]:
        value = _value(line, words)
        if value is None:
            return None
        found.append(value)
    return tuple(found)


def _commands(line: str) -> list[list[tuple[int, int]]]:
    """The words of each command as places in the line; no command at all where something was not understood."""
    commands: list[list[tuple[int, int]]] = [[]]
    place = 0
    while place < len(line) and line[place] != "#":
        gap = _GAP.match(line, place)
        end = gap.end() if gap else _word_end(line, place)
        if line[place] == ";":
            commands.append([])
            end = place + 1
        elif end == place:
            return []
        elif gap is None:
            commands[-1].append((place, end))
        place = end
    return [words for words in commands if words]


def _word_end(line: str, place: int) -> int:
    while piece := _WORD.match(line, place):
        place = piece.end()
    return place


def _value(line: str, words: list[tuple[int, int]]) -> Written | None:
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
    parts = tuple(Part(line[start:stop], _bare(line[start:stop]) == f"${variable}") for start, stop in words)
    value = Written(variable, first, end, "", parts, separator=" ")
    return value if value.text == line[first:end] and not any(":" in part.text for part in parts) else None


def _bare(words: str) -> str:
    return words[1:-1] if words[:1] == words[-1:] == '"' else words
