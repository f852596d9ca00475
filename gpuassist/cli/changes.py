"""`gpuassist changes`: what changed on this machine since it worked, what matters most first, each with its source."""

from __future__ import annotations

import argparse

from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.cli.paragraphs import width_of, wrapped
from gpuassist.cli.streams import BOLD, DIM, Painted
from gpuassist.detect.recording import RecordingError, read_recording
from gpuassist.model.machine import Machine
from gpuassist.model.past import Past
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.session.since import SinceError, since_when

NAME = "changes"
HELP = text("say what changed on this machine since it worked, and what did it")

_ON, _OFF = "on", "off"


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    since = text(
        "compare with how it was then: 2026-11-14, 14 November, yesterday, 3 days ago (default: the last time that it differed)"
    )
    parser.add_argument("--since", metavar="DATE", default=None, help=words(since))
    from_ = text("compare with a recorded machine; with --machine two recordings")
    parser.add_argument("--from", dest="before", metavar="FILE", default=None, help=words(from_))
    keep = text("whether doctor and verify keep what this machine looks like while it is in order (default: on)")
    parser.add_argument("--keep", choices=(_ON, _OFF), default="", help=words(keep))
    parser.add_argument("--forget", action="store_true", help=words(text("delete what was kept of this machine")))
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    _refuse_contradictions(options, context)
    if options.keep or options.forget:
        return _settings(options, context)
    try:
        if options.since is not None:  # before a look at the machine, which takes seconds
            since_when(options.since, context.session.world.clock.now())
        found = _past(options, context)
    except SinceError as error:
        raise UsageError(error.reason) from error
    if options.json:
        from gpuassist.present.past import past_document

        context.document(past_document(found, context.session.words))
    else:
        _show(context, found)
    return Exit.HEALTHY if found.kept or found.changes or found.covers else Exit.UNDETERMINED


def _refuse_contradictions(options: argparse.Namespace, context: Context) -> None:
    looks = options.since is not None or options.before is not None or context.machine_file
    if (options.keep or options.forget) and (looks or options.json):
        raise UsageError(text("--keep and --forget are about what is kept, and tell nothing of a machine: they stand alone"))
    if options.keep and options.forget:
        raise UsageError(text("--keep and --forget are two wishes: one at a time"))
    if context.machine_file and options.before is None:
        raise UsageError(text("a recorded machine has no past of its own here: name the recording to compare with, --from FILE"))
    if options.before == "":
        raise UsageError(text("--from needs the name of a file, and got an empty one"))
    if options.before is not None and options.since is not None:
        raise UsageError(text("--from names what to compare with, --since another: one of the two"))


def _settings(options: argparse.Namespace, context: Context) -> Exit:
    from gpuassist.session.kept_machines import forget, keeping, set_keeping

    world = context.session.world
    if options.forget:
        try:
            count = forget(world)
        except OSError as error:
            context.note(text("what was kept could not be deleted: {error}", error=error.strerror or str(error)))
            return Exit.PROBLEMS
        context.say(text("Deleted: {count}", count=count))
        return Exit.HEALTHY
    set_keeping(world, options.keep == _ON)
    if keeping(world) is not (options.keep == _ON):
        context.note(text("the setting could not be saved"))
        return Exit.PROBLEMS
    on = text("doctor and verify keep what this machine looks like while it is in order")
    off = text("Nothing is kept from now on; what was kept stays until gpuassist changes --forget")
    context.say(on if options.keep == _ON else off)
    return Exit.HEALTHY


def _past(options: argparse.Namespace, context: Context) -> Past:
    from gpuassist.diagnose.judge import judge
    from gpuassist.session.past import past, past_of_recordings

    session = context.session
    before = _recorded(context, options.before) if options.before is not None else None
    after = context.recorded_machine()
    machine = after or _live(context)
    findings = judge(machine, session.knowledge).findings
    if before is not None:
        return past_of_recordings(session, before, machine, findings, live=after is None)
    return past(session, machine, options.since or "", findings)


def _recorded(context: Context, path: str) -> Machine:
    try:
        return read_recording(context.session.world.files, path)
    except RecordingError as error:
        raise UsageError(error.reason) from error


def _live(context: Context) -> Machine:
    load_probes()
    from gpuassist.detect.machine import detect

    machine = detect(
        context.session.world,
        context.session.knowledge,
        lambda progress: context.passing(text("looked at: {section}", section=progress.section)),
    )
    context.passing()
    return machine


def _show(context: Context, found: Past) -> None:
    from gpuassist.present.past import beside_words, change_words, detail_words, title

    words, width, now = context.session.words, width_of(context), context.session.world.clock.now()

    def say(line: str, indent: str, style: str = "") -> None:
        for part in wrapped(line, width, first=indent, hanging=f"{indent}  "):
            context.say(Painted(part, style))

    say(words(title(found, now)), "", BOLD)
    if not found.changes and not found.kept:
        say(words(text("They hold nothing that matters here.")), "")
    for change in found.changes:
        context.say()
        say(words(change_words(change, now)), "")
        for one in detail_words(change):
            say(words(one), "  ")
        if change.sources:
            say(f"[{', '.join(change.sources)}]", "  ", DIM)
    beside = beside_words(found)
    if beside is not None:
        context.say()
        say(words(beside), "")
    if found.notes:
        context.say()
    for note in found.notes:
        say(words(text("Note: {note}.", note=note)), "")
