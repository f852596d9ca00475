"""What gpuassist and a child of its own say to each other over a pipe: a header with version and length, then one JSON document.

It stands without dataclasses and typing, which cost a child's start 14 ms of 40. JSON and not marshal or pickle, because a library
that wrote where it should not may have the child send anything.
"""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
AT_MOST_BYTES = 16 << 20
_HEADER = struct.Struct("!3sBI")
_MAGIC = b"GPA"


class FrameError(ValueError):
    """What came is no frame of this version."""


def packed(document: Any) -> bytes:
    """A document as it is sent."""
    body = json.dumps(document).encode()
    return _HEADER.pack(_MAGIC, VERSION, len(body)) + body


def taken(pending: bytearray) -> Any:
    """Takes the first whole document out of what has come so far; None where there is none yet."""
    if len(pending) < _HEADER.size:
        return None
    magic, version, length = _HEADER.unpack_from(pending)
    if magic != _MAGIC or length > AT_MOST_BYTES:
        raise FrameError("no frame")
    if version != VERSION:
        raise FrameError(f"version {version}")
    end = _HEADER.size + length
    if len(pending) < end:
        return None
    body = bytes(pending[_HEADER.size : end])
    del pending[:end]
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(str(error)) from error


def read(descriptor: int) -> Any:
    """Waits for the next document; None where the other side has gone."""
    pending = bytearray()
    while (document := taken(pending)) is None:
        wanted = _HEADER.size if len(pending) < _HEADER.size else _HEADER.size + _HEADER.unpack_from(pending)[2]
        piece = os.read(descriptor, wanted - len(pending))
        if not piece:
            return None
        pending += piece
    return document


def write(descriptor: int, document: Any) -> None:
    """Sends a document; raises `OSError` where the other side has gone."""
    rest = memoryview(packed(document))
    while rest:
        rest = rest[os.write(descriptor, rest) :]
