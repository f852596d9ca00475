"""A text to explain, from a file or a stream of any length, of which no more is held than is read."""

from __future__ import annotations

import stat
from collections.abc import Iterable

from gpuassist.formats.paste import Gathering
from gpuassist.model.paste import Paste
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files

_PIECE = 1 << 20
_HELD = 4 << 20  # of a file that is longer, its first and last pieces are read and the rest is stepped over
_MOST = 1 << 30  # of what has no length (a pipe, /dev/zero) no more is awaited


class PasteError(Exception):
    """The text cannot be read; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def read_file(files: Files, path: str) -> Paste:
    """The text in a file or a pipe; raises `PasteError` where it cannot be read."""
    try:
        status = files.status(path)
        if stat.S_ISREG(status.st_mode) and status.st_size > _HELD:
            gathering = Gathering()
            gathering.add(files.read_part(path, 0, _PIECE))
            rest = _HELD - _PIECE
            gathering.skip(status.st_size - _HELD)
            gathering.add(files.read_part(path, status.st_size - rest, rest))
            return gathering.paste()
        return gathered(files.pieces(path, _PIECE))
    except OSError as error:
        raise PasteError(text("{path} could not be read: {words}", path=path, words=error.strerror or str(error))) from error


def gathered(pieces: Iterable[bytes]) -> Paste:
    """The text that comes in pieces."""
    gathering, taken = Gathering(), 0
    for piece in pieces:
        gathering.add(piece)
        taken += len(piece)
        if taken >= _MOST:
            break
    return gathering.paste()
