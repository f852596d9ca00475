"""Where the words of a start-up file name a toolkit: a directory, its last part behind a variable, or a version of its own.

These words are all that has to change for another toolkit: what is derived from them follows. Comments, here-documents and what is
only said (`echo …`) name none; a word in a function that nobody calls, or in an alias, says in whose.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from tree_sitter import Node

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.shellfiles.bash_tree import masked, parse_tree
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.fish_parse import FishCommand, parse
from gpuassist.shellfiles.statements import Statement, StatementPlace, printable
from gpuassist.shellfiles.toolkits import InstalledToolkits, Lead, version_parts
from gpuassist.shellfiles.zsh import covered

_HOME = rb"(?:~|\$HOME|\$\{HOME\})"
# Where a path can begin and its toolkit's directory end: not within another one; behind `-L` and `-I` of compilers and `:-` of a
# default, too.
_BEGINS = rb"(?:(?<![A-Za-z0-9_.+@%~/}-])|(?<=-L)|(?<=-I)|(?<=-)(?=/))"
# A part that a pattern or a variable goes on with (`cuda-1[12]*`, `cuda-11.$MINOR`) names no single one.
# Nor does one whose name goes on with a sign that no toolkit's directory has.
_ENDS = rb"(?=[/:;,\s'\"`()&|}\]\\<>=]|\.(?![A-Za-z0-9\[*?{$])|$)"
_SIGN = rb"[A-Za-z0-9_.+@%-]"
# A path up to its first part that says cuda: `/usr/local/cuda-11.8`, `~/cuda`, `$BASE/cuda-11.8`, and the part alone: `cuda-11.8`.
_PATH = lazy_regex(_BEGINS + rb"(?:" + _HOME + rb"|\$\w+|\$\{\w+\})?(?:/" + _SIGN + rb"+)*?/?cuda(?:-[0-9][0-9.]*)?" + _ENDS)
_REST = lazy_regex(rb"(?:/" + _SIGN + rb"+)*/?")
_NAME = lazy_regex(r"[A-Za-z_]\w*", re.ASCII)
_VERSION_NAMES = frozenset({"CUDA_VERSION", "CUDA_VER"})
_VERSION = rb"([\"']?)([0-9]+(?:\.[0-9]+)*)\1(?=[\s;#&|)]|$)"
# How a line begins that can choose a toolkit, as far as its beginning tells.
_LINE = lazy_regex(
    rb"[ \t]*(?:export|typeset|declare|readonly|local|alias|if|elif|\[|test|\w+\+?=|[\w-]+[ \t]*\(\)|function|eval|for|case"
    rb"|-|\"|\$|/)"
)
_SAYING = frozenset({"echo", "printf", "print", "logger", "notify-send", "cowsay", "figlet", "read", "say"})
# What switches environments takes names, and no directories.
_NAMING = frozenset({"conda", "mamba", "micromamba", "module", "ml", "spack", "pyenv", "workon", "docker", "podman", "ssh"})
_COMPILER = "nvcc"
_GROUPS = {
    "function_definition": StatementPlace.FUNCTION,
    "subshell": StatementPlace.SUBSHELL,
    "command_substitution": StatementPlace.SUBSHELL,
    "process_substitution": StatementPlace.SUBSHELL,
    "for_statement": StatementPlace.LOOP,
    "c_style_for_statement": StatementPlace.LOOP,
    "while_statement": StatementPlace.LOOP,
    "case_statement": StatementPlace.CASE,
    "if_statement": StatementPlace.BRANCH,
    "compound_statement": StatementPlace.GROUP,
    "list": StatementPlace.CONDITION,
    "ERROR": StatementPlace.UNREADABLE,
}
_NO_CODE = frozenset({"comment", "heredoc_body", "heredoc_content", "heredoc_end"})
_STATEMENTS = frozenset({"variable_assignment", "command", "declaration_command", "test_command", "unset_command"})
_NO_CONSTRUCT = frozenset({"list", "ERROR", "command_substitution"})


class ToolkitWord(Struct, frozen=True):
    """Bytes that name another toolkit, and those that name the chosen one instead; none where `missing` is not in it.

    `line` is the row of the command that it stands in (from 1); `runs_in` the function or alias that has to be called for it.
    """

    first_byte: int
    end_byte: int
    directory: str
    new: bytes | None
    line: int
    last_line: int
    place: StatementPlace
    runs_in: str = ""
    missing: str = ""
    inside: str = ""


class _Where(Struct, frozen=True):
    """What a byte of the file stands in; `assigned` where it is the value of a variable."""

    first_byte: int
    end_byte: int
    place: StatementPlace
    runs_in: str = ""
    assigned: bool = False
    around: int = -1


_Locate = Callable[[int], "_Where | None"]


def toolkit_words(
    content: bytes, dialect: Dialect, installed: InstalledToolkits, statements: tuple[Statement, ...] = ()
) -> tuple[ToolkitWord, ...]:
    """Every word that names another toolkit, in order; `statements` tell which variables a version is taken from."""
    if b"cuda" not in content.lower() and not any(form in content for form in installed.written_roots()):
        return ()
    return _Finder(content, dialect, installed, statements).words()


def commands_run(content: bytes, dialect: Dialect) -> frozenset[str]:
    """The names of all commands that a file runs, for seeing which functions somebody calls."""
    if dialect is Dialect.FISH:
        return frozenset(one.words[0].plain for one in parse(content.decode("latin-1")).commands if not one.keyword)
    tree = parse_tree(_seen(content, dialect))
    found: set[str] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if node.type == "command_name" and node.text is not None:
            found.add(node.text.decode("ascii", "replace"))
        stack.extend(node.children)
    return frozenset(found)


class _Finder:
    def __init__(self, content: bytes, dialect: Dialect, installed: InstalledToolkits, statements: tuple[Statement, ...]) -> None:
        self.content = content
        self.installed = installed
        self.statements = statements
        self.starts = [0, *(found.end() for found in re.finditer(b"\n", content))]
        self.locate: _Locate
        if dialect is Dialect.FISH:
            self.locate = _Fish(content).where
        elif dialect in {Dialect.ENVIRONMENT, Dialect.ENVIRONMENT_D}:
            self.locate = partial(_in_a_list, content)
        else:
            self.locate = _Posix(content, dialect).where

    def words(self) -> tuple[ToolkitWord, ...]:
        found = {word.first_byte: word for word in self._directories()}
        for word in self._versions():
            found.setdefault(word.first_byte, word)
        return tuple(found[place] for place in sorted(found))

    def _directories(self) -> Iterator[ToolkitWord]:
        for match in self._places():
            written = match[0].decode("ascii")
            root = self.installed.absolute(written)
            where = self.locate(match.start())
            if where is None:
                continue
            if root.startswith("/"):
                yield from self._directory(match, root, where)
            elif written.startswith("$") or where.assigned:
                yield from self._part(match, written, where)

    def _places(self) -> Iterator[re.Match[bytes]]:
        done = -1
        others = sorted({re.escape(form) for form in self.installed.written_roots()}, key=len, reverse=True)
        own = re.compile(_BEGINS + rb"(?:" + b"|".join(others) + rb")" + _ENDS) if others else None
        matches = [*_PATH.finditer(self.content), *(own.finditer(self.content) if own else ())]
        for match in sorted(matches, key=lambda one: (one.start(), -one.end())):
            if match.start() >= done:
                done = match.end()
                yield match

    def _directory(self, match: re.Match[bytes], root: str, where: _Where) -> Iterator[ToolkitWord]:
        first, end = match.span()
        if match[0].endswith(b"."):
            end -= 1
            root = root.rstrip(".")
        if self.installed.lead(root) is not Lead.OTHER:
            return
        rest = _REST.match(self.content, end)
        behind = rest[0].decode("ascii").rstrip("/") if rest else ""
        new = self.installed.instead(match[0].decode("ascii").rstrip("."))
        place = self.installed.chosen.root + behind
        expands = self.content[end + len(behind) : end + len(behind) + 2].lstrip(b"/")[:1] in {b"$", b"*", b"?", b"["}
        # What is in neither toolkit does no harm, and the owner's line stays of one piece.
        there = expands or not behind or self.installed.holds(place) or not self.installed.holds(root + behind)
        missing = "" if there else place
        yield self._word((first, end), root, None if missing else new.encode(), where, missing=missing)

    def _part(self, match: re.Match[bytes], written: str, where: _Where) -> Iterator[ToolkitWord]:
        """`$BASE/cuda-11.8`, or `cuda-11.8` as a value: its last part alone, where the chosen toolkit lies beside it."""
        part = written.rpartition("/")[2].rstrip(".")
        if not part.startswith("cuda-"):
            return
        beside = f"{self.installed.chosen.root.rpartition('/')[0]}/{part}"
        new = self.installed.chosen.root.rpartition("/")[2]
        if self.installed.lead(beside) is Lead.OTHER and new.startswith("cuda"):
            first = match.start() + written.rindex(part)
            yield self._word((first, first + len(part)), beside, new.encode(), where)

    def _versions(self) -> Iterator[ToolkitWord]:
        for name, root in dict.fromkeys(self._version_names()):
            pattern = re.compile(rb"(?<![\w$])" + re.escape(name.encode()) + rb"(?:\+?=|[ \t]+)" + _VERSION)
            for match in pattern.finditer(self.content):
                where = self.locate(match.start(2))
                new = self._version_instead(match[2].decode(), root)
                if where is not None and new and new != match[2].decode():
                    yield self._word(match.span(2), root, new.encode(), where)

    def _version_names(self) -> Iterator[tuple[str, str]]:
        """The variables that a directory's version is taken from, each with the directory."""
        for statement in self.statements:
            for assignment in statement.assignments:
                for element in assignment.elements:
                    root = self.installed.root_of(element.directory)
                    if root and self.installed.lead(root) is Lead.OTHER:
                        yield from ((name, root) for name in sorted(assignment.uses) if _NAME.fullmatch(name))
        for name in sorted(_VERSION_NAMES):
            if name.encode() in self.content:
                yield name, ""

    def _version_instead(self, version: str, root: str) -> str:
        chosen = self.installed.chosen
        if not root:
            # CUDA_VERSION on its own: told to build scripts, in as many parts as its owner wrote.
            depth = version.count(".") + 1
            others = {".".join(version_parts(other)[:depth]) for other in self.installed.others}
            named = {found.decode() for found in re.findall(rb"cuda-([0-9.]*[0-9])", self.content)}
            parts = version_parts(chosen)
            return ".".join(parts[:depth]) if version in others | named and len(parts) >= depth else ""
        if version not in root:
            return ""
        front, _, back = root.partition(version)
        new = chosen.root
        if not (new.startswith(front) and new.endswith(back)):
            return ""
        middle = new[len(front) : len(new) - len(back)]
        return middle if re.fullmatch(r"[0-9]+(?:\.[0-9]+)*", middle) else ""

    def _word(self, span: tuple[int, int], root: str, new: bytes | None, where: _Where, *, missing: str = "") -> ToolkitWord:
        return ToolkitWord(
            *span,
            root,
            new,
            self._row(where.first_byte),
            self._row(max(where.end_byte - 1, where.first_byte)),
            where.place,
            where.runs_in,
            missing,
            self._line_at(where.around) if where.around >= 0 else "",
        )

    def _row(self, place: int) -> int:
        return bisect_right(self.starts, place)

    def _line_at(self, place: int) -> str:
        row = self.starts[self._row(place) - 1]
        end = self.content.find(b"\n", row)
        words = self.content[row : len(self.content) if end < 0 else end]
        return printable(words.decode("utf-8", "surrogateescape").strip())


