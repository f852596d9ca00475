"""`gpuassist use cuda VERSION`: makes an installed toolkit the one that new shells use."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace

from gpuassist.cli.asking import confirmed
from gpuassist.cli.commands import show_block
from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.cli.line_options import choices
from gpuassist.cli.proof import proof_json, show_kernels, show_shells
from gpuassist.cli.shell_change import refuse
from gpuassist.cli.shell_lines import files_json, line_json, show_lines
from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import text
from gpuassist.session import fix
from gpuassist.session.kernels import KernelProof, prove_kernels

_EXITS = {
    Result.MODIFIED: Exit.HEALTHY,
    Result.UNCHANGED: Exit.HEALTHY,
    Result.REFUSED: Exit.PROBLEMS,
    Result.FAILED: Exit.PROBLEMS,
}


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    wish = fix.UseCuda(
        options.which,
        os.path.abspath(options.rc) if options.rc else "",
        fix.LdLibraryPath(options.ld_library_path),
        everywhere=True,
        also_login=options.also_login,
    )
    try:
        machine = fix.look(context.session)
        plan = _planned_with_lines(options, context, machine, wish)
    except (fix.WishError, fix.ChoiceError) as error:
        raise UsageError(error.reason) from error
    except fix.RepairError as error:
        return refuse(options, context, error.reason)
    return _go(options, context, plan, machine)


def _planned_with_lines(options: argparse.Namespace, context: Context, machine: Machine, wish: fix.UseCuda) -> fix.CudaPlan:
    plan = fix.plan_use_cuda(context.session, machine, wish)
    lines = choices(plan.lines, retire=options.retire, rewrite=options.rewrite)
    return plan if lines is None else fix.plan_use_cuda(context.session, machine, replace(wish, lines=lines))


def _go(options: argparse.Namespace, context: Context, plan: fix.CudaPlan, machine: Machine) -> Exit:
    if not options.json:
        _show(context, plan)
    if options.dry_run:
        return _planned(options, context, plan)
    if plan.diff and plan.obstacle is None and not (options.yes or confirmed(context, text("Change the file like this?"))):
        return _declined(options, context, plan)
    applied = fix.apply(context.session, plan, seconds=options.seconds)
    if not options.json:
        _show_applied(context, plan, applied)
    kernels = _kernels(options, context, applied, machine)
    if options.json:
        context.document(
            _document(context, plan, applied.outcomes[0], applied) | proof_json(applied, kernels, context.session.words)
        )
    else:
        show_kernels(context, kernels)
    return _exit(applied, kernels)


def _kernels(options: argparse.Namespace, context: Context, applied: fix.Applied, machine: Machine) -> tuple[KernelProof, ...]:
    """A kernel for each GPU, where the wished toolkit wins: for another one it would prove nothing."""
    proof = applied.proof
    if options.no_kernel or proof is None or proof.holds is not fix.Holds.YES or proof.winner is None:
        return ()
    return prove_kernels(context.session, machine, proof.winner.path, proof.terminal, on_progress=context.note)


def _exit(applied: fix.Applied, kernels: tuple[KernelProof, ...]) -> Exit:
    if applied.proof is not None and applied.proof.holds is fix.Holds.NO:
        return Exit.PROBLEMS
    if any(not kernel.check.passed for kernel in kernels):
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


def _show(context: Context, plan: fix.CudaPlan) -> None:
    context.say(plan.plan.goal)
    show_lines(context, plan.lines, plan.edit.path)
    state = text("on") if plan.loader.on else text("off")
    context.say(text("LD_LIBRARY_PATH: {state} – {reason}", state=state, reason=plan.loader.reason))
    for note in plan.plan.notes:
        context.say(text("Note: {note}", note=note))
    if plan.diff:
        context.say()
        context.say_lines(plan.diff)


def _show_applied(context: Context, plan: fix.CudaPlan, applied: fix.Applied) -> None:
    for note in applied.notes:
        context.say(text("Note: {note}", note=note))
    _say_outcome(context, plan, applied.outcomes[0])
    if applied.proof is not None:
        glyph = {"yes": "✓", "no": "✗", "unknown": "?"}[applied.proof.holds.value]
        context.say(f"{glyph} {context.session.words(applied.proof.words)}")
    show_shells(context, applied)
    if applied.result in {Result.MODIFIED, Result.UNCHANGED}:
        context.say(plan.plan.steps[-1].text)
        show_block(context, plan.paste, indent="    ")
    if applied.receipt is not None:
        context.say(text("To take it back: gpuassist undo {change}", change=applied.receipt.id))


def _say_outcome(context: Context, plan: fix.CudaPlan, outcome: Outcome) -> None:
    context.say(outcome.text)
    if outcome.result is Result.REFUSED:
        context.say(text("These are the lines, to put at the end of a start-up file of yours by hand:"))
        show_block(context, plan.block.split("\n"))


def _document(context: Context, plan: fix.CudaPlan, outcome: Outcome, applied: fix.Applied | None) -> dict[str, Json]:
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
        "files": files_json(plan.plan),
        "lines": [line_json(line, words) for line in plan.lines],
        "ld_library_path": {"on": plan.loader.on, "reason": words(plan.loader.reason)},
        "notes": [words(note) for note in plan.plan.notes],
        "block": plan.block,
        "paste": list(plan.paste),
        "proof": None,
        "shells": [],
        "kernels": [],
    }
