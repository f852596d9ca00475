"""`gpuassist undo --all`: everything is looked at, taken back, and what remains is listed; then its own data may go as well."""

from __future__ import annotations

import argparse

from gpuassist.changes.undo import UndoPlan
from gpuassist.changes.undo_all import PlannedUndo, UndoAllOutcome, UndoneChange, UndoRefusal, undo_all
from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.old_environments import show_old_environments
from gpuassist.cli.paragraphs import show_command
from gpuassist.install.remains import InstallRemains
from gpuassist.model.plan import Result
from gpuassist.model.text import Text, text
from gpuassist.present import undo_all as said
from gpuassist.present.marks import GLYPHS, Exit, Mark, glyph_of
from gpuassist.present.old_environments import old_json
from gpuassist.present.undo import conflict_lines, diff_of
from gpuassist.session.old_environments import after_undo
from gpuassist.session.own_state import DeletedPart, OwnState, delete_own_state
from gpuassist.session.traces import Traces, look_again, look_at_traces
from gpuassist.session.undo import what_stays_of_all
from gpuassist.system.interrupts import counted_interrupts

_NOBODY = text("this changes files, and there is no terminal to ask on: please add --yes, or --dry-run to look only")
_NOT_DELETED = text("To delete gpuassist's own data as well: gpuassist undo --all --delete-state")


def undo_everything(options: argparse.Namespace, context: Context) -> Exit:
    """Raises `RepairError` where the journal cannot be used."""
    traces = look_at_traces(context.session, take_out=options.take_out)
    asks = context.terminal.interactive and not options.json and not options.yes
    if not options.json:
        _show_plan(context, traces)
    if options.dry_run:
        return _only_looked(options, context, traces)
    if not (options.yes or asks) and (traces.plan.any_possible or options.delete_state):
        raise UsageError(_NOBODY)
    if traces.plan.any_possible and asks and not confirmed(context, text("Undo all of this like this?")):
        context.note(text("you said no; nothing was changed"))
        return Exit.HEALTHY
    outcome = _take_back(options, context, traces)
    now = look_again(context.session, traces) if outcome.changes else traces
    deleted: tuple[DeletedPart, ...] | None = None
    if not outcome.interrupted:
        if not options.json:
            _show_installs(context, traces)
        if _wants_deleted(options, context, now.state, asks=asks):
            deleted = delete_own_state(context.session, now.state)
    status = _status(traces, outcome)
    result, message = _result(traces, outcome, status)
    if status is Exit.HEALTHY and options.delete_state and _deleting_failed(now.state, deleted):
        status = Exit.PROBLEMS
    if options.json:
        document = said.traces_json(context.session, traces, outcome.changes, deleted, state=now.state)
        words = context.session.words(message)
        left = old_json(after_undo(context.session, _taken(outcome)), context.session.words)
        context.document({"schema": 1, "result": result, "message": words, "dry_run": False, **document, "still_old": left})
    else:
        for one in deleted or ():
            context.say(
                f"{GLYPHS[Mark.RIGHT if one.trouble is None else Mark.WARNING]} {context.session.words(said.deleted_line(one))}"
            )
    return status


def _show_plan(context: Context, traces: Traces) -> None:
    plan = traces.plan
    for words in said.records_left(plan):
        context.note(words)
    context.say(said.plan_title(plan))
    for one in plan.changes:
        context.say()
        context.say(said.change_head(one))
        for file in one.plan.files if one.plan is not None else ():
            if file.edit is not None:
                context.say_lines(diff_of(file))
            context.say(text("Result: {way}.", way=file.way))
        if one.refusal is not None:
            _show_refusal(context, one, one.refusal)
    if plan.changes:
        context.say()


def _show_refusal(context: Context, one: PlannedUndo, refusal: UndoRefusal) -> None:
    for line in conflict_lines(refusal.three_way) if refusal.three_way is not None else ():
        context.say_lines(context.session.words(line))
    context.say(f"{GLYPHS[Mark.WARNING]} {context.session.words(refusal.reason)}")
    context.say(said.what_to_do(one, refusal))


def _only_looked(options: argparse.Namespace, context: Context, traces: Traces) -> Exit:
    nothing = text("nothing was changed (--dry-run)")
    status = _status(traces, None)
    if options.json:
        words = context.session.words(nothing)
        document = said.traces_json(context.session, traces, ())
        context.document(
            {"schema": 1, "result": Result.UNCHANGED.value, "message": words, "dry_run": True, **document, "still_old": None}
        )
        return status
    _show_installs(context, traces)
    _show_state(context, traces.state)
    context.say(nothing)
    return status


