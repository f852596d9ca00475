"""`gpuassist snapshot`: which snapshot is meant, and what is asked of it; `snapshot_report` answers, with numpy."""

from __future__ import annotations

import argparse
import os

from gpuassist.cli.context import Context, NotFoundOutError, UsageError
from gpuassist.cli.snapshot_wish import SnapshotWish
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.session.without_numpy import WITHOUT_NUMPY

NAME = "snapshot"
HELP = text("say what a memory snapshot of torch shows: the peak, whose it is, what grew, what to change first")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help=words(text("what `torch.cuda.memory._dump_snapshot` wrote; nothing in it is run"))
    )
    parser.add_argument("other", metavar="OTHER", nargs="?", help=words(text("a later one: what grew between the two")))
    parser.add_argument(
        "--events", metavar="FIRST:END", help=words(text("read this range of events alone, which takes less memory"))
    )
    parser.add_argument("--last", type=int, metavar="N", help=words(text("read the last N events alone")))
    parser.add_argument("--between", metavar="FIRST:LAST", help=words(text("what grew between these two events")))
    parser.add_argument("--address", metavar="ADDRESS", help=words(text("whose block this address lies in, by its stack")))
    parser.add_argument("--of", type=int, metavar="PID", help=words(text("take one of a program that `gpuassist run` started")))
    parser.add_argument(
        "--seconds", type=float, metavar="N", default=0.0, help=words(text("with --of: record allocations for so long before"))
    )
    parser.add_argument(
        "--out", metavar="FILE", help=words(text("with --of: where it goes (default: here, by the program's number)"))
    )
    parser.add_argument("--window", action="store_true", help=words(text("open it in the window: the plot, and all there is")))
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    (first, end), between, address = _range(options), _pair(options.between, "--between"), _address(options.address)
    path = options.file
    if options.of is not None:
        path = _taken(options, context)
        if path is None:
            return Exit.UNDETERMINED
    elif path is None:
        raise UsageError(text("which file? `gpuassist snapshot FILE`, or --of PID for a program that runs"))
    for file in filter(None, (path, options.other)):
        context.require_file(file)
    if options.window:
        return _window(options, path, context)
    try:
        from gpuassist.cli.snapshot_report import tell
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        raise NotFoundOutError(WITHOUT_NUMPY) from error  # gpuassist.pyz
    return tell(SnapshotWish(path, options.other, first, end, between, address, options.json), context)


def _window(options: argparse.Namespace, path: str, context: Context) -> Exit:
    if options.json or options.other or options.between or options.address:
        raise UsageError(text("--window takes one FILE: the rest is chosen there"))
    from gpuassist.session.navigation import ToSnapshot

    return context.open_window(ToSnapshot(os.path.abspath(path)))


# What was asked for


def _range(options: argparse.Namespace) -> tuple[int, int | None]:
    pair = _pair(options.events, "--events")
    if options.last is not None:
        if pair is not None or options.last < 1:
            raise UsageError(text("--last takes a number of events, and goes without --events"))
        return -options.last, None
    return (0, None) if pair is None else pair


def _pair(words: str | None, option: str) -> tuple[int, int] | None:
    if words is None:
        return None
    first, _, end = words.partition(":")
    if not (first.isdecimal() and end.isdecimal() and len(words) < 40 and int(first) < int(end)):
        raise UsageError(text("{option} takes two numbers of events, the smaller first: 1000:5000", option=option))
    return int(first), int(end)


def _address(words: str | None) -> int | None:
    if words is None:
        return None
    try:
        return int(words, 0)
    except ValueError as error:
        raise UsageError(text("--address takes an address such as 0x7f3000000000")) from error


def _taken(options: argparse.Namespace, context: Context) -> str | None:
    from gpuassist.session.torch_snapshot.recording import RecordWish, SnapshotRefusedError, take_snapshot

    if not 0 <= options.seconds <= 3600:
        raise UsageError(text("--seconds takes a number of seconds up to {most:.0f}", most=3600))
    if options.file is not None:
        raise UsageError(text("--of goes without FILE"))
    try:
        path = take_snapshot(context.session, RecordWish(options.of, options.seconds, options.out or ""), tell=context.note)
    except SnapshotRefusedError as error:
        context.note(error.reason)
        return None
    context.note(text("kept in {path}", path=path))
    return path
