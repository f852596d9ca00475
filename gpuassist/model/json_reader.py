"""JSON of anybody's making: a recording, a child's report, a file of the user's. What is none is one kind of error.

Python's own reader leaves its callers with a `RecursionError` for ten thousand brackets, with whole numbers that no float holds
(`OverflowError` at the first division), and with numbers of so many digits that reading them is refused.
"""

from __future__ import annotations

import json
from typing import Any

_LONGEST = 20  # characters of a whole number of 64 bits, the sign included
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1


class NotJsonError(ValueError):
    """A text is no JSON document, or one that is nested too deeply; its words say where."""


def read_json(content: str | bytes) -> Any:
    """The document; raises `NotJsonError`. A whole number that 64 bits do not hold comes as a float."""
    try:
        return json.loads(content, parse_int=whole)
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError as error:
        raise NotJsonError(str(error)) from None


def whole(digits: str) -> int | float:
    """The number, for a decoder of one's own."""
    if len(digits) > _LONGEST:
        return float(digits)
    number = int(digits)
    return number if _LEAST <= number <= _MOST else float(digits)
