"""What a running step printed, for whoever draws it: a bounded number of lines, and which of them changed since the last look."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from gpuassist.formats.terminal_output import Printed

LINES_AT_MOST = 10_000


class Fresh(Struct, frozen=True):
    """Lines are counted from the first that was ever printed: those before `first` are no longer kept, those from `start` on are to
    be drawn anew and are `lines`.
    """

    first: int
    start: int
    lines: tuple[str, ...]


class RunView:
    """Filled by the thread that runs the step, drawn by another one as often as that likes."""

    def __init__(self, at_most: int = LINES_AT_MOST) -> None:
        self._lines: deque[str] = deque(maxlen=at_most)
        self._count = 0
        self._unfinished = False
        self._changed_from = 0
        self._lock = threading.Lock()

    def add(self, printed: Printed) -> None:
        """One more line, or another state of the unfinished one."""
        self.add_all((printed,))

    def add_all(self, lines: Iterable[Printed]) -> None:
        with self._lock:
            for printed in lines:
                number = self._unfinished + printed.back
                for _ in range(min(number, len(self._lines))):
                    self._lines.pop()
                    self._count -= 1
                self._changed_from = min(self._changed_from, self._count)
                self._lines.append(printed.text)
                self._count += 1
                self._unfinished = not printed.ended

    def take(self) -> Fresh:
        """What is to be drawn since the last time."""
        with self._lock:
            first = self._count - len(self._lines)
            start = max(self._changed_from, first)
            fresh = Fresh(first, start, tuple(islice(self._lines, start - first, None)))
            self._changed_from = self._count
            return fresh

    def lines(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._lines)
