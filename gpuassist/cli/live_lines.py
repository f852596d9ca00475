"""What a running step prints, line by line on the terminal: its progress on one line there, and only finished lines elsewhere."""

from __future__ import annotations

import os
from typing import TextIO

from gpuassist.cli import streams
from gpuassist.cli.context import Context
from gpuassist.formats.terminal_output import Printed
from gpuassist.formats.visible import on_one_line

_INDENT = "  │ "
_COLUMNS = 100


class LiveLines:
    """Called with each line; on standard error where standard output is for a document."""

    def __init__(self, context: Context, *, on_error: bool) -> None:
        self._stream: TextIO = context.terminal.err if on_error else context.terminal.out
        self._moves = self._stream.isatty()
        self._unfinished = False
        self._gone = False

    def __call__(self, printed: Printed) -> None:
        """Shows it. Where nobody reads any more (`| head`) the step goes on unseen: half of it would be worse than all of it."""
        if self._gone:
            return
        try:
            self._show(printed)
        except (BrokenPipeError, streams.OutputError):
            self._gone = True

    def close(self) -> None:
        """Leaves the cursor on a line of its own."""
        if self._unfinished and not self._gone:
            streams.write(self._stream, "\n")
            self._unfinished = False

    def _show(self, printed: Printed) -> None:
        if not self._moves:
            if printed.ended:
                streams.write(self._stream, on_one_line(f"{_INDENT}{printed.text}"), "\n")
            return
        start = streams.ERASE_LINE if self._unfinished else ""
        end = "\n" if printed.ended else ""
        # A longer one would take two lines, and be drawn over by half.
        words = on_one_line(f"{_INDENT}{printed.text}")[: self._columns() - 1]
        streams.steer(self._stream, f"{start}{streams.erase_rows(printed.back)}", f"{words}{end}")
        self._unfinished = not printed.ended
        if self._unfinished:
            streams.flush(self._stream)

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _COLUMNS
        except (OSError, ValueError):
            return _COLUMNS
