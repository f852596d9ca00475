"""`gpuassist use cuda VERSION` and `use devices LIST`: what new shells use, or what an environment, a project or a kernel does."""

from __future__ import annotations

import argparse
import os

from msgspec.structs import replace

from gpuassist.changes.choice import version_of
from gpuassist.changes.kernels import KernelProof, prove_kernels
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import SHELL, LdLibraryPath, UseCuda, UseDevices, WishError
from gpuassist.cli import use_scope
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.line_options import choices
from gpuassist.cli.shell_change import PlannedChange, change_files, refuse
from gpuassist.model.codec import Json
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.changes import loader_words
from gpuassist.present.choices import device_choices, toolkit_choices
from gpuassist.present.marks import Exit
from gpuassist.session.use import look, look_at_gpus
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import ChoiceError
from gpuassist.system.terminal import SECONDS

NAME = "use"
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.1, 600
HELP = text("choose the CUDA toolkit, or the GPUs, that new terminals use")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("what", nargs="?", choices=("cuda", "devices"), help=words(text("what to choose: a toolkit or GPUs")))
    which = words(text("cuda: an installed release, such as 12.4; devices: indices as nvidia-smi counts them, UUIDs, or `all`"))
    parser.add_argument("which", nargs="?", metavar="VERSION|DEVICES", help=which)
    use_scope.arguments(parser, words)
    parser.add_argument(
        "--rc", default="", metavar="FILE", help=words(text("the start-up file to change (default: the login shell's)"))
    )
    loader = tuple(choice.value for choice in LdLibraryPath)
    help_words = words(text("whether the toolkit's libraries go on LD_LIBRARY_PATH (default: auto, normally off)"))
    parser.add_argument("--ld-library-path", choices=loader, default="auto", help=help_words)
    kept = words(text("which lines are kept as they are"))
    parser.add_argument("--keep", metavar="all|FILE:LINE,…", help=kept)
    lines = words(text("which lines are commented out, and no others changed, in place of what is suggested"))
    parser.add_argument("--comment-out", "--retire", dest="comment_out", metavar="all|none|FILE:LINE,…", help=lines)
    replaced = words(text("in which lines the toolkit is replaced by the chosen one"))
    parser.add_argument("--replace", "--rewrite", dest="replace", metavar="FILE:LINE,…", help=replaced)
    parser.add_argument("--also-login", action="store_true", help=argparse.SUPPRESS)  # what is done now without it
    patience = text("how long start-up files may take when a new shell is asked (default: {seconds:.0f})", seconds=SECONDS)
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help=words(patience))
    kernel = words(text("do not compile a kernel for each GPU afterwards"))
    parser.add_argument("--no-kernel", action="store_true", help=kernel)
    parser.add_argument("--dry-run", action="store_true", help=words(text("show what would be done, and do nothing")))
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="use"))
    context = context.for_programs(options)
    if options.scopes is not None:
        return use_scope.show_scopes(options, context)
    if not _SHORTEST_SECONDS <= options.seconds <= _LONGEST_SECONDS:
        most, least = _LONGEST_SECONDS, _SHORTEST_SECONDS
        raise UsageError(text("--seconds takes a number of seconds from {least} to {most}", least=least, most=most))
    if options.what is None:
        raise UsageError(text("what to use is missing: cuda and a version, or devices and which ones"))
    if options.which is None:
        raise _missing(options, context)
    try:
        if options.scope != SHELL:
            change = use_scope.planned(options, context)
        else:
            change = _devices(options, context) if options.what == "devices" else _toolkit(options, context)
    except (WishError, ChoiceError) as error:
        raise UsageError(error.reason) from error
    except RepairError as error:
        return refuse(options, context, error.reason)
    return change_files(options, context, change)


def _missing(options: argparse.Namespace, context: Context) -> UsageError:
    """Says what there is to choose from, on standard error as all that is said of wrong usage; a document is for a choice alone."""
    if not options.json:
        choices = toolkit_choices(context.session) if options.what == "cuda" else device_choices(context.session)
        for line in (choices.title, *(text("  {row}", row=row) for row in choices.rows), choices.now, choices.how):
            context.note(line)
    if options.what == "cuda":
        return UsageError(text("which CUDA version is missing: gpuassist use cuda VERSION"))
    return UsageError(text("which GPUs are missing: gpuassist use devices LIST"))


def _devices(options: argparse.Namespace, context: Context) -> PlannedChange:
    if options.replace is not None or options.also_login:
        raise UsageError(text("--replace and --also-login go with `use cuda`"))
    wish = UseDevices(options.which, os.path.abspath(options.rc) if options.rc else "")
    machine = look_at_gpus(context.session)
    plan = plan_change(context.session.world, machine, wish)
    lines = choices(plan.lines, comment_out=options.comment_out, replaced=None, kept=options.keep)
    plan = plan if lines is None else plan_change(context.session.world, machine, replace(wish, lines=lines))
    chosen = plan.devices.values if plan.devices is not None else ()
    hidden = plan.devices.hidden if plan.devices is not None else ()
    return PlannedChange(plan, {"devices": list(chosen), "hidden": list(hidden)})


def _toolkit(options: argparse.Namespace, context: Context) -> PlannedChange:
    wish = UseCuda(options.which, os.path.abspath(options.rc) if options.rc else "", LdLibraryPath(options.ld_library_path))
    machine = look(context.session)
    plan = plan_change(context.session.world, machine, wish)
    lines = choices(plan.lines, comment_out=options.comment_out, replaced=options.replace, kept=options.keep)
    plan = plan if lines is None else plan_change(context.session.world, machine, replace(wish, lines=lines))
    if plan.cuda is None:
        raise ValueError(plan.command)
    reason = context.session.words(loader_words(plan.cuda))
    members: dict[str, Json] = {
        "toolkit": {"root": plan.cuda.toolkit.root, "version": version_of(plan.cuda.toolkit)},
        "file": plan.edit.path,
        "target": plan.edit.target,
        "ld_library_path": {"on": bool(plan.cuda.expected.ld_library_path), "reason": reason},
    }
    return PlannedChange(plan, members, lambda outcome: _kernels(options, context, machine, outcome))


def _kernels(options: argparse.Namespace, context: Context, machine: Machine, outcome: ChangeOutcome) -> tuple[KernelProof, ...]:
    """A kernel for each GPU, where the wished toolkit wins: for another one it would prove nothing."""
    proof = outcome.proof
    if options.no_kernel or proof is None or proof.winner is None or outcome.rolled_back is not None or not proof.holds.is_true:
        return ()
    return prove_kernels(context.session, machine, proof.winner.path, proof.terminal, on_progress=context.note)
