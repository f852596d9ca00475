"""Whatever profile a text is: the tables that profilers print, also several after each other, and raw stacks."""

from __future__ import annotations

from collections.abc import Sequence

from gpuassist.formats.profiles.line_profile import read_lines
from gpuassist.formats.profiles.nsys_stats import read_nsys_stats
from gpuassist.formats.profiles.python_profile import read_table
from gpuassist.formats.profiles.samples import read_stacks
from gpuassist.formats.profiles.scalene import read_scalene_text
from gpuassist.formats.profiles.torch_table import read_operators
from gpuassist.model.profile import ProfileReading

_MOST_LINES = 200_000


def read_tables(words: str) -> tuple[ProfileReading, ...]:
    """`torch.utils.bottleneck` prints two of them; nothing where there is none."""
    lines: Sequence[str] = words.split("\n")[:_MOST_LINES]
    of_functions = (read_table(lines), read_lines(lines), read_scalene_text(lines))
    return (*(one for one in of_functions if one is not None), *read_operators(lines), *read_nsys_stats(lines))


def read_any_text(words: str) -> tuple[ProfileReading, ...]:
    """The same of a file by itself, which may also hold nothing but stacks."""
    found = read_tables(words)
    if found:
        return found
    stacks = read_stacks(words.split("\n")[:_MOST_LINES])
    return (stacks,) if stacks is not None else ()
