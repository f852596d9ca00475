"""The three standard streams as whoever started us left them: closed, with an encoding that lacks our glyphs, on a full disk."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TextIO

from gpuassist.model.text import Text, text

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_PLAIN = {"✓": "+", "✗": "x", "×": "x", "·": "-", "–": "-", "…": "...", "→": "->"}
_ERRORS = "gpuassist.plain"


class OutputError(Exception):
    """What we print cannot be written; `reason` says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.reason: Text = text("the output could not be written: {words}", words=error.strerror or str(error))


def prepare() -> None:
    """Makes all three safe to use: a closed one reads and writes nothing, and what an encoding lacks is shown otherwise."""
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            # Else the next file that is opened would be descriptor 0, 1 or 2, and get what a child process prints.
            descriptor = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))
    codecs.register_error(_ERRORS, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Our own glyphs by plain ones, everything else by its escape."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in _PLAIN:
        return _PLAIN[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)


def write(stream: TextIO, words: str) -> None:
    """Writes; raises `OutputError` where it cannot, and `BrokenPipeError` where nobody reads any more."""
    try:
        stream.write(words)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error) from error


def tell(stream: TextIO, words: str) -> None:
    """Writes on standard error. Where that takes nothing (a full disk, a reader that has gone) nobody is left to be told, and the
    exit status has to say it alone.
    """
    try:
        stream.write(words)
    except OSError:
        pass


def flush(stream: TextIO) -> None:
    """Sends on what was written, with the errors of `write`."""
    try:
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error) from error


def give_up() -> None:
    """Forgets what standard output did not take: Python would complain of it once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def takes_unicode(stream: TextIO) -> bool:
    """Whether any character can be written as it is."""
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")
