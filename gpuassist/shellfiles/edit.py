"""The repair of a start-up file as a pure function of its bytes: words replaced, lines commented out, one block written, or taken
back.

Every byte outside the changed words, lines and the block stays. A comment or a block says which change made it and is taken back by
that mark; a replaced word carries none (its owner sees three characters change), and the journal takes it back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.shellfiles.block import Block, find, render

_MARK = b"# gpuassist retired "
_NO_OPERATION = b": "  # a branch or function whose only line is a comment is a syntax error (conda issue 11030)
# Left by versions before 1.1 behind a line of theirs; words are replaced without a mark now (decision 9).
_REWRITTEN = b" # gpuassist rewrote "


class Lines(Struct, frozen=True):
    """Whole lines to comment out; `nested` where they stand in a construct that may not become empty."""

    first_byte: int
    end_byte: int
    nested: bool = False


class Replacement(Struct, frozen=True):
    """Bytes that take the place of others: the owner sees no other change in the line."""

    first_byte: int
    end_byte: int
    new: bytes


class LineChanges(Struct, frozen=True):
    """What becomes of a file's own lines."""

    commented: tuple[Lines, ...] = ()
    replaced: tuple[Replacement, ...] = ()

    def within(self, first_byte: int, end_byte: int) -> LineChanges:
        """Those of a part of the file, counted from its beginning."""
        inside = range(first_byte, end_byte)
        return LineChanges(
            tuple(
                replace(one, first_byte=one.first_byte - first_byte, end_byte=one.end_byte - first_byte)
                for one in self.commented
                if one.first_byte in inside
            ),
            tuple(
                replace(one, first_byte=one.first_byte - first_byte, end_byte=one.end_byte - first_byte)
                for one in self.replaced
                if one.first_byte in inside
            ),
        )


def write(content: bytes, block: tuple[bytes, ...], lines: LineChanges, change: str, *, place: int | None = None) -> bytes:
    """The file with these lines changed and this block at `place`, the start of a line, none for the end; with no block where that
    is empty; the same bytes where nothing is left to do.
    """
    place = len(content) if place is None else place
    head, tail = content[:place], content[place:]
    head = _without_block(change_lines(head, lines.within(0, place), change), more=bool(tail))
    tail = _without_block(change_lines(tail, lines.within(place, len(content) + 1), change))
    if not block:
        return head + tail
    added = _line_ends_needed(head)
    present = find(content)
    if present and present.lines == block:
        same = head + b"\n" * present.added + render(present.change, present.added, block) + tail
        if same == content:
            return content
    return head + b"\n" * added + render(change, added, block) + tail


def change_lines(content: bytes, lines: LineChanges, change: str) -> bytes:
    """The file with these lines changed; its block stays as it is."""
    steps: list[Lines | Replacement] = [*lines.commented, *lines.replaced]
    parts: list[bytes] = []
    done = 0
    for one in sorted(steps, key=lambda one: (one.first_byte, -one.end_byte)):
        if one.first_byte < done:
            continue  # a word of a line that is commented out, or of two statements that share it
        parts.append(content[done : one.first_byte])
        if isinstance(one, Replacement):
            parts.append(one.new)
        else:
            statement = content[one.first_byte : one.end_byte]
            mark = _MARK + change.encode() + b": "
            rows = statement.split(b"\n")
            end = [rows.pop()] if rows[-1] == b"" else []
            marked = [(_NO_OPERATION if one.nested and not number else b"") + mark + row for number, row in enumerate(rows)]
            parts.append(b"\n".join([*marked, *end]))
        done = one.end_byte
    return b"".join((*parts, content[done:]))


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
    if _MARK not in content and _REWRITTEN not in content:
        return content
    return b"\n".join(_taken_back(content.split(b"\n"), change))


def mentions(content: bytes, change: str) -> bool:
    """Whether something in the file was written by this change: its block, or a line that it retired or rewrote."""
    present = find(content)
    written = any(change in {_mark_of(line), rewritten_by(line)} for line in content.split(b"\n"))
    return written or (present is not None and present.change == change)


def rewritten_by(line: bytes) -> str:
    """The change that wrote this line in the place of another; empty where none did."""
    _, found, change = line.rpartition(_REWRITTEN)
    return change.rstrip(b"\r").decode("ascii", "replace") if found and change and b" " not in change else ""


def bare(line: bytes) -> bytes:
    """A line without the marks of the changes that retired it, and without the CR of its line end."""
    inner, by = _inner(line.rstrip(b"\r"))
    return bare(inner) if by else inner


def _taken_back(rows: list[bytes], change: str) -> Iterator[bytes]:
    place = 0
    while place < len(rows):
        written, by = _inner(rows[place])
        if change in {"", by} and by:
            originals, place = _run(rows, place, _mark_of, by)
            instead, place = _run(rows, place, rewritten_by, by)
            yield from _restored([_inner(row)[0] for row in originals], instead if change else [])
            continue
        if not rewritten_by(written) or change not in {"", rewritten_by(written)}:
            yield rows[place]
        place += 1


def _run(rows: list[bytes], place: int, change_of: Callable[[bytes], str], change: str) -> tuple[list[bytes], int]:
    end = place
    while end < len(rows) and change_of(rows[end]) == change:
        end += 1
    return rows[place:end], end


def _restored(originals: list[bytes], instead: list[bytes]) -> Iterator[bytes]:
    """The retired rows as they were; where a later change has retired what stood instead of them, it keeps them retired."""
    marks = [row[: len(row) - len(_inner(row)[0])] for row in instead if _mark_of(row)]
    last = len(originals) - 1
    while last > 0 and originals[last - 1].endswith(b"\\"):  # one statement, over lines that a backslash joins
        last -= 1
    for number, row in enumerate(originals):
        yield marks[0] + row if marks and number >= last else row


def _inner(row: bytes) -> tuple[bytes, str]:
    """What a row holds behind the mark of the change that retired it, and that change."""
    by = _mark_of(row)
    return (row[row.index(_MARK) + len(_MARK) + len(by) + len(b": ") :], by) if by else (row, "")


def _mark_of(line: bytes) -> str:
    rest = line.removeprefix(_NO_OPERATION)
    if not rest.startswith(_MARK):
        return ""
    change, colon, _ = rest[len(_MARK) :].partition(b": ")
    return change.decode("ascii", "replace") if colon and b" " not in change else ""


def _without_block(content: bytes, *, more: bool = False) -> bytes:
    """The file without its block; `more` where something follows all the same."""
    block = find(content)
    if block is None:
        return content
    before, after = content[: block.first_byte], content[block.end_byte :]
    # The line end in front was ours only as long as nothing follows: now it parts the user's last line from what was added below.
    return before[: len(before) - block.added] if not (after or more) else before + after


def _line_ends_needed(content: bytes) -> int:
    if not content:
        return 0
    ended = content.endswith(b"\n")
    rows = content.removesuffix(b"\n")
    # A backslash at the end joins the next line to this one: an empty line must come between.
    joined = (len(rows) - len(rows.rstrip(b"\\"))) % 2 == 1
    return (0 if ended else 1) + (1 if joined else 0)
