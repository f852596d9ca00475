"""What a fish start-up file does to the variables that matter; there is no grammar to install for fish, so this reads it itself
(decision 8).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping

from gpuassist.shellfiles.fish_parse import FishCommand, Parsed, Word, parse
from gpuassist.shellfiles.fish_set import change_of, value_of
from gpuassist.shellfiles.owners import Owners, tool_of
from gpuassist.shellfiles.statements import (
    WATCHED,
    Assignment,
    EarlyEnd,
    Reading,
    Reference,
    SourcedFile,
    Statement,
    StatementPlace,
    ToolLine,
    printable,
)

_ENDING = frozenset({"return", "exit", "exec"})
_INTERACTIVE = ("is-interactive", "status -i", "isatty")
_ASKING = frozenset({"test", "[", "true", "contains", "status"})
_QUERYING = frozenset({"set", "type", "command", "functions", "builtin"})
_QUERIES = ("-q", "--query", "-s", "--search")


def read(content: bytes, known: Mapping[str, str]) -> Reading:
    """Reads a whole file; `known` are variables that are set before it runs (HOME)."""
    return _Reader(content, known).reading()


class _Reader:
    def __init__(self, content: bytes, known: Mapping[str, str]) -> None:
        self.seen = content.decode("latin-1")
        self.parsed: Parsed = parse(self.seen)
        self.rows = _Rows(self.seen)
        self.owners = Owners((self.seen[first:end], first, end) for first, end in self.parsed.comments)
        self.known = known
        self.given: dict[str, tuple[str | None, FishCommand]] = {}
        self.on_row: dict[int, list[FishCommand]] = {}
        self.chains: dict[int, list[FishCommand]] = {}
        for command in self.parsed.commands:
            self.chains.setdefault(command.chain, []).append(command)
            for row in self._rows_of(command):
                self.on_row.setdefault(row, []).append(command)

    def reading(self) -> Reading:
        statements: dict[int, tuple[tuple[FishCommand, ...], list[Assignment]]] = {}
        sources: list[SourcedFile] = []
        others = [command for command in self.parsed.commands if not command.keyword]
        for command in others:
            change = change_of(command, self._known_at(command))
            sources += self._sourced(command)
            for assignment in change.assignments:
                group = self._group(command)
                statements.setdefault(group[0].first, (group, []))[1].append(assignment)
            for name, value in change.values:
                self.given[name] = (value, command)
        error = self.rows.of(self.parsed.error) + 1 if self.parsed.error >= 0 else 0
        return Reading(
            tuple(self._statement(group, tuple(found)) for group, found in statements.values()),
            tuple(
                self._ending(one)
                for one in others
                if one.words[0].plain in _ENDING and not _in_function(one) and (one.words[0].plain != "exec" or len(one.words) > 1)
            ),
            tuple(
                Reference(piece.words, self.rows.of(word.first) + 1)
                for command in self.parsed.commands
                for word in command.words
                for piece in word.pieces
                if piece.words in WATCHED and piece.written.startswith("$")
            ),
            error,
            tuple(sources),
            tuple(tool for one in others for tool in self._tools(one)),
            tuple((name, value) for name, (value, where) in self.given.items() if value and not (where.blocks or where.linked)),
            self.owners.lines(lambda place: self.rows.of(place) + 1),
        )

    def _known_at(self, command: FishCommand) -> dict[str, str | None]:
        known: dict[str, str | None] = dict(self.known)
        for name, (value, where) in self.given.items():
            reached = command.blocks[: len(where.blocks)] == where.blocks and not where.linked
            known[name] = value if reached else None
        return known

    def _group(self, command: FishCommand) -> tuple[FishCommand, ...]:
        """The commands that together do nothing but set watched variables on whole lines; else the command alone."""
        chain = [one for one in self.chains[command.chain] if one.blocks == command.blocks]
        group = {id(one): one for one in chain}
        rows = {row for one in chain for row in self._rows_of(one)}
        while True:
            more = {id(one): one for row in rows for one in self.on_row.get(row, ())}
            if more.keys() <= group.keys():
                break
            group |= more
            rows |= {row for one in more.values() for row in self._rows_of(one)}
        ordered = sorted(group.values(), key=lambda one: one.first)
        return tuple(ordered) if all(self._harmless(one, command) for one in ordered) else (command,)

    def _rows_of(self, command: FishCommand) -> range:
        return range(self.rows.of(command.first), self.rows.of(command.end) + 1)

    def _harmless(self, one: FishCommand, beside: FishCommand) -> bool:
        if one.blocks != beside.blocks:
            return False
        name = one.words[0].plain
        if one.keyword:
            return name in {"and", "or", "not", "!"}
        queries = name in _QUERYING and len(one.words) > 1 and one.words[1].plain.startswith(_QUERIES)
        return name in _ASKING or queries or bool(change_of(one, {}).assignments)

    def _statement(self, group: tuple[FishCommand, ...], assignments: tuple[Assignment, ...]) -> Statement:
        first, end = group[0], group[-1]
        begin, finish = self.rows.start(first.first), self.rows.end(end.end)
        rows = range(self.rows.of(first.first), self.rows.of(end.end) + 1)
        found = {block.place for block in first.blocks}
        if len({one.chain for one in group}) < len(group) or first.linked:
            found.add(StatementPlace.CONDITION)
        if any("=" in one.words[0].plain for one in group):
            found.add(StatementPlace.COMMAND)
        return Statement(
            self.rows.of(first.first) + 1,
            self.rows.of(end.end) + 1,
            begin,
            finish,
            self._shown(begin, finish).rstrip("\n"),
            assignments,
            StatementPlace.worst(found),
            self._inside(first),
            self.owners.of(first.first, assignments),
            shared=any(one not in group for row in rows for one in self.on_row.get(row, ())),
        )

    def _inside(self, command: FishCommand) -> str:
        return self._line_at(command.blocks[-1].first) if command.blocks else ""

    def _ending(self, command: FishCommand) -> EarlyEnd:
        top = command.blocks[0].first if command.blocks else command.chain
        around = self.seen[top : command.end]
        always = not command.blocks and not command.linked
        interactive = command.words[0].plain != "exec" and any(sign in around for sign in _INTERACTIVE)
        words = self._shown(command.first, command.end)
        return EarlyEnd(self.rows.of(command.first) + 1, self._line_at(top), interactive, always, self.rows.start(top), words)

    def _sourced(self, command: FishCommand) -> Iterator[SourcedFile]:
        if command.words[0].plain in {"source", "."} and len(command.words) > 1 and not _in_function(command):
            word, known = command.words[1], self._known_at(command)
            for value in self._looped(word, command) or (word,):
                path = value_of(value, known, pattern=value is not word) or ""
                top = command.blocks[0].first if command.blocks else command.chain
                yield SourcedFile(self._shown(word.first, word.end), path, self.rows.of(word.first) + 1, self.rows.start(top))

    def _looped(self, word: Word, command: FishCommand) -> tuple[Word, ...]:
        """What the loop around it goes over, where the word is the loop's variable."""
        for block in command.blocks:
            loop = next((one for one in self.chains.get(block.first, ()) if one.first == block.first), None)
            if block.keyword == "for" and loop and [piece.written for piece in word.pieces] == [f"${loop.words[1].plain}"]:
                return loop.words[3:]
        return ()

    def _tools(self, command: FishCommand) -> Iterator[ToolLine]:
        words = tuple(self._shown(word.first, word.end) for word in command.words)
        piped = (one.words for one in self.chains[command.chain] if one.linked)
        if any(into[0].plain in {"source", "."} and len(into) == 1 for into in piped):  # what it prints is run
            words = ("eval", f"$({' '.join(words).removeprefix('eval ')})")
        owner = tool_of(words)
        if owner and not _in_function(command):
            rows = self._rows_of(command)
            yield ToolLine(rows[0] + 1, rows[-1] + 1, self._line_at(command.first), owner, self._inside(command))

    def _line_at(self, place: int) -> str:
        return self._shown(place, self.rows.end(place)).strip()

    def _shown(self, first: int, end: int) -> str:
        words = self.seen[first:end].encode("latin-1").decode("utf-8", "surrogateescape")
        return printable(words.replace("\r", ""))


class _Rows:
    """Which line a place lies in, counted from 0."""

    def __init__(self, seen: str) -> None:
        self.seen = seen
        self.starts = [0, *(place + 1 for place, sign in enumerate(seen) if sign == "\n")]

    def of(self, place: int) -> int:
        return bisect_right(self.starts, place) - 1

    def start(self, place: int) -> int:
        return self.starts[self.of(place)]

    def end(self, place: int) -> int:
        found = self.seen.find("\n", place)
        return len(self.seen) if found < 0 else found + 1


def _in_function(command: FishCommand) -> bool:
    return any(block.keyword == "function" for block in command.blocks)
