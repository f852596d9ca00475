"""What an ELF file asks of the loader (libraries, its own name, where to look for them), and where it keeps its constants."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from msgspec import Struct

Read = Callable[[int, int], bytes]  # (offset, size) -> those bytes

_HEADER_SIZE = 64
_SECTION = struct.Struct("<IIQQQQ")  # name, type, flags, address, offset, size (elf(5), Elf64_Shdr)
_PROGBITS = 1
_WRITE, _ALLOCATED, _EXECUTABLE = 1, 2, 4
_PROGRAM = struct.Struct("<IIQQQQQQ")  # type, flags, offset, address, physical, size in file, size in memory, alignment (elf(5))
_ENTRY = struct.Struct("<qQ")  # tag, value
_LOAD, _DYNAMIC = 1, 2
_NULL, _NEEDED, _STRINGS, _SONAME, _RPATH, _RUNPATH = 0, 1, 5, 14, 15, 29
_AT_MOST = 1 << 20
_STRING_AT_MOST = 4096


class Dynamic(Struct, frozen=True):
    """`rpath` and `runpath` are the lists as they stand there, empty where there is none; `needed` are sonames."""

    needed: tuple[str, ...] = ()
    soname: str = ""
    rpath: str = ""
    runpath: str = ""


def read_dynamic(read: Read) -> Dynamic | None:
    """Reads it from the program headers, as the loader does; None where this is no 64-bit ELF that is linked dynamically."""
    header = read(0, _HEADER_SIZE)
    if len(header) < _HEADER_SIZE or header[:6] != b"\x7fELF\x02\x01":
        return None
    (table,) = struct.unpack_from("<Q", header, 0x20)
    size, count = struct.unpack_from("<HH", header, 0x36)
    if size < _PROGRAM.size:
        return None
    segments = tuple(_segments(read(table, size * count), size))
    found = next((one for one in segments if one.kind == _DYNAMIC), None)
    return None if found is None else _dynamic(read, segments, read(found.offset, min(found.size, _AT_MOST)))


class _Segment(Struct, frozen=True):
    kind: int
    offset: int
    address: int
    size: int


def _segments(table: bytes, size: int) -> Iterator[_Segment]:
    for start in range(0, len(table) - _PROGRAM.size + 1, size):
        kind, _, offset, address, _, in_file, _, _ = _PROGRAM.unpack_from(table, start)
        yield _Segment(kind, offset, address, in_file)


def _dynamic(read: Read, segments: tuple[_Segment, ...], entries: bytes) -> Dynamic | None:
    values: dict[int, list[int]] = {}
    for start in range(0, len(entries) - _ENTRY.size + 1, _ENTRY.size):
        tag, value = _ENTRY.unpack_from(entries, start)
        if tag == _NULL:
            break
        values.setdefault(tag, []).append(value)
    strings = _strings_at(segments, values.get(_STRINGS, [0])[0])
    if not strings:
        return None

    def held(tag: int) -> tuple[str, ...]:
        # One by one: in a library of torch's the strings are 40 MB of names that nobody asks for.
        return tuple(_string(read(strings + place, _STRING_AT_MOST)) for place in values.get(tag, ()))

    return Dynamic(held(_NEEDED), "".join(held(_SONAME)[:1]), "".join(held(_RPATH)[:1]), "".join(held(_RUNPATH)[:1]))


def _strings_at(segments: tuple[_Segment, ...], address: int) -> int:
    """Where in the file the strings begin, which the table names by their address in memory; 0 where no segment holds them."""
    for one in segments:
        if one.kind == _LOAD and one.address <= address < one.address + one.size:
            return one.offset + address - one.address
    return 0


def _string(content: bytes) -> str:
    return content.partition(b"\0")[0].decode("utf-8", "replace")


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
