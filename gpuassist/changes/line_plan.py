"""The lines of start-up files in a plan: judged file by file, chosen, and turned into edits."""

from __future__ import annotations

from dataclasses import replace

from gpuassist.changes.journal import Journal, digest
from gpuassist.changes.shell_files import ShellFile
from gpuassist.changes.syntax import Syntax, breaks, check
from gpuassist.model.plan import FileEdit
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.edit import Lines
from gpuassist.shellfiles.installed import Installed
from gpuassist.shellfiles.lines import ShellLine, judge
from gpuassist.shellfiles.reading import Place
from gpuassist.system.world import World


def judged(files: tuple[ShellFile, ...], installed: Installed) -> tuple[ShellLine, ...]:
    """The lines of every file that set a watched variable, with what is suggested for each one toolkit being chosen."""
    return tuple(line for file in files for line in within_reach(file, _judged(file, installed)))


def within_reach(file: ShellFile, lines: tuple[ShellLine, ...]) -> tuple[ShellLine, ...]:
    """The lines of a file that may not be changed with the reason of that, and none of them to change."""
    if file.obstacle is None:
        return lines
    obstacle = file.obstacle
    return tuple(
        replace(line, tickable=False, ticked=False, rewritten=False, instead=b"", why=obstacle, why_not=obstacle)
        if line.tickable
        else line
        for line in lines
    )


def to_change(file: ShellFile, lines: tuple[ShellLine, ...]) -> tuple[Lines, ...]:
    """The whole lines of one file that are retired or rewritten."""
    chosen = {line.line: line for line in lines if line.file == file.path and (line.ticked or line.rewritten)}
    return tuple(
        Lines(
            statement.first_byte,
            statement.end_byte,
            nested=statement.place not in {Place.TOP, Place.CONDITION},
            instead=(chosen[statement.line].instead,) if chosen[statement.line].rewritten else (),
        )
        for statement in file.reading.statements
        if statement.line in chosen and not statement.shared
    )


def edit_of(file: ShellFile, after: bytes) -> FileEdit:
    """The edit that gives a file these bytes."""
    target = file.target
    return FileEdit(target.path, target.path_written, target.content, after, target.exists, file.dialect.value)


def parsed(world: World, edits: tuple[FileEdit, ...]) -> tuple[Syntax, Text | None]:
    """What its shell says of the first file as it is, and what forbids writing the files: one that could then not be parsed."""
    standing: list[Syntax] = []
    for edit in edits:
        planned = check(world, edit.after, edit.dialect)
        # What can be parsed afterwards could be before: the changes only comment lines out and add whole ones.
        before = check(world, edit.before, edit.dialect) if planned.broken else planned
        standing.append(before)
        if breaks(before, planned):
            words = text(
                "{shell} could not parse the result ({words}), so {path} is not written; untick lines",
                shell=planned.shell,
                words=planned.words,
                path=edit.path,
            )
            return standing[0], words
    return standing[0], None


def change_id(world: World, file: ShellFile, wanted: tuple[bytes, ...]) -> str:
    """An id that no change has yet, by the time and what is `wanted` of the file."""
    return new_id(world, (file.content, *wanted, file.path.encode("utf-8", "surrogateescape")))


def new_id(world: World, parts: tuple[bytes, ...]) -> str:
    """An id that no change has yet, by the time and these parts of it."""
    return Journal.of(world).unused(f"{world.clock.now():%Y%m%d-%H%M%S}-{digest(bytes([0]).join(parts))[:6]}")


def _judged(file: ShellFile, installed: Installed) -> tuple[ShellLine, ...]:
    seen = (file.reading, installed, file.block)
    return judge(*seen, content=file.content, file=file.path, dialect=file.dialect, later=file.later)
