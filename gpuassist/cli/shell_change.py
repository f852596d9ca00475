"""A planned change on the command line, whatever it is for: shown, asked for, carried out, proved, and told to programs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from msgspec import Struct

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.kernels import KernelProof, told
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, Proof
from gpuassist.changes.shells import NAMES, ShellChange
from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context
from gpuassist.cli.old_environments import show_old_environments
from gpuassist.cli.paragraphs import show_block, show_command
from gpuassist.model.codec import Json, encode
from gpuassist.model.fact import Known, value_or
from gpuassist.model.plan import Outcome, Plan, Result
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.present.changes import loader_words, run_notes
from gpuassist.present.marks import Exit, exit_of
from gpuassist.present.old_environments import old_json
from gpuassist.session.old_environments import after_change
from gpuassist.shellfiles.lines import Choice, ShellLine
from gpuassist.system.terminal import SECONDS


class PlannedChange(Struct, frozen=True):
    """A plan, what else its document says, and (for a toolkit) how kernels are proved once it is carried out."""

    plan: ChangePlan
    members: Mapping[str, Json] | None = None
    kernels: Callable[[ChangeOutcome], tuple[KernelProof, ...]] | None = None


def change_files(options: argparse.Namespace, context: Context, change: PlannedChange) -> Exit:
    plan = change.plan
    if not options.json:
        _show(context, plan)
    if options.dry_run:
        if change.plan.obstacle is not None:
            refused = ChangeOutcome(Outcome(Result.REFUSED, change.plan.obstacle))
            return _told(options, context, change, refused, status=Exit.PROBLEMS)
        outcome = ChangeOutcome(Outcome(Result.UNCHANGED, text("nothing was changed (--dry-run)")))
        return _told(options, context, change, outcome, status=Exit.HEALTHY)
    if plan.diff and plan.obstacle is None and not (options.yes or confirmed(context, text("Change the files like this?"))):
        declined = ChangeOutcome(Outcome(Result.REFUSED, text("you said no; nothing was changed")))
        return _told(options, context, change, declined, status=Exit.HEALTHY)
    outcome = carry_out(context.session.world, plan, seconds=getattr(options, "seconds", SECONDS))
    if not options.json:
        _show_outcome(context, plan, outcome)
    kernels = change.kernels(outcome) if change.kernels is not None else ()
    left = after_change(context.session, plan, outcome)
    if options.json:
        context.document({**_document(context, change, outcome, kernels), "still_old": old_json(left, context.session.words)})
    else:
        show_kernels(context, kernels)
        show_old_environments(context, left, told_of_source=bool(plan.paste))
    return _exit(outcome, kernels)


def refuse(options: argparse.Namespace, context: Context, reason: Text) -> Exit:
    """Says why there is no plan."""
    if options.json:
        context.document({"schema": 1, "result": Result.REFUSED.value, "message": context.session.words(reason)})
    else:
        context.note(reason)
    return Exit.PROBLEMS


def _exit(outcome: ChangeOutcome, kernels: tuple[KernelProof, ...]) -> Exit:
    proof = outcome.proof
    failed = proof is not None and isinstance(proof.holds, Known) and not proof.holds.value
    if failed or any(not kernel.check.passed for kernel in kernels):
        return Exit.PROBLEMS
    if outcome.rolled_back is None and proof is not None and not isinstance(proof.holds, Known):
        return Exit.UNDETERMINED
    return exit_of(outcome.outcome.result)


def _told(options: argparse.Namespace, context: Context, change: PlannedChange, outcome: ChangeOutcome, *, status: Exit) -> Exit:
    if options.json:
        dry_run = options.dry_run or change.plan.cuda is not None  # for a toolkit it says that nothing was tried
        context.document({**_document(context, change, outcome, (), dry_run=dry_run), "still_old": None})
    else:
        _say_outcome(context, change.plan, outcome.outcome)
    return status


def _show(context: Context, plan: ChangePlan) -> None:
    context.say(plan.plan.goal)
    show_lines(context, plan.lines, plan.edit.path if plan.edits else "")
    if plan.cuda is not None:
        state = text("on") if plan.cuda.expected.ld_library_path else text("off")
        context.say(text("LD_LIBRARY_PATH: {state} – {reason}", state=state, reason=loader_words(plan.cuda)))
    for note in (*plan.plan.notes, *run_notes(plan)):
        context.say(text("Note: {note}", note=note))
    if plan.diff:
        context.say()
        context.say_lines(plan.diff)


def _show_outcome(context: Context, plan: ChangePlan, outcome: ChangeOutcome) -> None:
    for note in outcome.notes:
        context.say(text("Note: {note}", note=note))
    if outcome.proof is not None and outcome.rolled_back is not None:
        context.say(f"✗ {context.session.words(outcome.proof.words)}")
    _say_outcome(context, plan, outcome.outcome)
    if outcome.proof is not None and outcome.rolled_back is None:
        context.say(f"{_glyph(outcome.proof)} {context.session.words(outcome.proof.words)}")
    show_shells(context, outcome)
    if outcome.left_behind:
        left = text("Note: your start-up files left these processes running: {names}", names=listed(outcome.left_behind))
        context.say(left)
    _show_paste(context, plan, outcome)
    if outcome.outcome.result is Result.MODIFIED and plan.afterwards is not None:
        context.say(plan.afterwards)
    if outcome.receipts:
        context.say(text("To undo it: gpuassist undo {change}", change=outcome.receipts[0].change))


def _show_paste(context: Context, plan: ChangePlan, outcome: ChangeOutcome) -> None:
    if not plan.paste or not outcome.wrote or (plan.cuda is None and outcome.outcome.result is not Result.MODIFIED):
        return
    if plan.cuda is not None:
        context.say(plan.plan.steps[-1].text)
    else:
        context.say(text("Terminals that are open keep what they have. For one of them, paste this into it:"))
    show_block(context, plan.paste, indent="    ")


def _glyph(proof: Proof) -> str:
    return ("✓" if proof.holds.value else "✗") if isinstance(proof.holds, Known) else "?"


def _say_outcome(context: Context, plan: ChangePlan, outcome: Outcome) -> None:
    context.say(outcome.text)
    if outcome.result is Result.REFUSED and outcome.text == plan.obstacle and plan.block:
        context.say(plan.by_hand or text("Put these lines at the end of one of your start-up files by hand:"))
        show_block(context, plan.block.split("\n"))


def _document(
    context: Context, change: PlannedChange, outcome: ChangeOutcome, kernels: tuple[KernelProof, ...], *, dry_run: bool = False
) -> dict[str, Json]:
    words, plan = context.session.words, change.plan
    return {
        "schema": 1,
        "result": outcome.outcome.result.value,
        "message": words(outcome.outcome.text),
        "dry_run": dry_run,
        "change": outcome.receipts[0].change if outcome.receipts else None,
        "goal": words(plan.plan.goal),
        **(change.members or {}),
        "diff": plan.diff,
        "files": files_json(plan.plan),
        "lines": [line_json(line, words) for line in plan.lines],
        "notes": [words(note) for note in plan.plan.notes],
        "block": plan.block,
        "paste": list(plan.paste),
        "afterwards": words(plan.afterwards) if plan.afterwards is not None else None,
        **proof_json(plan, outcome, kernels, words),
    }


# The proof of a repair on a terminal and as JSON: what every shell finds now, and a kernel for each GPU.


def show_shells(context: Context, applied: ChangeOutcome) -> None:
    """What changed, for all ways of starting a shell in which the same did, and a slow start-up."""
    words = context.session.words
    together: dict[tuple[Text, ...], list[str]] = {}
    for change in applied.shells:
        together.setdefault(change.differences, []).append(words(NAMES[change.after.opening]))
    for differences, shells in together.items():
        named = "; ".join(shells)
        context.say(f"  {named}:" if differences else text("  unchanged: {shells}", shells=named))
        for difference in differences:
            context.say(f"    {words(difference)}")
    if applied.slow is not None:
        context.say(
            text(
                "Note: a shell is ready only after {seconds:.1f} s ({shell}); the time goes into its start-up files",
                seconds=applied.slow.seconds,
                shell=NAMES[applied.slow.opening],
            )
        )


def show_kernels(context: Context, kernels: tuple[KernelProof, ...]) -> None:
    """Each kernel, and where one failed what was said."""
    for kernel in kernels:
        glyph = "✓" if kernel.check.passed else "✗"
        context.say(f"{glyph} {context.session.words(told(kernel))}")
        if not kernel.check.passed and kernel.check.said:
            show_command(context, " ".join(kernel.check.command), indent="    ")
            for line in kernel.check.said.rstrip("\n").split("\n"):
                context.say(f"    {line}")
            context.say(text("  `gpuassist explain` says what such a message means: paste it there"))


def proof_json(plan: ChangePlan, outcome: ChangeOutcome, kernels: tuple[KernelProof, ...], words: Words) -> dict[str, Json]:
    """The keys of a change's document that tell of the proof; those of a toolkit say more."""
    proof: Json = None if outcome.proof is None else _proof(outcome.proof, words, of_toolkit=plan.cuda is not None)
    if plan.cuda is None:
        return {"proof": proof}
    return {
        "proof": proof,
        "rolled_back": None if outcome.rolled_back is None else words(outcome.rolled_back),
        "left_behind": list(outcome.left_behind),
        "shells": [_shell(change, words) for change in outcome.shells],
        "kernels": [_kernel(kernel, words) for kernel in kernels],
    }


