"""The repair of a start-up file as a pure function of its bytes: lines retired and one block written, or both taken back.

`write(write(x)) == write(x)`, `take_back(write(x)) == x`, and every byte outside the retired lines and the block stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gpuassist.repair.block import Block, find, render

_MARK = b"# gpuassist retired "
_NO_OPERATION = b": "  # a branch or function whose only line is a comment is a syntax error (conda issue 11030)


@dataclass(frozen=True, slots=True)
class Lines:
    """Whole lines to retire; `nested` where they stand in a construct that may not become empty."""

    first_byte: int
    end_byte: int
    nested: bool


def write(content: bytes, block: tuple[bytes, ...], retire: Iterable[Lines], change: str) -> bytes:
    """The file with these lines retired and this block as its last lines; the same bytes where nothing is left to do."""
    retire = sorted(retire, key=lambda lines: lines.first_byte)
    present = find(content)
    if present and present.lines == block and not content[present.end_byte :] and not retire:
        return content
    kept = _without_block(_retired(content, retire, change))
    added = _line_ends_needed(kept)
    return kept + b"\n" * added + render(change, added, block)


def take_back(content: bytes, change: str = "", earlier: Block | None = None) -> bytes:
    """The file without what a change wrote, or without all that gpuassist ever wrote where `change` is empty.

    Where the change's block had taken the place of an `earlier` one, that one comes back.
    """
    present = find(content)
    if present is not None and change in {"", present.change}:
        kept = _without_block(content)
        if earlier is not None:
            added = _line_ends_needed(kept)
            kept += b"\n" * added + render(earlier.change, added, earlier.lines)
        content = kept
    return b"\n".join(_restored(line, change) for line in content.split(b"\n")) if _MARK in content else content


def mentions(content: bytes, change: str) -> bool:
    """Whether something in the file was written by this change: its block, or a line that it retired."""
    present = find(content)
    retired = any(_mark_of(line) == change for line in content.split(b"\n"))
    return retired or (present is not None and present.change == change)


def _retired(content: bytes, retire: list[Lines], change: str) -> bytes:
    parts: list[bytes] = []
    done = 0
    for lines in retire:
        parts.append(content[done : lines.first_byte])
        parts.extend(_comment(content[lines.first_byte : lines.end_byte], lines, change))
        done = lines.end_byte
    return b"".join((*parts, content[done:]))


def _comment(statement: bytes, lines: Lines, change: str) -> list[bytes]:
    mark = _MARK + change.encode() + b": "
    rows = statement.split(b"\n")
    ended = rows.pop() == b""
    if not ended:
        rows = statement.split(b"\n")
    marked = [(_NO_OPERATION if lines.nested and not number else b"") + mark + row for number, row in enumerate(rows)]
    return [b"\n".join(marked), b"\n" if ended else b""]


def _restored(line: bytes, change: str) -> bytes:
    found = _mark_of(line)
    if not found or change not in {"", found}:
        return line
    return line[line.index(_MARK) + len(_MARK) + len(found) + len(b": ") :]


def _mark_of(line: bytes) -> str:
    rest = line.removeprefix(_NO_OPERATION)
    if not rest.startswith(_MARK):
        return ""
    change, colon, _ = rest[len(_MARK) :].partition(b": ")
    return change.decode("ascii", "replace") if colon and b" " not in change else ""


def _without_block(content: bytes) -> bytes:
    block = find(content)
    if block is None:
        return content
    before, after = content[: block.first_byte], content[block.end_byte :]
    # The line end in front was ours only as long as nothing follows: now it parts the user's last line from what was added below.
    return before[: len(before) - block.added] if not after else before + after


def _line_ends_needed(content: bytes) -> int:
    if not content:
        return 0
    ended = content.endswith(b"\n")
    rows = content.removesuffix(b"\n")
    # A backslash at the end joins the next line to this one: an empty line must come between.
    joined = (len(rows) - len(rows.rstrip(b"\\"))) % 2 == 1
    return (0 if ended else 1) + (1 if joined else 0)
