"""How wide what is printed may be."""

from __future__ import annotations

import os

from gpuassist.cli.context import Context

_WIDEST = 100


def width_of(context: Context) -> int:
    """The terminal's width, at most what is good to read; a pipe has none."""
    columns = context.session.world.surroundings.variables.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return min(int(columns), _WIDEST)
    try:
        return min(os.get_terminal_size(context.terminal.out.fileno()).columns or _WIDEST, _WIDEST)
    except (OSError, ValueError):
        return _WIDEST
