"""The part of Python's marshal format that a profile is written in, read with a bound on everything.

`marshal.loads` is not for what strangers wrote: it makes code objects, and damaged bytes end the interpreter. This makes numbers,
strings, tuples and dicts, and nothing else.
"""

from __future__ import annotations

import struct
from typing import Any

_FLAG_REF = 0x80
_DEEPEST = 40
_MOST_VALUES = 40_000_000
_NULL = object()
_ONE_BYTE, _FOUR_BYTES = "one", "four"
_STRINGS = {
    ord("s"): _FOUR_BYTES,
    ord("t"): _FOUR_BYTES,
    ord("u"): _FOUR_BYTES,
    ord("a"): _FOUR_BYTES,
    ord("A"): _FOUR_BYTES,
    ord("z"): _ONE_BYTE,
    ord("Z"): _ONE_BYTE,
}
_SINGLETONS = {ord("N"): None, ord("T"): True, ord("F"): False, ord("0"): _NULL}


def read_marshal(data: bytes) -> Any:
    """The value; raises `ValueError` for what is damaged, nested too deeply, or of another kind."""
    reader = _Reader(data)
    value = reader.value(0)
    if value is _NULL:
        raise ValueError("it is empty")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0
        self._known: list[Any] = []
        self._left = min(_MOST_VALUES, len(data))

    def value(self, depth: int) -> Any:
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise ValueError("nested too deeply")
        sign = self._byte()
        kind, kept = sign & ~_FLAG_REF, bool(sign & _FLAG_REF)
        place = -1
        if kept:
            place = len(self._known)
            self._known.append(None)
        made = self._made(kind, depth)
        if kept:
            self._known[place] = made
        return made

    def _made(self, kind: int, depth: int) -> Any:
        if kind in _SINGLETONS:
            return _SINGLETONS[kind]
        if kind in _STRINGS:
            size = self._byte() if _STRINGS[kind] == _ONE_BYTE else self._whole()
            return self._bytes(size).decode("utf-8", "replace")
        if kind == ord("i"):
            return struct.unpack("<i", self._bytes(4))[0]
        if kind == ord("g"):
            return struct.unpack("<d", self._bytes(8))[0]
        if kind == ord("l"):
            return self._long()
        if kind == ord("r"):
            return self._reference()
        if kind == ord(")"):
            return tuple(self._item(depth) for _ in range(self._byte()))
        if kind == ord("("):
            return tuple(self._item(depth) for _ in range(self._sized()))
        if kind == ord("{"):
            return self._dict(depth)
        raise ValueError("not a profile of Python")

    def _dict(self, depth: int) -> dict[Any, Any]:
        made = dict[Any, Any]()
        while True:
            key = self.value(depth + 1)
            if key is _NULL:
                return made
            parts = key if isinstance(key, tuple) else (key,)
            # Tuples of references to tuples can be deeper than a hash of them survives.
            if any(isinstance(part, (tuple, dict)) for part in parts):
                raise ValueError("not a profile of Python")
            made[key] = self._item(depth)

    def _item(self, depth: int) -> Any:
        item = self.value(depth + 1)
        if item is _NULL:
            raise ValueError("it is damaged")
        return item

    def _reference(self) -> Any:
        place = self._whole()
        if place >= len(self._known):
            raise ValueError("it is damaged")
        return self._known[place]

    def _long(self) -> int:
        size = struct.unpack("<i", self._bytes(4))[0]
        if abs(size) > 8:
            raise ValueError("a number is too large")
        number = sum(int(struct.unpack("<H", self._bytes(2))[0]) << (15 * place) for place in range(abs(size)))
        return number if size >= 0 else -number

    def _sized(self) -> int:
        """A count of values, of which each takes a byte at least."""
        size = self._whole()
        if size > len(self._data) - self._place:
            raise ValueError("it is damaged")
        return size

    def _whole(self) -> int:
        return int(struct.unpack("<I", self._bytes(4))[0])

    def _byte(self) -> int:
        if self._place >= len(self._data):
            raise ValueError("it ends too early")
        self._place += 1
        return self._data[self._place - 1]

    def _bytes(self, size: int) -> bytes:
        part = self._data[self._place : self._place + size]
        if len(part) != size:
            raise ValueError("it ends too early")
        self._place += size
        return part
