"""The log of a running step on disk: every line as it stood in the end, up to a bound, and from there on the last ones."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable

from gpuassist.formats.printed import Printed
from gpuassist.formats.visible import on_one_line
from gpuassist.system.disk import Disk

_log = logging.getLogger(__name__)

AT_MOST_BYTES = 32 << 20
_TAIL_LINES = 2_000
_WITHIN_REACH = 24  # a program draws its progress over as many lines as a terminal shows, so these may change
_BATCH = 512


class RunLog:
    """Made for one step; a line reaches the disk when no progress can be drawn over it any more, all of them when it is closed."""

    def __init__(self, disk: Disk, path: str, at_most: int = AT_MOST_BYTES) -> None:
        self._disk, self.path, self._left = disk, path, at_most
        self._waiting: list[str] = []
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._unfinished = ""
        self.left_out = 0
        self.trouble = ""
        self._try(lambda: disk.create(path))

    def note(self, line: str) -> None:
        """A line of our own: which program is started, how it ended."""
        self._settle(0)
        self._waiting.append(on_one_line(line))
        self._settle(0)

    def add(self, printed: Printed) -> None:
        """A line that a program printed."""
        if printed.back:
            del self._waiting[-printed.back :]
        if not printed.ended:
            self._unfinished = on_one_line(printed.text)
            return
        self._unfinished = ""
        self._waiting.append(on_one_line(printed.text))
        if len(self._waiting) > _BATCH:
            self._settle(_WITHIN_REACH)

    def close(self) -> None:
        """Writes what is left, and says how much was left out."""
        self._settle(0)
        if self._tail:
            self.left_out -= len(self._tail)
            between = f"[... {self.left_out} lines left out ...]\n" if self.left_out else ""
            self._write(between + "".join(f"{line}\n" for line in self._tail))
            self._tail.clear()

    def _settle(self, keep: int) -> None:
        ready = self._waiting[: len(self._waiting) - keep]
        del self._waiting[: len(ready)]
        if not keep and self._unfinished:
            ready.append(self._unfinished)
            self._unfinished = ""
        fits = []
        for line in ready:
            if self._left <= 0:
                self._tail.append(line)
                self.left_out += 1
                continue
            self._left -= len(line.encode()) + 1
            fits.append(f"{line}\n")
        self._write("".join(fits))

    def _write(self, words: str) -> None:
        if words:
            self._try(lambda: self._disk.append(self.path, words.encode("utf-8", "replace")))

    def _try(self, write: Callable[[], None]) -> None:
        """A full disk is no reason to end a step in its middle: the log ends there, and says so."""
        if self.trouble:
            return
        try:
            write()
        except OSError as error:
            self.trouble = error.strerror or str(error)
            _log.info("%s ends here: %s", self.path, self.trouble)
