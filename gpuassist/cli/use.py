"""`gpuassist use cuda VERSION`: makes an installed toolkit the one that new shells use."""

from __future__ import annotations

import argparse
import os

from gpuassist.cli.asking import confirmed
from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.model.codec import Json, encode
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import Text, text
from gpuassist.session import fix
from gpuassist.session.words import Words

NAME = "use"
HELP = text("make an installed CUDA toolkit the one that new shells use")

_EXITS = {
    Result.MODIFIED: Exit.HEALTHY,
    Result.UNCHANGED: Exit.HEALTHY,
    Result.REFUSED: Exit.PROBLEMS,
    Result.FAILED: Exit.PROBLEMS,
}


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Adds the options of `use`."""
    parser.add_argument("what", choices=("cuda",), help=words(text("what to choose: cuda")))
    parser.add_argument("version", metavar=words(text("VERSION")), help=words(text("an installed release, such as 12.4")))
    parser.add_argument("--rc", default="", metavar="FILE", help=words(text("the start-up file to change (default: ~/.bashrc)")))
    choices = tuple(choice.value for choice in fix.LdLibraryPath)
    help_words = words(text("whether the toolkit's libraries go on LD_LIBRARY_PATH (default: auto, normally off)"))
    parser.add_argument("--ld-library-path", choices=choices, default="auto", help=help_words)
    parser.add_argument("--dry-run", action="store_true", help=words(text("show what would be done, and do nothing")))
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="use"))
    wish = fix.UseCuda(
        options.version,
        os.path.abspath(options.rc) if options.rc else "",
        fix.LdLibraryPath(options.ld_library_path),
    )
    try:
        plan = fix.plan_use_cuda(context.session, fix.look(context.session), wish)
    except fix.WishError as error:
        raise UsageError(error.reason) from error
    except fix.RepairError as error:
        return _cannot(options, context, error.reason)
    return _go(options, context, plan)


def _go(options: argparse.Namespace, context: Context, plan: fix.CudaPlan) -> Exit:
    if not options.json:
        _show(context, plan)
    if options.dry_run:
        return _planned(options, context, plan)
    if plan.diff and plan.obstacle is None and not (options.yes or confirmed(context, text("Change the file like this?"))):
        return _declined(options, context, plan)
    applied = fix.apply(context.session, plan)
    if options.json:
        context.document(_document(context, plan, applied.outcomes[0], applied))
    else:
        _show_applied(context, plan, applied)
    return _exit(applied)


def _exit(applied: fix.Applied) -> Exit:
    if applied.proof is not None and applied.proof.holds is fix.Holds.NO:
        return Exit.PROBLEMS
    if applied.proof is not None and applied.proof.holds is fix.Holds.UNKNOWN:
        return Exit.UNDETERMINED
    return _EXITS[applied.result]


def _planned(options: argparse.Namespace, context: Context, plan: fix.CudaPlan) -> Exit:
    if plan.obstacle is not None:
        outcome = Outcome(Result.REFUSED, plan.obstacle)
    else:
        outcome = Outcome(Result.UNCHANGED, text("nothing was changed (--dry-run)"))
    if options.json:
        context.document(_document(context, plan, outcome, None))
    else:
        _say_outcome(context, plan, outcome)
    return _EXITS[outcome.result]


def _declined(options: argparse.Namespace, context: Context, plan: fix.CudaPlan) -> Exit:
    outcome = Outcome(Result.REFUSED, text("you said no; nothing was changed"))
    if options.json:
        context.document(_document(context, plan, outcome, None))
    else:
        context.say(outcome.text)
    return Exit.HEALTHY


def _cannot(options: argparse.Namespace, context: Context, reason: Text) -> Exit:
    if options.json:
        context.document({"schema": 1, "result": Result.REFUSED.value, "message": context.session.words(reason)})
    else:
        context.note(reason)
    return Exit.PROBLEMS


def _show(context: Context, plan: fix.CudaPlan) -> None:
    context.say(plan.plan.goal)
    for line in plan.lines:
        mark = "[x]" if line.ticked else "[ ]"
        does = "; ".join(context.session.words(what) for what in line.does)
        context.say(f"  {mark} {line.line}: {does} – {context.session.words(line.why)}")
    state = text("on") if plan.loader.on else text("off")
    context.say(text("LD_LIBRARY_PATH: {state} – {reason}", state=state, reason=plan.loader.reason))
    for note in plan.plan.notes:
        context.say(text("Note: {note}", note=note))
    if plan.diff:
        context.say()
        context.say(plan.diff)


def _show_applied(context: Context, plan: fix.CudaPlan, applied: fix.Applied) -> None:
    _say_outcome(context, plan, applied.outcomes[0])
    if applied.proof is not None:
        glyph = {"yes": "✓", "no": "✗", "unknown": "?"}[applied.proof.holds.value]
        context.say(f"{glyph} {context.session.words(applied.proof.words)}")
    if applied.result in {Result.MODIFIED, Result.UNCHANGED}:
        context.say(plan.plan.steps[-1].text)
        for line in plan.paste:
            context.say(f"    {line}")
    if applied.receipt is not None:
        context.say(text("To take it back: gpuassist undo {change}", change=applied.receipt.id))


def _say_outcome(context: Context, plan: fix.CudaPlan, outcome: Outcome) -> None:
    context.say(outcome.text)
    if outcome.result is Result.REFUSED:
        context.say(text("These are the lines, to put at the end of a start-up file of yours by hand:"))
        context.say(plan.block)


def _document(context: Context, plan: fix.CudaPlan, outcome: Outcome, applied: fix.Applied | None) -> Json:
    words = context.session.words
    return {
        "schema": 1,
        "result": outcome.result.value,
        "message": words(outcome.text),
        "dry_run": applied is None,
        "change": applied.receipt.id if applied is not None and applied.receipt is not None else None,
        "goal": words(plan.plan.goal),
        "toolkit": {"root": plan.toolkit.root, "version": fix.version_of(plan.toolkit)},
        "file": plan.edit.path,
        "target": plan.edit.target,
        "diff": plan.diff,
        "lines": [_line_json(line, words) for line in plan.lines],
        "ld_library_path": {"on": plan.loader.on, "reason": words(plan.loader.reason)},
        "notes": [words(note) for note in plan.plan.notes],
        "block": plan.block,
        "paste": list(plan.paste),
        "proof": _proof_json(applied.proof, words) if applied is not None and applied.proof is not None else None,
    }


def _line_json(line: fix.ShellLine, words: Words) -> Json:
    return {
        "line": line.line,
        "last_line": line.last_line,
        "text": line.text,
        "variables": list(line.variables),
        "does": [words(what) for what in line.does],
        "tickable": line.tickable,
        "ticked": line.ticked,
        "why": words(line.why),
        "inside": line.inside,
        "owner": line.owner,
    }


def _proof_json(proof: fix.Proof, words: Words) -> Json:
    winner = proof.winner
    return {
        "holds": {"yes": True, "no": False, "unknown": None}[proof.holds.value],
        "message": words(proof.words),
        "nvcc": None if winner is None else winner.path,
        "nvcc_real_path": None if winner is None else winner.real_path,
        "nvcc_version": None if winner is None else encode(winner.version, words),
    }
