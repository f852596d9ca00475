"""The user's own lines that choose GPUs: what each does beside the choice that is wished, and what is suggested for it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.changes.line_plan import within_reach
from gpuassist.changes.shell_files import ShellFile, ShellFiles
from gpuassist.model.text import Text, listed, text
from gpuassist.shellfiles.lines import ShellLine, rows_of
from gpuassist.shellfiles.statements import Statement, StatementPlace

CHOOSES, ORDERS = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
VARIABLES = (CHOOSES, ORDERS)


def device_lines(files: ShellFiles, *, chosen: bool) -> tuple[ShellLine, ...]:
    """Those of every file; `chosen` where a block of ours is to choose some GPUs, which wins over the lines before it."""
    return tuple(line for file in (files.main, *files.others) for line in within_reach(file, tuple(_lines(file, chosen=chosen))))


def is_read_after_block(line: ShellLine, files: ShellFiles) -> bool:
    """Whether new terminals go on with the line's choice although a block of ours chooses others."""
    return any(file.later for file in files.others if file.path == line.file)


def _lines(file: ShellFile, *, chosen: bool) -> Iterator[ShellLine]:
    for statement in file.reading.statements:
        ours = file.block is not None and file.block.first_byte <= statement.first_byte < file.block.end_byte
        about = [one for one in statement.assignments if one.variable in VARIABLES]
        if ours or not about or (not chosen and all(one.unsets for one in about)):
            continue
        line = ShellLine(
            statement.line,
            statement.last_line,
            statement.text,
            statement.variables,
            (_does(statement),),
            tickable=False,
            ticked=False,
            why=text("chooses GPUs, and new terminals would go on with that"),
            inside=statement.inside,
            owner=statement.owner,
            other=True,
            file=file.path,
            rows=rows_of(statement),
        )
        yield _suggested(line, statement, file, wins=not chosen or file.later)


def _does(statement: Statement) -> Text:
    if CHOOSES in statement.variables:
        return text("chooses the GPUs that programs see")
    return text("says in which order programs see the GPUs")


def _suggested(line: ShellLine, statement: Statement, file: ShellFile, *, wins: bool) -> ShellLine:
    if statement.place is StatementPlace.COMMAND:
        return replace(line, why=text("applies to that one command only; left as it is"))
    if statement.owner:
        return replace(line, why=text("belongs to {owner}, which rewrites it; left as it is", owner=statement.owner))
    if file.reading.unreadable_line:
        return replace(line, why=text("line {line} of this file could not be understood", line=file.reading.unreadable_line))
    if statement.shared:
        return replace(line, why=text("shares its line with other commands; left as it is"))
    line = replace(line, tickable=True)
    also = tuple(name for name in statement.variables if name not in VARIABLES)
    if also:
        return replace(line, why=text("also sets {also}, which would be lost with it", also=listed(also)))
    if not wins:
        return replace(line, why=text("loses to the block; it may stay"))
    if CHOOSES not in statement.variables:
        return replace(line, why=text("hides no GPU; it may stay"))
    if statement.place is not StatementPlace.TOP:
        return replace(line, why=text("is inside “{inside}”", inside=statement.inside or statement.text.strip()))
    return replace(line, ticked=True)
