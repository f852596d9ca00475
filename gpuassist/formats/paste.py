"""What somebody pastes or pipes becomes plain text: decoded, no colours or progress bars, one line end, no more than is read."""

from __future__ import annotations

import codecs
import re

from gpuassist.model.paste import Paste

MOST_BYTES = 4 << 20
"""Of a larger text its beginning, where a machine is described, and its end, where it failed, are read."""

_BEGINNING = 1 << 20
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# ECMA-48: CSI sequences, then strings (OSC, DCS, PM, APC, SOS) up to BEL or ST on the same line, then two-character escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)?|\x1b[ -/]{0,4}[0-~]"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufeff\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SAMPLE = 64 << 10
_MOST_CONTROLS = 0.1  # share of control characters from which on something is no text: programs 0.2 and more, logs below 0.01


def read_paste(data: bytes | str) -> Paste:
    """The text of the bytes; no words where they are no text at all."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not data or _is_binary(data):
        return Paste("", len(data))
    kept, left_out = _kept(data)
    return Paste(_plain(kept), left_out)


def _plain(words: str) -> str:
    if "\x1b" in words or "\x9b" in words:
        words = _ESCAPES.sub("", words)
    words = words.replace("\r\n", "\n").replace("\x0b", "\n").replace("\x85", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    if "\r" in words:
        words = "\n".join(_last_state(line) for line in words.split("\n"))
    words = _without_backspaces(words) if "\b" in words else words
    return _CONTROLS.sub("", words.replace("\xa0", " "))


def _last_state(line: str) -> str:
    """What a line that was rewritten again and again shows in the end: a progress bar is drawn after each carriage return.

    A file with the line ends of old Macs is rewritten nowhere: all of it would be one line.
    """
    states = [state for state in line.split("\r") if state.strip()]
    if not states:
        return ""
    return states[-1] if _is_progress(states) else "\n".join(states)


_PROGRESS = re.compile(r"\d{1,3}(?:\.\d+)?\s?%|\d+\s?/\s?\d+|[|/\\-]$|\d+(?:\.\d+)?\s?[kKMG]i?B|it/s|s/it|[━█▏▎▍▌▋▊▉#=]{3}")


def _is_progress(states: list[str]) -> bool:
    return len(states) > 1 and sum(1 for state in states[:20] if _PROGRESS.search(state[:400])) * 2 > min(len(states), 20)


def _without_backspaces(words: str) -> str:
    """Overstruck words (`man`, spinners) as they are seen."""
    for _ in range(8):
        shorter = re.sub(r"[^\b\n]\x08", "", words)
        if shorter == words:
            break
        words = shorter
    return words


def _kept(data: bytes) -> tuple[str, int]:
    encoding = next((name for mark, name in _ENCODINGS if data.startswith(mark)), "") or _without_mark(data)
    if len(data) <= MOST_BYTES:
        return _decoded(data, encoding), 0
    # Four bytes hold a whole character in every one of these encodings; lines are cut where they end.
    beginning = _decoded(data[:_BEGINNING], encoding)
    end = _decoded(data[len(data) - (MOST_BYTES - _BEGINNING) // 4 * 4 :], _unmarked(data, encoding))
    return beginning.rpartition("\n")[0] + "\n\n" + end.partition("\n")[2], len(data) - MOST_BYTES


def _decoded(data: bytes, encoding: str) -> str:
    if encoding != "utf-8":
        return data.decode(encoding, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # A cut through a character at either end says nothing of the encoding.
        if error.start > 3 and error.end < len(data) - 3 and _is_latin(data):
            return data.decode("latin-1")
        return data.decode("utf-8", "replace")


def _is_latin(data: bytes) -> bool:
    """Whether more is lost as UTF-8 than a few damaged places."""
    sample = data[:_SAMPLE]
    lost = sample.decode("utf-8", "replace").count("\ufffd")
    return lost * 4 > sum(1 for byte in sample if byte > 0x7F)


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


def _is_binary(data: bytes) -> bool:
    if any(data.startswith(mark) for mark, _ in _ENCODINGS) or _without_mark(data) != "utf-8":
        words = _decoded(data[:_SAMPLE], next((name for mark, name in _ENCODINGS if data.startswith(mark)), _without_mark(data)))
        return _share(words) > _MOST_CONTROLS
    middle = len(data) // 2
    samples = (data[:_SAMPLE], data[middle : middle + _SAMPLE], data[-_SAMPLE:])
    return sum(_share(sample.decode("latin-1")) for sample in samples) / len(samples) > _MOST_CONTROLS


_SEEN_IN_TEXT = frozenset("\t\n\r\x0b\x0c\b\x1b")


def _share(words: str) -> float:
    odd = sum(1 for one in words if (one < " " and one not in _SEEN_IN_TEXT) or one == "\ufffd")
    return odd / len(words) if words else 0.0
