"""What somebody pastes or pipes becomes plain text: decoded, no colours or progress bars, one line end, no more than is read."""

from __future__ import annotations

import codecs
import re
from collections import Counter, deque

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

# Of a larger text its beginning, where a machine is described, and its end, where it failed, are read.
_BEGINNING = 1 << 20
_END = 3 << 20
_LONG = 128 << 10  # characters from which on a text is thinned
_REPEATS = 10  # of a line that stay at its beginning and at its end
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# ECMA-48: CSI sequences, then strings (OSC, DCS, PM, APC, SOS) up to BEL or ST on the same line, then two-character escapes.
_ESCAPES = lazy_regex(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?|\x1b[ -/]{0,4}[0-~]"
)
_CONTROLS = lazy_regex(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufeff\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Python reads no whole number of more than 4300 digits, and takes one of 309 for infinite: what has so many is none. The lookbehind
# keeps the search from beginning anew at every digit of a run.
_ENDLESS_NUMBERS = lazy_regex(r"\d(?<!\d\d)\d{99,}")
_DIGITS_IN_A_ROW = lazy_regex(r"\d{4}")
_SAMPLE = 64 << 10
_HANZI = lazy_regex(rb"[\xa1-\xa3\xb0-\xf7][\xa1-\xfe]")
_FEWEST_HANZI = 2
_MOST_CONTROLS = 0.04  # share of control characters from which on something is no text: programs 0.2, packed files 0.1, logs 0.001
_FEW_CONTROLS = 8  # a short text may hold so many


def read_paste(data: bytes | str) -> Paste:
    """The text of the bytes; no words where they are no text at all."""
    gathered = Gathering()
    gathered.add(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return gathered.paste()


class Gathering:
    """Takes a text piece by piece, however long it is, and keeps what is read of it."""

    def __init__(self) -> None:
        self._beginning = b""
        self._end: deque[bytes] = deque()
        self._held = 0  # bytes of the end
        self._dropped = 0

    def add(self, piece: bytes) -> None:
        missing = _BEGINNING - len(self._beginning)
        self._beginning += piece[:missing]
        rest = piece[missing:]
        if rest:
            self._end.append(rest)
            self._held += len(rest)
        while self._end and self._held - len(self._end[0]) >= _END:
            gone = self._end.popleft()
            self._held -= len(gone)
            self._dropped += len(gone)

    def skip(self, count: int) -> None:
        self._dropped += count

    def paste(self) -> Paste:
        end = b"".join(self._end)
        over = max(0, len(end) - _END) // 4 * 4  # whole characters in every encoding with wide ones
        return _read(self._beginning, end[over:], self._dropped + over)


def _read(beginning: bytes, end: bytes, left_out: int) -> Paste:
    whole = beginning + end
    encoding = next((name for mark, name in _ENCODINGS if whole.startswith(mark)), "") or _without_mark(whole)
    middle = len(whole) // 2 // 4 * 4
    samples = (whole[:_SAMPLE], whole[middle : middle + _SAMPLE], whole[-_SAMPLE:]) if len(whole) > _SAMPLE else (whole,)
    codec = "latin-1" if encoding == "utf-8" else _unmarked(whole, encoding)
    words = "".join(sample.decode(codec, "replace") for sample in samples)
    odd = sum(1 for one in words if (one < " " and one not in _SEEN_IN_TEXT) or one == "\ufffd")
    if odd > max(_FEW_CONTROLS, len(words) * _MOST_CONTROLS):
        return Paste("", len(whole) + left_out)
    if not left_out:
        return Paste(_thinned(_plain(_decoded(whole, encoding))))
    # Between the two a line is cut in both.
    first = _decoded(beginning, encoding).rpartition("\n")[0]
    last = _decoded(end, _unmarked(beginning, encoding)).partition("\n")[2]
    return Paste(_thinned(_plain(f"{first}\n\n{last}")), left_out)


def _thinned(words: str) -> str:
    """A long log without what it says again and again: of a line that stands there many times only the first and the last ones
    stay, and the others become empty, so that every line keeps its number.
    """
    if len(words) <= _LONG:
        return words
    lines = words.split("\n")
    left, seen = Counter(lines), Counter[str]()
    for place, line in enumerate(lines):
        seen[line] += 1
        left[line] -= 1
        if seen[line] > _REPEATS and left[line] >= _REPEATS:
            lines[place] = ""
    return "\n".join(lines)


def _plain(words: str) -> str:
    if "\x1b" in words or "\x9b" in words:
        words = _ESCAPES.sub("", words)
    words = words.replace("\r\n", "\n").replace("\x0b", "\n").replace("\x85", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    if "\r" in words:
        words = "\n".join(_last_state(line) for line in words.split("\n"))
    words = _without_backspaces(words) if "\b" in words else words
    words = _CONTROLS.sub("", words.replace("\xa0", " "))
    # Every twentieth character tells whether there can be any: 10 instead of 270 ms for the longest text.
    return _ENDLESS_NUMBERS.sub("…", words) if _DIGITS_IN_A_ROW.search(words[::20]) else words


def _last_state(line: str) -> str:
    """What a line that was rewritten again and again shows in the end: a progress bar is drawn after each carriage return.

    A file with the line ends of old Macs is rewritten nowhere: all of it would be one line.
    """
    states = [state for state in line.split("\r") if state.strip()]
    if not states:
        return ""
    drawn = sum(1 for state in states[:20] if _PROGRESS.search(state[:400]))
    return states[-1] if len(states) > 1 and drawn * 2 > min(len(states), 20) else "\n".join(states)


_PROGRESS = lazy_regex(r"\d{1,3}(?:\.\d+)?\s?%|\d+\s?/\s?\d+|[|/\\-]$|\d+(?:\.\d+)?\s?[kKMG]i?B|it/s|s/it|[━█▏▎▍▌▋▊▉#=]{3}")


def _without_backspaces(words: str) -> str:
    """Overstruck words (`man`, spinners) as they are seen."""
    for _ in range(8):
        shorter = re.sub(r"[^\b\n]\x08", "", words)
        if shorter == words:
            break
        words = shorter
    return words


def _decoded(data: bytes, encoding: str) -> str:
    if encoding != "utf-8":
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    sample = data[:_SAMPLE]
    lost = sample.decode("utf-8", "replace").count("\ufffd")
    if lost * 4 <= sum(1 for byte in sample if byte > 0x7F):  # a few damaged places of what is UTF-8 all the same
        return data.decode("utf-8", "replace")
    return data.decode("gb18030", "replace") if _is_chinese(data) else data.decode("latin-1")


def _is_chinese(data: bytes) -> bool:
    """Whether what is no UTF-8 is the Chinese of a Windows console: GB2312's rows of signs and hanzi, two bytes each.

    GB18030 itself takes nearly every pair of bytes for some character; letters with accents mostly stand alone.
    """
    sample = data[:_SAMPLE]
    pairs = len(_HANZI.findall(sample))
    return pairs >= _FEWEST_HANZI and pairs * 2 * 10 >= sum(1 for byte in sample if byte > 0x7F) * 9


def _without_mark(data: bytes) -> str:
    """UTF-16 without a mark shows by its zeros: every other byte of Latin text."""
    sample = data[: _SAMPLE // 2 * 2]
    odd, even = sample[1::2].count(0), sample[::2].count(0)
    if len(sample) >= 4 and max(odd, even) * 5 > len(sample) * 2:
        return "utf-16-le" if odd > even else "utf-16-be"
    return "utf-8"


def _unmarked(data: bytes, encoding: str) -> str:
    if encoding in {"utf-16", "utf-32"}:
        return encoding + ("-le" if data[:1] == b"\xff" else "-be")
    return "utf-8" if encoding == "utf-8-sig" else encoding


_SEEN_IN_TEXT = frozenset("\t\n\r\x0b\x0c\b\x1b")
