"""`gpuassist undo [ID]`: takes the newest, or a given, change back."""

from __future__ import annotations

import argparse

from gpuassist.cli.asking import confirmed
from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.model.codec import Json
from gpuassist.model.plan import Receipt, Result
from gpuassist.model.text import Text, text
from gpuassist.repair.diff import unified
from gpuassist.session import fix
from gpuassist.session.words import Words

NAME = "undo"
HELP = text("take back the last change that gpuassist made, or a given one")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Adds the options of `undo`."""
    parser.add_argument("id", nargs="?", default="", metavar="ID", help=words(text("the change to undo (default: the newest)")))
    parser.add_argument("--list", action="store_true", help=words(text("list all changes, newest first")))
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Lists, or takes back."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="undo"))
    changes = fix.history(context.session)
    if options.list:
        return _list(options, context, changes)
    try:
        return _undo(options, context, changes)
    except fix.UnknownChangeError as error:
        raise UsageError(error.reason) from error
    except fix.NothingToUndoError as error:
        return _not_undone(options, context, error.reason, Result.UNCHANGED)
    except fix.RepairError as error:
        return _not_undone(options, context, error.reason, Result.REFUSED)


def _undo(options: argparse.Namespace, context: Context, changes: tuple[Receipt, ...]) -> Exit:
    newest = next((change.id for change in changes if not change.undone_at), "")
    if options.id and options.id != newest and not options.yes and not _agreed(options, context):
        context.note(text("you said no; nothing was changed"))
        return Exit.HEALTHY
    undone = fix.undo(context.session, options.id)
    if options.json:
        context.document(
            {
                "schema": 1,
                "result": undone.outcome.result.value,
                "message": context.session.words(undone.outcome.text),
                "change": _change_json(context, undone.receipt),
            }
        )
    else:
        context.say(undone.outcome.text)
    return Exit.HEALTHY


def _agreed(options: argparse.Namespace, context: Context) -> bool:
    taking = fix.plan_undo(context.session, options.id)
    if taking.edit is not None:
        context.note(unified(taking.edit.path, taking.edit.before, taking.edit.after))
    return confirmed(context, text("This is not the newest change. Undo it like this?"))


def _list(options: argparse.Namespace, context: Context, changes: tuple[Receipt, ...]) -> Exit:
    if options.json:
        context.document({"schema": 1, "changes": [_change_json(context, change) for change in changes]})
    elif not changes:
        context.say(text("gpuassist has changed nothing yet"))
    for change in () if options.json else changes:
        undone = text("undone {when}", when=change.undone_at) if change.undone_at else text("in effect")
        context.say(f"{change.id}  {change.made_at}  {change.goal}  {change.path}  ({context.session.words(undone)})")
    return Exit.HEALTHY


def _change_json(context: Context, change: Receipt) -> Json:
    return {
        "id": change.id,
        "made_at": change.made_at,
        "goal": change.goal,
        "file": change.path,
        "target": change.target,
        "existed": change.existed,
        "hash_before": change.hash_before,
        "hash_after": change.hash_after,
        "undone_at": change.undone_at or None,
        "backup": fix.backup_of(context.session, change),
    }


def _not_undone(options: argparse.Namespace, context: Context, reason: Text, result: Result) -> Exit:
    if options.json:
        context.document({"schema": 1, "result": result.value, "message": context.session.words(reason)})
    else:
        context.note(reason)
    return Exit.HEALTHY if result is Result.UNCHANGED else Exit.PROBLEMS
