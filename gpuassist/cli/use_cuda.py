"""`gpuassist use cuda VERSION`: makes an installed toolkit the one that new shells use."""

from __future__ import annotations

import argparse
import os

from msgspec.structs import replace

from gpuassist.changes.choice import LdLibraryPath, WishError, version_of
from gpuassist.changes.kernels import KernelProof, prove_kernels
from gpuassist.changes.plan import ChangeOutcome, ChangePlan, UseCuda
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.line_options import choices
from gpuassist.cli.shell_change import PlannedChange, change_files, refuse
from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine
from gpuassist.present.changes import loader_words
from gpuassist.present.marks import Exit
from gpuassist.session.use import look
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import ChoiceError


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, carries out and proves."""
    wish = UseCuda(options.which, os.path.abspath(options.rc) if options.rc else "", LdLibraryPath(options.ld_library_path))
    try:
        machine = look(context.session)
        plan = plan_use_cuda(context.session.world, machine, wish)
        lines = choices(plan.lines, comment_out=options.comment_out, replaced=options.replace, kept=options.keep)
        plan = plan if lines is None else plan_use_cuda(context.session.world, machine, replace(wish, lines=lines))
    except (WishError, ChoiceError) as error:
        raise UsageError(error.reason) from error
    except RepairError as error:
        return refuse(options, context, error.reason)
    return change_files(
        options, context, PlannedChange(plan, _members(context, plan), lambda outcome: _kernels(options, context, machine, outcome))
    )


def _kernels(options: argparse.Namespace, context: Context, machine: Machine, outcome: ChangeOutcome) -> tuple[KernelProof, ...]:
    """A kernel for each GPU, where the wished toolkit wins: for another one it would prove nothing."""
    proof = outcome.proof
    if options.no_kernel or proof is None or proof.winner is None or outcome.rolled_back is not None or not proof.holds.is_true:
        return ()
    return prove_kernels(context.session, machine, proof.winner.path, proof.terminal, on_progress=context.note)


def _members(context: Context, plan: ChangePlan) -> dict[str, Json]:
    if plan.cuda is None:
        raise ValueError(plan.aim)
    words = context.session.words
    return {
        "toolkit": {"root": plan.cuda.toolkit.root, "version": version_of(plan.cuda.toolkit)},
        "file": plan.edit.path,
        "target": plan.edit.target,
        "ld_library_path": {"on": bool(plan.cuda.expected.ld_library_path), "reason": words(loader_words(plan.cuda))},
    }
