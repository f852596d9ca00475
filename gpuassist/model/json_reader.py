"""JSON of anybody's making: a recording, a child's report, a file of the user's. What is none is one kind of error.

Python's own reader leaves its callers with a `RecursionError` for ten thousand brackets, with whole numbers that no float holds
(`OverflowError` at the first division), and with numbers of so many digits that reading them is refused.
"""

from __future__ import annotations

import json
from typing import Any

from gpuassist.model.lazy_regex import lazy_regex

_HALVES = lazy_regex(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_LONGEST = 20  # characters of a whole number of 64 bits, the sign included
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1


class NotJsonError(ValueError):
    """A text is no JSON document, or one that is nested too deeply; its words say where."""


def read_json(content: str | bytes) -> Any:
    """The document; raises `NotJsonError`. A whole number that 64 bits do not hold comes as a float."""
    try:
        words = content if isinstance(content, str) else content.decode(json.detect_encoding(content))
        document = json.loads(words, parse_int=whole)
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None
    if _HALVES.search(words):
        # No half of a surrogate pair, which no file's name and no output can hold, but those by which Python writes stray bytes.
        try:
            json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogateescape")
        except (UnicodeEncodeError, RecursionError):
            raise NotJsonError("it holds half a character") from None
    return document


def whole(digits: str) -> int | float:
    """The number, for a decoder of one's own."""
    if len(digits) > _LONGEST:
        return float(digits)
    number = int(digits)
    return number if _LEAST <= number <= _MOST else float(digits)
