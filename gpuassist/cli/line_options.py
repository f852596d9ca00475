"""The options that name lines of start-up files, `FILE:LINE,…`, and the choices that they come to."""

from __future__ import annotations

import os

from gpuassist.cli.context import UsageError
from gpuassist.model.text import text
from gpuassist.shellfiles.lines import Choice, LineChoice, ShellLine

ALL, NONE = "all", "none"
_MOST_DIGITS = 9


def choices(
    lines: tuple[ShellLine, ...], *, comment_out: str | None, replaced: str | None, kept: str | None
) -> tuple[LineChoice, ...] | None:
    """What becomes of the lines; none where the options say nothing, so that what is suggested is done.

    A line that no option names keeps what is suggested for it, unless `comment_out` says which ones.
    """
    if comment_out is None and replaced is None and kept is None:
        return None
    chosen = {(line.file, line.line): line.choice for line in lines}
    if comment_out is not None:
        chosen = dict.fromkeys(chosen, Choice.KEEP)
        tickable = tuple((line.file, line.line) for line in lines if line.tickable)
        commented = tickable if comment_out == ALL else named(comment_out if comment_out != NONE else "", lines)
        chosen |= dict.fromkeys(commented, Choice.COMMENT_OUT)
    chosen |= dict.fromkeys(named(replaced or "", lines), Choice.REPLACE)
    chosen |= dict.fromkeys([(line.file, line.line) for line in lines] if kept == ALL else named(kept or "", lines), Choice.KEEP)
    return tuple(LineChoice(file, line, choice) for (file, line), choice in chosen.items())


def named(words: str, lines: tuple[ShellLine, ...]) -> tuple[tuple[str, int], ...]:
    """The lines that `FILE:LINE,…` means, each by the file's path and the line on which its statement begins."""
    return tuple(_place(word, lines) for word in words.split(",") if word.strip())


def _place(word: str, lines: tuple[ShellLine, ...]) -> tuple[str, int]:
    file, _, number = word.strip().rpartition(":")
    if not file or not (number.isascii() and number.isdigit()) or len(number) > _MOST_DIGITS:
        raise UsageError(text("{word} names no line; FILE:LINE does, such as ~/.bashrc:12", word=word.strip()))
    path, row = os.path.abspath(os.path.expanduser(file)), int(number)
    for line in lines:
        is_file = line.file == path or os.path.realpath(line.file) == os.path.realpath(path)
        if is_file and line.line <= row <= line.last_line:
            return line.file, line.line
    return path, row
