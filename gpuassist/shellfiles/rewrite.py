"""A line of a start-up file written anew: some elements replaced or left out, everything else in the words that stand there.

Pure. Offered only where both readers, the parser's and the plain one here, read the same in the line; else it is said why not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.lists import ListPart, Written, fitted, read_fish_lists, read_lists, read_zsh_lists, with_lists
from gpuassist.shellfiles.statements import Assignment, Element, Statement

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
        """The line for people."""
        return self.line.decode("utf-8", "backslashreplace").strip()


def rewrite(
    content: bytes, statement: Statement, fate: Fate, guarded: Collection[str] = (), *, dialect: Dialect = Dialect.BASH
) -> Rewriting:
    """The statement with each element as `fate` says; what the `guarded` variables held before makes no empty element in it."""
    line = _one_line(content[statement.first_byte : statement.end_byte])
    lists = None if line is None else _LISTS.get(dialect, read_lists)(line)
    if line is None or lists is None or not _read_alike(lists, statement.assignments):
        return Rewriting(why=text("it is written in a way that gpuassist does not replace: comment it out, or change it by hand"))
    new = tuple(_with_fates(value, one, fate, guarded) for value, one in zip(lists, statement.assignments, strict=True))
    hollow = next((value.variable for value, before in zip(new, lists, strict=True) if (value != before and _is_empty(value))), "")
    if hollow:
        why = text("nothing would be left of what it gives {variable}: comment it out instead", variable=hollow)
        return Rewriting(why=why, hollow=all(_is_empty(value) for value in new))
    if any(_is_unsafe(part.text) for value in new for part in value.parts if part.text not in line):
        return Rewriting(why=text("the new directory's name holds signs that would have to be quoted; please change it by hand"))
    written = with_lists(line, new)
    return Rewriting() if written == line else Rewriting(written.encode("utf-8", "surrogateescape"))


def _one_line(rows: bytes) -> str | None:
    words = rows.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r")
    if "\n" in words and "'" not in words and "#" not in words:
        words = words.replace("\\\r\n", "").replace("\\\n", "")
    return None if "\n" in words or "\r" in words else words


def _read_alike(lists: tuple[Written, ...], assignments: tuple[Assignment, ...]) -> bool:
    return len(lists) == len(assignments) and all(_alike(*pair) for pair in zip(lists, assignments, strict=True))


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


def _is_unsafe(words: str) -> bool:
    return not all(sign.isalnum() or sign in "/._-+@%~${}:" for sign in words)