def _take_back(options: argparse.Namespace, context: Context, traces: Traces) -> UndoAllOutcome:
    if not traces.plan.any_possible:
        return UndoAllOutcome()

    def told(one: UndoneChange) -> None:
        if not options.json:
            context.say(f"{glyph_of(one.outcome.result)} {context.session.words(said.done_line(one))}")

    with counted_interrupts() as interrupted:
        outcome = undo_all(context.session.world, traces.plan, cancelled=interrupted, on_done=told)
    if options.json:
        return outcome
    for words in outcome.notes:
        context.say(text("Note: {note}", note=words))
    if outcome.stopped is not None:
        context.note(outcome.stopped)
        return outcome
    context.say(said.outcome_title(outcome.changes, planned=len(traces.plan.changes), interrupted=outcome.interrupted))
    for words in what_stays_of_all(context.session, _taken(outcome)):
        context.say(words)
    show_old_environments(context, after_undo(context.session, _taken(outcome)), told_of_source=True)
    return outcome


def _taken(outcome: UndoAllOutcome) -> tuple[UndoPlan, ...]:
    return tuple(one.wrote for one in outcome.changes if one.wrote is not None)


def _show_installs(context: Context, traces: Traces) -> None:
    title = said.installs_title(traces.installs)
    if title is not None:
        context.say()
        context.say(title)
    for one in traces.installs.left:
        _show_install(context, one)
    for path in traces.installs.unread:
        context.note(text("the record {path} cannot be read, so it is not known what it left", path=path))


def _show_install(context: Context, one: InstallRemains) -> None:
    context.say(f"  {context.session.words(said.install_head(one))}")
    if one.unknown is not None:
        context.say("    ", context.session.words(text("How to undo it is not known: {reason}", reason=one.unknown)))
    for step in one.back:
        context.say("    ", context.session.words(step.text))
        for line in step.commands:
            show_command(context, line, indent="        ")
        if step.obstacle is not None:
            context.say("        ", context.session.words(step.obstacle))
    if one.needs_record:
        context.say("    ", context.session.words(text("To undo it: {command}", command=said.back_command(one))))
    for hand in one.by_hand:
        context.say("    ", context.session.words(said.by_hand_words(hand)))
        for line in hand.removes or hand.commands:
            show_command(context, line, indent="        ")


def _show_state(context: Context, state: OwnState) -> None:
    """What would be deleted, with sizes, and what stays."""
    if not state.parts:
        return
    context.say()
    if state.deletable:
        context.say(said.state_title(state))
    for part in state.deletable:
        context.say(f"  {context.session.words(said.part_line(part))}")
    for words in said.state_notes(state):
        context.say(words)


def _wants_deleted(options: argparse.Namespace, context: Context, state: OwnState, *, asks: bool) -> bool:
    """Shows what would go; `--yes` says yes to taking back alone."""
    if not options.json:
        _show_state(context, state)
    if not state.deletable:
        return False
    if options.delete_state and not asks:
        return True
    if asks:
        return confirmed(context, text("Delete this as well? It cannot be undone."))
    if not options.json:
        context.say(_NOT_DELETED)
    return False


def _status(traces: Traces, outcome: UndoAllOutcome | None) -> Exit:
    """Of taking back; `outcome` is none where it was only looked at."""
    if outcome is not None and outcome.interrupted:
        return Exit.INTERRUPTED
    plan = traces.plan
    over = (
        {one.planned.change for one in outcome.changes if one.over}
        if outcome is not None
        else {one.change for one in plan.changes if one.whole}
    )
    left = any(one.change not in over for one in plan.changes) or (outcome is not None and outcome.stopped is not None)
    return Exit.PROBLEMS if left or plan.left_out or plan.damaged else Exit.HEALTHY


def _deleting_failed(state: OwnState, deleted: tuple[DeletedPart, ...] | None) -> bool:
    """Whether something stays that was to be deleted."""
    stays = state.stays is not None or any(part.stays is not None for part in state.parts)
    return stays or any(one.trouble is not None for one in deleted or ())


def _result(traces: Traces, outcome: UndoAllOutcome, status: Exit) -> tuple[str, Text]:
    if outcome.stopped is not None:
        return Result.REFUSED.value, outcome.stopped
    words = said.outcome_title(outcome.changes, planned=len(traces.plan.changes), interrupted=outcome.interrupted)
    if outcome.interrupted:
        return "interrupted", words
    if status is not Exit.HEALTHY:
        return Result.REFUSED.value, words if traces.plan.any_possible else said.plan_title(traces.plan)
    if not traces.plan.changes:
        return Result.UNCHANGED.value, said.plan_title(traces.plan)
    return Result.MODIFIED.value, words
