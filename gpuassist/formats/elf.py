"""What an ELF file asks of the loader, where it keeps its constants, and which libraries the loader's cache knows."""

from __future__ import annotations

import struct
from collections.abc import Callable

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
    headers = read(table, size * count)
    rows = (_PROGRAM.unpack_from(headers, start) for start in range(0, len(headers) - _PROGRAM.size + 1, size))
    segments = tuple(_Segment(kind, offset, address, in_file) for kind, _, offset, address, _, in_file, _, _ in rows)
    found = next((one for one in segments if one.kind == _DYNAMIC), None)
    return None if found is None else _dynamic(read, segments, read(found.offset, min(found.size, _AT_MOST)))


class _Segment(Struct, frozen=True):
    kind: int
    offset: int
    address: int
    size: int


def _dynamic(read: Read, segments: tuple[_Segment, ...], entries: bytes) -> Dynamic | None:
    values: dict[int, list[int]] = {}
    for start in range(0, len(entries) - _ENTRY.size + 1, _ENTRY.size):
        tag, value = _ENTRY.unpack_from(entries, start)
        if tag == _NULL:
            break
        values.setdefault(tag, []).append(value)
    # The table names the strings by their address in memory.
    address = values.get(_STRINGS, [0])[0]
    loaded = (one for one in segments if one.kind == _LOAD and one.address <= address < one.address + one.size)
    strings = next((one.offset + address - one.address for one in loaded), 0)
    if not strings:
        return None

    def held(tag: int) -> tuple[str, ...]:
        # One by one: in a library of torch's the strings are 40 MB of names that nobody asks for.
        found = (read(strings + place, _STRING_AT_MOST).partition(b"\0")[0] for place in values.get(tag, ()))
        return tuple(one.decode("utf-8", "replace") for one in found)

    return Dynamic(held(_NEEDED), "".join(held(_SONAME)[:1]), "".join(held(_RPATH)[:1]), "".join(held(_RUNPATH)[:1]))


def constant_sections(read: Read) -> tuple[tuple[int, int], ...]:
    """Offset and size of every section that is loaded, not written and not code; none where this is no 64-bit ELF."""
    header = read(0, _HEADER_SIZE)
    if len(header) < _HEADER_SIZE or header[:6] != b"\x7fELF\x02\x01":
        return ()
    (table,) = struct.unpack_from("<Q", header, 0x28)
    entry_size, count = struct.unpack_from("<HH", header, 0x3A)
    entries = read(table, entry_size * count) if entry_size >= _SECTION.size else b""
    rows = (_SECTION.unpack_from(entries, start) for start in range(0, len(entries) - _SECTION.size + 1, entry_size or 1))
    wanted = _WRITE | _ALLOCATED | _EXECUTABLE
    return tuple((offset, size) for _, kind, flags, _, offset, size in rows if kind == _PROGBITS and flags & wanted == _ALLOCATED)


# The loader's cache, /etc/ld.so.cache: which file ldconfig found for a library's name.


_MAGIC = b"glibc-ld.so.cache1.1"
_COUNTS = struct.Struct("<II")  # libraries, bytes of strings
_CACHE_HEADER_SIZE = 48
_CACHED = struct.Struct("<iIIIQ")  # flags, name, path, kernel, hardware; names and paths count from the magic (glibc, dl-cache.h)
_SAME_FLAGS = {0x0301, 0x0303, 0x0A03, 0x1003}  # 64-bit for x86, generic, AArch64 and RISC-V; 32-bit ones have other bits


def read_cache(content: bytes) -> dict[str, tuple[str, ...]]:
    """Paths by soname, in the order in which the loader tries them; empty where this is no such file."""
    start = content.find(_MAGIC)  # an older table may stand in front of it
    if start < 0 or len(content) < start + _CACHE_HEADER_SIZE:
        return {}
    count, _ = _COUNTS.unpack_from(content, start + len(_MAGIC))
    found: dict[str, tuple[str, ...]] = {}
    for number in range(count):
        place = start + _CACHE_HEADER_SIZE + number * _CACHED.size
        if place + _CACHED.size > len(content):
            break
        flags, name, path, _, _ = _CACHED.unpack_from(content, place)
        if flags in _SAME_FLAGS:
            soname = _string(content, start + name)
            found[soname] = (*found.get(soname, ()), _string(content, start + path))
    return found


def _string(content: bytes, place: int) -> str:
    end = content.find(b"\0", place)
    return content[place : end if end >= 0 else None].decode("utf-8", "replace")