def _in_a_list(content: bytes, place: int) -> _Where | None:
    """A row of NAME=value; none in a comment."""
    first, end = content.rfind(b"\n", 0, place) + 1, content.find(b"\n", place)
    if content[first:place].lstrip().startswith(b"#"):
        return None
    return _Where(first, len(content) if end < 0 else end, StatementPlace.TOP, assigned=True)


def _seen(content: bytes, dialect: Dialect) -> bytes:
    return covered(content) if dialect is Dialect.ZSH else masked(content)


class _Posix:
    """bash and zsh, by the tree of bash's grammar."""

    def __init__(self, content: bytes, dialect: Dialect) -> None:
        self.content = content
        self.root = parse_tree(_seen(content, dialect))

    def where(self, place: int) -> _Where | None:
        """What the byte stands in; none in a comment, a here-document, and what is only said."""
        leaf = self.root.descendant_for_byte_range(place, place + 1)
        if leaf is None or (self.root.has_error and not _LINE.match(self.content, self.content.rfind(b"\n", 0, place) + 1)):
            return None  # where a file was not understood a comment may look like a command, and a text like a line
        above = [leaf]
        while (parent := above[-1].parent) is not None and parent.parent is not None:
            above.append(parent)
        if any(node.type in _NO_CODE for node in above) or self._is_only_said(above):
            return None
        whole = next((node for node in reversed(above) if node.type in _STATEMENTS), leaf)
        assigned = any(node.type == "variable_assignment" for node in above)
        groups = [node for node in above if node.type in _GROUPS and not _is_listed(node, above)]
        worst = StatementPlace.worst(_GROUPS[node.type] for node in groups)
        around = next((node.start_byte for node in groups if node.type not in _NO_CONSTRUCT), -1)
        return _Where(whole.start_byte, whole.end_byte, worst, self._runs_in(above, place), assigned, around)

    def _is_only_said(self, above: list[Node]) -> bool:
        """Whether it is a word of `echo` and the like, or holds for one command alone."""
        substituted = False
        for node in above:
            substituted = substituted or node.type in {"command_substitution", "process_substitution"}
            name = _name(node) if node.type == "command" else ""
            if name in _NAMING or (name in _SAYING and not substituted):
                return True
            parent = node.parent
            if node.type == "variable_assignment" and parent is not None and parent.type == "command" and _name(parent):
                return True
        return False

    def _runs_in(self, above: list[Node], place: int) -> str:
        """The alias or function that has to be called for it; empty where none has, or the compiler's own is."""
        for node in above:
            alias = ""
            if node.type == "command" and _name(node) == "alias":
                covering = (one for one in node.children[1:] if one.start_byte <= place < one.end_byte)
                words = (self.content[one.start_byte : one.end_byte] for one in covering)
                alias = next(words, b"").decode("ascii", "replace").strip("'\"").partition("=")[0]
            if alias and alias != _COMPILER:
                return f"alias {alias}"
            called = _function(node) if node.type == "function_definition" else ""
            if called and called != _COMPILER:
                return called
        return ""


