"""What a program prints on a terminal, as lines: progress that draws over itself is followed as far up as a terminal's page."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

LINE_AT_MOST = 1 << 14
"""Characters: a longer line is broken there."""
WITHIN_REACH = 24
"""Finished lines that a program may still draw over."""

_TOKEN = lazy_regex(
    r"""\x1b\[(?P<number>\d*)[0-?]*[ -/]*(?P<does>[@-~])  # CSI: moving, erasing, colours
    | \x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)              # OSC and its like: titles, links
    | \x1b[ -/]*[0-~]                                      # the short ones
    | (?P<control>[\x00-\x08\x0a-\x1f\x7f-\x9f])
    | (?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)
    """,
    re.VERBOSE,
)
_CUT = lazy_regex(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b]{0,200}\x1b?|[ -/]*)?\Z")  # an escape whose end has not come yet
# A state of progress that the next one erases whole: seen by nobody, and a quick program prints a hundred a piece.
_SUPERSEDED = lazy_regex(r"\r\x1b\[2K(?:[^\x00-\x08\x0a-\x1f\x7f-\x9f]|\x1b\[[0-9;]*m)*(?=\r\x1b\[2K)")
_NOT_PLAIN = lazy_regex(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Printed(Struct, frozen=True):
    """A line, which takes the place of an unfinished one before it, and of `back` finished ones where the program went up there."""

    text: str
    ended: bool = True
    back: int = 0


class PrintedLines:
    """Puts pieces of output together to lines; it keeps no more than a terminal shows at once."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._cut = ""
        self._rows = [""]
        self._row = self._column = 0
        self._told = 0  # rows that were told as finished
        self._shown = ""  # the unfinished one as it was told last
        self._changed = 0  # the uppermost row that was drawn on since

    def feed(self, piece: bytes) -> list[Printed]:
        """The lines that this piece finishes or changes, and last the unfinished one where it changed."""
        words = self._cut + self._decoder.decode(piece)
        cut = _CUT.search(words, max(0, len(words) - 256))
        self._cut = words[cut.start() :] if cut else ""
        self._draw(words[: len(words) - len(self._cut)])
        return self._tell()

    def close(self) -> list[Printed]:
        """The last line, where it was never finished."""
        self._draw(self._decoder.decode(b"", final=True))
        told = self._tell()
        if self._rows[-1]:
            told.append(Printed(self._rows[-1]))
        self._rows, self._row, self._column, self._told, self._shown, self._changed = [""], 0, 0, 0, "", 0
        return told

    def _draw(self, words: str) -> None:
        if self._row == len(self._rows) - 1 and self._column == len(self._rows[-1]) and not _NOT_PLAIN.search(words):
            # What most output is: text behind the last.
            first, *others = words.split("\n")
            for place, line in enumerate((first, *others)):
                if place:
                    self._rows.append("")
                room = LINE_AT_MOST - len(self._rows[-1])
                self._rows[-1] += line[:room]
                self._rows += [line[start : start + LINE_AT_MOST] for start in range(room, len(line), LINE_AT_MOST)]
            self._row, self._column = len(self._rows) - 1, len(self._rows[-1])
            return
        for token in _TOKEN.finditer(_SUPERSEDED.sub("", words)):
            if token["text"] is not None:
                self._write(token["text"])
            elif token["control"] is not None:
                control = token["control"]
                if control == "\n":
                    self._newline()
                elif control == "\r":
                    self._column = 0
                elif control == "\b":
                    self._column = max(0, self._column - 1)
            elif token["does"] is not None:
                self._move(token["does"], token["number"])

    def _write(self, words: str) -> None:
        while words:
            if self._column >= LINE_AT_MOST:
                self._newline()
            words, now = words[LINE_AT_MOST - self._column :], words[: LINE_AT_MOST - self._column]
            row = self._rows[self._row]
            self._put(f"{row[: self._column]:<{self._column}}{now}{row[self._column + len(now) :]}")
            self._column += len(now)

    def _newline(self) -> None:
        self._row, self._column = self._row + 1, 0
        if self._row == len(self._rows):
            self._rows.append("")

    def _move(self, does: str, number: str) -> None:
        count = min(int(number[:4] or 1) or 1, LINE_AT_MOST)
        if does in "AF":
            self._row = max(0, self._row - count)
        elif does in "BE":
            self._row = min(len(self._rows) - 1, self._row + count)
        elif does in "CD":
            self._column = max(0, min(LINE_AT_MOST, self._column + (count if does == "C" else -count)))
        elif does in "JK":
            self._erase(does, number or "0")
        if does in "EFG":
            self._column = count - 1 if does == "G" else 0

    def _erase(self, does: str, what: str) -> None:
        row = self._rows[self._row]
        if what == "0":
            self._put(row[: self._column])
            if does == "J":
                del self._rows[self._row + 1 :]
        elif does == "K":
            self._put(" " * self._column + row[self._column :] if what == "1" else "")

    def _put(self, row: str) -> None:
        self._rows[self._row] = row
        self._changed = min(self._changed, self._row)

    def _tell(self) -> list[Printed]:
        while len(self._rows) - 1 > self._row and not self._rows[-1]:
            self._rows.pop()  # erased below, and nothing was written there since
        *ended, last = self._rows
        start = min(self._changed, self._told, len(ended))
        back = self._told - start
        lines = [Printed(row) for row in ended[start:]]
        if last if lines else (last != self._shown or back):
            lines.append(Printed(last, ended=False))
        if lines and back:
            lines[0] = Printed(lines[0].text, lines[0].ended, back)
        self._shown = last
        self._forget(len(ended))
        return lines

    def _forget(self, ended: int) -> None:
        gone = max(0, ended - WITHIN_REACH)
        del self._rows[:gone]
        self._row = max(0, self._row - gone)
        self._told = self._changed = ended - gone


# Whether a program that failed had asked something: its question among the last lines that it printed.


_AT_MOST = 200
_QUESTION = lazy_regex(
    r""".{0,200}? (?: [(\[]\[?y(?:es)?\]?/\[?n(?:o)?\]?[)\]] \s?\??:?   # [y/N], (y/n), conda's ([y]/n)?
    | \b(?:password|passphrase|username|user) \b [^:]{0,80}: (?=\s*(?:$|Traceback))
    | \b(?:proceed|continue|overwrite|are\ you\ sure|replace)\b [^?]{0,80} \?)""",
    re.VERBOSE | re.IGNORECASE,
)
_NOBODY = (
    "EOFError",
    "EOF when reading",
    "end of file",
    "not a terminal",
    "/dev/tty",
    "cannot prompt",
)


def asked(lines: Sequence[str]) -> str:
    """The question that stood at the end, or before the complaint that nobody answers; empty where nothing was asked."""
    said = [line.strip() for line in lines if line.strip()]
    complained = any(word.lower() in line.lower() for line in said for word in _NOBODY)
    for line in reversed(said if complained else said[-1:]):
        found = _QUESTION.match(line)
        if found is not None:
            return found[0][:_AT_MOST].strip()
    return ""
