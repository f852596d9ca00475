"""Command lines on a terminal: never wrapped, because they are there to be copied, and left out where they cannot be."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gpuassist.cli.context import Context
from gpuassist.cli.streams import Painted
from gpuassist.present.copyable import copyable, copyable_lines


def show_command(context: Context, line: str, *, indent: str, style: str = "") -> None:
    """One, or why it is left out."""
    for row in context.session.words(copyable(line)).split("\n"):
        context.say(indent, Painted(row, style))


def show_block(context: Context, lines: Iterable[str], *, indent: str = "", say: Callable[[str], None] | None = None) -> None:
    """Lines that make sense together alone, or why they are left out."""
    for line in copyable_lines(lines):
        for row in context.session.words(line).split("\n"):
            (say or context.say)(f"{indent}{row}")
