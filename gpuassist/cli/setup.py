"""`gpuassist setup`: the whole way of a GPU, from its driver to live memory, with the one command line that goes on with it.

It ends with 0 where all is done, 1 where something is to be done, 2 where a problem stands in its way or the
verification failed, 3 where it cannot be told.
"""

from __future__ import annotations

import argparse
import os

from msgspec.structs import replace

from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.inspection import inspect_machine
from gpuassist.cli.paragraphs import columns, show_command, width_of, wrapped
from gpuassist.cli.streams import BOLD, Painted
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import GLYPHS, Exit, mark_of
from gpuassist.present.setup import document, headline, in_words, status, title_of
from gpuassist.session.inspect import Inspection
from gpuassist.session.setup import compiles, environment_at, note_setup
from gpuassist.session.setup_values import Setup, SetupRecord, SetupStage, SetupStageState
from gpuassist.session.setup_words import RECORDED
from gpuassist.system.clock import iso

NAME = "setup"
HELP = text("the whole way of a GPU in one list: driver, restart, toolkit, torch, verification, live memory; and what is next")

_COLUMN = 14
_FORGET = text("forget what is remembered of the setup, and do nothing else")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))
    environment = words(text("set up this environment, and no other; remembered (empty: whichever is meant)"))
    parser.add_argument("--env", metavar="DIR", help=environment)
    wanted = words(text("whether a toolkit is wanted, because you compile; remembered"))
    parser.add_argument("--compile", choices=("yes", "no"), help=wanted)
    project = words(text("the same, by whether the project in DIR has something to compile for the GPU"))
    parser.add_argument("--project", metavar="DIR", help=project)
    parser.add_argument("--forget", action="store_true", help=words(_FORGET))


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    wished = options.env is not None or options.project is not None or options.compile is not None
    if options.forget and wished:
        raise UsageError(text("--forget goes alone"))
    if options.compile and options.project is not None:
        raise UsageError(text("--compile and --project exclude each other"))
    if context.elsewhere and (wished or options.forget):
        raise UsageError(text("--machine shows a recorded machine, of whose setup nothing is remembered"))
    if options.forget:
        return _forget(options, context)
    inspection = inspect_machine(context)
    if wished:
        _remember(options, context, inspection)
    setup = note_setup(context.session, inspection)
    if options.json:
        context.document(document(setup, context.session.words))
    else:
        _show(context, setup)
    return status(setup)


def _forget(options: argparse.Namespace, context: Context) -> Exit:
    from gpuassist.session import setup_record

    try:
        there = setup_record.forget(context.session.world)
    except OSError as error:
        context.note(text("what is remembered of the setup could not be deleted: {error}", error=error.strerror or str(error)))
        return Exit.PROBLEMS
    if options.json:
        context.document({"schema": 1, "forgotten": there})
    elif there:
        context.say(text("What was remembered of the setup is forgotten."))
    else:
        context.say(text("Nothing was remembered of a setup."))
    return Exit.HEALTHY


def _remember(options: argparse.Namespace, context: Context, inspection: Inspection) -> None:
    from gpuassist.session import setup_record

    world = context.session.world
    record, notice = setup_record.load(world)
    if notice is not None:
        context.note(notice)
    record = replace(record, begun_at=record.begun_at or iso(world.clock.now()))
    if options.compile:
        record = replace(record, compiles=options.compile == "yes", project="")
    if options.project is not None:
        record = _for_project(record, os.path.abspath(options.project), context, inspection)
    if options.env is not None:
        prefix = os.path.abspath(os.path.expanduser(options.env)) if options.env else ""
        if prefix and environment_at(inspection.machine, prefix) is None:
            raise UsageError(text("there is no Python environment at {path}", path=prefix))
        record = replace(record, environment=prefix)
    refused = setup_record.save(world, record)
    if refused is not None:
        context.note(refused)


def _for_project(record: SetupRecord, directory: str, context: Context, inspection: Inspection) -> SetupRecord:
    from gpuassist.session.project import ProjectError

    try:
        wanted = compiles(context.session, inspection.machine, directory)
    except ProjectError as error:
        raise UsageError(error.reason) from error
    if not wanted:
        context.note(text("The project in {path} has nothing to compile for the GPU.", path=directory))
    return replace(record, compiles=wanted, project=directory if wanted else "")


def _show(context: Context, setup: Setup) -> None:
    words, width = context.session.words, width_of(context)
    for notice in (setup.notice, setup.back):
        if notice is not None:
            context.say(notice)
    context.say(Painted(words(headline(setup)), BOLD))
    for stage in setup.stages:
        _show_stage(context, stage, width)
    now = setup.now
    if now is not None and now.command:
        context.say()
        context.say(text("Next:"))
        show_command(context, now.command, indent="  ")


def _show_stage(context: Context, stage: SetupStage, width: int) -> None:
    words = context.session.words
    glyph = "→" if stage.state is SetupStageState.NOW else GLYPHS[mark_of(stage.state)]
    title = words(title_of(stage))
    first = f"{glyph} {title}" + " " * max(1, _COLUMN - columns(title))
    for place, one in enumerate(_lines(stage)):
        begin = first if place == 0 else " " * columns(first)
        for line in wrapped(words(one), width, first=begin, hanging=" " * columns(first)):
            context.say(line)


def _lines(stage: SetupStage) -> tuple[Text, ...]:
    why, *does = in_words(stage)
    left_out = stage.state is SetupStageState.NOT_NEEDED and why not in RECORDED
    told = text("Not needed. {why}", why=why) if left_out else why
    return (told, *does)
