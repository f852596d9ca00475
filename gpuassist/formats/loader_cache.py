"""The loader's cache, /etc/ld.so.cache: which file ldconfig found for a library's name."""

from __future__ import annotations

import struct

_MAGIC = b"glibc-ld.so.cache1.1"
_HEADER = struct.Struct("<II")  # libraries, bytes of strings
_HEADER_SIZE = 48
_ENTRY = struct.Struct("<iIIIQ")  # flags, name, path, kernel, hardware; names and paths count from the magic (glibc, dl-cache.h)
_SAME_FLAGS = {0x0301, 0x0303, 0x0A03, 0x1003}  # 64-bit for x86, generic, AArch64 and RISC-V; 32-bit ones have other bits


def read_cache(content: bytes) -> dict[str, tuple[str, ...]]:
    """Paths by soname, in the order in which the loader tries them; empty where this is no such file."""
    start = content.find(_MAGIC)  # an older table may stand in front of it
    if start < 0 or len(content) < start + _HEADER_SIZE:
        return {}
    count, _ = _HEADER.unpack_from(content, start + len(_MAGIC))
    found: dict[str, tuple[str, ...]] = {}
    for number in range(count):
        place = start + _HEADER_SIZE + number * _ENTRY.size
        if place + _ENTRY.size > len(content):
            break
        flags, name, path, _, _ = _ENTRY.unpack_from(content, place)
        if flags in _SAME_FLAGS:
            soname = _string(content, start + name)
            found[soname] = (*found.get(soname, ()), _string(content, start + path))
    return found


def _string(content: bytes, place: int) -> str:
    end = content.find(b"\0", place)
    return content[place : end if end >= 0 else None].decode("utf-8", "replace")
