"""`gpuassist shell --clean`: takes out of the start-up files what should not be on their search lists."""

from __future__ import annotations

import argparse

from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import CleanShell
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.line_options import named
from gpuassist.cli.shell_change import PlannedChange, change_files, refuse
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.session.use import look
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import Choice, ChoiceError, LineChoice


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Adds the options of a cleaning."""
    clean = words(text("take out what should not be searched: empty elements, stubs, directories that do not exist or come twice"))
    parser.add_argument("--clean", action="store_true", help=clean)
    lines = words(text("with --clean, the lines to clean (default: those that are suggested)"))
    parser.add_argument("--lines", metavar="FILE:LINE,…", help=lines)
    dry = words(text("with --clean, show what would be done, and do nothing"))
    parser.add_argument("--dry-run", action="store_true", help=dry)
    parser.add_argument("--yes", action="store_true", help=words(text("with --clean, do it without asking")))


def wanted(options: argparse.Namespace) -> bool:
    """Whether a cleaning is asked for; raises `UsageError` for its options without it."""
    if not options.clean and (options.lines is not None or options.dry_run or options.yes):
        raise UsageError(text("--lines, --dry-run and --yes go with --clean"))
    return bool(options.clean)


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="shell --clean"))
    machine = look(context.session)
    try:
        plan = plan_change(context.session.world, machine, CleanShell())
        if options.lines is not None:
            # The lines that are named: without what is wrong in them where they hold something else, else as a comment only.
            offered = {(line.file, line.line): line for line in plan.lines}
            chosen = []
            for place in named(options.lines, plan.lines):
                rewrites = place in offered and bool(offered[place].instead)
                chosen.append(LineChoice(*place, Choice.REPLACE if rewrites else Choice.COMMENT_OUT))
            plan = plan_change(context.session.world, machine, CleanShell(tuple(chosen)))
    except ChoiceError as error:
        raise UsageError(error.reason) from error
    except RepairError as error:
        return refuse(options, context, error.reason)
    return change_files(options, context, PlannedChange(plan))
