"""The options of `gpuassist plan` that run a plan, go on with it, give it up or take it back; all else is imported when used."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from gpuassist.cli.confirm import NOBODY_FOR_PACKAGES
from gpuassist.cli.context import Context, UsageError
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Goal, GoalKind, Method, Outlook
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    what = parser.add_mutually_exclusive_group()
    run = words(
        text("take the steps one by one, each shown with its commands and confirmed; what needs root is shown and never run")
    )
    what.add_argument("--run", action="store_true", help=run)
    resume = words(text("continue the unfinished install, from the present state of the machine"))
    what.add_argument("--resume", action="store_true", help=resume)
    what.add_argument("--give-up", action="store_true", help=words(text("give up the unfinished install; what was done stays")))
    back = words(text("undo an install (default: the newest)"))
    what.add_argument("--back", nargs="?", const="", default=None, metavar="ID", help=back)
    way = words(text("which of the ways to run: new, clean or in-place (default: the first that is offered)"))
    parser.add_argument("--way", choices=[one.value for one in Method], default="", help=way)
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    autostart = words(text("open gpuassist after a restart that a step asks for, until the install is done"))
    parser.add_argument("--autostart", action="store_true", help=autostart)


def require_own_account(context: Context) -> None:
    """Raises `UsageError` under sudo: what it made would be root's, in the middle of the user's files."""
    around = context.session.world.surroundings
    if around.uid == 0 and around.variables.get("SUDO_USER"):
        raise UsageError(text("please run this as yourself, without sudo: what it changes is yours"))


def is_about_an_install(options: argparse.Namespace) -> bool:
    """Whether an install on record is meant, and no goal."""
    return bool(options.resume or options.give_up or options.back is not None)


def run(options: argparse.Namespace, context: Context) -> Exit:
    if options.goals:
        raise UsageError(text("--resume, --give-up and --back are about an install on record and take no goal"))
    require_own_account(context)
    if options.back is not None:
        from gpuassist.cli.plan_run import run_back

        return run_back(options, context)
    from gpuassist.cli import plan_run

    return plan_run.run_give_up(options, context) if options.give_up else plan_run.run_resume(options, context)


def check(options: argparse.Namespace, context: Context, goals: tuple[Goal, ...]) -> None:
    """Raises `UsageError` where nothing could be run, before anything is looked at."""
    if not options.run:
        return
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="plan --run"))
    require_own_account(context)
    if any(one.kind is GoalKind.GPU for one in goals):
        raise UsageError(text("a GPU that is not there yet is no goal to run"))
    if not options.yes and not context.terminal.interactive:
        raise UsageError(NOBODY_FOR_PACKAGES)


def take_steps(options: argparse.Namespace, context: Context, machine: Machine, outlook: Outlook) -> Exit:
    from gpuassist.cli.plan_run import run_plan

    if options.way:
        way = next((one for one in outlook.ways if one.way.value == options.way), None)
        if way is None:
            offered = ", ".join(one.way.value for one in outlook.ways) or "–"
            raise UsageError(text("this plan has no such way; it has: {ways}", ways=offered))
        outlook = replace(outlook, steps=way.steps)
    return run_plan(options, context, machine, outlook)
