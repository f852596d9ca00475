"""A live session in English, and subcommands run on it with the global options in place."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Mapping
from types import ModuleType

from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.marks import Exit
from gpuassist.session.navigation import Destination
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.cli.runs import Run


def no_window(_wanted: Destination | None) -> Exit:
    """Where no window can be opened."""
    raise UsageError(text("there is no window here"))


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def live_session(variables: Mapping[str, str] | None = None, words: Words = ENGLISH) -> Session:
    """This very machine, with the environment variables that a test chooses."""
    around = Surroundings.current()
    chosen = around.variables if variables is None else variables
    world = World(Surroundings(around.home, around.user, around.uid, chosen, around.account_home, around.login_shell))
    return Session(world, Knowledge(Resources().read), words)


def run_live(
    verb: ModuleType,
    *arguments: str,
    session: Session | None = None,
    screen: bool = False,
    machine_file: str = "",
    open_window: Callable[[Destination | None], Exit] = no_window,
) -> Run:
    """Parses the verb's own options and `--lang`, and runs it; `screen` makes its streams terminals with colour."""
    used = session or live_session()
    parser = argparse.ArgumentParser()
    parser.add_argument("--lang", default="")
    verb.arguments(parser, used.words)
    out, err = (Screen(), Screen()) if screen else (io.StringIO(), io.StringIO())
    context = Context(used, TerminalStreams(out, err, screen, interactive=screen), machine_file, open_window)
    status = verb.run(parser.parse_args(arguments), context)
    return Run(status, out.getvalue(), err.getvalue())