def _proof(proof: Proof, words: Words, *, of_toolkit: bool) -> Json:
    told: dict[str, Json] = {"holds": value_or(proof.holds, None), "message": words(proof.words)}
    if not of_toolkit:
        return told
    winner = proof.winner
    return {
        **told,
        "nvcc": None if winner is None else winner.path,
        "nvcc_real_path": None if winner is None else winner.real_path,
        "nvcc_version": None if winner is None else encode(winner.version, words),
    }


def _shell(change: ShellChange, words: Words) -> Json:
    return {
        "opening": change.after.opening.value,
        "nvcc_before": change.before.nvcc() or None,
        "nvcc_after": change.after.nvcc() or None,
        "asked": isinstance(change.after.terminal, Known),
        "seconds": round(change.after.seconds, 3),
        "differences": [words(difference) for difference in change.differences],
    }


def _kernel(kernel: KernelProof, words: Words) -> Json:
    return {
        "architecture": kernel.architecture or None,
        "gpus": list(kernel.gpus),
        "verdict": kernel.check.verdict.value,
        "passed": kernel.check.passed,
        "message": words(kernel.check.words),
        "command": list(kernel.check.command),
        "said": kernel.check.said,
        "seconds": round(kernel.check.seconds, 3),
    }


# Lines of start-up files in a plan, for people and for programs.


