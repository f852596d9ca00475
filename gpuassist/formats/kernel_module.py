"""What a kernel module says of itself: the `name=value` words of its ELF section .modinfo."""

from __future__ import annotations

import gzip
import lzma
import struct
import zlib
from collections.abc import Callable

Read = Callable[[int, int], bytes]  # (offset, size) -> those bytes

_HEADER_SIZE = 64
_SECTION = struct.Struct("<IIQQQQ")  # name, type, flags, address, offset, size (elf(5), Elf64_Shdr)
_MODINFO = b".modinfo"
_SECTIONS_AT_MOST_BYTES = 16 << 20
_MODINFO_AT_MOST_BYTES = 1 << 20


class ModuleError(ValueError):
    """These bytes are no kernel module that can be read."""


def unpack(data: bytes, ending: str) -> bytes:
    """The module of a packed file, by its ending (`.gz`, `.xz`)."""
    try:
        return gzip.decompress(data) if ending == ".gz" else lzma.decompress(data)
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise ModuleError(str(error)) from error


def read_modinfo(read: Read) -> dict[str, str]:
    """The words of .modinfo, the first of each name (`version`, `license`); raises `ModuleError` where there is none."""
    header = read(0, _HEADER_SIZE)
    if len(header) < _HEADER_SIZE or header[:6] != b"\x7fELF\x02\x01":
        raise ModuleError("no 64-bit little-endian ELF file")
    offset, size = _modinfo(read, header)
    words: dict[str, str] = {}
    for entry in read(offset, min(size, _MODINFO_AT_MOST_BYTES)).split(b"\0"):
        name, _equals, value = entry.decode("utf-8", "replace").partition("=")
        words.setdefault(name, value)
    words.pop("", None)
    return words


def parse_modinfo_output(words: str) -> dict[str, str]:
    """The same words as the program modinfo prints them: `license:        Dual MIT/GPL`."""
    found: dict[str, str] = {}
    for line in words.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip(), value.strip())
    return found


def _modinfo(read: Read, header: bytes) -> tuple[int, int]:
    (table,) = struct.unpack_from("<Q", header, 0x28)
    entry_size, count, names_at = struct.unpack_from("<HHH", header, 0x3A)
    entries = read(table, min(entry_size * count, _SECTIONS_AT_MOST_BYTES))
    if entry_size < _SECTION.size or names_at >= count or len(entries) < entry_size * count:
        raise ModuleError("its section table is cut off")
    names_offset, names_size = _SECTION.unpack_from(entries, names_at * entry_size)[4:6]
    names = read(names_offset, min(names_size, _SECTIONS_AT_MOST_BYTES))
    for start in range(0, entry_size * count, entry_size):
        name, _kind, _flags, _address, offset, size = _SECTION.unpack_from(entries, start)
        if names[name:].partition(b"\0")[0] == _MODINFO:
            return offset, size
    raise ModuleError("it has no section .modinfo")
