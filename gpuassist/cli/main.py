"""The command line as a whole: global options, the subcommand they are for, and what the program ends with.

Only the module of the subcommand that is asked for is imported, so that `monitor --headless` starts without the rest.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from msgspec.structs import replace

from gpuassist import __version__
from gpuassist.cli import streams
from gpuassist.cli.context import Context, NotFoundOutError, TerminalStreams, UsageError
from gpuassist.context import languages
from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import Text, counted, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.system.interrupts import raise_again
from gpuassist.system.untrusted_state import UntrustedStateError

if TYPE_CHECKING:
    from gpuassist.context import Session
    from gpuassist.session.navigation import Destination
    from gpuassist.session.other_machine import OtherMachine

# For each of its own words the library looks for a catalogue in the file system, 40 times a start and 2 ms of it; ours are `Text`s.
argparse._ = str  # type: ignore[attr-defined]

COMMANDS = (
    "detect",
    "doctor",
    "setup",
    "changes",
    "report",
    "explain",
    "use",
    "undo",
    "verify",
    "monitor",
    "know",
    "plan",
    "estimate",
    "holders",
    "shell",
    "profile",
    "run",
    "snapshot",
)
_CHANGING = ("use", "undo")
_WITH_PROGRAM = "run"

Compose = Callable[[str], "Session"]
OpenWindow = Callable[..., Exit]
"""Of a session, the file of a recorded machine, where to, and as `other` the machine that `--ssh` names, where it does."""

DrawPng = Callable[[str], bytes]


class Subcommand(Protocol):
    """A subcommand's module."""

    NAME: str
    HELP: Text

    def arguments(self, parser: argparse.ArgumentParser, words: Words) -> None:
        """Adds the subcommand's own options."""

    def run(self, options: argparse.Namespace, context: Context) -> int:
        """Does it; one of `Exit`, or the status of a command that it ran."""


def main(arguments: Sequence[str], *, compose: Compose, open_window: OpenWindow, draw_png: DrawPng | None = None) -> int:
    """Runs one command line and returns the exit status; `open_window(session, machine_file, wanted)` shows the window, and
    `draw_png(svg)` makes a picture.
    """
    streams.prepare()
    arguments, program = _divided(arguments)
    with streams.shown():
        session = compose(_language(arguments))
        try:
            try:
                return int(_run(arguments, program, session, open_window, draw_png=draw_png))
            finally:
                streams.flush(sys.stdout)  # here, where it can be said that it failed, and not when Python ends
        except UsageError as error:
            streams.tell(sys.stderr, on_one_line(f"gpuassist: {session.words(error.reason)}"), "\n")
            return int(Exit.USAGE)
        except NotFoundOutError as error:
            streams.tell(sys.stderr, on_one_line(f"gpuassist: {session.words(error.reason)}"), "\n")
            for line in error.lines:
                streams.tell(sys.stderr, on_one_line(f"    {line}"), "\n")
            return int(Exit.UNDETERMINED)
        except UntrustedStateError as error:
            sys.stderr.write(f"gpuassist: {session.words(error.reason)}\n")
            return int(Exit.PROBLEMS)
        except KeyboardInterrupt:
            return int(Exit.INTERRUPTED)
        except BrokenPipeError:  # the reader has gone (`| head`): nothing is wrong
            streams.give_up()
            return int(Exit.HEALTHY)
        except streams.OutputError as error:
            streams.give_up()
            streams.tell(sys.stderr, on_one_line(f"gpuassist: {session.words(error.reason)}"), "\n")
            return int(Exit.OUR_FAULT)
        except Exception:  # noqa: BLE001 -- the border: whatever else happens is our own fault and is said so
            import traceback

            streams.tell(sys.stderr, session.words(_OUR_FAULT), "\n\n", traceback.format_exc())
            return int(Exit.OUR_FAULT)


_OUR_FAULT = text(
    "gpuassist: this is our own fault, not your machine's. Nothing is left half-written. "
    "Please report it with the lines below and the command that you typed."
)


