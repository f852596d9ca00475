"""Columns of numbers in a file without a name, in memory, that a child of ours fills and we read: gigabytes go through no pipe."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Any

import numpy as np

KINDS = ("uint8", "int32", "int64")
_ALIGNED = 8

Place = tuple[str, int, int]
"""A column: which of `KINDS`, at which byte it begins, how many numbers it has."""


class ColumnFileError(ValueError):
    """The file does not hold what was said of it."""


def new_column_file() -> int:
    """Its descriptor, for us and for a child that it is handed to, above those that a child gets; raises `OSError`."""
    descriptor = os.memfd_create("gpuassist-columns", os.MFD_CLOEXEC)
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    finally:
        os.close(descriptor)


def append_bytes(descriptor: int, content: bytes | memoryview) -> int:
    """Puts bytes at the end; where they begin."""
    start = end = os.lseek(descriptor, 0, os.SEEK_END)
    padding = -start % _ALIGNED
    if padding:
        start = end + padding
        os.write(descriptor, bytes(padding))
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return start


def append_column(descriptor: int, column: np.ndarray[Any, Any]) -> Place:
    """Puts a column at the end."""
    whole = np.ascontiguousarray(column)
    return str(whole.dtype), append_bytes(descriptor, whole.tobytes()), len(whole)


class ColumnFile:
    """What a child has put into such a file. The columns are read where they are, and stay as long as anybody has one."""

    def __init__(self, descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        self._map: mmap.mmap | bytes = mmap.mmap(descriptor, size, prot=mmap.PROT_READ) if size else b""
        self._size = size

    def bytes_at(self, start: int, length: int) -> bytes:
        if start < 0 or length < 0 or start + length > self._size:
            raise ColumnFileError("a part that lies outside of the file")
        return bytes(memoryview(self._map)[start : start + length])

    def column(self, place: Place) -> np.ndarray[Any, Any]:
        kind, start, count = place
        if kind not in KINDS or start % _ALIGNED:
            raise ColumnFileError("a column of no kind that there is")
        numbers = np.dtype(kind)
        if start < 0 or count < 0 or start + count * numbers.itemsize > self._size:
            raise ColumnFileError("a column that lies outside of the file")
        return np.frombuffer(self._map, numbers, count, start) if count else np.zeros(0, numbers)
