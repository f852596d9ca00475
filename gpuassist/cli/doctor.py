"""`gpuassist doctor`: what is wrong with this machine, why, by which evidence, and what to do about it."""

from __future__ import annotations

import argparse

from gpuassist.cli.answers import AnswerWriter, severest
from gpuassist.cli.context import Context
from gpuassist.cli.inspection import inspect_machine
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.install.records import installs, root
from gpuassist.model.codec import Json
from gpuassist.model.text import joined, listed, text
from gpuassist.model.words import Words
from gpuassist.present.answer_document import SCHEMA, finding_document, undetermined_document
from gpuassist.present.marks import Exit
from gpuassist.present.summary import found_figures, found_title
from gpuassist.session.inspect import Inspection
from gpuassist.system.ownership import why_state_untrusted

NAME = "doctor"
HELP = text("say what is wrong with this machine's GPU set-up, why, and what to do about it")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))
    fleet = text("many machines at once: a directory of recordings (`gpuassist detect --json`), or ssh:HOST,HOST")
    parser.add_argument("--fleet", metavar="SOURCE", default=None, help=words(fleet))


def run(options: argparse.Namespace, context: Context) -> Exit:
    context = context.for_programs(options)
    if options.fleet is not None:
        from gpuassist.cli.doctor_fleet import run_fleet

        return run_fleet(options, context)
    inspection = inspect_machine(context, with_changes=True)
    if options.json:
        context.document(document(inspection, context.session.words))
    else:
        _Report(context).show(inspection)
        _tell_what_waits(context)
    _keep(context, inspection)
    return status(inspection)


def status(inspection: Inspection) -> Exit:
    """The worst of what was found; what could not be told counts where nothing worse was found."""
    return severest(inspection.answers, otherwise=Exit.UNDETERMINED if inspection.diagnosis.undetermined else Exit.HEALTHY)


def document(inspection: Inspection, words: Words) -> Json:
    """The findings as the contract of `doctor --json` has them."""
    return {
        "schema": SCHEMA,
        "findings": [finding_document(answer, words) for answer in inspection.answers],
        "undetermined": undetermined_document(inspection.diagnosis.undetermined, words),
    }


def _keep(context: Context, inspection: Inspection) -> None:
    """What the machine looks like is kept while it works. Why it could not be has nothing to do with the answer."""
    if context.elsewhere:
        return
    from gpuassist.session.kept_machines import keep_healthy  # what a recorded machine need not wait for

    refused = keep_healthy(context.session.world, inspection)
    if refused is not None:
        import logging  # 2 ms of every start, where nothing else needs it

        logging.getLogger(__name__).info("the machine was not kept: %s", context.session.words(refused))


def _tell_what_waits(context: Context) -> None:
    """An install that was begun on this machine and waits for somebody to go on with it."""
    if context.elsewhere:
        return
    world = context.session.world
    refused = why_state_untrusted(world, root(world)) if world.disk.exists(root(world)) else None
    if refused is not None:
        context.note(refused)
    if not installs(context.session.world):
        return
    from gpuassist.install.resume import waiting  # what can go on with it costs a start 80 ms

    found = waiting(context.session)
    if found is not None:
        context.say()
        context.say(text("{install}: gpuassist plan --resume", install=found.words))


class _Report:
    """Writes an inspection for people to read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._writer = AnswerWriter(context)

    def show(self, inspection: Inspection) -> None:
        diagnosis, answers, say = inspection.diagnosis, inspection.answers, self._writer.say
        if inspection.host:
            say(self._words(text("{host}, over SSH", host=inspection.host)), style=DIM)
        if inspection.title:
            say(self._words(text("Recorded machine: {title}", title=inspection.title)), style=DIM)
        say(self._words(found_title(inspection.machine, diagnosis, answers)), style=BOLD)
        say(self._words(joined(found_figures(diagnosis, answers, inspection.seconds))), style=DIM)
        for answer in answers:
            self._writer.answer(answer)
        if diagnosis.passed:
            self._context.say()
            checks = listed(dict.fromkeys(self._words(one.check) for one in diagnosis.passed))
            say(f"✓ {self._words(text('Checked and fine: {checks}', checks=checks))}", hanging="  ")
        if diagnosis.undetermined:
            self._writer.undetermined(diagnosis.undetermined)
