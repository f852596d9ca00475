"""The composition root: the one place that wires the outside world, the session and the two faces, terminal and window."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpuassist.cli import main as cli
from gpuassist.cli import streams
from gpuassist.cli.context import NotFoundOutError, UsageError
from gpuassist.context import Session, languages, words_for
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.text import Text, text
from gpuassist.model.words import ENGLISH, language_of
from gpuassist.present.marks import Exit
from gpuassist.session.qt_libraries import missing_libraries
from gpuassist.system.interrupts import ending_at_once
from gpuassist.system.one_window import OneWindow, SecondStart
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

if TYPE_CHECKING:
    from gpuassist.session.navigation import Destination
    from gpuassist.session.other_machine import OtherMachine


def main(arguments: Sequence[str]) -> int:
    """Runs gpuassist with these command-line arguments and returns the exit status."""
    return cli.main(arguments, compose=compose, open_window=open_window, draw_png=draw_png)


def compose(language: str) -> Session:
    """The real session; an unknown or empty language is the locale's."""
    world = World(Surroundings.current())
    known = languages(world.resources)
    named = language if language in known else ""
    chosen = named or language_of(world.surroundings.variables, known)
    session = Session(world, Knowledge(world.resources.read), words_for(chosen, world.resources), named)
    if session.words is ENGLISH or named or world.surroundings.variables.get("TERM") != "linux" or not sys.stdout.isatty():
        return session
    from gpuassist.session.language_choice import in_letters_of_the_console  # only a console asks

    return in_letters_of_the_console(session)


def open_window(session: Session, machine_file: str, wanted: Destination | None, other: OtherMachine | None = None) -> Exit:
    """Shows the window until it is closed, of the `other` machine where there is one; raises `UsageError` where there is no display
    or no Qt.
    """
    _require_display(session.world.surroundings.variables)
    one = _one_window(session, machine_file, wanted) if other is None else None
    if one is not None and one.ask_first(_wanted(session, wanted)):
        streams.tell(sys.stderr, session.words(text("gpuassist was open already: its window is shown.")), "\n")
        return Exit.HEALTHY
    why_not = missing_libraries(session)
    if why_not is not None:
        raise UsageError(why_not)
    if other is not None and other.may_ask:
        _connect(session, other)
    try:
        with ending_at_once():
            from gpuassist.ui.application import run_window  # Qt is imported only when there is a display to use it on
    except ImportError as error:
        raise UsageError(_why_no_window(error)) from error
    return Exit(run_window(session, machine_file=machine_file, start=wanted, arguments=sys.argv[:1], one=one, other=other))


def _connect(session: Session, other: OtherMachine) -> None:
    """While there is a terminal, on which ssh may ask; the window says why it failed, where it did."""
    from gpuassist.session.other_connection import OtherMachineError

    streams.tell(sys.stderr, session.words(text("Connecting to {host}…", host=other.host)), "\n")
    try:
        other.connect()
    except OtherMachineError as error:
        raise NotFoundOutError(error.reason) from error


def _one_window(session: Session, machine_file: str, wanted: Destination | None) -> OneWindow | None:
    """None for a window of its own: one of a recording, and one that writes nothing."""
    if machine_file or session.world.disk.read_only:
        return None
    if wanted is not None:
        from gpuassist.session.navigation import GoTo

        if not isinstance(wanted, GoTo):
            return None
    return OneWindow(session.world.surroundings)


def _wanted(session: Session, wanted: Destination | None) -> SecondStart:
    variables = session.world.surroundings.variables
    token = variables.get("XDG_ACTIVATION_TOKEN") or variables.get("DESKTOP_STARTUP_ID", "")
    if wanted is None:
        return SecondStart("", token)
    from gpuassist.session.kept_place import place_words

    return SecondStart(place_words(wanted), token)


def _why_no_window(error: ImportError) -> Text:
    if (error.name or "").startswith("gpuassist"):  # gpuassist.pyz
        return text("This file is gpuassist without its window; `pipx install gpuassist` installs all of it.")
    return text("the window needs PySide6, which this Python does not have ({error})", error=str(error))


def draw_png(svg: str) -> bytes:
    """A picture of an SVG document; raises `UsageError` where there is no Qt."""
    try:
        with ending_at_once():
            from gpuassist.ui.picture import draw_png as draw
    except ImportError as error:
        raise UsageError(
            text("a PNG needs PySide6, which this Python does not have ({error}): save an .svg", error=str(error))
        ) from error
    return draw(svg)


def _require_display(variables: Mapping[str, str]) -> None:
    # Qt aborts the whole process when it finds no display (exit 134), so this is asked first.
    if not any(variables.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        raise UsageError(
            text("There is no display for the window: start gpuassist in a desktop session, or over SSH with `ssh -X`.")
        )
