"""What every subcommand works with, and the exit statuses that they share."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.cli import streams
from gpuassist.cli.streams import Painted
from gpuassist.formats.visible import escaped, on_one_line
from gpuassist.model.text import Text, text
from gpuassist.present.marks import Exit
from gpuassist.system.interrupts import ending_at_once

if TYPE_CHECKING:
    import argparse

    from gpuassist.context import Session
    from gpuassist.model.codec import Json
    from gpuassist.model.machine import Machine
    from gpuassist.session.navigation import Destination
    from gpuassist.session.other_machine import OtherMachine


class UsageError(Exception):
    """The command line asks for what cannot be: says so and exits with 64."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class NotFoundOutError(Exception):
    """What was asked for could not be found out: says why, and what to type in its place, and exits with 3."""

    def __init__(self, reason: Text, lines: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.reason, self.lines = reason, lines


class TerminalStreams(Struct, frozen=True):
    """Standard output and error, and whether they may be coloured and asked."""

    out: TextIO
    err: TextIO
    colour: bool
    interactive: bool


def load_probes() -> None:
    """What reads the live machine, loaded as a subcommand is: Ctrl-C ends the program at once, and raises nothing in an import."""
    with ending_at_once():
        importlib.import_module("gpuassist.detect.machine")


def _no_window(_wanted: Destination | None) -> Exit:
    raise UsageError(text("there is no window here"))


def _no_picture(svg: str) -> bytes:
    raise UsageError(text("PNG is drawn by PySide6, which is not here: save an .svg"))


class Context(Struct, frozen=True):
    """A subcommand's surroundings: `machine_file` is the recording that `--machine` names, empty for the live machine, and `other`
    the machine that `--ssh` names, none where that is this one; `remote_half` names the file that is copied to machines over SSH;
    `open_window` shows the window, at a place if one is named, until it is closed, or raises `UsageError` where none can be;
    `draw_png` makes a picture of an SVG document.
    """

    session: Session
    terminal: TerminalStreams
    machine_file: str = ""
    open_window: Callable[[Destination | None], Exit] = _no_window
    draw_png: Callable[[str], bytes] = _no_picture
    other: OtherMachine | None = None
    remote_half: str = ""

    @property
    def elsewhere(self) -> bool:
        """Whether it is about another machine than this one, or this one at another time."""
        return bool(self.machine_file) or self.other is not None

    def for_programs(self, options: argparse.Namespace) -> Context:
        """This context in English where `--json` is asked for without a language: programs read the same everywhere."""
        if not options.json or options.lang:
            return self
        from gpuassist.model.words import ENGLISH

        return replace(self, session=replace(self.session, words=ENGLISH))

    def recorded_machine(self) -> Machine | None:
        """The machine that `--machine` or `--ssh` names; none where it is this one."""
        if self.other is not None:
            return self.look_there(self.other)
        if not self.machine_file:
            return None
        from gpuassist.detect.recording import RecordingError, read_recording

        try:
            return read_recording(self.session.world.files, self.machine_file)
        except RecordingError as error:
            raise UsageError(error.reason) from error

    def require_file(self, path: str) -> None:
        """Raises `UsageError` where it cannot be opened; what is in it is another matter, of status 3."""
        try:
            self.session.world.files.read_part(path, 0, 1)
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or str(error)
            raise UsageError(text("{path} could not be read: {words}", path=path, words=words)) from error

    def look_there(self, other: OtherMachine) -> Machine:
        """The machine that `--ssh` names, as it is now."""
        from gpuassist.session.other_connection import OtherMachineError

        try:
            return other.machine(tell=self.passing)
        except OtherMachineError as error:
            raise NotFoundOutError(error.reason) from error
        finally:
            self.passing()

    def reach(self, other: OtherMachine) -> None:
        """Connects to it while the terminal is still free, on which ssh may ask for a password."""
        from gpuassist.session.other_connection import OtherMachineError

        try:
            other.connect(tell=self.passing)
        except OtherMachineError as error:
            raise NotFoundOutError(error.reason) from error
        finally:
            self.passing()

    def say(self, *parts: Text | str | Painted) -> None:
        """A line on standard output, also where a name in it has a line feed."""
        streams.write(self.terminal.out, *map(self._on_line, parts), "\n")

    def say_lines(self, words: str) -> None:
        """Lines on standard output: a diff, a block of lines, a guide."""
        streams.write(self.terminal.out, words, "\n")

    def note(self, words: Text | str) -> None:
        """A line on standard error: progress and trouble, never part of a result."""
        streams.tell(self.terminal.err, self._on_line(words), "\n")

    def note_lines(self, words: str) -> None:
        streams.tell(self.terminal.err, words, "\n")

    def passing(self, words: Text | str = "") -> None:
        """Words on standard error that the next ones take the place of; none erases them. Only where it is a terminal."""
        if self.terminal.err.isatty():
            streams.steer(self.terminal.err, streams.ERASE_LINE, on_one_line(self._render(words)))
            streams.flush(self.terminal.err)

    def document(self, document: Json, *, indent: int | None = 2) -> None:
        ascii_only = not streams.takes_unicode(self.terminal.out)
        streams.write(self.terminal.out, escaped(json.dumps(document, ensure_ascii=ascii_only, indent=indent)), "\n")
        streams.flush(self.terminal.out)

    def _on_line(self, part: Text | str | Painted) -> str | Painted:
        if isinstance(part, Painted):
            words = on_one_line(part.words)
            return replace(part, words=words) if part.style and self.terminal.colour else words
        return on_one_line(self._render(part))

    def _render(self, words: Text | str) -> str:
        return words if isinstance(words, str) else self.session.words(words)
