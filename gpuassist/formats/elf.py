"""Where an ELF file keeps its constants, so that a string of a 30 MB library is found by reading 1 MB of it."""

from __future__ import annotations

import struct
from collections.abc import Callable

Read = Callable[[int, int], bytes]  # (offset, size) -> those bytes

_HEADER_SIZE = 64
_SECTION = struct.Struct("<IIQQQQ")  # name, type, flags, address, offset, size (elf(5), Elf64_Shdr)
_PROGBITS = 1
_WRITE, _ALLOCATED, _EXECUTABLE = 1, 2, 4


def constant_sections(read: Read) -> tuple[tuple[int, int], ...]:
    """Offset and size of every section that is loaded, not written and not code; none where this is no 64-bit ELF."""
    header = read(0, _HEADER_SIZE)
    if len(header) < _HEADER_SIZE or header[:6] != b"\x7fELF\x02\x01":
        return ()
    (table,) = struct.unpack_from("<Q", header, 0x28)
    entry_size, count = struct.unpack_from("<HH", header, 0x3A)
    entries = read(table, entry_size * count) if entry_size >= _SECTION.size else b""
    return tuple(
        place for start in range(0, len(entries) - _SECTION.size + 1, entry_size or 1) for place in _constant(entries, start)
    )


def _constant(entries: bytes, start: int) -> tuple[tuple[int, int], ...]:
    _, kind, flags, _, offset, size = _SECTION.unpack_from(entries, start)
    constant = kind == _PROGBITS and flags & (_WRITE | _ALLOCATED | _EXECUTABLE) == _ALLOCATED
    return ((offset, size),) if constant else ()
