"""The three standard streams as whoever started us left them: closed, with an encoding that lacks our glyphs, on a full disk.

Whatever is printed leaves here, and here what a terminal would obey is made visible (`formats.visible`): words come from
recordings, start-up files and children that strangers wrote. Our own colours and movements of the cursor are no words, and are
asked for by name.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from msgspec import Struct

from gpuassist.formats.visible import visible
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
_PLAIN = {
    "✓": "+",
    "✗": "x",
    "×": "x",
    "·": "-",
    "–": "-",
    "…": "...",
    "→": "->",
    "←": "<-",
    "↑": "up",
    "↓": "down",
    "−": "-",
    "°": "",
    "“": '"',
    "”": '"',
    "’": "'",
}
_ERRORS = "gpuassist.plain"
BOLD, DIM, RED, GREEN, YELLOW, CYAN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m"
PLAIN, REVERSE = "\x1b[0m", "\x1b[7m"
ERASE_LINE = "\r\x1b[K"


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
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Our own glyphs by plain ones, everything else by its escape."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in _PLAIN:
        return _PLAIN[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)


codecs.register_error(_ERRORS, _plain)


def plain(words: str) -> str:
    """The words in ASCII: our own glyphs by plain ones, everything else by its escape."""
    return words.encode("ascii", _ERRORS).decode("ascii")


class _Shown:
    """A stream whose words are made visible, whoever writes them: argparse, logging, a traceback, a library's warning."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, words: str, /) -> int:
        self.stream.write(visible(words))
        return len(words)

    def writelines(self, lines: Iterable[str], /) -> None:
        for line in lines:
            self.write(line)


@contextmanager
def shown() -> Iterator[None]:
    """Standard output and error as streams that nothing leaves but what is seen."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Shown(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class Painted(Struct, frozen=True):
    """Words in one of our styles."""

    words: str
    style: str


def write(stream: TextIO, *parts: str | Painted) -> None:
    """Writes; raises `OutputError` where it cannot, and `BrokenPipeError` where nobody reads any more."""
    _put(stream, "".join(_seen(part) for part in parts))


def tell(stream: TextIO, *parts: str | Painted) -> None:
    """Writes on standard error. Where that takes nothing (a full disk, a reader that has gone) nobody is left to be told, and the
    exit status has to say it alone.
    """
    with suppress(OSError, OutputError):
        write(stream, *parts)


def erase_rows(count: int) -> str:
    """To the beginning of the row so many above this one, and all from there on away."""
    return f"\r\x1b[{count}A\x1b[J" if count else ""


def steer(stream: TextIO, controls: str, words: str = "") -> None:
    """Sends a terminal controls of our own, and words after them; with the errors of `write`."""
    _put(stream, controls + visible(words))


def _seen(part: str | Painted) -> str:
    return visible(part) if isinstance(part, str) else f"{part.style}{visible(part.words)}{PLAIN}"


def _put(stream: TextIO, words: str) -> None:
    try:
        (stream.stream if isinstance(stream, _Shown) else stream).write(words)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error) from error


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


def columns_of(stream: TextIO, variables: Mapping[str, str]) -> int:
    """How wide it is: what COLUMNS says, as `watch` sets it for what it runs, else the terminal; 0 where nobody says."""
    columns = whole_number(variables.get("COLUMNS", ""))
    if columns:
        return columns
    try:
        return os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):
        return 0


def wants_colour(stream: TextIO, variables: Mapping[str, str]) -> bool:
    """Whether to print in colour: NO_COLOR (no-color.org) speaks before FORCE_COLOR (force-color.org) and CLICOLOR_FORCE, and these
    before what the stream is.
    """
    if variables.get("NO_COLOR"):
        return False
    if any(variables.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and variables.get("TERM") != "dumb"


def takes_unicode(stream: TextIO) -> bool:
    """Whether any character can be written as it is."""
    return (stream.encoding or "utf-8").lower().replace("-", "").startswith("utf")