class _Fish:
    """fish, by the reader of its commands."""

    def __init__(self, content: bytes) -> None:
        self.seen = content.decode("latin-1")
        self.commands = parse(self.seen).commands
        self.firsts = [command.first for command in self.commands]

    def where(self, place: int) -> _Where | None:
        """What the byte stands in; none in a comment, and in what is only said."""
        number = bisect_right(self.firsts, place) - 1
        command = self.commands[number] if number >= 0 else None
        if command is None or not any(word.first <= place < word.end for word in command.words):
            return None
        name = command.words[0].plain
        if name in _SAYING | _NAMING:
            return None
        runs_in = self._function(command)
        if name == "alias" and len(command.words) > 1:
            alias = command.words[1].plain.partition("=")[0]
            runs_in = runs_in or ("" if alias == _COMPILER else f"alias {alias}")
        linked = (StatementPlace.CONDITION,) if command.linked else ()
        worst = StatementPlace.worst((*linked, *(block.place for block in command.blocks)))
        around = command.blocks[-1].first if command.blocks else -1
        return _Where(command.first, command.end, worst, runs_in, name in {"set", "export"} or "=" in name, around)

    def _function(self, command: FishCommand) -> str:
        block = next((block for block in command.blocks if block.keyword == "function"), None)
        if block is None:
            return ""
        opener = next((one for one in self.commands if one.first == block.first), None)
        name = opener.words[1].plain if opener and len(opener.words) > 1 else ""
        return "" if name == _COMPILER else name or "function"


def _is_listed(loop: Node, above: list[Node]) -> bool:
    """Whether it is one of the words that a `for` goes over, which are read whatever its body does."""
    inside = above[: above.index(loop)]
    return loop.type == "for_statement" and all(node.type != "do_group" for node in inside)


def _name(command: Node) -> str:
    name = command.child_by_field_name("name")
    return "" if name is None or name.text is None else name.text.decode("ascii", "replace").lstrip("\\")


def _function(node: Node) -> str:
    name = node.child_by_field_name("name")
    return "function" if name is None or name.text is None else name.text.decode("ascii", "replace")
