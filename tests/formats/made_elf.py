"""The smallest ELF files that a loader's section table makes sense of."""

from __future__ import annotations

import struct

ALLOCATED, WRITABLE, CODE = 2, 3, 6
PROGBITS, NOBITS = 1, 8


def elf(*sections: tuple[int, int, bytes]) -> bytes:
    """A 64-bit little-endian ELF of (type, flags, content) sections, their table at the end."""
    content = b"".join(data for _, _, data in sections)
    offsets = [64 + sum(len(data) for _, _, data in sections[:place]) for place in range(len(sections))]
    table = b"".join(
        struct.pack("<IIQQQQIIQQ", 0, kind, flags, 0, offset, len(data), 0, 0, 1, 0)
        for (kind, flags, data), offset in zip(sections, offsets, strict=True)
    )
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64 + len(content), 0, 64, 0, 0, 64, len(sections), 0
    )
    return header + content + table


def shared_object(needed: tuple[str, ...] = (), *, soname: str = "", rpath: str = "", runpath: str = "") -> bytes:
    """A library that asks the loader for these; its strings lie at another address than in the file, as in real ones."""
    strings = b"\0"
    entries: list[tuple[int, int]] = []
    for tag, words in (*((1, one) for one in needed), (14, soname), (15, rpath), (29, runpath)):
        if words:
            entries.append((tag, len(strings)))
            strings += words.encode() + b"\0"
    at, base = 64 + 2 * 56, 0x4000
    entries += [(5, base + at), (10, len(strings)), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    segments = struct.pack("<IIQQQQQQ", 1, 4, 0, base, base, at + len(strings), at + len(strings), 4096)
    segments += struct.pack("<IIQQQQQQ", 2, 6, at + len(strings), 0, 0, len(dynamic), len(dynamic), 8)
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    return header + segments + strings + dynamic


def loader_cache(*entries: tuple[str, str], flags: int = 0x0303, before: bytes = b"") -> bytes:
    """An ld.so.cache of these (soname, path)."""
    start = 48 + 24 * len(entries)
    strings, rows = b"", b""
    for soname, path in entries:
        rows += struct.pack("<iIIIQ", flags, start + len(strings), start + len(strings) + len(soname) + 1, 0, 0)
        strings += f"{soname}\0{path}\0".encode()
    header = b"glibc-ld.so.cache1.1" + struct.pack("<II", len(entries), len(strings)) + b"\0" * 20
    return before + header + rows + strings