_MARKS = {Choice.KEEP: "[ ]", Choice.COMMENT_OUT: "[x]", Choice.REPLACE: "[~]"}


def show_lines(context: Context, lines: tuple[ShellLine, ...], main: str) -> None:
    """Each line with what becomes of it and why; those of other files than the main one below their file's name."""
    file = main
    for line in lines:
        if line.file != file:
            file = line.file
            context.say(f"  {file}:")
        does = "; ".join(context.session.words(what) for what in line.does)
        context.say(f"  {_MARKS[line.choice]} {line.line}: {does} – {context.session.words(line.why)}")
        if line.rewritten:
            context.say(text("      becomes: {line}", line=line.new_text))


def line_json(line: ShellLine, words: Words) -> Json:
    return {
        "file": line.file,
        "line": line.line,
        "last_line": line.last_line,
        "text": line.text,
        "variables": list(line.variables),
        "does": [words(what) for what in line.does],
        "tickable": line.tickable,
        "ticked": line.ticked,
        "choice": line.choice.value,
        "rewrite": line.new_text or None,
        "why_no_rewrite": words(line.why_not) if line.why_not is not None and not line.instead else None,
        "why": words(line.why),
        "inside": line.inside,
        "owner": line.owner,
    }


def files_json(plan: Plan) -> list[Json]:
    return [
        {"file": step.edit.path, "target": step.edit.target, "existed": step.edit.existed, "diff": step.diff}
        for step in plan.steps
        if step.edit is not None
    ]
