"""The one managed block of a start-up file: its markers, the lines it holds, and where it stands in a file's bytes.

Its lines run in every new shell, so they start no process and leave no variable behind. Its comments hold no back-ticks and no
`$(`: inside an unfinished here-document they would be run.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text

VERSION = 1
_BEGIN = b"# >>> gpuassist "
_END = b"# <<< gpuassist <<<"
_PLAIN = lazy_regex(r"[A-Za-z0-9_./,+@%=-]+")


class RepairError(Exception):
    """A repair that cannot be made, or taken back, as asked; `reason` is what the user must know."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class Block(Struct, frozen=True):
    """The managed block in a file: `change` is the id of the change that wrote it, `added` the line ends put in front of it."""

    change: str
    added: int
    lines: tuple[bytes, ...]
    first_byte: int
    end_byte: int


def quoted(path: str) -> bytes:
    """The path as one word that a shell takes as it is: plain where that is so without quotes, as people write it."""
    if _PLAIN.fullmatch(path):
        return path.encode()
    return b"'" + path.encode("utf-8", "surrogateescape").replace(b"'", b"'\\''") + b"'"


def render(change: str, added: int, lines: tuple[bytes, ...]) -> bytes:
    """The block's bytes, its markers included; LF alone ends its lines, because bash takes a CR for a part of the word."""
    begin = _BEGIN + f'version={VERSION} change={change} added={added} ("gpuassist undo" takes these lines out again) >>>'.encode()
    return b"\n".join((begin, *lines, _END, b""))


def find(content: bytes) -> Block | None:
    """The managed block of a file, none where it has none; raises `RepairError` where its markers do not pair up."""
    begins = _line_starts(content, _BEGIN)
    ends = _line_starts(content, _END)
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise RepairError(_unbalanced(content, begins, ends))
    place = begins[0]
    words = content[place + len(_BEGIN) : _line_end(content, place)].decode("ascii", "replace").split()
    said = dict(word.split("=", 1) for word in words if "=" in word)
    if said.get("version") != str(VERSION) or not said.get("change") or said.get("added") not in {"0", "1", "2"}:
        line = _line_number(content, place)
        raise RepairError(text("line {line} begins a block of another version of gpuassist; nothing was changed", line=line))
    change, added = (said["change"], int(said["added"]))
    end = _line_end(content, ends[0])
    lines = content[begins[0] : ends[0]].split(b"\n")[1:-1]
    return Block(change, added, tuple(lines), begins[0], end)


def require_plain(path: str) -> None:
    """Raises `RepairError` for a toolkit's path that no line of a start-up file can hold."""
    if any(sign in path for sign in "\n\r\0"):
        raise RepairError(
            text("the toolkit's path {path} holds a line end or a NUL: no line of a file can hold it", path=repr(path))
        )
    if ":" in path:
        raise RepairError(text("the toolkit's path {path} holds a colon, which separates the directories of PATH", path=path))
    if not path.startswith("/") or not path.strip("/"):
        raise RepairError(text("{path} is not the directory of a toolkit", path=path or "''"))


def _line_starts(content: bytes, marker: bytes) -> list[int]:
    starts: list[int] = []
    place = content.find(marker)
    while place >= 0:
        if place == 0 or content[place - 1 : place] == b"\n":
            starts.append(place)
        place = content.find(marker, place + 1)
    return starts


def _line_end(content: bytes, place: int) -> int:
    end = content.find(b"\n", place)
    return len(content) if end < 0 else end + 1


def _unbalanced(content: bytes, begins: list[int], ends: list[int]) -> Text:
    places = ", ".join(str(_line_number(content, place)) for place in sorted([*begins, *ends]))
    return text(
        "gpuassist's own markers in this file do not pair up ({begins} that begin, {ends} that end; line numbers: {places}). "
        "Nothing was changed: please leave one block or take the marker lines out, then try again.",
        begins=len(begins),
        ends=len(ends),
        places=places,
    )


def _line_number(content: bytes, place: int) -> int:
    return content.count(b"\n", 0, place) + 1
