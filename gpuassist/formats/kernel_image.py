"""The release of a kernel in its image: a bzImage of x86, or a unified image for UEFI."""

from __future__ import annotations

import struct
from collections.abc import Callable

Read = Callable[[int, int], bytes]  # (offset, size) -> those bytes

_RELEASE_AT_MOST = 256
_HEADER = 0x1000
_SECTIONS_AT_MOST = 96  # PE format: a loader of Windows takes no more


def release_of_bzimage(read: Read) -> str:
    """The first word of the version that the boot protocol points to (Documentation/arch/x86/boot.rst, `kernel_version`, offset
    0x20e, counted from 0x200); empty where this is no such image.
    """
    header = read(0x200, 0x10)
    if len(header) < 0x10 or header[2:6] != b"HdrS":
        return ""
    (place,) = struct.unpack_from("<H", header, 0xE)
    return _word(read(0x200 + place, _RELEASE_AT_MOST)) if place else ""


def release_of_unified(read: Read) -> str:
    """What the section .uname of a unified kernel image holds (UAPI group, Unified Kernel Image); empty where there is none."""
    header = read(0, _HEADER)
    if len(header) < 0x40 or header[:2] != b"MZ":
        return ""
    (start,) = struct.unpack_from("<I", header, 0x3C)
    coff = read(start, 24)
    if len(coff) < 24 or coff[:4] != b"PE\0\0":
        return ""
    count, optional = struct.unpack_from("<H", coff, 6)[0], struct.unpack_from("<H", coff, 20)[0]
    table = read(start + 24 + optional, 40 * min(count, _SECTIONS_AT_MOST))
    for entry in range(0, len(table) - 39, 40):
        if table[entry : entry + 8].rstrip(b"\0") == b".uname":
            size, _address, _raw, place = struct.unpack_from("<IIII", table, entry + 8)
            return _word(read(place, min(size, _RELEASE_AT_MOST)))
    return ""


def _word(found: bytes) -> str:
    words = found.partition(b"\0")[0].decode("ascii", "replace").split()
    return words[0] if words and words[0].isprintable() else ""
