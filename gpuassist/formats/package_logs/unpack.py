"""Packed logs, block by block: what logrotate makes with gzip, xz and bzip2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

ENDINGS = (".gz", ".xz", ".bz2")
_FEED = 1 << 16
_MEMORY_AT_MOST = 96 << 20  # bytes; to unpack what xz -9 packed takes 65 MiB


class UnpackError(Exception):
    """These bytes are no packed file, or a damaged one."""


def unpacked(packed: bytes, ending: str, block: int) -> Iterator[bytes]:
    """What they hold, at most `block` bytes at a time; raises `UnpackError` at the place where they are damaged or cut off."""
    make, errors = _unpacker(ending)
    unpacker, place, left, full, begun = make(), 0, b"", False, False
    while True:
        if not left and not full:
            if place >= len(packed):
                break
            left, place = packed[place : place + _FEED], place + _FEED
        begun = True
        try:
            data = unpacker.decompress(left, block)
        except errors as error:
            raise UnpackError(str(error)) from error
        left, full = getattr(unpacker, "unconsumed_tail", b""), len(data) == block
        if data:
            yield data
        if unpacker.eof:  # several may stand one after another, and NULs behind the last one
            left, full = unpacker.unused_data.lstrip(b"\0"), False
            unpacker, begun = make(), False
    if begun:
        raise UnpackError("cut off")


def _unpacker(ending: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """What makes an object for one packed stream, and what that raises; each is imported where it is needed, lzma costs 2 ms."""
    if ending == ".gz":
        import zlib

        return (lambda: zlib.decompressobj(wbits=31)), (zlib.error,)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    import lzma

    return (lambda: lzma.LZMADecompressor(memlimit=_MEMORY_AT_MOST)), (lzma.LZMAError, EOFError)
