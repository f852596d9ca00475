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
