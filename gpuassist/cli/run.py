"""`gpuassist run`: runs a command with its memory told from inside, and says in a line what it took."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace

from gpuassist.cli.context import Context, UsageError
from gpuassist.model.fact import Unknown
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words
from gpuassist.monitor.inside import gpuassist_memory
from gpuassist.monitor.ring_source import snapshot_words
from gpuassist.present.marks import Exit
from gpuassist.present.runs import run_words
from gpuassist.session.device_choice import DeviceWishError, read_devices, read_free
from gpuassist.session.device_wait import NoDevicesError, await_devices
from gpuassist.session.run import Aftermath, RunWish, Watcher, follow_up, run_command
from gpuassist.system.claims import Claims
from gpuassist.system.desktop_notice import why_no_notice
from gpuassist.system.foreground import NotRunError

NAME = "run"
HELP = text("run a command with its GPU memory told from inside: gpuassist run [OPTIONS] -- python train.py …")
DEMOS = ("allocator",)
_STEP_SECONDS = "4"


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "--devices",
        metavar="0,2|UUID|free:N",
        help=words(text("the GPUs that the command sees: by number as nvidia-smi counts, by UUID, or N that nobody uses")),
    )
    parser.add_argument("--free", metavar="SIZE", help=words(text("only GPUs with so much memory left, as 20GiB")))
    parser.add_argument("--wait", action="store_true", help=words(text("start as soon as such GPUs are free")))
    record = words(text("also write every sample to FILE (SQLite); a file that is a recording already gets one more run"))
    parser.add_argument("--record", metavar="FILE", help=record)
    snapshots = text("keep torch's own snapshot of its memory at each out-of-memory error here; slows allocations down")
    parser.add_argument("--snapshots", metavar="DIR", help=words(snapshots))
    parser.add_argument("--notify", action="store_true", help=words(text("show a notification on the desktop at the end")))
    parser.add_argument(
        "--on-end",
        metavar="COMMAND",
        default="",
        help=words(text("run this in a shell at the end; GPUASSIST_OUTCOME, _STATUS and _SUMMARY say how it ended")),
    )
    parser.add_argument(
        "--idle-minutes", type=float, metavar="N", help=words(text("the same once its GPUs have stood still for so long"))
    )
    parser.add_argument("--demo", choices=DEMOS, help=words(text("run a program of ours that shows what torch's allocator does")))
    parser.add_argument("--python", metavar="PATH", help=words(text("the interpreter of the demo, or its environment's directory")))
    parser.add_argument(
        "--print-lines", action="store_true", help=words(text("print two lines that do the same from within a script, and end"))
    )
    parser.add_argument("without_dashes", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)  # told that they are missing


def run(options: argparse.Namespace, context: Context) -> int:
    """Runs the command; its own exit status, as a shell says it."""
    if context.machine_file:
        raise UsageError(text("a recorded machine runs no command: leave --machine out"))
    if options.print_lines:
        return _print_lines(context)
    command = _command(options, context)
    _check(options)
    snapshots = _directory(options.snapshots) if options.snapshots is not None else ""
    claims = Claims()
    try:
        with _recorded(options, context) as watchers:  # first: a bad file is not told after hours of waiting for a GPU
            return _run(options, context, RunWish(command, {}, watchers=watchers, snapshots=snapshots), claims)
    finally:
        claims.close()


def _run(options: argparse.Namespace, context: Context, request: RunWish, claims: Claims) -> int:
    try:
        variables = _variables(options, context, claims)
    except NoDevicesError as error:
        context.note(text("gpuassist: the command was not started: {reason}", reason=error.reason))
        return Exit.UNDETERMINED if error.undetermined else Exit.PROBLEMS
    aftermath = Aftermath(_may_notify(options, context), options.on_end, (options.idle_minutes or 0.0) * 60.0)
    request = replace(request, variables=variables, aftermath=aftermath)
    try:
        report = run_command(context.session, request, run_words, lambda words: _note(context, words))
    except NotRunError as error:
        _note(context, _not_started(request.command[0], error))
        return error.status
    assert report.end is not None
    words = run_words(report)
    _note(context, words)
    for told in report.torch.snapshots:
        _note(context, snapshot_words(told))
    if any(told.startswith("/") for told in report.torch.snapshots):
        _note(context, text("what such a file shows: gpuassist snapshot FILE"))
    trouble = follow_up(context.session, request, report, words)
    if trouble is not None:
        _note(context, trouble)
    return report.end.status


def _directory(path: str) -> str:
    """Made where it is not there: at an out-of-memory error it is too late to say that nothing can be written to it."""
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UsageError(text("{path} cannot be made: {words}", path=path, words=error.strerror or str(error))) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise UsageError(text("nothing can be written to {path}", path=path))
    return os.path.abspath(path)


def _note(context: Context, words: Text) -> None:
    context.note(text("gpuassist: {words}", words=words))


def _not_started(command: str, error: NotRunError) -> Text:
    if error.lacks_interpreter:
        return text(
            "{command} could not be started: the interpreter that its first line names is not there (a file of Windows has a"
            " carriage return behind it)",
            command=command,
        )
    return text("{command} could not be started: {words}", command=command, words=error.words)


@contextmanager
def _recorded(options: argparse.Namespace, context: Context) -> Iterator[tuple[Watcher, ...]]:
    """What takes in each sample for `--record`; while the command runs nothing is said, what went wrong stands behind it."""
    if options.record is None:
        yield ()
        return
    from gpuassist.monitor.recorder import Recorder  # SQLite, which most runs need nothing of
    from gpuassist.monitor.sample_file import SampleFileError
    from gpuassist.session.insight import Insight

    insight = Insight(context.session.world.files)
    try:
        recorder = Recorder(options.record, context.session.world.clock)
    except SampleFileError as error:
        raise UsageError(error.reason) from error
    try:
        yield (lambda sample: recorder.add(insight.take(sample)),)
    finally:
        state = recorder.stop()
        if state.trouble is not None:
            _note(context, state.trouble)
        if state.loss is not None:
            _note(context, state.loss)


def _command(options: argparse.Namespace, context: Context) -> tuple[str, ...]:
    if options.demo and options.program:
        raise UsageError(text("--demo runs a program of its own: leave the command out"))
    if options.demo:
        interpreter = _interpreter(options, context)
        return (interpreter, "-u", os.path.join(_inside(), f"{options.demo}_demo.py"), _STEP_SECONDS)
    if options.without_dashes or not options.program:
        raise UsageError(text("there is no command to run: put it behind two dashes, as in gpuassist run -- python train.py"))
    return tuple(options.program)


def _interpreter(options: argparse.Namespace, context: Context) -> str:
    from gpuassist.session.verify import choose, find_environments, interpreter_at

    world = context.session.world
    if options.python:
        given = interpreter_at(world, options.python)
        if isinstance(given, Unknown):
            raise UsageError(given.reason)
        return given.value
    chosen = choose(find_environments(context.session))
    if isinstance(chosen, Unknown):
        raise UsageError(chosen.reason)
    found = chosen.value.interpreter
    if isinstance(found, Unknown):
        raise UsageError(found.reason)
    return found.value


def _check(options: argparse.Namespace) -> None:
    if options.python is not None and not options.demo:
        raise UsageError(text("--python names the interpreter of --demo; a command names its own"))
    if (options.wait or options.free is not None) and options.devices is None:
        raise UsageError(
            text("--wait and --free say what GPUs must be like, and need --devices: --devices free:1 would be any one")
        )
    if options.idle_minutes is not None and not options.idle_minutes > 0:
        raise UsageError(text("--idle-minutes must be above 0"))
    if options.idle_minutes is not None and not (options.notify or options.on_end):
        raise UsageError(text("--idle-minutes needs --notify or --on-end, which it does then"))


def _variables(options: argparse.Namespace, context: Context, claims: Claims) -> dict[str, str]:
    if options.devices is None:
        return {}
    try:
        chosen = await_devices(
            context.session.world,
            read_devices(options.devices),
            claims,
            free_bytes=read_free(options.free) if options.free is not None else 0,
            waits=options.wait,
            on_wait=_Waiting(context).tell,
        )
    except DeviceWishError as error:
        raise UsageError(error.reason) from error
    context.passing()
    return dict(chosen.variables)


class _Waiting:
    """Says what it is waited for, once and whenever it changes; on a terminal in one line that is overwritten."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._said: Text | None = None

    def tell(self, reason: Text) -> None:
        words = text("gpuassist: waiting: {reason}", reason=reason)
        if self._context.terminal.err.isatty():
            self._context.passing(words)
        elif self._said is None:
            self._context.note(words)
        self._said = reason


def _may_notify(options: argparse.Namespace, context: Context) -> bool:
    if not options.notify:
        return False
    why_not = why_no_notice(context.session.world)
    if why_not is not None:
        context.note(text("gpuassist: there will be no notification: {reason}", reason=why_not))
    return why_not is None


def _print_lines(context: Context) -> Exit:
    directory = _inside()
    context.say(verbatim(f"import sys; sys.path.append({directory!r})"))
    context.say(verbatim("import gpuassist_memory"))
    context.note(
        text(
            "They stand at the top of the script. On another machine, put {file} next to the script, and the second is enough.",
            file=os.path.join(directory, "gpuassist_memory.py"),
        )
    )
    return Exit.HEALTHY


def _inside() -> str:
    return os.path.dirname(os.path.abspath(gpuassist_memory.__file__))
