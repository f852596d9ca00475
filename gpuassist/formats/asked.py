"""Whether a program that failed had asked something: its question among the last lines that it printed."""

from __future__ import annotations

import re
from collections.abc import Sequence

_AT_MOST = 200
_QUESTION = re.compile(
    r""".{0,200}? (?: [(\[]\[?y(?:es)?\]?/\[?n(?:o)?\]?[)\]] \s?\??:?   # [y/N], (y/n), conda's ([y]/n)?
    | \b(?:password|passphrase|username|user) \b [^:]{0,80}: (?=\s*(?:$|Traceback))
    | \b(?:proceed|continue|overwrite|are\ you\ sure|replace)\b [^?]{0,80} \?)""",
    re.VERBOSE | re.IGNORECASE,
)
_NOBODY = (
    "EOFError",
    "EOF when reading",
    "end of file",
    "not a terminal",
    "/dev/tty",
    "cannot prompt",
)


def asked(lines: Sequence[str]) -> str:
    """The question that stood at the end, or before the complaint that nobody answers; empty where nothing was asked."""
    said = [line.strip() for line in lines if line.strip()]
    complained = any(word.lower() in line.lower() for line in said for word in _NOBODY)
    for line in reversed(said if complained else said[-1:]):
        found = _QUESTION.match(line)
        if found is not None:
            return found[0][:_AT_MOST].strip()
    return ""
