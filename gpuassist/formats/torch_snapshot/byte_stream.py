"""Bytes that come in pieces, read as one stream; and what is wrong with a file that cannot be read."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.model.text import Text, text

LONGEST_WORDS = 1 << 24
"""A single string of a snapshot is a path or a name; a length beyond this is no string."""


class SnapshotError(ValueError):
    """The file is no memory snapshot, or not one that can be read: why, and at which byte."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class ByteStream:
    """What `more` gives, piece after piece, until it gives nothing. `buffer` from `place` on is what comes next."""

    __slots__ = ("_before", "_more", "buffer", "place")

    def __init__(self, more: Callable[[], bytes]) -> None:
        self._more = more
        self._before = 0
        self.buffer = b""
        self.place = 0

    @property
    def position(self) -> int:
        """How many bytes of the file have been read."""
        return self._before + self.place

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        end = self.place + count
        if end > len(self.buffer):
            self._fill(count)
            end = self.place + count
        taken = self.buffer[self.place : end]
        self.place = end
        return taken

    def byte(self) -> int:
        if self.place >= len(self.buffer):
            self._fill(1)
        self.place += 1
        return self.buffer[self.place - 1]

    def line(self) -> bytes:
        """Up to the next line feed, without it."""
        start = self.place
        while (end := self.buffer.find(b"\n", start)) < 0:
            if len(self.buffer) - self.place > LONGEST_WORDS:
                raise SnapshotError(text("it is damaged: a line of it has no end"))
            searched = len(self.buffer) - self.place
            self._fill(searched + 1)
            start = self.place + searched
        taken = self.buffer[self.place : end]
        self.place = end + 1
        return taken

    def peek(self, count: int) -> None:
        """Has `count` bytes in `buffer` from `place` on, or all that are left."""
        while len(self.buffer) - self.place < count and (piece := self._more()):
            self._before += self.place
            self.buffer, self.place = self.buffer[self.place :] + piece, 0

    def _fill(self, count: int) -> None:
        """Has `count` bytes from `place` on; raises where the file ends before."""
        pieces = [self.buffer[self.place :]]
        have = len(pieces[0])
        while have < count:
            piece = self._more()
            if not piece:
                raise SnapshotError(text("it is cut off: it ends after {bytes} bytes, in the middle", bytes=self.position + have))
            pieces.append(piece)
            have += len(piece)
        self._before += self.place
        self.buffer, self.place = b"".join(pieces), 0
