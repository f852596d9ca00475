"""What the user's own lines come to once they are changed: what they give a shell, and what a block has to say besides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from gpuassist.changes.shell_files import ShellFile
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.shell import Terminal
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.edit import write
from gpuassist.shellfiles.lines import ShellLine, changes_in
from gpuassist.shellfiles.statements import Reading, StatementPlace
from gpuassist.shellfiles.toolkits import HOMES, InstalledToolkits, Lead

LOADER = "LD_LIBRARY_PATH"
_READONLY = lazy_regex(
    rb"(?m)^[ \t]*(?:readonly|(?:declare|typeset)[ \t]+-\w*r\w*)[ \t][^#\n]*\b(?:PATH|CUDA_HOME|LD_LIBRARY_PATH)\b"
)
_PROGRAMS = lazy_regex(rb"/bin/?(?![\w/.-])")  # the directory itself, not a program in it
_RUNS_ALWAYS = frozenset({StatementPlace.TOP, StatementPlace.CONDITION, StatementPlace.GROUP})
_NOWHERE = 1 << 62
_Places = frozenset[tuple[str, int]]


def place_of(file: ShellFile) -> int | None:
    """Where lines are still read: in front of the first construct that may end the file or hand over, none for the file's end.

    A guard that only keeps other shells than interactive ones out is none of these: people write behind it.
    """
    return _place(file.content, file.reading, file.dialect, file)


def _place(content: bytes, reading: Reading, dialect: Dialect, file: ShellFile) -> int | None:
    places = [one.first_byte for one in reading.endings if not one.interactive]
    readonly = _READONLY.search(content) if dialect is not Dialect.FISH else None
    places += [readonly.start()] if readonly else []
    handed = [one.first_byte for one in reading.sources if one.path in file.hands_over]
    places += handed
    if file.block is not None and content is file.content:  # an ending in our own block is none
        places = [place for place in places if not file.block.first_byte <= place < file.block.end_byte]
    return min(places, default=None)


def set_in_block(file: ShellFile, installed: InstalledToolkits) -> Iterator[tuple[str, str]]:
    """The variables beside CUDA_HOME that our block in a file sets, for the chosen toolkit: else they would lead to another."""
    lines = b"".join(line + b"\n" for line in file.sections.toolkit)
    for name, value in read_startup(lines, file.dialect, {}).values:
        root = installed.root_of(value) if name in HOMES and name != "CUDA_HOME" else ""
        place = installed.chosen.root + value[len(root) :]
        if root and installed.holds(place):
            yield name, place


class LinesAfter:
    """The files as they will be, but for a block."""

    def __init__(self, files: Sequence[ShellFile], lines: tuple[ShellLine, ...], installed: InstalledToolkits, home: str) -> None:
        self._files = tuple(files)
        self._lines = lines
        self._installed = installed
        self._replaced = frozenset(root for line in lines if line.rewritten or line.ticked for root in line.roots)
        self._readings: dict[str, Reading] = {}
        self._ends: dict[str, int] = {}
        known = {"HOME": home}
        for file in files:
            content = write(file.content, (), changes_in(lines, file.path), "")
            reading = read_startup(content, file.dialect, known)
            self._readings[file.path] = reading
            place = _place(content, reading, file.dialect, file)
            self._ends[file.path] = _NOWHERE if place is None else place
            known.update({name: value for name, value in reading.values if name not in {"HOME", "PATH"}})

    def wins(self, now: Fact[Terminal], reads: Callable[[ShellFile], bool]) -> bool:
        """Whether a shell that reads these files then finds the toolkit's nvcc first; `now` is what it holds before."""
        if isinstance(now, Unknown):
            return any(first for _, first, certain in self._given("PATH", reads) if certain)
        command = now.value.command("nvcc")
        if command is None:  # a line that gives it only maybe is one that gave it none before
            # Whether a line puts it on PATH that no construct in front of it can keep from being read.
            return any(certain for _, _, certain in self._given("PATH", reads)) or self._programs_replaced(reads, certain=True)
        directory = command.path.rpartition("/")[0]
        lead = self._installed.lead(directory)
        if lead is Lead.CHOSEN:
            return not self._is_gone(directory)
        if lead is Lead.OTHER and self.follows(self._installed.root_of(directory)):
            given = tuple(self._given("PATH", reads))
            if any(first for _, first, _ in given) or self._takes_from_a_home(reads):
                return True
            # What stands in front of the system's directories was not put behind them: no such line is what the shell finds it by.
            path = now.value.variable("PATH").split(":")
            ahead = directory in path and any(one in path[path.index(directory) :] for one in ("/usr/bin", "/bin"))
            appending = frozenset(place for place, _, _ in given) if ahead else frozenset()
            return (bool(given) and not ahead) or self._programs_replaced(reads, but=appending)
        return any(first for _, first, certain in self._given("PATH", reads) if certain)

    def gives(self, variable: str, reads: Callable[[ShellFile], bool]) -> bool:
        """Whether any line gives it a directory of the toolkit."""
        return any(True for _ in self._given(variable, reads))

    def follows(self, root: str) -> bool:
        """Whether what leads to this toolkit directory is replaced."""
        real = self._installed.real
        return root in self._replaced or any(real(one) == real(root) for one in self._replaced)

    def sets_home(self, path: str) -> bool:
        """Whether the last line of this file that sets CUDA_HOME leads to the toolkit and certainly runs."""
        statements = self._readings[path].statements if path in self._readings else ()
        last = [one for one in statements if any(given.variable == "CUDA_HOME" for given in one.assignments)][-1:]
        return any(
            one.place is StatementPlace.TOP
            and one.first_byte <= self._ends[path]
            and self._installed.lead(element.directory) is Lead.CHOSEN
            for one in last
            for given in one.assignments
            if given.variable == "CUDA_HOME"
            for element in given.elements
        )

    def left_over(self, now: Fact[Terminal]) -> Iterator[tuple[str, str]]:
        """Variables that would stay at another toolkit because no line that may be changed sets them, and what they should hold."""
        if isinstance(now, Unknown):
            return
        installed = self._installed
        for one in now.value.variables:
            values = (one.value,) if one.name in HOMES else one.value.split(":") if one.name == LOADER else ()
            for value in values:
                root = installed.root_of(value) if installed.lead(value) is Lead.OTHER else ""
                place = installed.chosen.root + value[len(root) :]
                stays = not self.follows(root) or self._sets_for_good(one.name, root)
                if root and stays and installed.holds(place) and not self._is_gone(value):
                    yield one.name, place
                    break

    def _sets_for_good(self, variable: str, root: str) -> bool:
        """Whether a file that may not be changed gives it a directory of this toolkit."""
        return any(
            given.variable == variable and any(self._installed.root_of(element.directory) == root for element in given.elements)
            for file in self._files
            if file.obstacle is not None
            for statement in self._readings[file.path].statements
            for given in statement.assignments
        )

    def _is_gone(self, directory: str) -> bool:
        """Whether a line that puts it there is commented out."""
        told = (str(value) for line in self._lines if line.ticked for does in line.does for _, value in does.parameters)
        return any(directory in words for words in told)

    def _programs_replaced(self, reads: Callable[[ShellFile], bool], *, certain: bool = False, but: _Places = frozenset()) -> bool:
        """Whether a word in front of `/bin` is replaced: what a loop or a function makes of it no reader can tell; `but` are lines
        that are read well. `certain` where nothing in front of it may keep it from being read, in a shell that finds no nvcc: what
        names one that is there does not reach it, as a line behind an error does not.
        """
        holds = self._installed.holds
        return any(
            _PROGRAMS.match(file.content, one.end_byte)
            for file in self._files
            if reads(file)
            for line in self._lines
            if line.rewritten and line.file == file.path and (not line.variables or "PATH" in line.variables)
            if (line.file, line.line) not in but
            for one in line.replacements
            if not certain
            or (
                ((place := place_of(file)) is None or one.first_byte < place)
                and not line.variables
                and not any(holds(f"{root}/bin/nvcc") for root in line.roots)
            )
        )

    def _takes_from_a_home(self, reads: Callable[[ShellFile], bool]) -> bool:
        """Whether a line takes PATH from a variable that a replaced line sets in a way that no reader follows."""
        return any(
            given.variable == "PATH"
            and any(self._is_set_by_a_replaced_line(file, home, statement.line) for home in given.uses & HOMES)
            for file in self._files
            if reads(file)
            for statement in self._readings[file.path].statements
            for given in statement.assignments
        )

    def _is_set_by_a_replaced_line(self, file: ShellFile, home: str, before: int) -> bool:
        rows = file.content.split(b"\n")[: before - 1]
        setting = [number for number, row in enumerate(rows, 1) if re.search(rb"\b" + home.encode() + rb":?=", row)]
        replaced = {line.line for line in self._lines if line.rewritten and line.file == file.path}
        return bool(setting) and setting[-1] in replaced

    def _given(self, variable: str, reads: Callable[[ShellFile], bool]) -> Iterator[tuple[tuple[str, int], bool, bool]]:
        """Each line that gives it a directory of the toolkit: where it stands, whether in front, and whether it certainly runs."""
        installed = self._installed
        for file in self._files:
            if not reads(file):
                continue
            reading = self._readings[file.path]
            end = min((ending.line for ending in reading.endings if ending.always), default=_NOWHERE)
            for statement in reading.statements:
                certain = statement.place in _RUNS_ALWAYS and statement.first_byte <= self._ends[file.path]
                for assignment in statement.assignments if statement.line <= end else ():
                    behind = False
                    for element in assignment.elements:
                        behind = behind or element.previous
                        if assignment.variable != variable or installed.lead(element.directory) is not Lead.CHOSEN:
                            continue
                        if variable != "PATH" or installed.holds(f"{element.directory.rstrip('/')}/nvcc"):
                            yield (file.path, statement.line), not behind, certain
