"""`gpuassist undo [ID]`: takes the newest, or a given, change back."""

from __future__ import annotations

import argparse

from gpuassist.changes.record import records
from gpuassist.changes.restore import ConflictError
from gpuassist.changes.undo import NothingToUndoError, UndoPlan, UnknownChangeError, history, left_out, plan_undo, undo
from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context, UsageError
from gpuassist.model.codec import Json
from gpuassist.model.plan import Outcome, Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present import undo as undo_document
from gpuassist.present.marks import Exit
from gpuassist.session.undo import what_stays
from gpuassist.shellfiles.block import RepairError

NAME = "undo"
HELP = text("undo the last change that gpuassist made, a given one, or all of them")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("id", nargs="?", default="", metavar="ID", help=words(text("the change to undo (default: the newest)")))
    help_words = words(text("list all changes, newest first: what is still in effect, and which files were edited since"))
    parser.add_argument("--list", action="store_true", help=help_words)
    everything = words(text("undo everything that gpuassist ever changed, newest first, and list which installs remain"))
    parser.add_argument("--all", action="store_true", help=everything)
    state = words(text("with --all: once everything is undone, delete what gpuassist has kept for itself; --yes alone does not"))
    parser.add_argument("--delete-state", action="store_true", help=state)
    whole = words(text("take gpuassist's own lines out also where somebody edited them since, with what was edited"))
    parser.add_argument("--take-out", action="store_true", help=whole)
    parser.add_argument("--dry-run", action="store_true", help=words(text("show what would be done, and do nothing")))
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="undo"))
    if options.all and (options.id or options.list):
        raise UsageError(text("--all undoes everything: it goes with neither an ID nor --list"))
    if options.delete_state and not options.all:
        raise UsageError(text("--delete-state goes with --all"))
    try:
        if options.all:
            from gpuassist.cli.undo_all import undo_everything  # what it needs of installs doubles the start of `undo`

            return undo_everything(options, context)
        return _list(options, context) if options.list else _undo(options, context)
    except UnknownChangeError as error:
        raise UsageError(error.reason) from error
    except NothingToUndoError as error:
        return _not_undone(options, context, error.reason, Result.UNCHANGED)
    except ConflictError as error:
        command = f"gpuassist undo {error.change} --take-out" if error.in_block else ""
        # Of a look nothing more is wanted; whoever wanted it done is told the command that does it.
        status = Exit.USAGE if command and not options.dry_run else Exit.PROBLEMS
        if options.json:
            conflict = undo_document.conflict_json(error.three_way)
            message = context.session.words(error.reason)
            context.document(
                {"schema": 1, "result": Result.REFUSED.value, "message": message, "conflict": conflict, "command": command or None}
            )
            return status
        _show_conflict(context, error)
        if not command:
            return status
        context.note(
            text(
                "They meet in gpuassist's own lines alone. To take these out, with what was edited there: {command}",
                command=command,
            )
        )
        return status
    except RepairError as error:
        return _not_undone(options, context, error.reason, Result.REFUSED)


def _undo(options: argparse.Namespace, context: Context) -> Exit:
    try:
        taking = plan_undo(context.session.world, options.id, take_out=options.take_out)
    except ConflictError as error:
        if error.in_block and context.terminal.interactive and not (options.dry_run or options.yes or options.json):
            return _offer(options, context, error)
        raise
    if options.dry_run:
        return _planned(options, context, taking)
    changes = history(context.session.world)
    newest = next((change.change for change in changes if not change.undone_at), "")
    if taking.receipt.change != newest and not options.yes and not _agreed(context, taking):
        context.note(text("you said no; nothing was changed"))
        return Exit.HEALTHY
    return _take_back(options, context, taking)


def _take_back(options: argparse.Namespace, context: Context, taking: UndoPlan) -> Exit:
    undone = undo(context.session.world, taking.receipt.change, take_out=taking.take_out)
    # What reads start-up files and processes is half of what `undo --list` loads.
    from gpuassist.cli.old_environments import show_old_environments
    from gpuassist.present.old_environments import old_json
    from gpuassist.session.old_environments import after_undo

    left = after_undo(context.session, (taking,), undone.receipts[0].undone_at)
    if options.json:
        document = _document(context, undone.outcome, undone.receipts[0], taking)
        context.document({**document, "still_old": old_json(left, context.session.words)})
        return Exit.HEALTHY
    for file in taking.files:
        if file.edited and file.edit is not None:
            context.say_lines(undo_document.diff_of(file))
    context.say(undone.outcome.text)
    for words in what_stays(context.session, taking):
        context.say(words)
    show_old_environments(context, left, told_of_source=True)
    return Exit.HEALTHY


def _planned(options: argparse.Namespace, context: Context, taking: UndoPlan) -> Exit:
    nothing = text("nothing was changed (--dry-run)")
    if options.json:
        document = _document(context, Outcome(Result.UNCHANGED, nothing), taking.receipt, taking, dry_run=True)
        context.document({**document, "still_old": None})
        return Exit.HEALTHY
    for file in taking.files:
        if file.edit is not None:
            context.say_lines(undo_document.diff_of(file))
        context.say(text("Result: {way}.", way=file.way))
    context.say(nothing)
    return Exit.HEALTHY


def _agreed(context: Context, taking: UndoPlan) -> bool:
    for file in taking.files:
        if file.edit is not None:
            context.note_lines(undo_document.diff_of(file))
    return confirmed(context, text("This is not the newest change. Undo it like this?"))


def _list(options: argparse.Namespace, context: Context) -> Exit:
    made = records(context.session.world)
    for note in left_out(context.session.world):
        context.note(note)
    if options.json:
        changes = [file for record in made for file in undo_document.record_json(context.session, record)]
        context.document({"schema": 1, "changes": changes})
        return Exit.HEALTHY
    if not made:
        context.say(text("gpuassist has changed nothing yet"))
    for record in made:
        for line in undo_document.record_lines(record):
            context.say(line)
    return Exit.HEALTHY


def _document(context: Context, outcome: Outcome, receipt: Receipt, taking: UndoPlan, *, dry_run: bool = False) -> dict[str, Json]:
    return {
        "schema": 1,
        "result": outcome.result.value,
        "message": context.session.words(outcome.text),
        "dry_run": dry_run,
        "change": undo_document.receipt_json(context.session, receipt),
        "files": undo_document.back_json(taking, context.session.words),
    }


def _show_conflict(context: Context, error: ConflictError) -> None:
    for line in undo_document.conflict_lines(error.three_way):
        context.note_lines(context.session.words(line))
    context.note(error.reason)


def _offer(options: argparse.Namespace, context: Context, error: ConflictError) -> Exit:
    """What was written into our lines goes only after it was shown."""
    _show_conflict(context, error)
    taking = plan_undo(context.session.world, error.change, take_out=True)
    for file in taking.files:
        if file.edit is not None:
            context.note_lines(undo_document.diff_of(file))
    if confirmed(context, text("Take gpuassist's own lines out like this, with what was edited there?")):
        return _take_back(options, context, taking)
    context.note(text("you said no; nothing was changed"))
    return Exit.HEALTHY


def _not_undone(options: argparse.Namespace, context: Context, reason: Text, result: Result) -> Exit:
    if options.json:
        context.document({"schema": 1, "result": result.value, "message": context.session.words(reason)})
    else:
        context.note(reason)
    return Exit.HEALTHY if result is Result.UNCHANGED else Exit.PROBLEMS
