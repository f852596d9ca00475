"""The lists that a line of zsh writes: those of bash, and PATH as the array that zsh ties to it, `path=(/a $path)`."""

from __future__ import annotations

import re

from gpuassist.shellfiles.lists import Part, Written, read_lists

_ARRAY = re.compile(r"\s*(?:export |typeset (?:-[a-zA-Z]+ )*)?path(\+?)=\(\s*([^()\n]*?)\s*\)[ \t]*(?:;[ \t]*)?(?:#.*)?")
_WORDS = re.compile(r"""((?:'[^']*'|"(?:[^"`\\$]|\$\w+)*"|\$\w+(?:\[@\])?|[^\s'"`\\$;&|<>(){}*?#\[\0])+)(\s*)""")


def read_zsh_lists(line: str) -> tuple[Written, ...] | None:
    """Every value that the line gives to a variable, in order; none where anything in the line was not understood."""
    array = _ARRAY.fullmatch(line)
    if array is None:
        return read_lists(line)
    words = [match[1] for match in _WORDS.finditer(array[2])]
    parts = tuple(Part(word, word in {"$path", "$path[@]", '"$path[@]"'}) for word in words)
    value = Written("PATH", array.start(2), array.end(2), "", parts, separator=" ")
    return (value,) if value.text == array[2] and not any(":" in word for word in words) else None
