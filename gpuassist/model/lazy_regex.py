"""Regular expressions that are compiled when they are first used.

`explain` has three hundred, and a pasted line meets sixteen of them; to compile the others took a quarter of its start.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def lazy_regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, for a pattern that a module names: used by its methods, never handed to `re` itself."""
    return cast("re.Pattern[AnyStr]", _LazyRegex(source, flags))


class _LazyRegex:
    __slots__ = ("_flags", "_source", *_METHODS)

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        for method in _METHODS:  # kept, so that every later use costs what it costs without this class
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
