"""The pipes and terminals between us and a child that runs, served side by side: what it prints, and what it is given."""

from __future__ import annotations

import errno
import os
import selectors
import time
from collections.abc import Callable, Mapping

_PIECE = 1 << 16
_PIPE_AT_MOST_BYTES = 1 << 20  # proc(5), pipe-max-size


class Outputs:
    """The descriptors that a child prints on, each with who takes what comes there."""

    def __init__(self, takers: Mapping[int, Callable[[bytes], None]]) -> None:
        self.selector = selectors.DefaultSelector()
        for descriptor, take in takers.items():
            os.set_blocking(descriptor, False)
            self.selector.register(descriptor, selectors.EVENT_READ, take)

    def feed(self, descriptor: int, given: bytes) -> None:
        """Has `given` written there, as fast as it is read; the descriptor stays open."""
        os.set_blocking(descriptor, False)
        self.selector.register(descriptor, selectors.EVENT_WRITE, memoryview(given))

    def leave(self, descriptor: int) -> None:
        """Has nothing to do with it any more."""
        if self.are_open(descriptor):
            self.selector.unregister(descriptor)

    def are_open(self, *descriptors: int) -> bool:
        """Whether anything may still come, on one of these if any are named."""
        there = self.selector.get_map()
        return any(one in there for one in descriptors) if descriptors else bool(there)

    def serve(self, seconds: float) -> None:
        """Waits for the next pieces, no longer than that, and hands them on."""
        if not self.are_open():  # it closed its output and goes on
            time.sleep(seconds)
            return
        for key, events in self.selector.select(seconds):
            if events & selectors.EVENT_WRITE:
                self._give(key.fd, key.data)
            else:
                self._move(key.fd, key.data)

    def drain(self, seconds: float) -> None:
        """Reads until nobody prints any more, and no longer than that."""
        deadline = time.monotonic() + seconds
        while self.are_open() and time.monotonic() < deadline:
            self.serve(max(0.0, deadline - time.monotonic()))

    def empty(self, descriptor: int) -> None:
        """Takes what stands in a pipe and lets go of it: whoever else holds its other end may do so for ever."""
        take, left = self.selector.get_key(descriptor).data, _PIPE_AT_MOST_BYTES
        while left > 0 and (count := self._move(descriptor, take)):
            left -= count
        self.leave(descriptor)

    def _give(self, descriptor: int, rest: memoryview) -> None:
        try:
            rest = rest[os.write(descriptor, rest[:_PIECE]) :]
        except BlockingIOError:
            return
        except BrokenPipeError:
            rest = rest[:0]  # it ended, or does not want it: what it says tells why
        if rest:
            self.selector.modify(descriptor, selectors.EVENT_WRITE, rest)
        else:
            self.selector.unregister(descriptor)

    def _move(self, descriptor: int, take: Callable[[bytes], None]) -> int:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno != errno.EIO:  # what a terminal says when the last one that printed on it has gone
                raise
            piece = b""
        if piece:
            take(piece)
        else:
            self.selector.unregister(descriptor)
        return len(piece)
