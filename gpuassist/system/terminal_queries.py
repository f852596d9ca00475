"""What a terminal says of itself when a program asks it: shells and prompts send such queries at their start, and wait.

fish 4.1 and later waits up to ten seconds for the primary device attributes; tmux, vim and prompts ask for the cursor, the
colours and the version (XTerm Control Sequences; https://fishshell.com/docs/current/terminal-compatibility.html).
"""

from __future__ import annotations

import re
from collections.abc import Callable

ROWS, COLUMNS = 24, 80
_LONGEST_QUERY = 256
_END = rb"(?:\x07|\x1b\\)"


def _colour(found: re.Match[bytes]) -> bytes:
    shade = b"ffff" if found[1] == b"10" else b"0000"  # light on dark, as most terminals start
    return b"\x1b]%s;rgb:%s\x1b\\" % (found[1], b"/".join((shade, shade, shade)))


_ANSWERS: tuple[tuple[bytes, Callable[[re.Match[bytes]], bytes]], ...] = (
    (rb"\x1b\[0?c|\x1bZ", lambda _: b"\x1b[?62;22c"),  # DA1: a VT220 with colours
    (rb"\x1b\[>0?c", lambda _: b"\x1b[>41;390;0c"),  # DA2
    (rb"\x1b\[=0?c", lambda _: b"\x1bP!|00000000\x1b\\"),  # DA3
    (rb"\x1b\[5n", lambda _: b"\x1b[0n"),  # DSR
    (rb"\x1b\[(\??)6n", lambda found: b"\x1b[%s1;1R" % found[1]),  # CPR
    (rb"\x1b\](1[0-2]);\?" + _END, _colour),
    (rb"\x1b\](4;\d+);\?" + _END, _colour),
    (rb"\x1b\[>0?q", lambda _: b"\x1bP>|XTerm(390)\x1b\\"),  # XTVERSION
    (rb"\x1b\[(\??\d+)\$p", lambda found: b"\x1b[%s;0$y" % found[1]),  # DECRQM: a mode that is not known here
    (rb"\x1b\[\?u", lambda _: b"\x1b[?0u"),  # the keyboard protocol of kitty: none of it is on
    (rb"\x1bP\+q([0-9A-Fa-f;]*)\x1b\\", lambda found: b"\x1bP0+r%s\x1b\\" % found[1]),  # XTGETTCAP
    (rb"\x1bP\$q[^\x1b]*\x1b\\", lambda _: b"\x1bP0$r\x1b\\"),  # DECRQSS
    (rb"\x1b\[18t", lambda _: b"\x1b[8;%d;%dt" % (ROWS, COLUMNS)),
    (rb"\x1b\[14t", lambda _: b"\x1b[4;%d;%dt" % (ROWS * 20, COLUMNS * 10)),
)
_QUERIES = re.compile(b"|".join(b"(?P<q%d>%s)" % (number, query) for number, (query, _) in enumerate(_ANSWERS)))
_EACH = tuple((re.compile(query), answer) for query, answer in _ANSWERS)


class Queries:
    """Reads what is printed on the terminal, piece by piece, and says what is to be typed back."""

    def __init__(self) -> None:
        self._rest = b""

    def answers(self, piece: bytes) -> bytes:
        """The answers to all queries that end in this piece, in their order."""
        if not self._rest and b"\x1b" not in piece:
            return b""
        printed = self._rest + piece
        answers, end = b"", 0
        for found in _QUERIES.finditer(printed):
            number = int((found.lastgroup or "q0")[1:])
            query, answer = _EACH[number]
            whole = query.fullmatch(found[0])
            answers += answer(whole) if whole else b""
            end = found.end()
        # A query may come in two pieces: what is begun and not ended is looked at again with the next one.
        opened = max(printed.rfind(b"\x1bP", end), printed.rfind(b"\x1b]", end))
        if opened < 0 or b"\x07" in printed[opened:] or b"\x1b\\" in printed[opened:]:
            opened = printed.rfind(b"\x1b", end)
        self._rest = printed[opened:] if opened >= 0 and len(printed) - opened < _LONGEST_QUERY else b""
        return answers
