"""A plan that changes start-up files on the command line: shown, asked for, made, proved, and as a document for programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gpuassist.cli.asking import confirmed
from gpuassist.cli.commands import show_block
from gpuassist.cli.context import Context, Exit
from gpuassist.cli.shell_lines import files_json, line_json, show_lines
from gpuassist.model.codec import Json
from gpuassist.model.fact import Fact, Known
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import Text, text
from gpuassist.repair.apply import Applied
from gpuassist.session.shell_plan import ShellPlan, make

_EXITS = {
    Result.MODIFIED: Exit.HEALTHY,
    Result.UNCHANGED: Exit.HEALTHY,
    Result.REFUSED: Exit.PROBLEMS,
    Result.FAILED: Exit.PROBLEMS,
}


@dataclass(frozen=True, slots=True)
class Proved:
    """What a new terminal was found to hold after the change."""

    holds: Fact[bool]
    words: Text


@dataclass(frozen=True, slots=True)
class Change:
    """A plan, how it is proved once it is made (none where there is nothing to prove), and what else its document says."""

    plan: ShellPlan
    prove: Callable[[], Proved] | None = None
    members: Mapping[str, Json] | None = None


def carry_out(options: argparse.Namespace, context: Context, change: Change) -> Exit:
    """Shows the plan, asks, makes it and proves it."""
    plan = change.plan
    if not options.json:
        _show(context, plan)
    if options.dry_run:
        return _planned(options, context, change)
    if plan.diff and plan.obstacle is None and not (options.yes or confirmed(context, text("Change the files like this?"))):
        declined = Applied(Outcome(Result.REFUSED, text("you said no; nothing was changed")))
        return _told(options, context, change, declined, status=Exit.HEALTHY)
    made = make(context.session, plan)
    proved = change.prove() if change.prove is not None and _EXITS[made.outcome.result] is Exit.HEALTHY else None
    if options.json:
        context.document(_document(context, change, made, proved))
    else:
        _show_made(context, plan, made, proved)
    return _exit(made, proved)


def refuse(options: argparse.Namespace, context: Context, reason: Text) -> Exit:
    """Says why there is no plan."""
    if options.json:
        context.document({"schema": 1, "result": Result.REFUSED.value, "message": context.session.words(reason)})
    else:
        context.note(reason)
    return Exit.PROBLEMS


def _exit(made: Applied, proved: Proved | None) -> Exit:
    if proved is not None and not isinstance(proved.holds, Known):
        return Exit.UNDETERMINED
    if proved is not None and isinstance(proved.holds, Known) and not proved.holds.value:
        return Exit.PROBLEMS
    return _EXITS[made.outcome.result]


def _planned(options: argparse.Namespace, context: Context, change: Change) -> Exit:
    if change.plan.obstacle is not None:
        return _told(options, context, change, Applied(Outcome(Result.REFUSED, change.plan.obstacle)), status=Exit.PROBLEMS)
    made = Applied(Outcome(Result.UNCHANGED, text("nothing was changed (--dry-run)")))
    return _told(options, context, change, made, status=Exit.HEALTHY)


def _told(options: argparse.Namespace, context: Context, change: Change, made: Applied, *, status: Exit) -> Exit:
    if options.json:
        context.document(_document(context, change, made, None, dry_run=options.dry_run))
    else:
        _say_outcome(context, change.plan, made.outcome)
    return status


def _show(context: Context, plan: ShellPlan) -> None:
    context.say(plan.plan.goal)
    show_lines(context, plan.lines, plan.edits[0].path if plan.edits else "")
    for note in plan.plan.notes:
        context.say(text("Note: {note}", note=note))
    if plan.diff:
        context.say()
        context.say_lines(plan.diff)


def _show_made(context: Context, plan: ShellPlan, made: Applied, proved: Proved | None) -> None:
    for note in made.notes:
        context.say(text("Note: {note}", note=note))
    _say_outcome(context, plan, made.outcome)
    if proved is not None:
        glyph = ("✓" if proved.holds.value else "✗") if isinstance(proved.holds, Known) else "?"
        context.say(f"{glyph} {context.session.words(proved.words)}")
    if made.outcome.result is Result.MODIFIED and plan.paste:
        context.say(text("Terminals that are open keep what they have. For one of them, paste this into it:"))
        show_block(context, plan.paste, indent="    ")
    if made.outcome.result is Result.MODIFIED and plan.afterwards is not None:
        context.say(plan.afterwards)
    if made.receipts:
        context.say(text("To take it back: gpuassist undo {change}", change=made.receipts[0].change))


def _say_outcome(context: Context, plan: ShellPlan, outcome: Outcome) -> None:
    context.say(outcome.text)
    if outcome.result is Result.REFUSED and outcome.text == plan.obstacle and plan.block:
        context.say(plan.by_hand or text("These are the lines, to put at the end of a start-up file of yours by hand:"))
        show_block(context, plan.block.split("\n"))


def _document(context: Context, change: Change, made: Applied, proved: Proved | None, *, dry_run: bool = False) -> Json:
    words, plan = context.session.words, change.plan
    proof: Json = None
    if proved is not None:
        proof = {"holds": proved.holds.value if isinstance(proved.holds, Known) else None, "message": words(proved.words)}
    return {
        "schema": 1,
        "result": made.outcome.result.value,
        "message": words(made.outcome.text),
        "dry_run": dry_run,
        "change": made.receipts[0].change if made.receipts else None,
        "goal": words(plan.plan.goal),
        **(change.members or {}),
        "diff": plan.diff,
        "files": files_json(plan.plan),
        "lines": [line_json(line, words) for line in plan.lines],
        "notes": [words(note) for note in plan.plan.notes],
        "block": plan.block,
        "paste": list(plan.paste),
        "afterwards": words(plan.afterwards) if plan.afterwards is not None else None,
        "proof": proof,
    }
