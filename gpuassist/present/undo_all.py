"""Undo of everything as values for programs and as words for people: what becomes of each change, what remains, what is deleted."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.changes.undo_all import PlannedUndo, UndoAllPlan, UndoneChange, UndoRefusal
from gpuassist.context import Session
from gpuassist.formats.size import shown_size
from gpuassist.install.remains import ByHand, InstallRemains
from gpuassist.model.codec import Json
from gpuassist.model.plan import Result
from gpuassist.model.text import Text, counted, listed, text
from gpuassist.present.install import install_in_words
from gpuassist.present.moments import minute
from gpuassist.present.undo import back_json, conflict_json, receipt_json
from gpuassist.session.installs_left import InstallsLeft
from gpuassist.session.own_state import DeletedPart, OwnState, StatePart
from gpuassist.session.traces import Traces


def change_head(one: PlannedUndo) -> Text:
    """A change in a line: what it was for, and when."""
    receipt = one.receipts[0]
    return text("{goal}  ·  made {made}  ·  {change}", goal=receipt.goal, made=minute(receipt.made_at), change=one.change)


def what_to_do(one: PlannedUndo, refusal: UndoRefusal) -> Text:
    """What the user can do about one that is left."""
    if refusal.in_block:
        return text(
            "They meet in gpuassist's own lines alone. To take these out, with what was edited there: {command}",
            command=take_out_command(one),
        )
    if refusal.three_way is not None:
        return text("Please change these lines by hand, then `gpuassist undo --all` undoes the rest.")
    if refusal.gone:
        return text("If it was removed for good, nothing has to be done; if it comes back, `gpuassist undo --all` continues.")
    return text("Once that is fixed, `gpuassist undo --all` continues.")


def take_out_command(one: PlannedUndo) -> str:
    return f"gpuassist undo {one.change} --take-out"


def plan_title(plan: UndoAllPlan) -> Text:
    """How many changes stand, and how many of them can be taken back."""
    count, possible = len(plan.changes), sum(one.plan is not None for one in plan.changes)
    if not count:
        return text("No change by gpuassist is in your files")
    if possible == count:
        return counted("{count} change can be undone", "{count} changes can be undone, the newest first", count)
    return text("{possible} of {count} changes can be undone", possible=possible, count=count)


def records_left(plan: UndoAllPlan) -> Iterator[Text]:
    """The records that are not used, and what to do about them."""
    yield from plan.left_out
    for name in plan.damaged:
        yield text(
            "the record {name} in the journal is damaged, so it is not known whether its change is still in effect", name=name
        )
    if plan.left_out or plan.damaged:
        yield text("Nothing is done with these. Please look at them, and take away what is none of yours.")


def outcome_title(done: tuple[UndoneChange, ...], *, planned: int, interrupted: bool) -> Text:
    """What came of all of them, in one sentence."""
    over, left = sum(one.over for one in done), sum(not one.over for one in done)
    if interrupted:
        return text(
            "Stopped: {over} of {count} changes were undone, the others are still in effect. `gpuassist undo --all` continues.",
            over=over,
            count=planned,
        )
    if left:
        return counted(
            "{over} of {all} changes were undone; {count} is left, with the reason beside it",
            "{over} of {all} changes were undone; {count} are left, with the reasons beside them",
            left,
            over=over,
            all=planned,
        )
    return text("Everything was undone: no change by gpuassist is left in your files")


def done_line(one: UndoneChange) -> Text:
    """What came of one change, in a line."""
    goal, change, words = one.planned.receipts[0].goal, one.planned.change, one.outcome.text
    if one.refusal is None:
        return text("{goal} ({change}): {words}", goal=goal, change=change, words=words)
    todo = what_to_do(one.planned, one.refusal)
    return text("{goal} ({change}) is left: {words} {todo}", goal=goal, change=change, words=words, todo=todo)


# Installs


def install_head(one: InstallRemains) -> Text:
    return install_in_words(one.install)


def back_command(one: InstallRemains) -> str:
    """The command that goes the way back."""
    return f"gpuassist plan --back {one.install.id}"


def by_hand_words(step: ByHand) -> Text:
    """What introduces the lines that take away what a step by hand installed, or those that were run where none are known."""
    if not step.removes:
        return text("By hand: {step}. How that is taken away is not known; these lines were to be run:", step=step.text)
    if step.needs_root:
        return text("By hand: {step}. Unless it is to stay, copy this into a terminal of yours:", step=step.text)
    return text("By hand: {step}. Unless it is to stay, this takes it away:", step=step.text)


def installs_title(installs: InstallsLeft) -> Text | None:
    """That installs remain; none where none does."""
    if not installs.left:
        return None
    return counted(
        "{count} install remains; it is no change of a file, and is taken away by itself",
        "{count} installs remain; they are no changes of files, and are taken away by themselves",
        len(installs.left),
    )


# Its own data


def part_line(part: StatePart) -> Text:
    """One thing with its size."""
    size = shown_size(part.size_bytes)
    if part.counted and not part.size_bytes:
        return text("{path}  ({what}, empty)", path=part.path, what=part.what)
    if part.counted:
        return text("{path}  ({what}, {size})", path=part.path, what=part.what, size=size)
    return text("{path}  ({what}, more than {size})", path=part.path, what=part.what, size=size)


def state_title(state: OwnState) -> Text:
    """How much it would be."""
    parts = state.deletable
    size = shown_size(sum(part.size_bytes for part in parts))
    return counted(
        "gpuassist's own data: {count} part, {size}", "gpuassist's own data: {count} parts, {size}", len(parts), size=size
    )


def state_notes(state: OwnState) -> Iterator[Text]:
    """What stays and why, and what goes that is nowhere else."""
    if state.stays is not None and state.parts:
        yield text("gpuassist's own data stays for now: {reason}", reason=state.stays)
        return
    for part in state.parts:
        if part.stays is not None:
            yield text("{path} stays: {reason}", path=part.path, reason=part.stays)
    for path in state.others:
        yield text("{path} stays: it is not known to be gpuassist's", path=path)
    if state.lost and state.deletable:
        yield text(
            "With the journal goes the only copy of what these files held, which are not there any more: {paths}",
            paths=listed(state.lost),
        )


def deleted_line(one: DeletedPart) -> Text:
    if one.trouble is not None:
        return text("{path} was not deleted: {reason}", path=one.part.path, reason=one.trouble)
    return text("{path} was deleted ({size})", path=one.part.path, size=shown_size(one.part.size_bytes))


# Documents


def change_json(session: Session, one: PlannedUndo, done: UndoneChange | None) -> dict[str, Json]:
    """One change: before anything was done where `done` is none."""
    refusal = done.refusal if done is not None else one.refusal
    shown = done.planned if done is not None else one
    if done is not None:
        result, words = done.outcome.result, done.outcome.text
    elif refusal is not None:
        result, words = Result.REFUSED, refusal.reason
    else:
        result, words = Result.UNCHANGED, shown.plan.way if shown.plan is not None else text("nothing was done")
    document: dict[str, Json] = {
        "change": receipt_json(session, one.receipts[0]),
        "files": back_json(shown.plan, session.words) if shown.plan is not None else [],
        "result": result.value,
        "message": session.words(words),
        "taken_back": done.over if done is not None else False,
    }
    if refusal is not None:
        document["what_to_do"] = session.words(what_to_do(one, refusal))
        if refusal.three_way is not None:
            document["conflict"] = conflict_json(refusal.three_way)
            document["command"] = take_out_command(one) if refusal.in_block else None
    return document


def install_json(session: Session, one: InstallRemains) -> Json:
    words = session.words
    return {
        "install": one.install.id,
        "goal": one.install.goal,
        "made_at": one.install.made_at,
        "state": one.install.state.value,
        "command": back_command(one) if one.needs_record else None,
        "back": [
            {
                "text": words(step.text),
                "commands": list(step.commands),
                "left": list(step.left),
                "obstacle": words(step.obstacle) if step.obstacle is not None else None,
            }
            for step in one.back
        ],
        "by_hand": [
            {
                "text": words(step.text),
                "commands": list(step.commands),
                "removes": list(step.removes),
                "needs_root": step.needs_root,
            }
            for step in one.by_hand
        ],
        "unknown": words(one.unknown) if one.unknown is not None else None,
    }


def state_json(session: Session, state: OwnState, deleted: tuple[DeletedPart, ...] | None) -> Json:
    """Its own data; `deleted` is what came of deleting it, none where that was not wanted."""
    words = session.words
    came = {one.part.path: one for one in deleted or ()}
    return {
        "deletable": state.stays is None,
        "reason": words(state.stays) if state.stays is not None else None,
        "parts": [
            {
                "path": part.path,
                "what": words(part.what),
                "size_bytes": part.size_bytes,
                "files": part.files,
                "counted": part.counted,
                "deleted": part.path in came and came[part.path].trouble is None,
                "reason": _why_stays(session, part, came.get(part.path)),
            }
            for part in state.parts
        ],
        "not_ours": list(state.others),
        "only_copy_of": list(state.lost),
    }


def traces_json(
    session: Session,
    traces: Traces,
    done: tuple[UndoneChange, ...],
    deleted: tuple[DeletedPart, ...] | None = None,
    *,
    state: OwnState | None = None,
) -> dict[str, Json]:
    """All that is told of it beside its result; `state` is that after changes were taken back, where some were."""
    came = {one.planned.change: one for one in done}
    return {
        "changes": [change_json(session, one, came.get(one.change)) for one in traces.plan.changes],
        "not_used": [session.words(words) for words in records_left(traces.plan)],
        "installs": [install_json(session, one) for one in traces.installs.left],
        "installs_unread": list(traces.installs.unread),
        "state": state_json(session, state or traces.state, deleted),
    }


def _why_stays(session: Session, part: StatePart, came: DeletedPart | None) -> Json:
    reason = came.trouble if came is not None else part.stays
    return session.words(reason) if reason is not None else None