def _divided(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Ours, and the words of the command that `run` is given, none of which is for us."""
    place = list(arguments).index("--") if "--" in arguments else -1
    if place < 0 or next((word for word in arguments[:place] if word in COMMANDS), "") != _WITH_PROGRAM:
        return arguments, ()
    return arguments[:place], arguments[place + 1 :]


def _run(
    arguments: Sequence[str], program: Sequence[str], session: Session, open_window: OpenWindow, *, draw_png: DrawPng | None
) -> int:
    notice = session.words.notice
    if notice and (_language(arguments) or "--json" not in arguments):  # a document is English anyway where no language is named
        streams.tell(sys.stderr, on_one_line(session.words(notice)), "\n")
    options = _parse(arguments, session)
    options.program = tuple(program)
    if options.verbose:
        from gpuassist.cli.verbose import say_all

        say_all()
    if options.machine == "":  # of `--machine "$FILE"` where FILE is not set: this machine is not what was meant
        raise UsageError(text("--machine needs the name of a file, and got an empty one"))
    if options.machine and options.command in _CHANGING:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command=options.command))
    if options.read_only:
        session = _read_only(options, session)
    other = _other_machine(options, session, arguments)
    try:
        return _run_command(options, session, other, open_window, draw_png=draw_png)
    finally:
        if other is not None:
            other.close()


def _other_machine(options: argparse.Namespace, session: Session, arguments: Sequence[str]) -> OtherMachine | None:
    """The machine that `--ssh` names."""
    if options.ssh is None:
        if options.remote_half is not None and not getattr(options, "fleet", None):
            raise UsageError(text("--remote-half goes with --ssh"))
        return None
    from gpuassist.cli.ssh import other_machine

    return other_machine(options, session, arguments)


def _run_command(
    options: argparse.Namespace, session: Session, other: OtherMachine | None, open_window: OpenWindow, *, draw_png: DrawPng | None
) -> int:
    machine_file = options.machine or ""
    variables = session.world.surroundings.variables
    colour = streams.wants_colour(sys.stdout, variables)
    terminal = TerminalStreams(sys.stdout, sys.stderr, colour, sys.stdin.isatty() and sys.stdout.isatty())
    more = {"other": other} if other is not None else {}

    def show_window(wanted: Destination | None) -> Exit:
        return open_window(session, machine_file, wanted, **more)

    context = Context(session, terminal, machine_file, show_window, other=other, remote_half=options.remote_half or "")
    if draw_png is not None:
        context = replace(context, draw_png=draw_png)
    if not options.command:
        try:
            return context.open_window(None)
        except UsageError as error:
            doctor = _load("doctor")
            raise_again()
            status = doctor.run(_parse(["doctor"], session), context)
            context.note(error.reason)
            return status
    command = _load(options.command)
    raise_again()
    try:
        return command.run(options, context)
    finally:
        # Names the lines of our own files that could not be used in what was just done; the rest worked without them.
        damaged = context.session.knowledge.noticed()
        for words in damaged[:_MOST_NOTES]:
            context.note(words)
        if len(damaged) > _MOST_NOTES:
            context.note(counted("and {count} more such line", "and {count} more such lines", len(damaged) - _MOST_NOTES))


def _read_only(options: argparse.Namespace, session: Session) -> Session:
    """The session in which nothing is written; what is there to write a file that the user names is refused before it begins."""
    from gpuassist.system.read_only import read_only

    files = [name for name in _WRITES if getattr(options, name, None) not in {None, "", "-"}]
    if options.command == _WITH_PROGRAM or files:
        what = f"--{files[0]}" if files else options.command
        raise UsageError(text("--read-only writes nothing, and {what} would", what=what))
    return replace(session, world=read_only(session.world))


_WRITES = ("out", "record", "save")
_MOST_NOTES = 10


def _parse(arguments: Sequence[str], session: Session) -> argparse.Namespace:
    if not arguments:  # the window, whose start has no time for the parsers of all commands
        known = languages(session.world.resources)
        return _global_options(session.words, known, "").parse_args([], argparse.Namespace(command=None))
    listing = not set(COMMANDS) & set(arguments) and bool({"-h", "--help"} & set(arguments))
    wanted = COMMANDS if listing else tuple(name for name in COMMANDS if name in arguments)
    return parser_of(wanted, session.words, languages(session.world.resources)).parse_args(arguments)


def parser_of(wanted: Sequence[str], words: Words, known: Sequence[str]) -> argparse.ArgumentParser:
    """The parser of the whole command line, with the options of the `wanted` subcommands; `known` are the languages."""
    parser = _Parser(words, prog="gpuassist", description=words(_DESCRIPTION), parents=[_global_options(words, known, "")])
    parser.add_argument("--version", action="version", version=f"gpuassist {__version__}", help=words(text("print the version")))
    verbs = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name in COMMANDS:
        if name in wanted:
            command = _load(name)
            verb = verbs.add_parser(
                name,
                words=words,
                help=words(command.HELP),
                description=words(command.HELP),
                parents=[_global_options(words, known, argparse.SUPPRESS)],
            )
            command.arguments(verb, words)
        else:
            verbs.add_parser(name, words=words)
    return parser


_DESCRIPTION = text("Detects, explains, repairs, verifies and watches NVIDIA GPUs. Without a command it opens its window.")


def _global_options(words: Words, known: Sequence[str], default: str) -> _Parser:
    parser = _Parser(words, add_help=False)
    parser.add_argument("--lang", choices=known, default=default, help=words(text("language of what is printed")))
    machine = words(text("a recorded machine instead of this one"))
    parser.add_argument("--machine", metavar="FILE", default=default or None, help=machine)
    ssh = text("another machine instead of this one, reached by your own ssh and its configuration; it is looked at, never changed")
    parser.add_argument("--ssh", metavar="HOST", default=default or None, help=words(ssh))
    half = text("with --ssh: the gpuassist-<machine>.pyz that is copied there for as long as it is needed")
    parser.add_argument("--remote-half", metavar="FILE", default=default or None, help=words(half))
    nothing = text("write nothing: neither your files nor gpuassist's own, with the window as with a command")
    parser.add_argument("--read-only", action="store_true", default=default or False, help=words(nothing))
    parser.add_argument(
        "--verbose", action="store_true", default=default or False, help=words(text("say on standard error what is being done"))
    )
    return parser


_HELP_COLUMNS = 100


class _Formatter(argparse.HelpFormatter):
    """Help of a fixed width: to ask for the terminal's, the library imports `shutil`, which costs every start 4 ms."""

    def __init__(self, prog: str, usage: str = "usage: ") -> None:
        super().__init__(prog, width=_HELP_COLUMNS)
        self._usage_prefix = usage

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, self._usage_prefix if prefix is None else prefix)


class _Parser(argparse.ArgumentParser):
    """Helps in the user's language; its complaints are the library's, and English as a whole."""

    def __init__(self, words: Words, **options: Any) -> None:
        super().__init__(formatter_class=partial(_Formatter, usage=words(text("usage: "))), **options)
        self._positionals.title = words(text("positional arguments"))
        self._optionals.title = words(text("options"))
        if self.add_help:
            self._actions[0].help = words(text("show this help message and exit"))

    def error(self, message: str) -> NoReturn:
        self.formatter_class = _Formatter
        self.print_usage(sys.stderr)
        self.exit(Exit.USAGE, on_one_line(f"{self.prog}: {message}") + "\n")


def _language(arguments: Sequence[str]) -> str:
    # Before the parser, because the parser itself speaks that language.
    for place, word in enumerate(arguments):
        if word.startswith("--lang="):
            return word.partition("=")[2]
        if word == "--lang" and place + 1 < len(arguments):
            return arguments[place + 1]
    return ""


def _load(name: str) -> Subcommand:
    return cast(Subcommand, importlib.import_module(f"gpuassist.cli.{name}"))
