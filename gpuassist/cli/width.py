"""How wide what is printed may be."""

from __future__ import annotations

import os

from gpuassist.cli.context import Context
from gpuassist.model.digits import whole_number

_WIDEST = 100


def width_of(context: Context) -> int:
    """The terminal's width, at most what is good to read; a pipe has none."""
    columns = whole_number(context.session.world.surroundings.variables.get("COLUMNS", ""))
    if columns:
        return min(columns, _WIDEST)
    try:
        return min(os.get_terminal_size(context.terminal.out.fileno()).columns or _WIDEST, _WIDEST)
    except (OSError, ValueError):
        return _WIDEST
