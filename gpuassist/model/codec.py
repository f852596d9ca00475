"""Values to JSON and back, driven by their own types: recordings, the journal, installs on record, what the verifying child writes.

A fact is `{"value", "source"}` or `{"value": null, "reason", "asked"}`; versions and architectures are strings. A field that is
missing takes its default (a fact: not looked at), so that an older recording still loads; a field nobody knows is left out.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union

from msgspec import Struct

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, sentence, text, verbatim
from gpuassist.model.version import ComputeCapability, Target, Version, VersionError

Json = Union[None, bool, int, float, str, list["Json"], dict[str, "Json"]]
Render = Callable[[Text], str]

_SPELLED = (Version, ComputeCapability, Target)


class DecodeError(ValueError):
    """A JSON document does not describe the value; `reason` names the place and what was expected there, `field` is what that place
    is called.
    """

    def __init__(self, reason: Text, field: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.field = field


def encode(value: object, render: Render) -> Json:
    """Any value of `model` as JSON; `render` turns the reasons of unknown facts into words."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, (str, *_SPELLED)):
        return str(value)
    if isinstance(value, tuple):
        return [encode(item, render) for item in value]
    if isinstance(value, Text):
        return render(value)
    if isinstance(value, Unknown):
        return {"value": None, "reason": render(value.reason), "asked": value.asked}
    if isinstance(value, Struct):
        return {name: encode(getattr(value, name), render) for name in value.__struct_fields__}
    raise TypeError(type(value).__name__)


def decode(kind: Any, data: Json, where: str = "$") -> Any:
    """The value of type `kind` that `data` describes; raises `DecodeError` with the place where it does not."""
    origin = typing.get_origin(kind)
    if origin in {Union, UnionType}:
        known, other = typing.get_args(kind)
        if other is NoneType:
            return None if data is None else decode(known, data, where)
        if not isinstance(data, dict):
            raise _wrong(where, "a fact")
        if "source" in data:
            (inner,) = typing.get_args(known)
            return Known(decode(inner, data.get("value"), f"{where}.value"), _plain(str, data["source"], f"{where}.source"))
        return Unknown(_reason(_plain(str, data.get("reason", ""), f"{where}.reason")), bool(data.get("asked", True)))
    if origin is tuple:
        if not isinstance(data, list):
            raise _wrong(where, "a list")
        inner = typing.get_args(kind)[0]
        return tuple(decode(inner, item, f"{where}[{place}]") for place, item in enumerate(data))
    if origin is dict:
        if not isinstance(data, dict):
            raise _wrong(where, "an object")
        inner = typing.get_args(kind)[1]
        return {name: decode(inner, item, f"{where}.{name}") for name, item in data.items()}
    if kind is Text:
        return verbatim(_plain(str, data, where))
    if kind in _SPELLED or (isinstance(kind, type) and issubclass(kind, Enum)):
        words = _plain(str, data, where)
        try:
            return kind(words) if issubclass(kind, Enum) else kind.parse(words)
        except (ValueError, VersionError):
            raise _wrong(where, kind.__name__) from None
    if isinstance(kind, type) and issubclass(kind, Struct):
        return _decode_record(kind, data, where)
    return _plain(kind, data, where)


def _decode_record(kind: Any, data: Json, where: str) -> Any:
    if not isinstance(data, dict):
        raise _wrong(where, kind.__name__)
    given = {name: decode(hint, data[name], f"{where}.{name}") for name, hint in _hints(kind).items() if name in data}
    required = kind.__struct_fields__[: len(kind.__struct_fields__) - len(kind.__struct_defaults__)]
    missing = next((name for name in required if name not in given), None)
    if missing is not None:
        raise _wrong(where, kind.__name__, missing)
    return kind(**given)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _plain(kind: type, data: Json, where: str) -> Any:
    if kind is float and isinstance(data, (int, float)) and not isinstance(data, bool):
        found = float(data) if abs(data) < _NO_SUCH_NUMBER else math.inf
        if not math.isfinite(found):  # NaN and Infinity are no JSON, though Python writes and reads them
            raise _wrong(where, "float")
        return found
    if not isinstance(data, kind) or (kind is int and isinstance(data, bool)):
        raise _wrong(where, kind.__name__)
    return data


_NO_SUCH_NUMBER = 10**300


_PLAIN_WORDS = lazy_regex(r"[A-Za-z][A-Za-z0-9 ,.:;()'_-]*")


def _reason(told: str) -> Text:
    """Plain words may be a message of ours, which the reader's language has; with a path or odd characters they are no words of
    ours alone, and are shown as what a file says is.
    """
    return sentence(told) if _PLAIN_WORDS.fullmatch(told) else verbatim(told)


def _wrong(where: str, expected: str, field: str = "") -> DecodeError:
    named = field or where.rpartition(".")[2].partition("[")[0]
    return DecodeError(text("at {where}: expected {expected}", where=where, expected=expected), named)
