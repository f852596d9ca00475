"""fish's universal variables, which hold in every fish and stand in no start-up file: what its own list of them says."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuassist.shellfiles.reading import WATCHED

_GIVEN = re.compile(r"SETUVAR((?: --\w+)*) (\w+):(.*)")
_ESCAPED = re.compile(r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")
_PARTS = "\x1e"
_WATCHED = {**{name: name for name in WATCHED}, "fish_user_paths": "PATH"}


@dataclass(frozen=True, slots=True)
class UniversalVariable:
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
