"""`gpuassist plan --project DIR`: will a project's own files run here, and their smallest change, written with `--write` alone."""

from __future__ import annotations

import argparse
import os

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.cli.paragraphs import show_command, width_of, wrapped
from gpuassist.cli.streams import Painted
from gpuassist.detect.recording import RecordingError
from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.project import ProjectChange, ProjectCheck, ProjectOutlook
from gpuassist.model.text import Text, text
from gpuassist.present.marks import GLYPHS, Exit, exit_of
from gpuassist.present.project import CHECK_MARKS, CHECK_TITLES, exit_of_project, place_words, project_document, verdict_of
from gpuassist.session.plan import look
from gpuassist.session.project import ProjectError, plan_project_change, project_outlook
from gpuassist.shellfiles.block import RepairError


def run_project(options: argparse.Namespace, context: Context) -> Exit:
    _check(options, context)
    directory = os.path.abspath(options.project)
    try:
        if not context.elsewhere:
            load_probes()
        machine = context.recorded_machine() or look(context.session)
        outlook = project_outlook(context.session, machine, directory)
    except (ProjectError, RecordingError) as error:
        raise UsageError(error.reason) from error
    if not options.json:
        _show(context, outlook)
    if not options.write:
        if options.json:
            context.document(project_document(outlook, context.session.words))
        return exit_of_project(outlook)
    return _write(options, context, machine, outlook)


def _check(options: argparse.Namespace, context: Context) -> None:
    if options.goals:
        raise UsageError(text("--project is about a directory and takes no goal"))
    if options.run or options.resume or options.give_up or options.back is not None:
        raise UsageError(text("--project goes with --write, not with --run, --resume, --give-up or --back"))
    if options.write and context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="plan --write"))
    if options.write:
        from gpuassist.cli.plan_run_options import require_own_account

        require_own_account(context)


def _show(context: Context, outlook: ProjectOutlook) -> None:
    say = context.say
    _paragraph(context, text("Project: {directory}", directory=outlook.directory))
    say()
    for check in outlook.checks:
        _show_check(context, check)
    if outlook.checks:
        say()
    _paragraph(context, verdict_of(outlook))
    for change in outlook.changes:
        _show_change(context, change)
    for number, one in enumerate(outlook.steps, start=1):
        say()
        _paragraph(context, one.text, first=f"{number}. ")
        for line in one.commands:
            show_command(context, line, indent="     ")
        if one.needs_root:
            words = text("(needs administrator rights: gpuassist shows such commands and never runs them)")
            _paragraph(context, words, first="   ")
        if one.check is not None:
            _paragraph(context, text("To see that it worked: {check}", check=one.check), first="   ")
    for note in outlook.notes:
        say()
        _paragraph(context, text("Note: {note}", note=note))


def _show_check(context: Context, check: ProjectCheck) -> None:
    words = context.session.words
    place = place_words(check)
    title = words(CHECK_TITLES[check.id])
    said = f"{title}: {words(check.text)}" + (f" ({words(place)})" if place is not None else "")
    _paragraph(context, said, first=f"{GLYPHS[CHECK_MARKS[check.state]]} ")


def _show_change(context: Context, change: ProjectChange) -> None:
    context.say()
    _paragraph(context, text("The smallest change of {file}: {does}", file=change.file, does=change.text))
    for row in change.diff.rstrip("\n").split("\n"):
        context.say("    ", Painted(row, ""))
    for one in change.may_break:
        _paragraph(context, text("May break: {what}", what=one), first="   ")


def _paragraph(context: Context, words: Text | str, *, first: str = "") -> None:
    plain = words if isinstance(words, str) else context.session.words(words)
    for line in wrapped(plain, width_of(context), first=first, hanging=" " * len(first)):
        context.say(line)


# Writing


def _write(options: argparse.Namespace, context: Context, machine: Machine, outlook: ProjectOutlook) -> Exit:
    """The changes written, as every change of the user's files is; the status then is whether they could be."""
    outcome = _carried(options, context, machine, outlook)
    if options.json:
        document = project_document(outlook, context.session.words)
        change = outcome.receipts[0].change if outcome.receipts else None
        written: Json = {
            "result": outcome.outcome.result.value,
            "message": context.session.words(outcome.outcome.text),
            "change": change,
        }
        context.document({**document, "written": written})
    else:
        context.say()
        for note in outcome.notes:
            context.say(text("Note: {note}", note=note))
        context.say(outcome.outcome.text)
        if outcome.receipts:
            context.say(text("To undo it: gpuassist undo {change}", change=outcome.receipts[0].change))
    if not outlook.changes:
        return exit_of_project(outlook)
    return exit_of(outcome.outcome.result)


def _carried(options: argparse.Namespace, context: Context, machine: Machine, outlook: ProjectOutlook) -> ChangeOutcome:
    if not outlook.changes:
        return ChangeOutcome(Outcome(Result.UNCHANGED, text("no file has to be changed; nothing was written")))
    try:
        plan = plan_project_change(context.session, machine, outlook)
    except RepairError as error:
        return ChangeOutcome(Outcome(Result.REFUSED, error.reason))
    if not options.json:
        for note in plan.plan.notes:
            context.say(text("Note: {note}", note=note))
    if plan.obstacle is None and not (options.yes or confirmed(context, text("Change the files like this?"))):
        return ChangeOutcome(Outcome(Result.REFUSED, text("you said no; nothing was changed")))
    return carry_out(context.session.world, plan)
