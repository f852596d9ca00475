"""The os-release file: shell-like assignments that name a distribution (os-release(5))."""

from __future__ import annotations

import re

_ASSIGNMENT = re.compile(r"""^\s*([A-Za-z_][A-Za-z0-9_]*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s"']*))\s*$""")
_ESCAPED = re.compile(r"\\(.)")


def parse(words: str) -> dict[str, str]:
    """Its variables; a line that is no assignment is left out, the last of a name counts."""
    found: dict[str, str] = {}
    for line in words.splitlines():
        assignment = _ASSIGNMENT.match(line)
        if assignment:
            name, double, single, plain = assignment.groups()
            found[name] = _ESCAPED.sub(r"\1", double) if double is not None else single if single is not None else plain
    return found
