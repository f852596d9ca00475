"""fish's universal variables as lines of the table: they hold everywhere, and no start-up file says so."""

from __future__ import annotations

import re

from msgspec import Struct

from gpuassist.detect.startup.effect import LISTS, deciding, elements_of
from gpuassist.detect.startup.line import Contribution, SurveyLine, words_of
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.model.text import text
from gpuassist.shellfiles.statements import WATCHED
from gpuassist.system.world import World

_AT_MOST_BYTES = 1 << 20
_SOURCE = "fish's universal variables, and what a new terminal holds"


def universal_lines(world: World, terminal: Fact[Terminal]) -> tuple[SurveyLine, ...]:
    """Those that matter; nothing where the user has none."""
    path = _path(world)
    return tuple(_line(path, one, terminal) for one in universal_variables(world))


def universal_variables(world: World) -> tuple[UniversalVariable, ...]:
    """Those that matter, as fish keeps them; nothing where the user has none."""
    return read(world.files.text(_path(world), _AT_MOST_BYTES))


def _path(world: World) -> str:
    return f"{world.surroundings.configuration()}/fish/fish_variables"


def _line(path: str, one: UniversalVariable, terminal: Fact[Terminal]) -> SurveyLine:
    contribution = Contribution(one.variable, "prepends" if one.name == "fish_user_paths" else "sets", one.elements)
    if isinstance(terminal, Unknown):
        holds: Fact[bool] = Unknown(terminal.reason)
    else:
        value = terminal.value.variable(one.variable)
        if one.variable in LISTS:
            held = elements_of(value)
            holds = Known(one.exported and any(element.rstrip("/") in held for element in one.elements), _SOURCE)
        else:
            holds = Known(one.exported and value == " ".join(one.elements), _SOURCE)
    known = isinstance(holds, Known)
    return SurveyLine(
        path,
        one.line,
        one.line,
        one.text,
        (one.variable,),
        (contribution,),
        (words_of(contribution),),
        "",
        "fish",
        holds,
        text("a universal variable of fish") if known else text("the variables of a new terminal are not known"),
        _wins(one, terminal) if known and holds == Known(value=True, source=_SOURCE) else (),
        changeable=False,
        why=text("fish keeps this list itself: `set --erase --universal {name}` takes it out", name=one.name),
    )


def _wins(one: UniversalVariable, terminal: Fact[Terminal]) -> tuple[str, ...]:
    value = terminal.value.variable(one.variable) if isinstance(terminal, Known) else ""
    if one.variable not in LISTS:
        return (one.variable,)
    return (one.variable,) if deciding(terminal, one.variable, value) in one.elements else ()


# fish's universal variables, which hold in every fish and stand in no start-up file: what its own list of them says.


_GIVEN = lazy_regex(r"SETUVAR((?: --\w+)*) (\w+):(.*)")
_ESCAPED = lazy_regex(r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_PARTS = "\x1e"
_WATCHED = {**{name: name for name in WATCHED}, "fish_user_paths": "PATH"}


class UniversalVariable(Struct, frozen=True):
    """A variable that matters: fish_user_paths goes in front of PATH, and only an exported one reaches a program."""

    line: int
    text: str
    name: str
    variable: str
    elements: tuple[str, ...]
    exported: bool


def read(content: str) -> tuple[UniversalVariable, ...]:
    """Reads a fish_variables file of version 3."""
    variables: list[UniversalVariable] = []
    for number, row in enumerate(content.split("\n"), start=1):
        found = _GIVEN.match(row)
        if found and found[2] in _WATCHED:
            elements = tuple(part for part in _ESCAPED.sub(_character, found[3]).split(_PARTS) if part)
            exported = "--export" in found[1] or found[2] == "fish_user_paths"
            variables.append(UniversalVariable(number, row, found[2], _WATCHED[found[2]], elements, exported))
    return tuple(variables)


def _character(found: re.Match[str]) -> str:
    code = next((one for one in found.groups()[:4] if one), "")
    if not code:
        return found[5]
    number = int(code, 16)
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
