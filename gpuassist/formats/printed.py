"""What a program prints on a terminal, as lines: progress that writes over itself becomes one, colours are left out."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

LINE_AT_MOST = 1 << 14
"""Characters: a longer line is broken there."""

_ESCAPES = re.compile(
    r"""\x1b\[[0-?]*[ -/]*[@-~]            # CSI: colours, erasing, moving
    | \x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)  # OSC and its like: titles, links
    | \x1b[ -/]*[0-~]                      # the short ones
    | [\x00-\x08\x0b-\x1f\x7f-\x9f]        # what else does not print
    """,
    re.VERBOSE,
)
_UP = re.compile(r"\x1b\[(\d*)[AF]")
_CUT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,200}\x1b?)?\Z")  # an escape whose end has not come yet
_UP_AT_MOST = 24


@dataclass(frozen=True, slots=True)
class Printed:
    """A line, which takes the place of an unfinished one before it, and of `back` finished ones where the program went up there."""

    text: str
    ended: bool = True
    back: int = 0


class PrintedLines:
    """Puts pieces of output together to lines; it keeps no more than the line that is not finished."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._shown = ""

    def feed(self, piece: bytes) -> list[Printed]:
        """The lines that this piece finishes, and last the unfinished one where it changed."""
        *whole, rest = (self._pending + self._decoder.decode(piece)).split("\n")
        lines = [part for line in whole for part in _broken(line)]
        *more, rest = _broken(rest)
        cut = _CUT.search(rest)
        tail = rest[cut.start() :] if cut else ""
        now = _line(rest.removesuffix(tail), ended=False)
        changed = now.text != self._shown or bool(whole or more or now.back)
        self._shown = now.text
        self._pending = now.text + ("\r" if rest.removesuffix(tail).endswith("\r") else "") + tail
        ended = [_line(line, ended=True) for line in (*lines, *more)]
        return [*ended, now] if changed and (now.text or now.back or not ended) else ended

    def close(self) -> list[Printed]:
        """The last line, where it was never finished."""
        last, self._pending = _line(self._pending + self._decoder.decode(b"", final=True), ended=True), ""
        return [last] if last.text else []


def _broken(line: str) -> list[str]:
    if len(line) <= LINE_AT_MOST:
        return [line]
    if "\r" in line:  # progress, of which the last counts
        return [line[-LINE_AT_MOST:]]
    return [line[start : start + LINE_AT_MOST] for start in range(0, len(line), LINE_AT_MOST)]


def _line(raw: str, *, ended: bool) -> Printed:
    if raw.isprintable():
        return Printed(raw, ended)
    back = sum(int(one[1] or 1) for one in _UP.finditer(raw))
    segments = (_ESCAPES.sub("", segment) for segment in reversed(raw.split("\r")))
    return Printed(next((segment for segment in segments if segment.strip()), ""), ended, min(back, _UP_AT_MOST))
