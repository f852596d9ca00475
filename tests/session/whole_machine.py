"""A machine in which every field holds something, made of the types themselves: a field that is new is in it at once."""

from __future__ import annotations

import typing
from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import Any, Union

from msgspec import Struct

from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, verbatim
from gpuassist.model.version import ComputeCapability, Target, Version

_NUMBERS: dict[Any, Any] = {
    Version: Version.parse("12.4"),
    ComputeCapability: ComputeCapability(8, 9),
    Target: Target.parse("sm_89"),
    bool: True,
    int: 3,
    float: 16.0,
}


def whole_machine(string: Callable[[str], str], several: int = 1) -> Machine:
    """Every fact known, every list with `several` elements; `string` makes the strings, by `Type.field`."""
    made = _made(Machine, "Machine", string, several)
    assert isinstance(made, Machine)
    return made


def _made(kind: Any, field: str, string: Callable[[str], str], several: int) -> Any:
    origin = typing.get_origin(kind)
    if origin in {Union, UnionType}:
        (inner,) = typing.get_args(typing.get_args(kind)[0])
        return Known(_made(inner, field, string, several), string("Known.source"))
    if origin is tuple:
        return tuple(_made(typing.get_args(kind)[0], field, string, several) for _ in range(several))
    if kind is str:
        return string(field)
    if kind is Text:
        return verbatim(string(field))
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    if issubclass(kind, Enum):
        return next(iter(kind))
    assert issubclass(kind, Struct), kind
    hints = typing.get_type_hints(kind)
    return kind(**{name: _made(hints[name], f"{kind.__name__}.{name}", string, several) for name in kind.__struct_fields__})
