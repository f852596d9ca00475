"""A kernel module: what its ELF section .modinfo says (`name=value` words), /proc of the loaded one, and what forbids one."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

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
    import gzip  # 2 ms with lzma and zlib, which a reader of pasted names of modules does not need
    import lzma
    import zlib

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


# The signature at a module's end (include/linux/module_signature.h): PKCS #7 data, twelve bytes that end in its length, a mark.


_MARK = b"~Module signature appended~\n"
_INFO_SIZE = 12
_SIGNATURE_AT_MOST_BYTES = 1 << 16
_COMMON_NAME = b"\x06\x03\x55\x04\x03"  # the object identifier 2.5.4.3 in DER, which the text follows as tag, length and bytes
_UNNAMED = "?"


def signer_of(read: Read, size: int) -> str:
    """Who signed a module of so many bytes, by the last common name in the signature, which is that of the key's issuer as
    modinfo(8) shows it; empty where it is not signed.
    """
    ending = len(_MARK) + _INFO_SIZE
    tail = read(max(0, size - ending), ending)
    if len(tail) < ending or not tail.endswith(_MARK):
        return ""
    (length,) = struct.unpack_from(">I", tail, _INFO_SIZE - 4)
    length = min(length, _SIGNATURE_AT_MOST_BYTES, size - ending)
    signature = read(size - ending - length, length)
    place = signature.rfind(_COMMON_NAME) + len(_COMMON_NAME)
    if place < len(_COMMON_NAME) or place + 2 > len(signature):
        return _UNNAMED
    name = signature[place + 2 : place + 2 + signature[place + 1]]
    return name.decode("utf-8", "replace").strip() or _UNNAMED


# /proc/driver/nvidia/version: the loaded kernel module's version and flavour in one line.


# `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12 …`, and since 515 also
# `NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)  Wed Sep 24 …`
_VERSION = lazy_regex(r"^NVRM version:.*?Kernel Module(?: for \S+)?\s+(\d{1,9}\.\d{1,9}(?:\.\d{1,9})?)\b", re.MULTILINE)


def parse_version(words: str) -> Version | None:
    """The version in the NVRM line; none where it does not look as known."""
    found = _VERSION.search(words)
    return Version.parse(found[1]) if found else None


def is_open(words: str) -> bool:
    """Whether the line speaks of the open kernel modules."""
    return "Open Kernel Module" in words.partition("\n")[0]


# What modprobe's configuration and the kernel's command line forbid to load.


# Configured to run a program instead of loading the module, or renamed to `off`, a module is as good as forbidden (modprobe.d(5)).
_LINE = lazy_regex(
    r"^\s*(?:blacklist\s+(?P<listed>[\w-]+)|install\s+(?P<replaced>[\w-]+)\s+\S*/(?:false|true)|alias\s+(?P<renamed>[\w-]+)\s+off)\s*(?:#.*)?$"
)
_ARGUMENT = lazy_regex(r"(?:^|\s)(?P<words>(?:modprobe\.blacklist|module_blacklist)=(?P<modules>[\w,-]+))")


def forbidden_by_file(words: str) -> Iterator[tuple[str, int, str]]:
    """Each module that a file of modprobe.d forbids, with the number of its line, and the line."""
    for number, line in enumerate(words.splitlines(), 1):
        found = _LINE.match(line)
        if found:
            yield _name(next(name for name in found.groups() if name)), number, line.strip()


def forbidden_by_command_line(words: str) -> Iterator[tuple[str, str]]:
    """Each module that the kernel's command line forbids, with the argument."""
    for found in _ARGUMENT.finditer(words):
        for module in found["modules"].split(","):
            yield _name(module), found["words"]


def _name(module: str) -> str:
    """modprobe makes no difference between the two dashes."""
    return module.replace("-", "_")
